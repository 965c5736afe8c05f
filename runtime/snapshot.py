"""All there is to save of a run (S1), as plain JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guideway.statemachine.definition import OutcomeClass
from guideway.statemachine.errors import HostError
from guideway.statemachine.span import Span

from .facts import copy
from .own import Digest, Settled, fingerprint
from .plan import Plan
from .records import stamp
from .run import Bound, Cursor, Pending, Run, Status, Timer, Turn
from .verdicts import WORDS as ANSWERS
from .verdicts import Allow, Ask, Cancel, Defer, Deny, LegalCall, NeedsApproval, RunCall, Wait

VERSION = 1

PLAIN = (
    "run_id", "started_by", "iterations", "calls", "tokens", "nudges", "refusals", "numbered", "confidence", "text",
    "text_only", "fresh", "ending", "outcome",
)  # fmt: skip
COPIED = ("inputs", "facts", "history", "visits", "retired", "incomplete", "unknown")
COUNTERS = (
    "step",
    "visit",
    "spent",
    "successes",
    "failures",
    "rounds",
    "issued",
    "again",
    "granted",
    "shown",
    "collected",
    "rejected",
)
OFFER = ("tool", "step", "where", "because", "left", "needed", "needs_approval")
PARTS = ("call_id", "tool", "args", "automatic", "step", "visit", "orphan", "approved", "fault")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at rest.  `data` is JSON; it names the digest of its playbook, and fits no other."""

    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A copy that may be written anywhere."""
        copied: dict[str, Any] = json.loads(json.dumps(self.data))
        return copied


def outcome_class(run: Run) -> str | None:
    """The class of the outcome, once there is one."""
    if run.outcome is None:
        return None
    head = run.outcome.partition(":")[0]
    if head in OutcomeClass.__members__.values():
        return head
    end = run.row.state.end
    return end.outcome_class.value if end else None


def take(run: Run) -> Snapshot:
    """Write the run down."""
    leaves = [leaf for found in run.plan.called.values() for leaf in found]
    calls = [*run.outstanding.values(), *(run.turn.calls if run.turn else ()), *run.waiting]
    unique = list({id(bound): bound for bound in calls}.values())
    index = {id(bound): i for i, bound in enumerate(unique)}
    data: dict[str, Any] = {
        "version": VERSION,
        "digest": run.plan.definition.digest,
        **{name: getattr(run, name) for name in PLAIN},
        **{name: copy(getattr(run, name)) for name in COPIED},
        "started": stamp(run.started),
        "now": stamp(run.now),
        "cursor": cursor_json(run.cursor),
        "bound": [bound_json(bound) for bound in unique],
        "outstanding": [index[id(b)] for b in run.outstanding.values()],
        "waiting": [index[id(b)] for b in run.waiting],
        "turn": turn_json(run.turn, index),
        "settled": {call_id: settled_json(run, call_id) for call_id in run.settled},
        "pending": [pending_json(p, index) for p in run.pending.values()],
        "timers": [[stamp(t.due), t.kind, t.step, t.visit] for t in run.timers],
        "called": [i for i, leaf in enumerate(leaves) if leaf in run.called],
        "doubted": [i for i, leaf in enumerate(leaves) if leaf in run.doubted],
        "commands": [command_json(c) for c in run.commands.values()],
    }
    return Snapshot(data)


def cursor_json(cursor: Cursor) -> dict[str, Any]:
    """Place and registers."""
    return {
        "state": cursor.state,
        **{name: copy(getattr(cursor, name)) for name in COUNTERS},
        "counts": {str(index): count for index, count in cursor.counts.items()},
        "barred": {tool: stamp(until) for tool, until in (cursor.barred or {}).items()},
    }


def bound_json(bound: Bound) -> dict[str, Any]:
    """A call that is not settled."""
    return {
        **{name: copy(getattr(bound, name)) for name in PARTS},
        "status": bound.status.value,
        "line": bound.line.index if bound.line else None,
        "outcome": list(bound.outcome) if bound.outcome else None,
        "answer": answer_json(bound.answer),
    }


def answer_json(answer: Any) -> list[Any] | None:
    """The verdict a repeated proposal gets."""
    if answer is None:
        return None
    if isinstance(answer, Deny):
        return ["deny", *denial_json(answer)]
    return [ANSWERS[type(answer)], *(list(v) if isinstance(v, tuple) else v for v in answer)]


def settled_json(run: Run, call_id: str) -> list[Any]:
    """How a call ended.  Its value is replaced by its digest, here and in the run: it is only compared from now on."""
    word, value, fault = run.settled[call_id]
    if value is None:
        return [word, None, fault]
    if not isinstance(value, Digest):
        value = Digest(fingerprint(value).hex())
        run.settled[call_id] = Settled(word, value, fault)
    return [word, value.sha256, fault]


def denial_json(denial: Deny) -> list[Any]:
    """A denial, with all it teaches."""
    plain = [getattr(denial, name) for name in ("call_id", "tool", "code", "message", "step", "rule")]
    offers = [[getattr(call, name) for name in OFFER] for call in denial.legal]
    span, way = denial.span, denial.path
    return [
        *plain, span and list(span), denial.because, [[*o[:2], list(o[2]), *o[3:]] for o in offers],
        None if way is None else list(way), [list(budget) for budget in denial.budgets],
    ]  # fmt: skip


def turn_json(turn: Turn | None, index: Mapping[int, int]) -> dict[str, Any] | None:
    """The open turn."""
    if turn is None:
        return None
    return {
        "number": turn.number, "text": turn.text, "began": [list(b) for b in turn.began], "denied": turn.denied,
        "failed": turn.failed, "succeeded": turn.succeeded, "calls": [index[id(b)] for b in turn.calls],
    }  # fmt: skip


def pending_json(pending: Pending, index: Mapping[int, int]) -> list[Any]:
    """A question to a person."""
    p, call = pending, index[id(pending.call)] if pending.call else None
    return [p.approval_id, p.of, p.step, p.visit, p.ask, list(p.approvers), call, p.tool, copy(p.args)]


def command_json(command: Any) -> list[Any]:
    """A command, its kind first."""
    values = [stamp(v) if isinstance(v, datetime) else list(v) if isinstance(v, tuple) else v for v in command]
    return [type(command).__name__, *values]


def restore(plan: Plan, saved: Snapshot | Mapping[str, Any]) -> Run:
    """
    Make the run again.

    Raises:
        HostError: another playbook's snapshot, another version's, or none at all.
    """
    data = saved.data if isinstance(saved, Snapshot) else saved
    if not isinstance(data, Mapping) or data.get("version") != VERSION:
        raise HostError("this is no snapshot that this version of guideway can read")
    if data.get("digest") != plan.definition.digest:
        raise HostError(f"the snapshot is of another playbook or version than `{plan.definition.id}`")
    try:
        return rebuild(plan, data)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise HostError(f"the snapshot is damaged: {type(error).__name__} {error}") from None


def rebuild(plan: Plan, data: Mapping[str, Any]) -> Run:
    """The inverse of `take`."""
    run = Run(plan, copy(data["inputs"]), data["run_id"], data["started_by"], moment(data["started"]))
    for name in (*PLAIN, *COPIED):
        setattr(run, name, like(getattr(run, name), data[name], name))
    run.now = moment(data["now"])
    run.cursor = cursor_of(data["cursor"])
    run.row = plan.rows[run.cursor.state]
    bounds = [bound_of(plan, part) for part in data["bound"]]
    run.outstanding = {bounds[i].call_id: bounds[i] for i in data["outstanding"]}
    run.waiting = [bounds[i] for i in data["waiting"]]
    run.turn = turn_of(data["turn"], bounds)
    run.settled = {call_id: settled_of(value) for call_id, value in data["settled"].items()}
    run.pending = {p[0]: pending_of(p, bounds) for p in data["pending"]}
    run.timers = [Timer(due, *rest) for due, *rest in ((moment(t[0]), *t[1:]) for t in data["timers"]) if due]
    leaves = [leaf for found in plan.called.values() for leaf in found]
    run.called = frozenset(leaves[i] for i in data["called"])
    run.doubted = frozenset(leaves[i] for i in data["doubted"])
    run.commands = {c[1]: command_of(c) for c in data["commands"]}
    return run


def like(fresh: Any, saved: Any, name: str) -> Any:
    """
    A copy of a saved value, which must be of the kind that a new run has there.

    Raises:
        ValueError: it is of another kind.  Where a new run has none yet, anything goes.
    """
    if fresh is not None and type(saved) is not type(fresh):
        raise ValueError(f"`{name}` is no {type(fresh).__name__}")
    return copy(saved)


def moment(text: str | None) -> datetime | None:
    """The inverse of `stamp`."""
    return None if text is None else datetime.fromisoformat(text)


def cursor_of(data: Mapping[str, Any]) -> Cursor:
    """Place and registers."""
    cursor = Cursor(data["state"])
    for name in COUNTERS:
        setattr(cursor, name, like(getattr(cursor, name), data[name], name))
    cursor.counts = {int(index): count for index, count in data["counts"].items()}
    barred = {tool: until for tool, text in data["barred"].items() if (until := moment(text))}
    cursor.barred = barred or None
    return cursor


def bound_of(plan: Plan, data: Mapping[str, Any]) -> Bound:
    """A call that is not settled."""
    bound = Bound(data["call_id"], data["tool"], copy(data["args"]), data["automatic"])
    for name in PARTS[4:-1]:
        setattr(bound, name, like(getattr(bound, name), data[name], name))
    bound.fault = tuple(data["fault"]) if data["fault"] else None
    bound.status = Status(data["status"])
    if data["line"] is not None:
        bound.line = plan.rows[bound.step].lines[data["line"]]
    bound.outcome = Settled(*data["outcome"]) if data["outcome"] else None
    bound.answer = answer_of(data["answer"])
    return bound


def answer_of(data: list[Any] | None) -> Any:
    """The inverse of `answer_json`."""
    if data is None:
        return None
    kind, *values = data
    if kind == "deny":
        return denial_of(values)
    classes: dict[str, Any] = {"allow": Allow, "defer": Defer, "needs_approval": NeedsApproval}
    return classes[kind](*(tuple(v) if isinstance(v, list) else v for v in values))


def settled_of(data: list[Any]) -> Settled:
    """The inverse of `settled_json`."""
    word, sha256, fault = data
    return Settled(word, None if sha256 is None else Digest(sha256), fault)


def denial_of(data: list[Any]) -> Deny:
    """The inverse of `denial_json`."""
    call_id, tool, code, message, step, rule, span, because, offers, way, budgets = data
    legal = tuple(LegalCall(name, where, tuple(rules), *rest) for name, where, rules, *rest in offers)
    place, path = (None if span is None else Span(*span)), (None if way is None else tuple(way))
    left = tuple((name, count) for name, count in budgets)
    return Deny(call_id, tool, code, message, step, rule, place, because, legal, path, left)


def turn_of(data: Mapping[str, Any] | None, bounds: list[Bound]) -> Turn | None:
    """The open turn."""
    if data is None:
        return None
    turn = Turn(data["number"], data["text"], tuple((step, visit) for step, visit in data["began"]))
    turn.calls = [bounds[i] for i in data["calls"]]
    turn.denied, turn.failed, turn.succeeded = data["denied"], data["failed"], data["succeeded"]
    return turn


def pending_of(data: list[Any], bounds: list[Bound]) -> Pending:
    """A question to a person."""
    approval_id, of, step, visit, ask, approvers, call, tool, args = data
    pending = Pending(approval_id, of, step, visit, ask, tuple(approvers))
    pending.call = None if call is None else bounds[call]
    pending.tool, pending.args = tool, pending.call.args if pending.call else copy(args)
    return pending


def command_of(data: list[Any]) -> Any:
    """A command, by its kind."""
    kind, *values = data
    if kind == "Wait":
        return Wait(values[0], moment(values[1]), values[2])
    if kind == "Ask":
        return Ask(values[0], values[1], tuple(values[2]), values[3])
    return {"RunCall": RunCall, "Cancel": Cancel}[kind](*values)
