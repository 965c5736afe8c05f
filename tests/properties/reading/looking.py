"""What the second reading looks at: the registers of a run, and what the definition says of the state it is in."""

from __future__ import annotations

from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from guideway.statemachine import conditions as c
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.expressions import Expression, Terms
from guideway.statemachine.tools import Effect, Tool

Call = dict[str, Any]
CONTROL = ("complete_step", "skip_step")


class Looking:
    """The registers of a run (S1 to S3), as plain values."""

    def __init__(self, definition: Definition, now: datetime | None) -> None:
        self.d = definition
        self.now = self.started = now
        self.state = definition.initial
        self.inputs = {name: given.default for name, given in definition.inputs.items() if given.default is not None}
        self.facts: dict[str, Any] = {}
        self.history: dict[str, list[Any]] = {}
        self.visits: dict[str, int] = {}
        self.step, self.visit = "", 0
        self.out: list[Call] = []
        self.used: set[str] = set()
        self.asked: dict[str, Any] = {}
        self.turn: dict[str, Any] | None = None
        self.timers: list[tuple[datetime, str, str, int]] = []
        self.calls = self.tokens = self.iterations = self.nudges = self.refusals = self.moves = self.longest = 0
        self.confidence: float | None = None
        self.text, self.text_only = "", False
        self.ending: str | None = None
        self.outcome: str | None = None
        self.incomplete: set[str] = set()
        self.unknown: list[str] = []
        self.called: set[c.Condition] = set()
        self.fresh = True
        self.later: list[Call] = []
        self.issued = 0
        self.reset()

    def reset(self) -> None:
        """The registers of a visit."""
        self.counts: dict[int, int] = {}
        self.spent = self.successes = self.failures = self.rounds = 0
        self.barred: dict[str, datetime] = {}
        self.rejected: list[Any] = []
        self.again: Any = None
        self.granted = False
        self.collected: list[Any] | None = None

    @property
    def here(self) -> Any:
        """The state it is in."""
        return self.d.states[self.state]

    def scope(self, **more: Any) -> dict[str, Any]:
        """What expressions see; `more` adds arguments, result, error."""
        elapsed = (self.now - self.started).total_seconds() if self.now and self.started else 0
        run = {
            "id": "run", "started_by": "", "iterations": self.iterations, "calls": self.calls, "tokens": self.tokens,
            "elapsed": elapsed,
        }  # fmt: skip
        claims = {"text": self.text} | ({} if self.confidence is None else {"confidence": self.confidence})
        return {
            "inputs": self.inputs, "facts": self.facts, "history": self.history, "claims": claims,
            "terms": Terms(self.d.terms), "run": run, **more,
        }  # fmt: skip

    def true(self, rule: Expression | None, **more: Any) -> bool | None:
        """True, False, or None for unknown; a rule that is not there is true."""
        value = True if rule is None else rule(self.scope(**more), self.now)
        return value if isinstance(value, bool) else None

    def tool(self, name: str) -> Tool:
        """What is declared of a tool; nothing declared is a tool that writes."""
        return self.d.tool(name) or Tool(name)

    def repeatable(self, name: str) -> bool:
        """A second call does no harm."""
        return self.tool(name).idempotent or self.tool(name).effect is Effect.READ

    def lines(self, tool: str | None = None) -> list[tuple[int, Any]]:
        """The entries of the step, with their places; those that speak of `tool`."""
        work = self.here.step.work if self.here.step is not None and self.here.kind is StateKind.STEP else None
        found = list(enumerate(work.entries)) if work else []
        return [(i, e) for i, e in found if tool is None or fnmatchcase(tool, e.tool)]

    def needed(self) -> list[tuple[int, Any]]:
        """The expected entries."""
        return [(i, e) for i, e in self.lines() if not e.optional]

    def quota(self, entry: Any) -> int | None:
        """How many successes an entry takes in a visit (S18)."""
        return entry.times or (1 if self.tool(entry.tool).effect is Effect.IRREVERSIBLE else None)

    def met(self, upto: int = 10**9) -> bool:
        """Every expected entry, before place `upto`, has its successes."""
        return all(self.counts.get(i, 0) >= (self.quota(e) or 1) for i, e in self.needed() if i < upto)

    def outside(self, tool: str) -> bool:
        """The tool is legal in every state."""
        if any(fnmatchcase(tool, name) for name in self.d.optional_tools):
            return True
        named = any(fnmatchcase(tool, name) for name in self.d.named_tools)
        return self.d.extra_tools and not named and self.tool(tool).effect is not Effect.IRREVERSIBLE

    def known(self, tool: str) -> bool:
        """Something in the playbook speaks of the tool."""
        named = any(fnmatchcase(tool, name) for name in self.d.named_tools)
        return named or tool in CONTROL or self.d.tool(tool) is not None or self.outside(tool)

    def mine(self) -> list[Call]:
        """Calls under way that belong to the visit."""
        return [o for o in self.out if (o["step"], o["visit"]) == (self.step, self.visit)]

    def may_complete(self) -> bool:
        """The agent may declare the step done."""
        return self.successes >= self.here.step.min_calls and self.valid()

    def valid(self) -> bool:
        """Each validation of the step is true."""
        return all(self.true(rule) is True for rule in self.here.step.validation)

    def admissible(self) -> bool:
        """Some call can still be admitted in the visit."""
        step = self.here.step
        if step.max_calls is not None and self.spent >= step.max_calls:
            return False
        if self.d.optional_tools or self.d.extra_tools:
            return True
        return any(self.quota(e) is None or self.counts.get(i, 0) < (self.quota(e) or 0) for i, e in self.lines())

    def on_failure(self) -> bool:
        """The author wrote where a failure leads."""
        edges = self.here.edges.get("failed", ())
        return bool(edges) and edges[0].target != f"failed:{self.here.step.id}"

    def is_entry(self) -> bool:
        """The router in front of a step."""
        return self.here.kind is StateKind.ROUTER and self.here.step is not None and self.here.step.id != self.state

    def untouched(self) -> bool:
        """An optional step in which nothing was called."""
        return self.here.kind is StateKind.STEP and not self.here.step.required and self.spent == 0


def reads(rule: Expression, definition: Definition) -> set[str]:
    """Facts by name, and `*run` where a rule reads what any call may change."""
    found: set[str] = set()
    for read in rule.reads:
        root, *rest = read.path
        if root in ("facts", "history"):
            found.add(str(rest[0]))
        elif root in ("run", "claims"):
            found.add("*run")
        elif root == "terms":
            found |= reads(definition.terms[str(rest[0])], definition)
    return found
