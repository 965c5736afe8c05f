"""
Policies at work (S41 to S43): each is a small table, and where it stands is one number per frame.

What a call does to a policy counts from its admission where it could violate it, and from its success where it keeps
it.  The admitted calls that are not settled are therefore reckoned with when the next one is decided, and written down
only when they settle.  A frame sees its own calls and those of the playbooks it has called (S33).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from guideway.statemachine.canonical import canonical
from guideway.statemachine.policies import Pattern, Policy, PolicyKind

from .cursors import Cursor
from .frames import Frame
from .run import Bound, Run
from .scope import scope, truth

CHAINS = frozenset({PolicyKind.CHAIN_PRECEDENCE, PolicyKind.CHAIN_RESPONSE, PolicyKind.CHAIN_SUCCESSION})

CAN_VIOLATE: dict[PolicyKind, tuple[bool, ...]] = {
    PolicyKind.PRECEDENCE: (False, True),
    PolicyKind.RESPONSE: (True, False),
    PolicyKind.SUCCESSION: (False, True),
    PolicyKind.NEVER: (True,),
    PolicyKind.AT_MOST: (True,),
    PolicyKind.AT_LEAST: (False,),
    PolicyKind.EXACTLY: (True,),
    PolicyKind.NOT_TOGETHER: (True, True),
    PolicyKind.CHAIN_PRECEDENCE: (False, True),
    PolicyKind.CHAIN_RESPONSE: (False, False),
    PolicyKind.CHAIN_SUCCESSION: (False, True),
}
"""Which events of a policy count from admission: those that violate it, or oblige to something."""


UNKNOWN = "?"
"""The combination of a call that lacks one of the arguments that must agree: it keeps nothing, and violates (S44)."""


class Made(NamedTuple):
    """Where a call is made."""

    frame: Frame
    step: str


class Forbidden(NamedTuple):
    """A policy does not let the call run; `maybe` says that calls before it may still change that."""

    policy: Policy
    maybe: bool


def forbids(run: Run, bound: Bound, frame: Frame, step: str, earlier: list[Bound]) -> Forbidden | None:
    """The first policy, innermost playbook first, that the call, made in `step`, would violate (S14.7)."""
    for playbook in frame.playbooks():
        for policy in playbook.plan.definition.policies:
            made = Made(frame, step)
            if policy.kind in CHAINS and earlier and in_chain(run, [bound, *earlier], made, playbook, policy):
                return Forbidden(policy, True)
            if violates(run, bound, made, playbook, policy):
                return Forbidden(policy, any(concerns(other, policy) for other in earlier))
    return None


def in_chain(run: Run, calls: list[Bound], made: Made, playbook: Frame, policy: Policy) -> bool:
    """One of the calls is an event of the chain: which of two comes next must not be left to chance."""
    first, *others = calls
    if columns(run, playbook, policy, first, made):
        return True
    return any(columns(run, playbook, policy, o, Made(o.frame or playbook, o.step)) for o in others)


def out_of_question(run: Run, tool: str, cursor: Cursor) -> bool:
    """Some policy forbids the tool now, whatever its arguments are."""
    sure = [
        (playbook, policy)
        for playbook in cursor.frame.playbooks()
        for policy in playbook.plan.definition.policies
        if not policy.same and not any(event.where for event in policy.events)
    ]
    if not sure:
        return False
    made, bound = Made(cursor.frame, cursor.step), Bound("", tool, {})
    return any(violates(run, bound, made, playbook, policy) for playbook, policy in sure)


def concerns(other: Bound, policy: Policy) -> bool:
    """What becomes of the call may move the policy."""
    return policy.kind in CHAINS or any(names(p, other.tool, "", other.frame) for p in policy.events)


def violates(run: Run, bound: Bound, made: Made, playbook: Frame, policy: Policy) -> bool:
    """The call, once admitted, would take the policy into its violated state, or past its number."""
    touched = [i for i in columns(run, playbook, policy, bound, made) if policy.kind in CHAINS or counts(policy, i)]
    key = key_of(policy, bound)
    if key != UNKNOWN:
        return would_violate(run, bound, touched, playbook, policy, key)
    seen = {*(playbook.monitors or {}).get(policy.id, {}), *(key_of(policy, other) for other in admitted(run, bound))}
    return any(would_violate(run, bound, touched, playbook, policy, one) for one in [UNKNOWN, *sorted(seen)])


def would_violate(
    run: Run, bound: Bound, touched: list[int], playbook: Frame, policy: Policy, key: str
) -> bool:  # fmt: skip
    """The same, for one combination of the arguments that must agree."""
    if policy.counts:
        if not touched or policy.most is None:
            return False
        return counted(playbook, policy, key) + under_way(run, bound, playbook, policy, key) + 1 > policy.most
    if policy.kind in CHAINS and not touched:
        touched = [len(policy.events)]
    state = number(playbook, policy, key)
    for other in admitted(run, bound):
        if policy.kind not in CHAINS and key_of(policy, other) == key:
            for i in columns(run, playbook, policy, other, Made(other.frame or playbook, other.step)):
                state = policy.table[state][i] if counts(policy, i) else state
    return any(policy.table[state][i] == policy.violated for i in touched if i < len(policy.table[state]))


def counted(playbook: Frame, policy: Policy, key: str) -> int:
    """How often the event has happened, those times among it of which nobody can tell."""
    return number(playbook, policy, key) + (number(playbook, policy, UNKNOWN) if policy.same and key != UNKNOWN else 0)


def under_way(run: Run, bound: Bound, playbook: Frame, policy: Policy, key: str) -> int:
    """Admitted calls that are not settled and count."""
    return sum(
        1
        for other in admitted(run, bound)
        if key_of(policy, other) in (key, UNKNOWN)
        and columns(run, playbook, policy, other, Made(other.frame or playbook, other.step))
    )


def admitted(run: Run, bound: Bound) -> Iterator[Bound]:
    """The other calls that are admitted and not settled."""
    return (other for other in run.outstanding.values() if other is not bound)


def counts(policy: Policy, column: int) -> bool:
    """The event counts from admission."""
    return CAN_VIOLATE[policy.kind][column]


def columns(run: Run, playbook: Frame, policy: Policy, bound: Bound, made: Made) -> list[int]:
    """Events of the policy that the call is, as far as can be known before it has run (S44: unknown matches)."""
    if not within(made.frame, playbook):
        return []
    step = made.step if made.frame.owner is playbook else ""
    found = [i for i, p in enumerate(policy.events) if names(p, bound.tool, step, made.frame)]
    if not any(policy.events[i].where for i in found):
        return found
    seen = scope(run, playbook, args=bound.args)
    guards = ((i, policy.events[i].where) for i in found)
    return [i for i, where in guards if where is None or truth(run, playbook, where, seen) is not False]


def within(frame: Frame, playbook: Frame) -> bool:
    """The frame is the playbook's own, or of one it has called."""
    return any(outer is playbook for outer in frame.playbooks())


