"""
A run told in lines, one for each thing that happens.

What tools and models said is shown with every character that could move a cursor or colour a terminal made visible.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.span import escaped
from guideway.statemachine.steps import Entry
from guideway.statemachine.tools import Tool

from .driver import Watcher
from .records import Record, to_json
from .redact import Redactor
from .teach import REASONS
from .verdicts import Wait

LONGEST = 120
"""Characters of one value in a line."""
WIDEST = 200
"""Characters of the arguments of one call."""


class Mark(StrEnum):
    """What a line is about; a terminal may colour it."""

    HEAD = "head"
    STEP = "step"
    BRANCH = "branch"
    AGENT = "agent"
    ALLOW = "allow"
    DENY = "deny"
    DEFER = "defer"
    ASK = "ask"
    ANSWER = "answer"
    OK = "ok"
    FAULT = "fault"
    TIME = "time"
    END = "end"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is about, its text, and how far it stands in."""

    mark: Mark
    text: str
    indent: int = 0


class Narrator(Watcher):
    """Tells what happens, line by line, to `tell`."""

    def __init__(self, definition: Definition, redactor: Redactor, tell: Callable[[Line], None]) -> None:
        self._definition = definition
        self._redactor = redactor
        self._tell = tell

    def happened(self, records: Sequence[Record]) -> None:
        """Tell the records."""
        for record in records:
            for line in narrate(self._redactor.record(to_json(record)), self._definition):
                self._tell(line)

    def waits(self, wait: Wait, seconds: float) -> None:
        """Tell how long."""
        self._tell(Line(Mark.TIME, f"waits {seconds:.1f} s", 1))

    def objected(self, approval_id: str, why: str) -> None:
        """Tell why a decision does not count."""
        reason = printable(self._redactor.hide(why))
        self._tell(Line(Mark.FAULT, f"the decision on {printable(approval_id)} does not count: {reason}", 1))


