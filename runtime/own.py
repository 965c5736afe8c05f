"""Taking things over from host and model: copies that are JSON, and texts that can be written down (S5, S56)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from guideway.statemachine.canonical import canonical
from guideway.statemachine.errors import HostError

from .calls import WORDS, Failed, Outcome, Substituted, Succeeded, error_value, told
from .facts import copy


class Settled(NamedTuple):
    """How a call ended: the word, and its result or error, copied.  What is no JSON leaves `fault`."""

    word: str
    value: Any = None
    fault: str | None = None


CONTROL_DONE = Settled("ok", None, "control")
"""A control tool: there was nothing to run."""


class Digest(NamedTuple):
    """The SHA-256 of a value that need not be kept."""

    sha256: str


def clean(text: object) -> str:
    """
    Text that can be written as UTF-8: half a surrogate pair becomes a replacement character.

    >>> clean("caf\\ud83d")
    'caf\ufffd'
    """
    text = str(text)
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def words(text: object, what: str = "a note") -> str:
    """
    What a host says in words, as it may be written down.

    Raises:
        HostError: it is no text.
    """
    if not isinstance(text, str):
        raise HostError(f"{what} is a text, not {told(text)}")
    return clean(text)


def own(outcome: Outcome) -> Settled:
    """Copy an outcome, so that nothing the host does later changes what happened."""
    word = WORDS[type(outcome)]
    if isinstance(outcome, Succeeded | Substituted):
        try:
            return Settled(word, copy(outcome.result))
        except ValueError as error:
            return Settled(word, None, f"result_schema: {clean(error)}")
    if isinstance(outcome, Failed):
        return Settled(word, own_error(outcome))
    return Settled(word)


def own_error(outcome: Failed) -> dict[str, Any]:
    """The error in its one shape; one that is no JSON keeps its type and message as text."""
    error = error_value(outcome)
    try:
        copied: dict[str, Any] = copy(error)
    except ValueError:
        kept = {key: error.get(key) for key in ("type", "message")}
        return {key: clean(value) if isinstance(value, str) else told(value) for key, value in kept.items()}
    return copied


def same_json(one: Any, other: Any) -> bool:
    """
    Equal as JSON: `true` is not `1`.

    >>> same_json({"n": 1}, {"n": True}), same_json({"n": 1}, {"n": 1.0})
    (False, True)
    """
    return fingerprint(one) == fingerprint(other)


def fingerprint(value: Any) -> bytes:
    """Canonical JSON, or the digest it was replaced by."""
    if isinstance(value, Digest):
        return bytes.fromhex(value.sha256)
    return hashlib.sha256(canonical(value)).digest()


def same_outcome(known: Settled, reported: Settled) -> bool:
    """The same end, reported twice."""
    return (known.word, known.fault) == (reported.word, reported.fault) and same_json(known.value, reported.value)


def key_of(tool: str, args: Mapping[str, Any]) -> str:
    """The call as one text: same tool, same arguments."""
    return canonical([tool, dict(args)]).decode()
