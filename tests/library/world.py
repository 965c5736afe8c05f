"""A world that a playbook is run in: tools that answer, people that decide, an agent that calls; or that do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from guideway import Allow, Approvals, Failed, Machine, Session, Succeeded, ToolCall
from guideway.runtime.approvals import Question
from guideway.runtime.calls import Outcome, Unknown
from guideway.runtime.records import to_json
from guideway.runtime.verdicts import Cancel, RunCall, Verdict, Wait

from .story import Fault, InTurn, Story

WAITS = "waits for a person"
AN_HOUR = timedelta(hours=1)
MOST_ACTS = 3000
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00$")
"""When something is due, as `Session.waiting` says it."""


@dataclass
class Run:
    """A story that is being played, with a fault or without one."""

    machine: Machine
    story: Story
    fault: Mapping[str, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.faults = {**self.story.faults, **self.fault}
        self.now = self.story.start
        answers = {name: partial(_said, yes) for name, yes in self.story.predicates.items()}
        self.session = Session(
            self.machine, inputs=self.story.inputs, now=self.now, started_by="starter", predicates=answers
        )
        for name in self.story.sent:
            self.session.signal(name, now=self.now)
        self.control = Approvals(self.session)
        self.given: Counter[str] = Counter()
        self.allowed: list[Allow] = []
        self.calls: dict[str, ToolCall] = {}
        self.touched: set[str] = set()
        """the steps in which something could have gone wrong"""

    def play(self) -> str:
        """Go on until the run has ended; its outcome, or `WAITS` where no deadline ends a silence."""
        for _ in range(MOST_ACTS):
            if self.session.outcome is not None:
                return self.session.outcome
            if not self._act():
                assert self.control.pending, f"nothing moves any more: {self.session.waiting}"
                return WAITS
        raise AssertionError(f"no end is in sight: {self.session.states}")

    def records(self) -> list[dict[str, Any]]:
        """What happened, as JSON."""
        return [to_json(record) for record in self.session.records]

    def _act(self) -> bool:
        acts = (self._break_off, self._call, self._decide, self._signal, self._reply, self._let_pass, self._mumble,
                self._give_up)  # fmt: skip
        return any(act() for act in acts)

    def _fault(self, step: str) -> Fault | None:
        self.touched.add(step)
        return self.faults.get(step)

    def _break_off(self) -> bool:
        """Declare a step failed, once, where that is the fault."""
        definition = self.machine.definition
        assert definition is not None
        steps = definition.steps.keys() - definition.closing
        for path in self.session.states:
            state = path.rsplit("/", 1)[-1]
            step = state.removesuffix(".approval")
            if step in steps and self._fault(state) is Fault.HOST:
                self.faults.pop(state)
                self.session.fail(step=step, now=self.now)
                return True
        return False

    def _call(self) -> bool:
        """Run one call: of the agent's, or of the runtime's own."""
        if self.allowed:
            verdict = self.allowed.pop(0)
            self._observe(verdict.call_id, verdict.step, verdict.tool, self.calls[verdict.call_id].args)
            return True
        for command in self.session.commands:
            if isinstance(command, RunCall) and self._fault(command.step) is not Fault.SILENT:
                self._observe(command.call_id, command.step, command.tool, command.args)
                return True
            if isinstance(command, Cancel):
                self._take(self.session.observe(command.call_id, Unknown(), self.now).verdicts)
                return True
        return False

    def _observe(self, call_id: str, step: str, tool: str, args: Mapping[str, Any]) -> None:
        outcome = self._outcome(step, tool, args)
        self._take(self.session.observe(call_id, outcome, self.now).verdicts)

    def _outcome(self, step: str, tool: str, args: Mapping[str, Any]) -> Outcome:
        match self._fault(step):
            case Fault.FAILS:
                return Failed({"type": "Down", "message": f"{tool} is down"})
            case Fault.UNKNOWN:
                return Unknown()
            case _:
                key = step if step in self.story.tools else tool
                answer = self._next(key, self.story.tools.get(key))
                answer = answer(args) if callable(answer) else answer
                return answer if isinstance(answer, Failed | Unknown) else Succeeded(answer)

    def _next(self, key: str, value: Any) -> Any:
        """The value, or the next of those that come in turn."""
        if not isinstance(value, InTurn):
            return value
        self.given[key] += 1
        return value[min(self.given[key], len(value)) - 1]

    def _take(self, verdicts: Iterable[Verdict]) -> None:
        self.allowed += [verdict for verdict in verdicts if isinstance(verdict, Allow) and not verdict.control]

    def _decide(self) -> bool:
        """Let a person speak, if one of those who are asked wants to."""
        for question in self.control.pending:
            fault = self._fault(f"{question.step}.approval" if question.of in ("step", "call") else question.step)
            if fault is Fault.SILENT and question.of != "reconcile":
                continue
            said = self._next(f"person {question.step}", self.story.people.get(question.step))
            if question.of == "ask":
                self._answer(question, said)
            elif question.of == "reconcile":
                decided = self.control.did_not_happen(question.approval_id, by="operator", now=self.now)
                self._take(decided.progress.verdicts)
                self.faults.pop(question.step, None)
            else:
                self._approve(question, rejected=Fault.REJECTED in (fault, said))
            return True
        return False

    def _answer(self, question: Question, said: Any) -> None:
        label, fields = (said, {}) if isinstance(said, str) else ([*question.choices, "done"][0], said or {})
        by = question.approvers[0] if question.approvers else "somebody"
        decided = self.control.answer(question.approval_id, label, by=by, fields=fields, now=self.now)
        assert decided.accepted, decided.reason

    def _approve(self, question: Question, rejected: bool) -> None:
        groups = question.approvers or ("anybody",)
        for number in range(max(question.needed, 1)):
            group = groups[number % len(groups)]
            decide = self.control.reject if rejected else self.control.approve
            decided = decide(question.approval_id, by=f"{group} {number}", groups=[group], now=self.now)
            assert decided.accepted, decided.reason
            self._take(decided.progress.verdicts)
            if rejected:
                break

    def _signal(self) -> bool:
        """Send what a step waits for."""
        for command in self.session.commands:
            if isinstance(command, Wait) and command.signal is not None:
                silent = self._fault(command.step) is Fault.SILENT
                if command.step in self.story.signals and not silent:
                    self.session.signal(command.signal, self.story.signals[command.step], self.now)
                    return True
        return False

    def _reply(self) -> bool:
        """Let the agent say the next thing in a step it works in, unless a person still thinks about its last call."""
        if any(question.of == "call" for question in self.control.pending):
            return False
        for step in dict.fromkeys(call.step for call in self.session.legal()):
            if self._fault(step) is Fault.SILENT:
                continue
            if said := self.story.agent.get(step):
                self.given[f"agent {step}"] += 1
                self._say(said[min(self.given[f"agent {step}"], len(said)) - 1])
                return True
        return False

    def _say(self, reply: Any) -> None:
        if isinstance(reply, str):
            self.session.propose([], text=reply, now=self.now)
            return
        if isinstance(reply, float):
            self.session.claim(confidence=reply, now=self.now)
            return
        calls = [
            ToolCall(tool, dict(args), call_id=f"call-{len(self.calls) + n}") for n, (tool, args) in enumerate(reply)
        ]
        self.calls.update({call.call_id: call for call in calls})
        self._take(self.session.propose(calls, now=self.now))

    def _let_pass(self) -> bool:
        """Let the time pass until something is due."""
        due = [datetime.fromisoformat(moment) for line in self.session.waiting for moment in MOMENT.findall(line)]
        if any(isinstance(c, Wait) and c.due is None and c.signal is None for c in self.session.commands):
            due.append(self.now + AN_HOUR)
        if due:
            self.now = max(self.now, min(due))
            self.session.tick(self.now)
        return bool(due)

    def _mumble(self) -> bool:
        """Let a silent agent say something that calls nothing, for there is nothing else to wait for."""
        if not self.session.legal() or self.control.pending:
            return False
        self._say("Hm.")
        return True

    def _give_up(self) -> bool:
        """Call a call lost that nobody hears of any more."""
        for command in self.session.commands:
            if isinstance(command, RunCall):
                self._take(self.session.observe(command.call_id, Unknown(), self.now).verdicts)
                self.faults.pop(command.step, None)
                return True
        return False


def _said(yes: bool, _: Mapping[str, Any]) -> bool:
    return yes


def variations(machine: Machine, story: Story) -> Iterator[Mapping[str, Fault]]:
    """Nothing goes wrong; then each thing that can go wrong at each step that the story comes to."""
    plain = Run(machine, story)
    plain.play()
    yield {}
    for step in sorted(plain.touched):
        for fault in Fault:
            yield {step: fault}
