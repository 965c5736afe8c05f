"""An agent that plays recorded turns, so that a wrong one can be shown being refused, the same at every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from guideway.statemachine.errors import HostError

from .agents import Brief, Reply
from .calls import ToolCall, Usage
from .lines import entries, take

TURN = {"text": (str,), "calls": (list,), "confidence": (float, int), "usage": (dict,)}
CALL = {"tool": (str,), "args": (dict,), "id": (str,)}
USAGE = {"tokens": (int,), "input_tokens": (int,), "output_tokens": (int,), "cost": (float, int)}


class ScriptedAgent:
    """
    Says what its script says, whatever it hears.

    >>> agent = ScriptedAgent([Reply("Looking.", [ToolCall("query_siem", {"hours": 24})])])
    >>> from guideway.statemachine.steps import Step
    >>> agent.reply(Brief(Step("look"))).text, agent.reply(Brief(Step("look")))
    ('Looking.', None)
    """

    def __init__(self, turns: Iterable[Reply]) -> None:
        self._turns = list(turns)
        self.played = 0

    @classmethod
    def load(cls, path: str | Path) -> ScriptedAgent:
        """
        Read a script: JSON lines, a turn each, `{"text", "calls": [{"tool", "args", "id"}], "confidence", "usage"}`.

        Raises:
            HostError: a line is no turn, naming the line.
        """
        return cls(read_turns(path))

    def skip(self, turns: int) -> None:
        """Leave out turns that were played before, by another process."""
        self.played = min(self.played + turns, len(self._turns))

    def reply(self, brief: Brief) -> Reply | None:
        """The next turn of the script; None when it has run out."""
        if self.played == len(self._turns):
            return None
        self.played += 1
        return self._turns[self.played - 1]


def read_turns(path: str | Path) -> list[Reply]:
    """
    The turns of a script, at least one.

    Raises:
        HostError: a line is no turn, naming the line.
    """
    turns = [_turn(found, place) for place, found in entries(path)]
    if not turns:
        raise HostError(f"{path} holds no turn")
    return turns


def _turn(found: Mapping[str, Any], place: str) -> Reply:
    take(found, place, TURN)
    confidence = found.get("confidence")
    if confidence is not None and not 0 <= confidence <= 1:
        raise HostError(f"{place}: `confidence` lies between 0 and 1, and is not {confidence}")
    calls = [_call(call, f"{place}: calls[{i}]") for i, call in enumerate(found.get("calls", ()))]
    return Reply(found.get("text", ""), tuple(calls), confidence, _usage(found.get("usage"), place))


def _call(found: Any, place: str) -> ToolCall:
    if not isinstance(found, dict):
        raise HostError(f"{place}: expected an object of the form {{…}}")
    take(found, place, CALL, needed=("tool",))
    return ToolCall(found["tool"], found.get("args", {}), found.get("id", ""))


def _usage(found: Mapping[str, Any] | None, place: str) -> Usage | None:
    if found is None:
        return None
    take(found, f"{place}: usage", USAGE)
    for key, value in found.items():
        if value < 0:
            raise HostError(f"{place}: usage: `{key}` must not be negative")
    return Usage(**found)
