"""What is read from a journal may be anything: whoever has no key to hold against can write a chain anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from guideway.statemachine.errors import GuidewayError, JournalError

Given = ParamSpec("Given")
Made = TypeVar("Made")
FAULTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, StopIteration)


def sound(reader: Callable[Given, Made]) -> Callable[Given, Made]:
    """
    Let a fault in what is read be a `JournalError`, never one of Python's.

    >>> @sound
    ... def outcome(body):
    ...     return body["outcome"]
    >>> outcome({})
    Traceback (most recent call last):
    guideway.statemachine.errors.JournalError: the journal does not hold together: KeyError('outcome')
    """

    @wraps(reader)
    def held(*args: Given.args, **named: Given.kwargs) -> Made:
        try:
            return reader(*args, **named)
        except GuidewayError:
            raise
        except FAULTS as fault:
            raise JournalError(f"the journal does not hold together: {fault!r}") from fault

    return held
