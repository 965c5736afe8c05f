"""
What the gate answers.

A refused call is a verdict, not an exception: the run goes on, and the model is told what it may do instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from guideway.statemachine.span import Span


class Allow(NamedTuple):
    """The call may run now, once.  Report what came of it with `Session.observe`."""

    call_id: str
    tool: str
    step: str
    control: bool = False
    """A control tool (`complete_step`, `skip_step`): the session has carried it out; there is nothing to run."""

    @property
    def allowed(self) -> bool:
        """True: the host runs the call."""
        return True


class Defer(NamedTuple):
    """Not yet: the call is decided again when calls before it have settled.  `Progress.verdicts` brings the answer."""

    call_id: str
    tool: str
    why: str

    @property
    def allowed(self) -> bool:
        """False: the host must not run the call now."""
        return False


class NeedsApproval(NamedTuple):
    """A person decides first, on exactly this call.  `approval_id` is what the control plane decides on."""

    call_id: str
    tool: str
    step: str
    approval_id: str
    ask: str
    approvers: tuple[str, ...]

    @property
    def allowed(self) -> bool:
        """False: the host must not run the call now."""
        return False


@dataclass(frozen=True, slots=True)
class LegalCall:
    """A call that is legal now, with what it must satisfy.  `left` is how many more may succeed (none: no quota)."""

    tool: str
    step: str
    where: tuple[str, ...] = ()
    because: str | None = None
    left: int | None = None
    needed: bool = True
    needs_approval: bool = False
    carries: tuple[str, ...] = ()
    """Claims that `complete_step` must carry here."""

    def __str__(self) -> str:
        text = f"`{self.tool}`"
        if self.carries:
            text += " carrying " + ", ".join(f"`{name}`" for name in self.carries)
        if self.where:
            text += " where " + " and ".join(f"`{w}`" for w in self.where)
        return text + (" (a person approves first)" if self.needs_approval else "")


@dataclass(frozen=True, slots=True)
class Deny:
    """
    The call does not run, and this is why.

    `code` is one of the names of `guideway.runtime.teach.REASONS`; `rule` is what refused it, as the author wrote it;
    `path` is the shortest way, tool by tool, to where the wanted tool is legal; `message` is ready for the model.
    """

    call_id: str
    tool: str
    code: str
    message: str
    step: str = ""
    rule: str | None = None
    span: Span | None = None
    because: str | None = None
    legal: tuple[LegalCall, ...] = ()
    path: tuple[str, ...] | None = None
    budgets: tuple[tuple[str, int], ...] = ()

    @property
    def allowed(self) -> bool:
        """False: the call must not run."""
        return False


class Illegal(NamedTuple):
    """
    The playbook refuses the call, and the session only records (S55): the host runs it, and it moves nothing.

    `code` and `message` are those of the `Deny` that `enforce` mode would have answered.
    """

    call_id: str
    tool: str
    step: str
    code: str
    message: str

    @property
    def allowed(self) -> bool:
        """True: the host runs the call; report what came of it with `Session.observe`."""
        return True


Verdict = Allow | Defer | NeedsApproval | Deny | Illegal

WORDS: dict[type, str] = {
    Allow: "allow", Defer: "defer", NeedsApproval: "needs_approval", Deny: "deny", Illegal: "illegal",
}  # fmt: skip


class Progress(NamedTuple):
    """
    What an event moved.

    `verdicts` are new answers for calls that had been deferred or were waiting for a person; run those now allowed.
    """

    state: str
    verdicts: tuple[Verdict, ...]
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Decided:
    """
    What became of a person's decision.

    `accepted` is false where it came too late or from somebody who may not decide; `reason` then says so, and nothing
    has changed (but for timers that fell due).
    """

    accepted: bool
    reason: str
    progress: Progress


class RunCall(NamedTuple):
    """Carry out this call of an automatic step and report it with `Session.observe`."""

    call_id: str
    tool: str
    args: dict[str, Any]
    step: str


class Wait(NamedTuple):
    """
    Nothing to do before `due`: call `Session.tick` then.

    Where `due` is None the wait is for the outside signal `signal`, or, with none, for something to hold.
    """

    call_id: str
    due: Any
    step: str
    signal: str | None = None


class Ask(NamedTuple):
    """
    Show a person this question and decide or answer it through the control plane.

    `reminders` counts how often the person has been reminded; each time the command is issued anew.
    """

    call_id: str
    ask: str
    approvers: tuple[str, ...]
    step: str
    choices: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    reminders: int = 0


class Cancel(NamedTuple):
    """The run is over: stop this call if that is possible, and report what came of it."""

    call_id: str


Command = RunCall | Wait | Ask | Cancel
