"""
A run told in lines, one for each thing that happens.

What tools and models said is shown with every character that could move a cursor or colour a terminal made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from guideway.statemachine.definition import Definition, State, StateKind
from guideway.statemachine.policies import Policy
from guideway.statemachine.steps import Entry, Step
from guideway.statemachine.tools import Tool

from .teach import REASONS
from .wording import arguments, call_text, printable, value_text


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
    SIGNAL = "signal"
    USER = "user"
    END = "end"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is about, its text, how far it stands in, and, of a `step`, the step's id."""

    mark: Mark
    text: str
    indent: int = 0
    step: str = ""


def narrate(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    """
    Tell one record (as `records.to_json` names it); some say nothing that another does not.

    >>> definition = Definition("p", "P", "a", {}, {})
    >>> [line.text for line in narrate({"kind": "due", "timer": "timeout", "step": "agree"}, definition)]
    ['the timeout of agree is due']
    """
    tellers: Mapping[str, Callable[[Mapping[str, Any], Definition], Iterator[Line]]] = {
        "started": _started, "turn": _turn, "decided": _decided, "settled": _settled, "moved": _moved,
        "asked": _asked, "allowed": _allowed, "edited": _edited, "answered": _answered, "due": _due,
        "claimed": _claimed, "host": _host,
        "signalled": _signalled, "called": _called, "returned": _returned, "closed": _closed, "policy": _policy,
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


QUIET = (StateKind.ROUTER, StateKind.JOIN, StateKind.END)
"""States that say nothing of their own."""


def _arrival(name: str, definition: Definition) -> Iterator[Line]:
    """Entering a state."""
    state = definition.states[name]
    if state.kind not in QUIET and state.step is not None:
        step = state.step.id
        about = printable(state.step.description, 100) or block_text(state, state.step)
        yield Line(Mark.STEP, printable(step) + (f": {about}" if about else ""), step=step)


def block_text(state: State, step: Step) -> str:
    """What a step without a description does, where that is no call and no question: those tell it themselves."""
    match state.kind:
        case StateKind.FORK if step.parallel is not None:
            return f"{len(step.parallel.branches)} branches"
        case StateKind.EACH if step.each is not None:
            return f"once for each {printable(step.each.name)}"
        case StateKind.LOOP if step.repeat is not None:
            return f"until {printable(step.repeat.until.source)}"
        case StateKind.WAIT if step.wait is not None and step.wait.signal is not None:
            return f"wait for the signal {printable(step.wait.signal)}"
        case StateKind.WAIT if step.wait is not None and step.wait.until is not None:
            return f"wait until {printable(step.wait.until.source)}"
        case StateKind.UNDO if step.undo is not None:
            return f"take back {', '.join(map(printable, step.undo.tools)) or 'all'}"
    return ""


def _moved(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    source, event, target = record["source"], record["event"], record["target"]
    own = definition.states[target].kind is StateKind.JOIN and place(target, definition) == source
    if own:  # the block itself: where it leads is told next
        if event == "failed" and not told_by_its_list(record.get("why", "")):
            yield Line(Mark.FAULT, printable(record["why"], 300), 1)
        return
    parts = [] if event in USUAL else [event]
    if (why := record.get("why", "")) and not why.startswith(("approved by ", "answered")):
        parts.append(printable(why, 300))
    if event != "forked" and (guard := chosen(definition, source, event, target)):
        parts.append(guard)
    if parts:
        yield Line(Mark.BRANCH, f"{', '.join(parts)} -> {place(target, definition)}", 1)
    if event != "approved" or definition.states[source].kind is not StateKind.APPROVAL:
        yield from _arrival(target, definition)


def told_by_its_list(why: str) -> bool:
    """The reason of a block's failure is that of a list inside, which has been told."""
    return not why or why.startswith("the branch ") or (why.startswith("`") and why.endswith(" failed"))


USUAL = ("completed", "approved", "entered", "forked", "joined", "again")


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
            if code == "policy" and (because := record.get("because")):
                reason += f", because {printable(because)}"
            yield Line(Mark.DENY, f"{call}: {code}: {reason}", 1)
        case "illegal":
            code = record.get("code", "")
            yield Line(Mark.FAULT, f"{call}: against the playbook ({code}: {REASONS.get(code, code)}); it runs", 1)
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
    elif record["outcome"] == "cancelled":  # what waited for it has been left, or a person knows that it did not happen
        yield Line(Mark.BRANCH, f"{tool} is given up; it was not made", 1)
    else:
        yield Line(Mark.FAULT, f"{tool}: {record['outcome']}", 1)


def _asked(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    whom = ", ".join(map(printable, record.get("approvers", ()))) or "anybody"
    call = f" {call_text(record['tool'], record.get('args'))}" if record.get("tool") else ""
    yield Line(Mark.ASK, f"{whom} on {printable(record['step'])}: {printable(record['ask'], 300)}{call}", 1)


def _allowed(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    note = f": {printable(record['note'], 300)}" if record.get("note") else ""
    yield Line(Mark.ANSWER, f"{printable(record['step'])} allowed by {printable(record['by'])}{note}; more must", 1)


def _answered(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    by = f" by {printable(record['by'])}" if record.get("by") else ""
    answer = f": {value_text(record['answer'])}" if record.get("answer") else ""
    note = f": {printable(record['note'], 300)}" if record.get("note") else ""
    yield Line(Mark.ANSWER, f"{printable(record['step'])} {record['decision']}{by}{answer}{note}", 1)


DUE = {
    "timeout": "the timeout of {} is due", "expire": "the question of {} has expired",
    "remind": "a reminder of {} is due", "limit": "the time limit is due",
}  # fmt: skip


def _due(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    if text := DUE.get(record["timer"]):
        yield Line(Mark.TIME, text.format(printable(record.get("step", ""))), 1)


def _signalled(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    data = f" {value_text(record['data'])}" if "data" in record else ""
    yield Line(Mark.SIGNAL, f"{printable(record['signal'])}{data}", 1)


def _called(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.BRANCH, f"calls {call_text(record['playbook'], record.get('inputs'))}", 1)
    yield from _arrival(record["state"], definition)


def _returned(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.BRANCH, f"{printable(record['playbook'])} returns {printable(record['outcome'])}", 1)


def _closed(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    if record["event"] != "completed":
        why = f": {printable(record['why'], 300)}" if record.get("why") else ""
        yield Line(Mark.FAULT, f"{printable(record['step'])} {record['event']}{why}", 1)


def _policy(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    policy = next((policy for policy in definition.policies if policy.id == record["policy"]), None)
    written = f" ({written_policy(policy)})" if policy else ""
    because = f", because {printable(policy.because)}" if policy and policy.because else ""
    yield Line(Mark.FAULT, f"the policy {printable(record['policy'])}{written} was not kept{because}", 1)


def written_policy(policy: Policy) -> str:
    """
    A policy as it was written, with the arguments that must agree.

    >>> from guideway.statemachine.policies import Pattern, PolicyKind
    >>> owed = Policy("p", PolicyKind.RESPONSE, (Pattern(tool="off"), Pattern(tool="on")), same=("host", "port"))
    >>> written_policy(owed)
    'response: off, on, same host and port'
    """
    same = f", same {' and '.join(policy.same)}" if policy.same else ""
    return printable(policy.source + same, 300)


def _edited(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    call = call_text(record["tool"], record.get("args"))
    yield Line(Mark.ANSWER, f"{printable(record['approval_id'])} edited by {printable(record['by'])}: {call}", 1)


def _claimed(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.AGENT, f"claims a confidence of {record['confidence']}", 1)


def _host(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    note = f": {printable(record['note'])}" if record.get("note") else ""
    yield Line(Mark.BRANCH, f"the host says {record['verb']}{note}", 1)


def _turn_ended(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    if record.get("effect") == "nudged":
        yield Line(Mark.BRANCH, "calls nothing; the agent is nudged", 1)


def _ended(record: Mapping[str, Any], definition: Definition) -> Iterator[Line]:
    yield Line(Mark.END, printable(record["outcome"]))