def names(pattern: Pattern, tool: str, step: str, frame: Frame | None) -> bool:
    """The pattern speaks of the tool, of its effect, or of the step the call belongs to."""
    if pattern.tool is not None:
        return pattern.tool == tool
    if pattern.effect is not None:
        return frame is not None and frame.effect(tool) is pattern.effect
    return pattern.step is not None and pattern.step == step


def key_of(policy: Policy, bound: Bound | None) -> str:
    """The values of the arguments that must agree, as one text; where one is missing, nobody can tell."""
    if not policy.same or bound is None:
        return ""
    if any(name not in bound.args for name in policy.same):
        return UNKNOWN
    return canonical([bound.args.get(name) for name in policy.same]).decode()


def number(frame: Frame, policy: Policy, key: str, kept: bool = False) -> int:
    """Where the policy stands; of one with `least`, `kept` asks how many successes there were."""
    found = (frame.monitors or {}).get(policy.id + "+" if kept else policy.id, 0)
    state: int = found.get(key, 0) if isinstance(found, dict) else found
    return state


def put(frame: Frame, policy: Policy, key: str, value: int, kept: bool = False) -> None:
    """Write down where the policy stands."""
    frame.monitors = frame.monitors or {}
    name = policy.id + "+" if kept else policy.id
    if policy.same:
        frame.monitors[name] = {**frame.monitors.get(name, {}), key: value}
    else:
        frame.monitors[name] = value