def narrate(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    """
    Tell one record (as `records.to_json` names it); some say nothing that another does not.

    >>> definition = Definition("p", "P", "a", {}, {})
    >>> [line.text for line in narrate({"kind": "due", "timer": "timeout", "step": "agree"}, definition)]
    ['the timeout of agree is due']
    """
    tellers: Mapping[str, Callable[[Mapping[str, Any], Definition], Iterator[Line]]] = {
        "started": _started, "turn": _turn, "decided": _decided, "settled": _settled, "moved": _moved,
        "asked": _asked, "answered": _answered, "due": _due, "claimed": _claimed, "host": _host,
        "turn_ended": _turn_ended, "ended": _ended,
    }  # fmt: skip
    teller = tellers.get(record["kind"])
    if teller is not None:
        yield from teller(record, definition)


def _started(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.HEAD, f"{printable(definition.name)} [{definition.id} {record['digest'][:12]}] run {record['run']}")
    if given := record.get("inputs"):
        yield Line(Mark.HEAD, f"with {arguments(given)}")
    yield from _arrival(definition.initial, definition)


def _arrival(name: str, definition: Definition, extra: str = "") -> Iterator[Line]:
    """Entering a state; routers and ends say nothing of their own."""
    state = definition.states[name]
    if state.kind in (StateKind.STEP, StateKind.CALL, StateKind.APPROVAL) and state.step is not None:
        about = printable(state.step.description, 100)
        yield Line(Mark.STEP, printable(state.step.id) + (f": {about}" if about else "") + extra)


def _moved(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    source, event, target = record["source"], record["event"], record["target"]
    parts = [] if event in USUAL else [event]
    if (why := record.get("why", "")) and not why.startswith("approved by "):
        parts.append(printable(why, 300))
    if guard := chosen(definition, source, event, target):
        parts.append(guard)
    if parts:
        yield Line(Mark.BRANCH, f"{', '.join(parts)} -> {place(target, definition)}", 1)
    if event != "approved" or definition.states[source].kind is not StateKind.APPROVAL:
        yield from _arrival(target, definition)


USUAL = ("completed", "approved", "entered")


def place(name: str, definition: Definition) -> str:
    """A state as people know it: its step, or the end."""
    state = definition.states[name]
    return printable(state.step.id if state.step else name)


def chosen(definition: Definition, source: str, event: str, target: str) -> str:
    """Say which branch of several was taken: by its guard, or as the one that is left."""
    state = definition.states.get(source)
    branches = state.edges.get(event, ()) if state else ()
    taken = [edge for edge in branches if edge.target == target]
    if len(branches) < 2 or len(taken) != 1:
        return ""
    return f"as {printable(taken[0].guard.source)}" if taken[0].guard else "as nothing above it is true"


def _turn(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    tokens = f", {record['tokens']} tokens" if record.get("tokens") else ""
    said = f": {printable(record['text'], 300)}" if record.get("text") else ""
    yield Line(Mark.AGENT, f"turn {record['number']}{tokens}{said}", 1)


def _decided(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    call = call_text(record["tool"], record.get("args"))
    detail = printable(record.get("detail", ""))
    match record["verdict"]:
        case "allow":
            yield Line(Mark.ALLOW, call, 1)
        case "deny":
            code = record.get("code", "")
            detail = detail or rule_text(record, definition)
            reason = REASONS.get(code, code) + (f" ({detail})" if detail else "")
            yield Line(Mark.DENY, f"{call}: {code}: {reason}", 1)
        case "defer":
            yield Line(Mark.DEFER, f"{call}: {detail}", 1)
        case _:
            return  # the question itself is told


def rule_text(record: Mapping[str, Any], definition: Definition) -> str:
    """The `where` that refused a call, as it was written, with its reason; nothing where several might have."""
    if record.get("code") != "where":
        return ""
    name, step = record["tool"], definition.steps.get(record.get("step", ""))
    entries = step.work.entries if step and step.work else ()
    named = [e for e in entries if e.tool == name]
    tool = definition.tool(name)
    sources: list[Entry | Tool] = [*named, *([tool] if tool else [])]
    rules = [source.where.source for source in sources if source.where is not None]
    reason = next((source.because for source in sources if source.because), None)
    told = " and ".join(f"`{printable(rule)}`" for rule in rules) if len(named) < 2 else ""
    return told + (f", because {printable(reason)}" if told and reason else "")


def _settled(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    tool, detail = printable(record["tool"]), record.get("detail") or {}
    if record["outcome"] == "ok" and record.get("counts"):
        yield Line(Mark.OK, f"{tool} -> {value_text(detail.get('result'))}" if "result" in detail else tool, 1)
    elif record["outcome"] == "ok":
        fault = printable(detail.get("fault", "it does not count"))
        yield Line(Mark.FAULT, f"{tool} -> {value_text(detail.get('result'))}: {fault}", 1)
    elif record["outcome"] == "error":
        kind, message = printable(detail.get("type", "error")), printable(detail.get("message", ""), 300)
        yield Line(Mark.FAULT, f"{tool}: {kind}: {message}", 1)
    else:
        yield Line(Mark.FAULT, f"{tool}: {record['outcome']}", 1)


def _asked(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    whom = ", ".join(map(printable, record.get("approvers", ()))) or "anybody"
    call = f" {call_text(record['tool'], record.get('args'))}" if record.get("tool") else ""
    yield Line(Mark.ASK, f"{whom} on {printable(record['step'])}: {printable(record['ask'], 300)}{call}", 1)


def _answered(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    by = f" by {printable(record['by'])}" if record.get("by") else ""
    note = f": {printable(record['note'], 300)}" if record.get("note") else ""
    yield Line(Mark.ANSWER, f"{printable(record['step'])} {record['decision']}{by}{note}", 1)


def _due(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    if record["timer"] == "timeout":
        yield Line(Mark.TIME, f"the timeout of {printable(record['step'])} is due", 1)


def _claimed(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.AGENT, f"claims a confidence of {record['confidence']}", 1)


def _host(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.BRANCH, f"the host says {record['verb']}: {printable(record.get('note', ''))}", 1)


def _turn_ended(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    said = {"nudged": "calls nothing; the agent is nudged", "skipped": "calls nothing; the step is skipped"}
    if text := said.get(record.get("effect", "")):
        yield Line(Mark.BRANCH, text, 1)


def _ended(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.END, printable(record["outcome"]))


def call_text(tool: str, args: Any) -> str:
    """
    A call as people read it.

    >>> call_text("isolate_host", {"host": "ws-7", "hours": 2})
    'isolate_host(host="ws-7", hours=2)'
    """
    return f"{printable(tool)}({arguments(args) if isinstance(args, Mapping) else ''})"


def arguments(args: Mapping[str, Any]) -> str:
    """Names and values, shortened: the trace holds them whole."""
    whole = ", ".join(f"{printable(name)}={value_text(value, 60)}" for name, value in args.items())
    return printable(whole, WIDEST)


def value_text(value: Any, limit: int = LONGEST) -> str:
    """A value as JSON, never at length."""
    return printable(json.dumps(value, ensure_ascii=False), limit)


def printable(text: Any, limit: int = LONGEST) -> str:
    r"""
    Cut a text, and show what cannot be seen.

    >>> printable("a\x1b[31mb\n"), printable("x" * 9, 4)
    ('a\\x1b[31mb\\n', 'xxxx…')
    """
    text = str(text)
    cut = text if len(text) <= limit else text[:limit] + "…"
    return escaped(cut)
