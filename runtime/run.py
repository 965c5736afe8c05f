"""The state of one run: what S1 to S3 name, and nothing else.  Only the functions of this room change it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from guideway.statemachine.conditions import ToolCalled
from guideway.statemachine.definition import Edge

from .own import Settled
from .records import Record
from .verdicts import Command

if TYPE_CHECKING:
    from .plan import Line, Plan, Row


class Status(StrEnum):
    """Where a proposed call stands."""

    DEFERRED = "deferred"
    PENDING = "pending"
    """a person decides"""
    RUNNING = "running"
    ARRIVED = "arrived"
    """its outcome is here, and waits for those of earlier calls (S15)"""
    DOUBT = "doubt"
    """nobody knows whether it happened; a person reconciles (S24)"""
    DONE = "done"
    REFUSED = "refused"
    """denied, or rejected by a person: it will never run"""


OPEN = frozenset({Status.PENDING, Status.RUNNING, Status.ARRIVED, Status.DOUBT})


class Bound:
    """A call, bound to the cursor, visit and entry it was admitted under (S14.9)."""

    __slots__ = (
        "answer", "approved", "args", "automatic", "call_id", "fault", "line", "orphan", "outcome", "status", "step",
        "tool", "visit",
    )  # fmt: skip

    def __init__(self, call_id: str, tool: str, args: dict[str, Any], automatic: bool = False) -> None:
        self.call_id = call_id
        self.tool = tool
        self.args = args
        self.automatic = automatic
        self.line: Line | None = None
        """the entry it counts for; none for a call taken as extra, and for an automatic one"""
        self.step = ""
        self.visit = 0
        self.status = Status.DEFERRED
        self.outcome: Settled | None = None
        """what came of it, as reported"""
        self.answer: Any = None
        """the latest verdict on it"""
        self.fault: tuple[str, str] | None = None
        """code and detail of what is wrong with the call itself"""
        self.approved = False
        """a person has allowed exactly this call"""
        self.orphan = False
        """its visit timed out: it still spends and writes facts, but holds neither wave nor turn (S26)"""

    @property
    def open(self) -> bool:
        """Admitted or waiting for a person, and not settled."""
        return self.status in OPEN

    @property
    def holds(self) -> bool:
        """The wave and the turn wait for it."""
        return self.open and not self.orphan


class Turn:
    """One reply of the model, from `propose` to its `turn` event (S12 to S16)."""

    __slots__ = ("began", "calls", "denied", "failed", "number", "succeeded", "text")

    def __init__(self, number: int, text: str, began: tuple[tuple[str, int], ...]) -> None:
        self.number = number
        self.text = text
        self.began = began
        """step and visit of each cursor when the turn began"""
        self.calls: list[Bound] = []
        self.denied = False
        self.failed = False
        self.succeeded = False


class Cursor:
    """A place in the machine, with the registers of its visit (S3).  It is a model of the `Machine`."""

    __slots__ = (
        "again", "barred", "collected", "counts", "edge", "failures", "granted", "issued", "rejected", "rounds",
        "shown", "spent", "state", "step", "successes", "visit",
    )  # fmt: skip

    def __init__(self, state: str) -> None:
        self.state = state
        self.step = ""
        self.visit = 0
        self.edge: Edge | None = None
        """the edge being taken, which is what the guards of the `transitions` view look at"""
        self.counts: dict[int, int] = {}
        """successes per entry, those with at least one"""
        self.spent = 0
        self.successes = 0
        self.failures = 0
        self.rounds = 0
        self.issued = 0
        self.again: dict[str, Any] | None = None
        """arguments the next automatic call must have: a person was shown them, or it is tried again (S23, S29)"""
        self.granted = False
        """that call needs no further approval"""
        self.shown: str | None = None
        """the call a person allowed together with the step"""
        self.collected: list[Any] | None = None
        self.rejected: list[str] | None = None
        """calls a person has rejected in this visit"""
        self.barred: dict[str, datetime] | None = None
        """tool -> not before (the wait of a retry)"""

    def reset(self) -> None:
        """Start the registers anew, as each entry does."""
        self.counts = {}
        self.spent = self.successes = self.failures = self.rounds = self.issued = 0
        self.again = self.collected = self.rejected = self.barred = self.shown = None
        self.granted = False


class Timer:
    """Something that happens by itself at `due`: the `timeout` of a visit, or a `wake` for its next try or round."""

    __slots__ = ("due", "kind", "step", "visit")

    def __init__(self, due: datetime, kind: str, step: str, visit: int) -> None:
        self.due = due
        self.kind = kind
        self.step = step
        self.visit = visit


class Pending:
    """A question to a person: a step approval, the approval of one call, or the reconciling of an unknown one."""

    __slots__ = ("approval_id", "approvers", "args", "ask", "call", "of", "step", "tool", "visit")

    def __init__(self, approval_id: str, of: str, step: str, visit: int, ask: str, approvers: tuple[str, ...]) -> None:
        self.approval_id = approval_id
        self.of = of
        """`step`, `call` or `reconcile`"""
        self.step = step
        self.visit = visit
        self.ask = ask
        self.approvers = approvers
        self.call: Bound | None = None
        self.tool: str | None = None
        self.args: dict[str, Any] | None = None
        """the exact call that is asked about"""


class Run:
    """Everything that moves in one run of a playbook."""

    __slots__ = (
        "busy", "called", "calls", "commands", "confidence", "cursor", "doubted", "ending", "facts",
        "fresh", "history", "incomplete", "inputs", "iterations", "moves", "now", "nudges", "numbered", "outcome",
        "outstanding", "pending", "plan", "records", "refusals", "retired", "row", "run_id", "settled", "shown",
        "started", "started_by", "text", "text_only", "timers", "tokens", "turn", "unknown", "verdicts", "visits",
        "waiting",
    )  # fmt: skip

    def __init__(
        self, plan: Plan, inputs: Mapping[str, Any], run_id: str, started_by: str, now: datetime | None
    ) -> None:
        self.plan = plan
        self.inputs = inputs
        self.run_id = run_id
        self.started_by = started_by
        self.started = self.now = now
        self.cursor = Cursor(plan.definition.initial)
        self.row: Row = plan.rows[plan.definition.initial]
        self.visits: dict[str, int] = {}
        self.facts: dict[str, Any] = {}
        self.history: dict[str, list[Any]] = {}
        self.turn: Turn | None = None
        self.outstanding: dict[str, Bound] = {}
        """open calls by id, oldest first"""
        self.settled: dict[str, tuple[str, Any, str | None]] = {}
        """every id ever used and settled -> how, as `Settled` or bare, to tell a repeated report from another (S52)"""
        self.waiting: list[Bound] = []
        """automatic calls that were deferred (S28)"""
        self.pending: dict[str, Pending] = {}
        self.retired: dict[str, str] = {}
        """approvals decided, expired or void -> how"""
        self.timers: list[Timer] = []
        self.commands: dict[str, Command] = {}
        self.records: list[Record] = []
        """what happened since the records were last read; the fast path notes two events in one (`records.spread`)"""
        self.shown: list[Record] = []
        """the records as they have been read"""
        self.verdicts: list[Any] = []
        """answers given since the verb began, for `Progress`"""
        self.fresh = False
        """the state just entered has not issued its command yet (S9.6)"""
        self.moves = 0
        """automatic moves of the current macro-step (S9.4)"""
        self.called: frozenset[ToolCalled] = frozenset()
        """`tool_called` conditions that have been met"""
        self.doubted: frozenset[ToolCalled] = frozenset()
        """those of which a call may or may not have been one: its `where` or `expect` was unknown"""
        self.iterations = self.calls = self.tokens = self.nudges = self.refusals = self.numbered = 0
        self.confidence: float | None = None
        self.text = ""
        self.text_only = False
        self.incomplete: list[str] = []
        """required steps left with something undone (S22)"""
        self.unknown: list[str] = []
        """tools of non-read calls that nobody could account for (S38)"""
        self.ending: str | None = None
        """the outcome, once it is fixed (S40)"""
        self.outcome: str | None = None
        """the outcome, once it is published"""
        self.busy = False
        """a verb is at work"""

    def shift(self, edge: Edge) -> None:
        """Move the cursor along the edge, through the machine, so that its callbacks fire."""
        self.plan.machine.move(self.cursor, edge)
        self.row = self.plan.rows[edge.target]

    def record(self, kind: str, *values: Any) -> None:
        """Append to the record, in the order of `records.FIELDS`."""
        self.records.append((kind, self.now, *values))
