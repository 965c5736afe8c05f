"""
What each place of a playbook may read (the last table of the semantics), as a table.

Facts, answers and inputs are evidence; claims are what the agent says of itself.  So claims may steer the flow, and
may neither admit a call nor choose who approves it.  Inside a `for_each` every place reads the name of its items, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

EVERYWHERE = frozenset({"now", "predicate"})
"""Roots that every place reads."""

RUN_FIELDS = ("id", "started_by", "iterations", "calls", "tokens", "elapsed")
"""All there is to read of `run`."""

CLAIM_FIELDS = ("confidence", "text")
"""What is to be read of `claims` besides what steps declare, as `claims.STEP.NAME`."""

_EVIDENCE = frozenset({"inputs", "facts", "history", "answers", "signals", "terms", "run"})
_CALL = _EVIDENCE | {"args"}
_OUTCOME = _CALL | {"result", "error"}
_FLOW = _EVIDENCE | {"claims"}


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of place: how messages call it, and the roots it reads besides those of `EVERYWHERE`."""

    name: str
    roots: frozenset[str]

    def reads(self, root: str) -> bool:
        """
        Tell whether the place may read the root.

        >>> PLACES["where"].reads("result"), PLACES["expect"].reads("result")
        (False, True)
        """
        return root in self.roots or root in EVERYWHERE


PLACES: Mapping[str, Place] = MappingProxyType(
    {
        "where": Place("a `where`", _CALL),
        "expect": Place("an `expect`", _OUTCOME),
        "until": Place("the `until` of a call", _OUTCOME),
        "collect": Place("the `collect` of a call", _OUTCOME),
        "retry": Place("the `when` of a `retry`", _CALL | {"error"}),
        "when": Place("a `when`", _FLOW),
        "validation": Place("a `validation`", _FLOW),
        "term": Place("a term", _FLOW),
        "template": Place("the `args` of a call", _FLOW),
        "with": Place("the `with` of a sub-playbook", _FLOW),
        "items": Place("the `in` of a `for_each`", _FLOW),
        "block until": Place("the `until` of a block", _FLOW),
        "block collect": Place("the `collect` of a block", _FLOW),
        "wait until": Place("the `until` of a `wait`", _FLOW),
        "output": Place("an output", _FLOW),
        "question": Place("the question of an `ask`", _FLOW),
        "assignees": Place("the `assignees` of an `ask`", _EVIDENCE),
        "undo": Place("the `args` of an `undo`", frozenset({"args", "result"})),
        "step ask": Place("the text of a step's approval", _FLOW),
        "call ask": Place("the text of a call's approval", _FLOW | {"args"}),
        "step when": Place("the `when` of a step's approval", _EVIDENCE),
        "call when": Place("the `when` of a call's approval", _CALL),
        "step approvers": Place("the `approvers` of a step", _EVIDENCE),
        "call approvers": Place("the `approvers` of a call", _CALL),
        "step except": Place("the `except` of a step's approval", _EVIDENCE),
        "call except": Place("the `except` of a call's approval", _CALL),
    }
)
"""The table.  Who allows or answers is never for claims to say: what people answer is evidence."""
