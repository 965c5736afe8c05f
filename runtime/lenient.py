"""Sessions that only watch (S55): what the playbook refuses runs all the same, is recorded, and moves nothing."""

from __future__ import annotations

from guideway.statemachine.errors import HostError
from guideway.statemachine.tools import CONTROL

from .calls import told
from .own import Settled
from .run import Bound, Run, Status, first
from .teach import explain, refuse
from .verdicts import Illegal

MODES = ("enforce", "record", "shadow")


def check_mode(mode: object) -> str:
    """
    The mode, if it is one.

    Raises:
        HostError: there is no such mode.
    """
    if isinstance(mode, str) and mode in MODES:
        return mode
    raise HostError(f"the mode of a session is one of {', '.join(MODES)}, not {told(mode)}")


def turn_down(run: Run, bound: Bound, code: str, detail: str = "", line: object = None, *more: object) -> None:
    """Refuse a call of the agent's; where the session only watches, say that it would be refused, and let it run."""
    rest: tuple[object, ...] = (line, *more)
    if run.mode == "enforce" or code == "id_reused" or bound.tool in CONTROL:
        refuse(run, bound, code, detail, *rest)  # type: ignore[arg-type]  # as the gate made them
        return
    denial = explain(run, bound, code, detail, *rest)  # type: ignore[arg-type]
    at = bound.cursor or first(run)
    bound.status, bound.illegal = Status.RUNNING, True
    run.outstanding[bound.call_id] = bound
    bound.answer = Illegal(bound.call_id, bound.tool, denial.step, denial.code, denial.message)
    run.verdicts.append(bound.answer)
    run.record(
        "decided", bound.call_id, bound.tool, bound.args, "illegal", denial.step, at.row.name, code, detail or None,
        denial.rule, denial.because, at.frame.shown,
    )  # fmt: skip


def settle_illegal(run: Run, bound: Bound, outcome: Settled, detail: object) -> None:
    """What came of it is recorded; no register, fact or monitor hears of it."""
    del run.outstanding[bound.call_id]
    bound.status = Status.DONE
    run.settled[bound.call_id] = outcome
    frame = bound.frame or run.frame
    run.record("settled", bound.call_id, bound.tool, outcome.word, detail, False, bound.step, frame.shown)
