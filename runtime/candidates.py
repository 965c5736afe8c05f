"""Which entry of a step takes a call (S14.5), and what `tools` itself demands of one."""

from __future__ import annotations

from typing import Any, NamedTuple

from guideway.statemachine.approvals import Approval

from .completion import all_met
from .cursors import Cursor
from .frames import Frame
from .plan import Line
from .run import Bound, Run
from .scope import scope, truth

NEEDED, REPEAT, OPTIONAL, OUTSIDE = range(4)
"""How well an entry fits a call, best first."""


class Admit(NamedTuple):
    """The call may run, for `line` (none: extra, optional everywhere, automatic), after `approval` if there is one."""

    line: Line | None
    approval: Approval | None
    frame: Frame
    cursor: Cursor | None = None
    rank: int = OUTSIDE


class Hold(NamedTuple):
    """Decide again later."""

    why: str


class Refuse(NamedTuple):
    """The call does not run.  `line` and `rule` are what refused it."""

    code: str
    detail: str = ""
    line: Line | None = None
    rule: Any = None
    cursor: Cursor | None = None


Decision = Admit | Hold | Refuse


def best_of(run: Run, bound: Bound, cursor: Cursor, lines: tuple[Line, ...]) -> Decision:
    """The cursor's best entry for the call: needed before repeat before optional; then listed order."""
    refused = Refuse("out_of_sequence", cursor=cursor)
    ranked: list[tuple[int, int, Line]] = []
    for line in lines:
        rank = rank_of(run, bound, cursor, line)
        if isinstance(rank, int):
            ranked.append((rank, line.index, line))
        elif isinstance(rank, Hold):
            return rank
        else:
            refused = rank
    names = scope(run, cursor.frame, args=bound.args) if any(line.where for _, _, line in ranked) else {}
    for rank, _, line in sorted(ranked, key=lambda r: r[:2]):
        if (failed := unmet(run, cursor, line, names)) is None:
            approval = applies(run, cursor.frame, line.approval, bound)
            return Admit(line, approval, cursor.frame, cursor, rank)
        refused = failed
    return refused


def rank_of(run: Run, bound: Bound, cursor: Cursor, line: Line) -> int | Hold | Refuse:
    """How well the entry fits; or why it takes no call now."""
    taken = cursor.counts.get(line.index, 0)
    waiting = sum(1 for o in run.outstanding.values() if o.line is line and o is not bound and o.of(cursor))
    if line.times is not None and taken + waiting >= line.times:
        return Refuse("quota", f"{line.times} is all the step asks for", line, cursor=cursor)
    if not line.needed:
        return OPTIONAL
    if (step := cursor.row.step) and step.work and step.work.listed and not all_met(cursor, upto=line.index):
        if waiting_before(run, bound, cursor, line):
            return Hold("tools before it in the list come first")
        return Refuse("order", "", line, cursor=cursor)
    return NEEDED if taken + waiting < 1 or line.times is not None else REPEAT


def waiting_before(run: Run, bound: Bound, cursor: Cursor, line: Line) -> bool:
    """An entry earlier in the list has a call under way, made before this one."""
    for other in run.outstanding.values():
        if other is bound:
            return False
        if other.line is not None and other.cursor is cursor and other.line.index < line.index:
            return True
    return False


def unmet(run: Run, cursor: Cursor, line: Line, names: dict[str, Any]) -> Refuse | None:
    """The first `where` of the entry or its tool that is not true."""
    for rule in line.where:
        answer = truth(run, cursor.frame, rule, names)
        if answer is not True:
            return Refuse("where", answer if isinstance(answer, str) else "", line, rule, cursor)
    return None


def declared(run: Run, bound: Bound, frame: Frame, cursor: Cursor | None = None) -> Decision:
    """What `tools.T` itself demands of a call: `where` and `approval`."""
    there = frame.declaring(bound.tool)
    tool = there.plan.tool(bound.tool)
    if tool is None:
        return Admit(None, None, frame, cursor)
    if tool.where is not None:
        answer = truth(run, there, tool.where, scope(run, there, args=bound.args))
        if answer is not True:
            return Refuse("where", answer if isinstance(answer, str) else "", None, tool.where, cursor)
    return Admit(None, applies(run, there, tool.approval, bound), frame, cursor)


def applies(run: Run, frame: Frame, approval: Approval | None, bound: Bound | None) -> Approval | None:
    """The rule that decides: the first whose `when` is true or unknown; where none applies, nobody is asked."""
    if approval is None or (approval.when is None and not approval.more):
        return approval
    more = {} if bound is None else {"args": bound.args}
    names = scope(run, frame, **more)
    for rule in approval.rules():
        if rule.when is None or truth(run, frame, rule.when, names) is not False:
            return rule
    return None
