"""
A host and a model that do anything at all, on playbooks of every shape (S8, S12, S40, S52).

Whatever they do: no exception but `HostError`, which changes nothing; every record can be written and every snapshot
restored; no call runs twice; nothing is admitted after the end; no quota or budget is overdrawn.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from guideway import (
    Allow,
    Approvals,
    Cancelled,
    Failed,
    HostError,
    Machine,
    PlaybookError,
    Session,
    Succeeded,
    ToolCall,
    Unknown,
    Usage,
)
from guideway.runtime.verdicts import Cancel, RunCall, Wait

from .helpers import T0, audit, book, ends, step, trace

TOOLS: dict[str, dict[str, Any]] = {
    "r1": {"effect": "read"},
    "r2": {"effect": "read", "result": {"type": "object"}},
    "w1": {},
    "w2": {"idempotent": True},
    "pay": {"effect": "irreversible", "approval": {"ask": "Pay {{ args.n }}?", "approvers": ["lead"]}},
    "guard": {"where": "args.n == facts.r1.n"},
    "typed": {"parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
NAMES = [*TOOLS, "complete_step", "skip_step", "nope", ""]
GUARDS = [
    "facts.r1.n == 1",
    "run.iterations > 3",
    "facts.r1.gone.x == 1",
    "has(facts.r1)",
    "run.calls % 2 == 0",
    "inputs.flag",
]


def random_book(dice: random.Random) -> Machine | None:
    """A playbook of a few steps that uses everything the first half of the format has."""
    names = [f"s{i}" for i in range(dice.randint(1, 5))]
    targets = [*names, "success", "failed", "escalated", "own"]

    def target() -> Any:
        if dice.random() < 0.6:
            return dice.choice(targets)
        return [{"when": dice.choice(GUARDS), "goto": dice.choice(targets)} for _ in range(2)] + [
            {"goto": dice.choice(targets)}
        ]

    def one(name: str) -> dict[str, Any]:
        kind = dice.choice(["agent", "agent", "agent", "call", "switch", "approval", "think"])
        more: dict[str, Any] = {}
        for key in ("on_failure", "on_reject", "on_timeout", "on_unknown", "on_exhausted", "on_max_visits"):
            if kind != "switch" and dice.random() < 0.3:
                more[key] = target()
        more["max_visits"] = dice.randint(1, 3)
        if dice.random() < 0.3:
            more["when"] = dice.choice(GUARDS)
        if kind == "switch":
            return {
                "id": name,
                "switch": [{"when": dice.choice(GUARDS), "goto": dice.choice(targets)}, {"goto": dice.choice(targets)}],
            }
        if dice.random() < 0.4:
            more["next"] = target()
        if dice.random() < 0.3 or "on_timeout" in more:
            more["timeout"] = dice.choice(["5s", "1m"])
        if dice.random() < 0.2 or kind == "approval":
            more["approval"] = {"ask": dice.choice(["Go?", "{{ facts.r1.n }}?"])}
        if dice.random() < 0.3:
            more["required"] = False
        if kind == "call":
            tool = dice.choice([*TOOLS])
            more["call"] = {"tool": tool, "args": {"n": dice.choice([1, "{{ facts.r1.n }}", "{{ inputs.n }}"])}}
            if dice.random() < 0.4:
                more["repeat"] = {"until": dice.choice(GUARDS), "at_most": 3, "wait": "2s", "collect": "result.n"}
            if TOOLS[tool].get("effect") == "read" and dice.random() < 0.6:
                more["retry"] = {"at_most": 2, "wait": "3s", "backoff": 2}
        if kind == "agent":
            more["max_tool_calls"] = dice.randint(0, 5)
            more["min_tool_calls"] = dice.randint(0, 2)
            more["order"] = dice.choice(["any", "listed"])
            more["expected_tools"] = [
                dice.choice(
                    [
                        t,
                        {"tool": t, "times": dice.randint(1, 2)},
                        {"tool": t, "where": "args.n == 1"},
                        {"tool": t, "expect": "result.n == 1"},
                    ]
                )
                for t in dice.sample([*TOOLS], dice.randint(1, 3))
            ]
            more["optional_tools"] = dice.sample([*TOOLS], dice.randint(0, 2))
            if dice.random() < 0.3:
                more["validation"] = [dice.choice(GUARDS)]
        return {"id": name, "description": f"Do {name}."} | more

    try:
        return book(
            *(one(name) for name in names),
            step("last", "r1", "w1", max_tool_calls=4),
            tools=TOOLS,
            inputs={"flag": "boolean", "n": "integer"},
            outcomes={"own": "success"},
            max_nudges=dice.randint(0, 9),
            max_refusals=dice.randint(1, 9),
            max_iterations=60,
            defaults={"retry": 1},
            termination=[{"tool_called": "w2", "outcome": "stopped"}, {"time_limit": "10m"}, {"text_mention": "stop"}],
            optional_tools=dice.sample(["r1", "w1"], dice.randint(0, 1)),
            allow_extra_tools=dice.random() < 0.5,
        )
    except PlaybookError:
        return None


VALUES: list[Any] = [None, 1, {"n": 1}, {"n": 2}, [], float("nan"), "text", {"n": "\ud800"}, object()]


class Monkey:
    """Does anything."""

    def __init__(self, machine: Machine, dice: random.Random) -> None:
        self.dice = dice
        self.session = Session(machine, inputs={"flag": dice.random() < 0.5, "n": 1}, now=T0)
        self.now = T0
        self.numbers = 0
        self.admitted: set[str] = set()
        self.reported: dict[str, Any] = {}

    def outcome(self) -> Any:
        """Any outcome."""
        value = self.dice.choice(VALUES)
        good = Succeeded({"n": 1})
        return self.dice.choice([good, good, good, Succeeded(value), Failed(value), Cancelled(), Unknown()])

    def act(self) -> None:
        """One verb, sensible or not."""
        dice, session = self.dice, self.session
        self.now += timedelta(seconds=dice.choice([0, 0, 0, 1, 5, -50]))
        now = dice.choice([None, self.now])
        before = session.snapshot.to_json(), session.records
        over = session.outcome is not None or session.snapshot.to_json()["ending"] is not None
        try:
            verdicts = dice.choice([self.propose, self.observe, self.observe, self.observe, self.decide, self.host])(
                now
            )
        except HostError:
            assert (session.snapshot.to_json(), session.records) == before
            return
        for verdict in verdicts:
            if isinstance(verdict, Allow) and not verdict.control:
                assert not over, "admitted after the end"
                assert verdict.call_id not in self.admitted, "admitted twice"
                self.admitted.add(verdict.call_id)
        for command in session.commands:
            if isinstance(command, RunCall):
                assert command.call_id not in self.reported, "an observed call is asked for again"
                self.admitted.add(command.call_id)

    def propose(self, now: Any) -> list[Any]:
        """A reply of the model."""
        dice, calls = self.dice, []
        wise = dice.random() < 0.7
        names = [c.tool for c in self.session.legal()] if wise else []
        for _ in range(dice.choice([0, 1, 1, 2, 4])):
            self.numbers += 1
            call_id = dice.choice([f"c{self.numbers}"] * 20 + ["", "c1"])
            args: dict[str, Any] = {"n": 1} if wise else dice.choice([{}, {"n": 1}, {"n": 2}, {"n": "x"}, {"n": None}])
            calls.append(ToolCall(dice.choice(names or NAMES), args, call_id))
        text = dice.choice(["", "hm", "please stop"]) if dice.random() < 0.1 else ""
        if self.session.snapshot.to_json()["turn"] is not None:
            raise HostError("not now")  # a repeated proposal has tests of its own
        return self.session.propose(calls, text=text, usage=dice.choice([None, Usage(3)]), now=now)

    def observe(self, now: Any) -> list[Any]:
        """A report: usually of something under way."""
        open_ = sorted(self.admitted - set(self.reported))
        call_id = (
            self.dice.choice(open_)
            if open_ and self.dice.random() < 0.9
            else self.dice.choice(["c1", "zzz", *self.reported])
        )
        outcome = self.outcome()
        progress = self.session.observe(call_id, outcome, now)
        self.reported.setdefault(call_id, outcome)
        return list(progress.verdicts)

    def decide(self, now: Any) -> list[Any]:
        """A person's decision."""
        control = Approvals(self.session)
        if not control.pending:
            return []
        question = self.dice.choice(control.pending)
        verb = self.dice.choice([control.approve, control.reject, control.did_not_happen, control.happened])
        return list(
            verb(question.approval_id, by=self.dice.choice(["lead", "lead", "intern"]), now=now).progress.verdicts
        )

    def host(self, now: Any) -> list[Any]:
        """The host's own verbs, and time."""
        session, dice = self.session, self.dice
        if dice.random() < 0.7:
            due = [c.due for c in session.commands if isinstance(c, Wait)]
            return list(session.tick(dice.choice([*due, self.now])).verdicts)
        return list(dice.choice([session.complete, session.skip, session.fail])(now=now).verdicts)


