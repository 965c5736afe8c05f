"""Opening a turn (S12), and telling a repeated proposal from a second one (S52)."""

from __future__ import annotations

from collections.abc import Sequence

from guideway.statemachine.errors import HostError
from guideway.statemachine.tools import CONTROL

from .calls import ToolCall, Usage, is_count, told
from .candidates import Admit, Hold
from .control import at_work
from .ending import check_termination
from .facts import copy
from .loading import twin
from .owing import judge
from .own import clean, same_json
from .questions import write
from .run import Bound, Run, Turn
from .scope import scope
from .teach import explain
from .turns import advance_turn, decide_wave, react
from .verdicts import Allow, Defer, NeedsApproval, Verdict


def check_reply(calls: object, text: object, usage: object) -> None:
    """
    What a host passes to `propose`.

    Raises:
        HostError: it is no list of calls, no text, or no usage.
    """
    if not isinstance(calls, list | tuple):
        raise HostError(f"propose takes a list of ToolCall objects, not {type(calls).__name__}")
    for call in calls:
        if not isinstance(call, ToolCall):
            raise HostError(f"propose takes ToolCall objects, not {told(call)}")
        if not isinstance(call.name, str) or not isinstance(call.call_id, str):
            raise HostError(f"the name and the id of a call are text, not {told(call.name)} and {told(call.call_id)}")
    if not isinstance(text, str):
        raise HostError(f"the text of a reply is a str, not {type(text).__name__}")
    if usage is not None and not (isinstance(usage, Usage) and is_count(usage.tokens)):
        raise HostError(f"usage is a Usage with a count of tokens, not {told(getattr(usage, 'tokens', usage))}")


def foresee_all(run: Run, calls: Sequence[ToolCall]) -> list[Verdict]:
    """What `open_turn` would answer to a whole reply, tried on a copy of the run."""
    tried = twin(run)
    tried.silent = True
    return open_turn(tried, calls, "", None)


def open_turn(run: Run, calls: Sequence[ToolCall], text: str, usage: Usage | None) -> list[Verdict]:
    """Decide the calls of one reply, in model order, wave by wave as far as that goes without running one."""
    tokens = usage.tokens if usage is not None else 0
    bound = bind_all(run, calls)
    text = clean(text)
    run.tokens += tokens
    if run.outcome is None:
        began = () if bound else tuple((cursor, *cursor.at) for cursor in at_work(run))
        turn = run.turn = Turn(run.iterations + 1, text, began)
        turn.calls = bound
        run.record("turn", turn.number, text, tokens)
        check_termination(run)
        react(run)
    decide_wave(run, bound)
    advance_turn(run)
    react(run)
    run.verdicts = []
    return [call.answer for call in bound]


def bind_all(run: Run, calls: Sequence[ToolCall]) -> list[Bound]:
    """Take the calls over: playbook names, ids, copied arguments; what is wrong with one is kept for its decision."""
    taken: set[str] = set()
    return [take_over(run, call, taken) for call in calls]


def take_over(run: Run, call: ToolCall, taken: set[str]) -> Bound:
    """One call, bound to nothing yet."""
    call_id = clean(call.call_id) or number(run, taken)
    name = clean(call.name)
    bound = Bound(call_id, playbook_name(run, name), {})
    if call_id in run.settled or call_id in run.outstanding or call_id in taken:
        bound.fault = ("id_reused", call_id)
    taken.add(call_id)
    try:
        bound.args = copy(dict(call.args))
    except Exception as error:
        bound.fault = bound.fault or ("bad_args", clean(error) or "they are no JSON object")
    return bound


def playbook_name(run: Run, name: str) -> str:
    """The name that the open playbooks use for a tool of the framework."""
    return next((frame.plan.aliases[name] for frame in run.playbooks() if name in frame.plan.aliases), name)


def foresee(run: Run, call: ToolCall) -> Verdict:
    """What a turn of this one call would be answered, with nothing changed."""
    numbered = run.numbered
    bound = take_over(run, call, set())
    run.numbered = numbered
    decision = judge(run, bound)
    if isinstance(decision, Hold):
        return Defer(bound.call_id, bound.tool, decision.why)
    if not isinstance(decision, Admit):
        return explain(run, bound, *decision)
    at = decision.cursor or run.single
    step = at.step if at is not None else ""
    if decision.approval is None:
        control = bound.tool in CONTROL
        return Allow(bound.call_id, bound.tool, step, control)
    question = write(run, decision.approval, scope(run, decision.frame, args=bound.args))
    if isinstance(question, str):
        return explain(run, bound, "approval", question, decision.line)
    ask, approvers, _ = question
    return NeedsApproval(bound.call_id, bound.tool, step, f"call {bound.call_id}", ask, approvers)


def repeated(run: Run, calls: Sequence[ToolCall]) -> list[Verdict]:
    """
    The same calls again, while their turn is open, have the same answers.

    Raises:
        HostError: they are other calls.
    """
    turn = run.turn
    if turn is not None and calls and len(calls) == len(turn.calls):
        pairs = list(zip(calls, turn.calls, strict=True))
        if all(call.call_id and same(run, call, bound) for call, bound in pairs):
            return [bound.answer for bound in turn.calls]
    open_ids = [b.call_id for b in turn.calls if b.open] if turn else []
    raise HostError(f"a turn is open: observe {', '.join(open_ids) or 'its calls'} before proposing again")


def same(run: Run, call: ToolCall, bound: Bound) -> bool:
    """Same id, same tool, same arguments."""
    name = playbook_name(run, call.name)
    try:
        return (call.call_id, name) == (bound.call_id, bound.tool) and same_json(copy(dict(call.args)), bound.args)
    except Exception:
        return False


def number(run: Run, taken: set[str]) -> str:
    """An id for a call that came without: the next number that nobody uses."""
    while True:
        run.numbered += 1
        call_id = f"call-{run.numbered}"
        if call_id not in run.settled and call_id not in run.outstanding and call_id not in taken:
            return call_id
