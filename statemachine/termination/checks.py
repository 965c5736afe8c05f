"""What a condition may be made of; anything else is refused where it is written."""

from __future__ import annotations

from sys import float_info
from typing import Any

from guideway.statemachine.errors import HostError


def shown(value: object) -> str:
    """
    A value as a message may show it.

    >>> shown(0), shown([1]), shown("x" * 90)[-1]
    ('0', 'a list', '…')
    """
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 80 else text[:79] + "…"
    return f"a {type(value).__name__}"


def whole_number(name: str, value: object) -> None:
    """Refuse what is no whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise HostError(f"{name} takes a whole number from 1 on, not {shown(value)}: at 0 a run would end unbegun")


def number(name: str, value: object, least: float, most: float, wanted: str) -> float:
    """Refuse what is no number between the two, both included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise HostError(f"{name} takes {wanted}, not {shown(value)}")
    return float(value)


def positive(name: str, value: object) -> float:
    """Refuse what is no positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= float_info.max:
        raise HostError(f"{name} takes seconds, a positive and finite number, not {shown(value)}")
    return float(value)


def words(name: str, value: object) -> str:
    """Refuse what is no text, or an empty one."""
    if not isinstance(value, str) or not value:
        raise HostError(f"{name} takes a text, not {shown(value)}")
    return value


def integral(value: float) -> Any:
    """
    An int where the number is integral, as JSON writes it.

    >>> integral(90.0), integral(0.5)
    (90, 0.5)
    """
    return int(value) if value.is_integer() else value