def check_run(machine: Machine, session: Session) -> None:
    """What the record of the whole run must say."""
    records = trace(session)
    settled = Counter(r["call_id"] for r in records if r["kind"] == "settled")
    assert all(count == 1 for count in settled.values()), "settled twice"
    allows = Counter(r["call_id"] for r in records if r["kind"] == "decided" and r["verdict"] == "allow")
    assert all(count == 1 for count in allows.values()), "allowed twice"
    kinds = [r["kind"] for r in records]
    if "ending" in kinds:
        after = records[kinds.index("ending") :]
        assert not [r for r in after if r["kind"] == "decided" and r["verdict"] in ("allow", "needs_approval")]
        assert not [r for r in after[1:] if r["kind"] == "moved"]
    assert kinds.count("ending") <= 1 and kinds.count("ended") <= 1
    assert (kinds.count("ended") == 1) is (session.outcome is not None)
    for earlier, later in zip(moves := [r for r in records if r["kind"] == "moved"], moves[1:], strict=False):
        assert later["source"] == earlier["target"], "the moves are one walk"
    over_quota(machine, records)


def over_quota(machine: Machine, records: list[dict[str, Any]]) -> None:
    """No visit of a step settled more successes of a tool asked for `times` than that, nor more calls than it may."""
    definition = machine.definition
    assert definition is not None
    seen: Counter[str] = Counter()
    visit = definition.initial
    for record in records:
        if record["kind"] == "moved" and record["target"] in definition.steps:
            seen.clear()
            visit = record["target"]
        work = definition.steps[visit].work if visit in definition.steps else None
        if record["kind"] != "settled" or record.get("step") != visit or work is None:
            continue
        seen[record["tool"]] += record["counts"] is True
        lines = [entry for entry in work.entries if entry.tool == record["tool"]]
        if lines and all(entry.times is not None for entry in lines):
            assert seen[record["tool"]] <= sum(entry.times or 0 for entry in lines), record


@pytest.mark.parametrize("block", range(5))
def test_a_monkey_breaks_nothing(block: int) -> None:
    """Forty random playbooks, each with a hundred random verbs, hold every rule named above."""
    made = 0
    for seed in range(block * 40, block * 40 + 40):
        dice = random.Random(seed)
        machine = random_book(dice)
        if machine is None:
            continue
        made += 1
        with ends():
            monkey = Monkey(machine, dice)
            for number in range(100):
                monkey.act()
                if number % 20 == 0:
                    audit(monkey.session)
                assert not [
                    c for c in monkey.session.commands if isinstance(c, Cancel) and c.call_id in monkey.reported
                ]
        check_run(machine, monkey.session)
    assert made > 20
