"""What an agent proposes, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

NO_ARGS: Mapping[str, Any] = MappingProxyType({})


class ToolCall(NamedTuple):
    """
    One call a model wants to make.

    `call_id` is the id the model's provider gave it; left empty, the session numbers the call itself.

    >>> ToolCall("query_siem", {"hours": 24}, call_id="c1").name
    'query_siem'
    """

    name: str
    args: Mapping[str, Any] = NO_ARGS
    call_id: str = ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments, by the name that some frameworks have for them."""
        return self.args


class Unreadable(Mapping[str, Any]):
    """
    Stands for a value that was no JSON, and that a journal could not keep: whoever reads it hears why, as at first.

    >>> dict(Unreadable("NaN is no JSON number"))
    Traceback (most recent call last):
    ValueError: NaN is no JSON number
    """

    def __init__(self, why: str) -> None:
        self.why = why

    def __getitem__(self, key: str) -> Any:
        raise ValueError(self.why)

    def __iter__(self) -> Iterator[str]:
        raise ValueError(self.why)

    def __len__(self) -> int:
        raise ValueError(self.why)


@dataclass(frozen=True, slots=True)
class Usage:
    """
    What a model turn cost, as its provider reports it.

    `tokens` is the total; where only its parts are given, it is their sum.  `cost` is in the currency of the price
    table that made it.

    >>> Usage(input_tokens=11, output_tokens=7).tokens
    18
    """

    tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __post_init__(self) -> None:
        if self.tokens == 0 and is_count(self.input_tokens) and is_count(self.output_tokens):
            object.__setattr__(self, "tokens", self.input_tokens + self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        """What both cost together."""
        return Usage(
            self.tokens + other.tokens,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The tool ran and answered with `result`, any JSON value."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class Failed:
    """
    The tool ran, or tried to, and reports an error: a text, or a map with `type` and `message`.

    >>> Failed("connection refused").error
    'connection refused'
    """

    error: str | Mapping[str, Any] = ""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The call was given up before it ran: it did not happen."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say whether the call happened: a crash, a lost connection, a time-out in mid-air."""


@dataclass(frozen=True, slots=True)
class Substituted:
    """
    The tool did not run: something beside it, such as a hook with a cache, gave this result (S53).

    It is evidence for a tool that only reads; of any other the call did not happen, whatever the model is shown.
    """

    result: Any = None


Outcome = Succeeded | Failed | Cancelled | Unknown | Substituted

WORDS: Mapping[type, str] = {
    Succeeded: "ok", Failed: "error", Cancelled: "cancelled", Unknown: "unknown", Substituted: "ok",
}  # fmt: skip


def is_count(value: Any) -> bool:
    """A whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def told(value: object) -> str:
    """
    A value as a message may show it: short, and whatever its own `repr` does.

    >>> told("ws-7"), told([1, 2])
    ("'ws-7'", 'a list')
    """
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 80 else text[:79] + "…"
    return f"a {type(value).__name__}"


def error_value(outcome: Failed) -> dict[str, Any]:
    """
    Give an error the one shape that expressions read: `error.type`, `error.message`.

    >>> error_value(Failed({"type": "Throttled", "message": "slow down"}))
    {'type': 'Throttled', 'message': 'slow down'}
    """
    if isinstance(outcome.error, Mapping):
        return {"type": "error", "message": "", **outcome.error}
    return {"type": "error", "message": outcome.error if isinstance(outcome.error, str) else told(outcome.error)}
