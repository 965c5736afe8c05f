"""What an enforcer has beside its public verbs: the session it runs, and how the plan is kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SerializationInfo, field_serializer

from guideway.door import load
from guideway.playbooks.models import PlaybookStep
from guideway.runtime.calls import Outcome, ToolCall
from guideway.runtime.records import Record, to_json
from guideway.runtime.session import Session
from guideway.runtime.verdicts import Deny, Illegal, Verdict
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine
from guideway.statemachine.tools import CONTROL, Effect

from .answers import NO_VIOLATION, Answer, answer_to, reason_of
from .joining import join
from .machines import beyond_names, definition_of, machine_by_hand, machine_of
from .plan import PlaybookPlan
from .results import EnforcementResult, EnforcementViolation
from .view import RAN_UNASKED, place, unfold

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Running(BaseModel):
    """A run of a playbook, as JSON that holds all of it, with the session that decides."""

    model_config = ConfigDict(extra="forbid")

    plan: PlaybookPlan = Field(description="How far the run has come.")
    block_violations: bool = Field(default=True, description="A call against the playbook may not run.")
    record_violations: bool = Field(default=True, description="Violations are kept.")
    advances: bool = Field(default=False, description="A step is over when its tools have succeeded, as under a hook.")
    skills: dict[str, list[str]] = Field(default_factory=dict, description="The tools each skill stands for.")
    inputs: dict[str, Any] = Field(default_factory=dict, description="What the playbook's `inputs` are given.")
    found: list[EnforcementViolation] = Field(default_factory=list, description="The violations, in order.")
    numbered: int = Field(default=0, description="How many ids have been given to calls.")
    saved: dict[str, Any] | None = Field(default=None, description="The run, as its snapshot; in JSON always there.")

    _session: Session = PrivateAttr()
    _machine: Machine = PrivateAttr()
    _news: list[Verdict] = PrivateAttr(default_factory=list)
    _lock: Lock = PrivateAttr(default_factory=Lock)
    _beyond: str | None = PrivateAttr(default=None)
    _watches: bool = PrivateAttr(default=False)
    _seen: int = PrivateAttr(default=0)
    _clock: Clock = PrivateAttr(default_factory=lambda: utc_now)

    def model_post_init(self, context: Any, /) -> None:
        """
        Start the run, or go on with the saved one.

        Raises:
            HostError: the plan has begun and its run is not there.
        """
        compiled = machine_of if self.advances else machine_by_hand
        self._machine = compiled(self.plan.playbook, self.skills)
        self._beyond = beyond_names(definition_of(machine_of(self.plan.playbook, self.skills)))
        if self.saved is not None:
            if self.saved.get("digest") != definition_of(self._machine).digest and self.advances:
                self._machine = load(self.plan.playbook, skills=self.skills)  # an agent's run was shown
            self._session = Session.restore(self._machine, self.saved)
            return
        if self.plan.step_executions or self.plan.current_step_index:
            raise HostError(
                "this plan has begun, and its run is not in it: keep the JSON of the whole PlaybookEnforcer instead"
            )
        self._begin()

    @property
    def current_step(self) -> PlaybookStep | None:
        """The step the run is in; None when the playbook is complete."""
        self._watched()
        return self.plan.current_step

    @property
    def current_step_hints(self) -> list[str]:
        """The hints of the current step."""
        step = self.current_step
        return list(step.hints) if step is not None else []

    @property
    def is_complete(self) -> bool:
        """The run came to an end of the playbook."""
        self._watched()
        return self.plan.completed

    @property
    def outcome(self) -> str | None:
        """How the run has ended, in the words of `Session.outcome`; None while it goes on."""
        return self._session.outcome

    @property
    def session(self) -> Session:
        """The session that decides: to look at, and for its control plane (`guideway.Approvals`)."""
        return self._session

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """A run of its own, standing where this one stands."""
        return type(self).model_validate_json(self.model_dump_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """As its JSON, for `pickle`."""
        return type(self).model_validate_json, (self.model_dump_json(),)

    def _begin(self) -> None:
        mode = "enforce" if self.block_violations and self.advances else "record"
        now = self._clock()
        self._session = Session(self._machine, inputs=self.inputs, now=now, mode=mode)
        self._seen, self.plan.started_at = 0, now
        self._refresh()

    @field_serializer("saved")
    def _save(self, value: Any, info: SerializationInfo) -> dict[str, Any]:
        return self._session.snapshot.to_json()

    def _refresh(self, verdicts: Iterable[Verdict] = ()) -> None:
        """Bring the plan up to date, and keep new verdicts for whoever waits for them."""
        with self._lock:
            self._news += verdicts
            records = self._session.since(self._seen)
            self._seen += len(records)
            for record in records:
                self._seen_refused(record)
                unfold(self.plan, self._session, [record])
            place(self.plan, self._session)

    def _watch(self, session: Session) -> None:
        """Show the run of a session that somebody else drives, from its first record on."""
        self.plan.clear()
        self._session, self._machine, self._watches, self._seen = session, session.machine, True, 0
        self._refresh()

    def _watched(self) -> None:
        """Look again, where somebody else drives the run."""
        if self._watches:
            self._refresh()

    def _seen_refused(self, record: Record) -> None:
        """A refusal of a session that is only watched is a violation here; of one's own it has been noted already."""
        if not self._watches or record[0] != "decided":
            return
        line = to_json(record)
        if line["verdict"] in ("deny", "illegal") and line["tool"] not in CONTROL:
            denial = Deny(line["call_id"], line["tool"], line["code"], reason_of(line), line.get("step", ""))
            answer = answer_to(self.plan, denial, self.outcome)
            self._violate(answer, denial.tool, blocked=line["verdict"] == "deny", at=record[1])

    def _tick(self) -> None:
        """Let time pass: a deadline that is over ends the step before anything else is decided (S7)."""
        if self._session.next_due is not None:
            self._refresh(self._session.tick(self._clock()).verdicts)

    def _by_name(self) -> None:
        if self._beyond is not None:
            raise HostError(
                f"the playbook `{self.plan.playbook.id}` has {self._beyond}, and the name of a tool does not "
                "decide that: use guideway.Session, which sees whole calls"
            )

    def _open_step(self) -> PlaybookStep | None:
        self._tick()
        return self.plan.current_step if self._session.outcome is None else None

    def _named(self, step: PlaybookStep) -> str | None:
        """The step, for a session in which several are open."""
        return step.id if len(self._session.states) > 1 else None

    def _fresh_id(self, given: str = "") -> str:
        """An id nobody has used; every execution has an admission of its own (S53)."""
        self.numbered += 1
        return f"{given or 'call'}#{self.numbered}"

    def _admit(self, call: ToolCall) -> Verdict:
        """Propose the call, in the turn that is open where one is."""
        verdict, *others = join(self._session, call, self._clock())
        self._refresh(others)
        return verdict

    def _settle(self, call_id: str, outcome: Outcome) -> None:
        """Report what came of an admitted call."""
        self._refresh(self._session.observe(call_id, outcome, self._clock()).verdicts)

    def _never_admitted(self, call: ToolCall) -> None:
        """A call has run otherwise than it was admitted, or although it was not."""
        told = f"Tool '{call.name}' ran a call that was not admitted: blocked, changed afterwards, or made once more"
        self._violate(Answer("not_admitted", told, self.current_step, []), call.name, blocked=False)
        self._unasked(call)

    def _unasked(self, call: ToolCall) -> None:
        """A call has run that no step asked for: list it, and let it move nothing."""
        self._tick()
        self._session.note(RAN_UNASKED, {"tool": call.name, "call_id": call.call_id}, self._clock())
        self._refresh()

    def _judged(self, tool: str, verdict: Verdict) -> EnforcementResult:
        """Put the gate's answer into the words of the seed."""
        if isinstance(verdict, Deny | Illegal) and not self._beyond_the_end(tool):
            answer = answer_to(self.plan, verdict, self.outcome)
            found = self._violate(answer, tool, blocked=self.block_violations)
            return EnforcementResult(
                allowed=not self.block_violations, violation=found, hints=answer.hints, current_step=answer.step
            )
        hints = ["Playbook execution is complete"] if self.is_complete and self.plan.playbook.steps else None
        step = self.current_step
        return EnforcementResult(allowed=True, hints=hints or self.current_step_hints, current_step=step)

    def _beyond_the_end(self, tool: str) -> bool:
        """After the last step any tool is extra, but one that cannot be taken back (S34)."""
        if not self.is_complete or not self.plan.playbook.steps:
            return not self.plan.playbook.steps
        declared = definition_of(self._machine).tools.get(tool)
        irreversible = declared is not None and declared.effect is Effect.IRREVERSIBLE
        return self.plan.playbook.allow_extra_tools and not irreversible

    def _violate(
        self, answer: Answer, tool: str, *, blocked: bool, at: datetime | None = None
    ) -> EnforcementViolation | None:
        """Keep a violation, where violations are kept; who must wait, or a person refuses, has violated nothing."""
        if not self.record_violations or answer.type in NO_VIOLATION:
            return None
        violation = EnforcementViolation(
            violation_type=answer.type,
            message=answer.message,
            step_id=answer.step.id if answer.step is not None else None,
            tool_name=tool,
            timestamp=at or self._clock(),
            blocked=blocked,
        )
        self.found.append(violation)
        return violation