def settled(run: Run, bound: Bound, frame: Frame, result: Any, good: bool) -> None:
    """A call has happened; `good` says that it counts as a success.  One that did not happen is no event."""
    for playbook in frame.playbooks():
        for policy in playbook.plan.definition.policies:
            step_on(run, playbook, policy, bound, frame, result, good)


def step_on(
    run: Run, playbook: Frame, policy: Policy, bound: Bound, frame: Frame, result: Any, good: bool
) -> None:  # fmt: skip
    """Take one policy on by one settled call."""
    found = [i for i in (0, 1) if i < len(policy.events) and is_event(run, playbook, policy, i, bound, frame, result)]
    key = key_of(policy, bound)
    if policy.counts:
        if found:
            put(playbook, policy, key, number(playbook, policy, key) + 1)
        if good and any(is_event(run, playbook, policy, i, bound, frame, result, sure=True) for i in found):
            put(playbook, policy, key, number(playbook, policy, key, kept=True) + 1, kept=True)
        return
    if policy.kind in CHAINS:
        found = found or [len(policy.events)]
        moving: Iterable[int] = found if good else ()
    else:
        moving = [i for i in found if counts(policy, i) or good]
    for i in sorted(moving, reverse=True):
        advance(playbook, policy, key, i)


def is_event(
    run: Run, playbook: Frame, policy: Policy, i: int, bound: Bound, frame: Frame, result: Any, sure: bool = False
) -> bool:
    """The settled call is the event; where a guard is unknown, a satisfying one is not and a violating one is (S44)."""
    pattern = policy.events[i]
    if pattern.step is not None or not names(pattern, bound.tool, "", frame):
        return False
    if pattern.where is None and pattern.expect is None and key_of(policy, bound) != UNKNOWN:
        return True
    seen = scope(run, playbook, args=bound.args, result=result)
    answers = [truth(run, playbook, rule, seen) for rule in (pattern.where, pattern.expect) if rule is not None]
    if key_of(policy, bound) == UNKNOWN and not counts(policy, i):
        return False
    if sure or not counts(policy, i):
        return all(answer is True for answer in answers)
    return all(answer is not False for answer in answers)


def advance(frame: Frame, policy: Policy, key: str, column: int) -> None:
    """Follow the table."""
    state = number(frame, policy, key)
    if column < len(policy.table[state]):
        put(frame, policy, key, policy.table[state][column])


def completed(cursor: Cursor) -> None:
    """A step of the cursor's playbook is completed."""
    local(cursor, lambda pattern: pattern.step == cursor.step)


def approved(cursor: Cursor) -> None:
    """A person has approved the step."""
    local(cursor, lambda pattern: pattern.approval == cursor.step)


def local(cursor: Cursor, meant: Any) -> None:
    """Take the policies of the cursor's own playbook on by an event that is no call."""
    frame = cursor.frame.owner
    for policy in frame.plan.definition.policies:
        for i in reversed(range(len(policy.events))):
            if not meant(policy.events[i]):
                continue
            if policy.counts:
                for kept in (False, True):
                    put(frame, policy, "", number(frame, policy, "", kept) + 1, kept)
            else:
                advance(frame, policy, "", i)


def breach(frame: Frame) -> Policy | None:
    """The first policy that is violated, or obliges to something not done (S42)."""
    return next((policy for policy in frame.plan.definition.policies if broken(frame, policy)), None)


def fewest(frame: Frame, policy: Policy) -> int:
    """How often the event has happened; with `same`, that of the combination seen least often, of those seen at all."""
    if not policy.same:
        return number(frame, policy, "", kept=True)
    monitors = frame.monitors or {}
    seen = {**monitors.get(policy.id, {}), **monitors.get(policy.id + "+", {})}
    kept = (number(frame, policy, key, kept=True) for key in seen if key != UNKNOWN)
    return min(kept, default=policy.least or 0)


def broken(frame: Frame, policy: Policy) -> bool:
    """The policy is not kept as things stand."""
    if policy.least is not None and fewest(frame, policy) < policy.least:
        return True
    found = (frame.monitors or {}).get(policy.id, 0)
    if policy.counts:
        keys = found if isinstance(found, dict) else ("",)
        return policy.most is not None and any(counted(frame, policy, key) > policy.most for key in keys)
    states = found.values() if isinstance(found, dict) else (found,)
    return any(state == policy.violated or state in policy.open for state in states)
