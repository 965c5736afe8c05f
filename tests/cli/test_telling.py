"""What is told of a run, and what of it stays hidden, where several people, branches and playbooks are at work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import guideway
from guideway.cli.live import text_of
from guideway.runtime.agents import Reply
from guideway.runtime.approvals import Approvals, Question
from guideway.runtime.clocks import StillClock
from guideway.runtime.decisions import Recorded
from guideway.runtime.driver import Driver
from guideway.runtime.learning import Learning
from guideway.runtime.marks import HIDDEN
from guideway.runtime.narrate import Line
from guideway.runtime.narrator import Narrator
from guideway.runtime.redact import Redactor
from guideway.runtime.scripted import ScriptedAgent

START = datetime(2026, 1, 1, tzinfo=UTC)
Steps = list[dict[str, Any]]


class Telling:
    """A run of a small playbook, told."""

    def __init__(self, steps: Steps, library: Steps | None = None, given: Any = None, **keys: Any) -> None:
        machine = guideway.load({"id": "p", "name": "P", "steps": steps, **keys}, library=library or [])
        assert machine.definition is not None
        self.session = guideway.Session(machine, inputs=given, now=START)
        self.redactor = Redactor(machine.definition, given or {})
        self.clock = StillClock(START)
        self._told: list[Line] = []
        self._watchers = [
            Learning(self.session, self.redactor), Narrator(machine.definition, self.redactor, self._told.append)
        ]  # fmt: skip

    def drive(self, tools: Any = None, **more: Any) -> list[str]:
        """Go on, and return every line so far."""
        Driver(self.session, tools or {}, clock=self.clock, watchers=self._watchers, **more).run()
        return [text_of(line) for line in self._told][1:]

    @property
    def questions(self) -> list[Question]:
        """The open questions, as people see them."""
        return [self.redactor.question(question) for question in Approvals(self.session).pending]


def test_the_skip_of_an_optional_step_is_told_under_that_step() -> None:
    """Before the next step is named, and once."""
    steps: Steps = [
        {"id": "note", "description": "Note it", "expected_tools": ["note"], "required": False},
        {"id": "close", "description": "Close it", "expected_tools": ["close"]},
    ]
    agent = ScriptedAgent([Reply("Nothing to note.")])
    told = Telling(steps).drive({"note": print, "close": print}, agent=agent)

    assert told == [
        "→ note: Note it", "  agent  turn 1: Nothing to note.",
        "  branch skipped, the reply calls nothing -> close", "→ close: Close it",
    ]  # fmt: skip


def test_each_of_several_persons_is_told() -> None:
    """Who has allowed it, and who was the last that was needed."""
    steps: Steps = [{"id": "go", "approval": {"ask": "Go?", "approvers": ["release", "on-call"], "count": "all"}}]
    recorded = Recorded([{"step": "go", "decision": "approve", "by": name} for name in ("release", "on-call")])
    told = Telling(steps).drive(decisions=recorded)

    assert told[2:] == ["  answer go allowed by release; more must", "  answer go approved by on-call", "end success"]


def test_reminders_and_expired_questions_are_told() -> None:
    """With the step they are about."""
    steps: Steps = [
        {"id": "both", "parallel": {
            "ask": {"ask": {"question": "Well?", "remind": "4m"}},
            "go": {"approval": {"ask": "Go?", "timeout": "5m"}, "on_reject": "done"},
            "bake": {"wait": "9m"},
        }},
    ]  # fmt: skip
    told = Telling(steps).drive()

    assert "  time   a reminder of ask is due" in told
    assert "  time   the question of go has expired" in told
    assert "  branch rejected, nobody decided in time -> both" in told


def test_a_policy_that_was_not_kept_is_told() -> None:
    """As it was written, with its reason, at an end that is not a success anyway."""
    owed = {"id": "notice", "response": {"after": "isolate", "eventually": "notify"}, "because": "owners must know"}
    told = Telling(
        [{"id": "a", "call": {"tool": "isolate"}, "next": "escalated"}],
        policies=[owed],
        tools={"isolate": {}, "notify": {}},
        optional_tools=["notify"],
    ).drive({"isolate": lambda: 1})

    fault = "  fault  the policy notice (response: isolate, notify) was not kept, because owners must know"
    assert told[-2:] == [fault, "end escalated"]


SECRET = {"token": {"type": "string", "sensitive": True}}


def test_an_ask_hides_a_sensitive_input_and_leaves_its_own_words() -> None:
    """Even where they are the same."""
    steps: Steps = [{"id": "sure", "ask": "Is well the word? {{ inputs.token }}"}]
    telling = Telling(steps, given={"token": "well"}, inputs=SECRET)

    assert telling.questions[0].ask == f"Is well the word? {HIDDEN}"


def test_every_rule_of_an_approval_is_known_by_its_text() -> None:
    """A secret that the second rule shows is hidden, and the words of that rule are not."""
    machine = {"pay": {"parameters": {"properties": {"amount": {}, "iban": {"sensitive": True}}}, "approval": [
        {"when": "args.amount > 1000", "ask": "Much: {{ args.iban }}?"},
        {"when": "args.amount > 0", "ask": "Little: {{ args.iban }}?"},
    ]}}  # fmt: skip
    steps: Steps = [{"id": "pay", "description": "Pay", "expected_tools": ["pay"]}]
    agent = ScriptedAgent([Reply(calls=[guideway.ToolCall("pay", {"amount": 5, "iban": "Little"})])])
    telling = Telling(steps, tools=machine)
    telling.drive({"pay": print}, agent=agent)

    assert [(question.ask, question.args) for question in telling.questions] == [
        (f"Little: {HIDDEN}?", {"amount": 5, "iban": HIDDEN})
    ]


def test_a_call_of_a_called_playbook_is_shown_without_what_that_marks() -> None:
    """Its tools, and its sensitive inputs by their value."""
    callee = {
        "id": "log-in", "name": "L", "inputs": SECRET | {"user": "string"},
        "tools": {"log_in": {"parameters": {"properties": {"user": {}, "pin": {"sensitive": True}, "echo": {}}}}},
        "steps": [
            {"id": "enter", "approval": {"ask": "Log {{ inputs.user }} in with {{ inputs.token }}?"},
             "call": {"tool": "log_in", "args": {"user": "{{ inputs.user }}", "pin": 1, "echo": "{{ inputs.token }}"}}},
        ],
    }  # fmt: skip
    steps: Steps = [
        {"id": "get", "call": {"tool": "get"}},
        {"id": "there", "playbook": "log-in", "with": {"user": "ann", "token": "{{ facts.get }}"}},
    ]
    telling = Telling(steps, [callee])
    told = telling.drive({"get": lambda: "hunter2", "log_in": print})

    assert [(question.ask, question.args) for question in telling.questions] == [
        (f"Log ann in with {HIDDEN}?", {"user": "ann", "pin": HIDDEN, "echo": HIDDEN})
    ]
    assert f'  branch calls log-in(token="{HIDDEN}", user="ann")' in told


def test_claims_that_are_marked_are_hidden() -> None:
    """In their place, as parameters are."""
    steps: Steps = [
        {"id": "judge", "description": "Judge",
         "claims": {"name": {"type": "string", "sensitive": True}, "verdict": "string"}},
    ]  # fmt: skip
    call = guideway.ToolCall("complete_step", {"name": "ann", "verdict": "benign"})
    told = Telling(steps).drive(agent=ScriptedAgent([Reply(calls=[call])]))

    assert f'  allow  complete_step(name="{HIDDEN}", verdict="benign")' in told


def test_waits_are_told_by_what_they_wait_for() -> None:
    """A signal, a condition, a time."""
    steps: Steps = [
        {"id": "bake", "wait": "10m"}, {"id": "well", "wait": {"until": "run.tokens >= 0"}},
        {"id": "go", "wait": {"signal": "go_ahead"}},
    ]  # fmt: skip
    telling = Telling(steps)

    assert telling.drive() == [
        "→ bake", "  time   waits 600.0 s", "→ well: wait until run.tokens >= 0",
        "→ go: wait for the signal go_ahead",
    ]  # fmt: skip
    assert telling.clock.now() - START == timedelta(minutes=10)


@pytest.mark.parametrize(("kind", "head"), [
    ({"for_each": {"as": "n", "in": [1]}}, "→ block: once for each n"),
    ({"repeat": {"until": "true", "at_most": 2}}, "→ block: until true"),
    ({}, "→ block"),
])  # fmt: skip
def test_a_block_is_named_once_and_the_steps_inside_follow(kind: dict[str, Any], head: str) -> None:
    """Its join says nothing."""
    steps: Steps = [{"id": "block", **kind, "steps": [{"id": "in", "call": {"tool": "t"}}]}]
    path = "block[0]/" if "for_each" in kind else ""

    assert Telling(steps).drive({"t": lambda: 1}) == [
        head, f"→ {path}in", "  allow  t()", "  ok     t -> 1", "end success"
    ]  # fmt: skip
