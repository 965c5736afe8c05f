"""The seed's own playbooks, unchanged, hold an agent to their steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway.runtime.agents import Reply
from guideway.runtime.driver import Driver, Finish, Why
from guideway.runtime.scripted import ScriptedAgent

SEED = Path(__file__).parent / "seed"
SKILLS = {
    "stripe-api-discovery": ["stripe_search"],
    "stripe-payments-read": ["stripe_payments"],
    "stripe-billing-read": ["stripe_billing"],
    "stripe-disputes-read": ["stripe_disputes"],
    "stripe-balance-read": ["stripe_balance"],
    "stripe-money-movement": ["stripe_refund"],
}
TURNS = {
    # what the agent calls, a turn each
    "phishing_triage.yaml": [
        "query_siem", "enrich_indicator", "fetch_host_timeline list_detections", "isolate_host"
    ],
    "stripe_triage.json": [
        "stripe_search", "complete_step", "stripe_payments stripe_payments", "complete_step", "stripe_billing",
        "complete_step", "stripe_disputes stripe_disputes", "complete_step", "stripe_balance", "complete_step",
        "stripe_refund", "complete_step",
    ],
}  # fmt: skip
SKIPPED = {"phishing_triage.yaml": ("gather", "isolate_host"), "stripe_triage.json": ("discover", "stripe_refund")}


class Tools:
    """Every tool of a playbook; remembers which ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def named(self, names: set[str]) -> dict[str, Any]:
        """A tool for each name."""

        def tool(name: str) -> Any:
            return lambda: self.ran.append(name)

        return {name: tool(name) for name in names}


def drive(name: str, turns: list[str]) -> tuple[Finish, list[str], guideway.Session]:
    """Run a playbook of the seed with an agent that makes these calls; how it ended and what ran."""
    session = guideway.Session(guideway.load(SEED / name, skills=SKILLS))
    tools = Tools()
    names = {word for turn in TURNS[name] for word in turn.split()} - {"complete_step"}
    replies = [Reply("", [guideway.ToolCall(word, {}) for word in turn.split()]) for turn in turns]
    return Driver(session, tools.named(names), agent=ScriptedAgent(replies)).run(), tools.ran, session


@pytest.mark.parametrize("name", TURNS)
def test_the_seeds_playbooks_run_with_a_scripted_agent(name: str) -> None:
    """Step by step, in its order, each comes to `success`, and every tool has run."""
    finish, ran, _ = drive(name, TURNS[name])

    assert finish == Finish(Why.ENDED, "success")
    assert ran == [word for turn in TURNS[name] for word in turn.split() if word != "complete_step"]


@pytest.mark.parametrize("name", TURNS)
def test_a_step_of_the_seeds_playbooks_cannot_be_skipped(name: str) -> None:
    """The last tool called first is refused, does not run, and the refusal says where the run is."""
    step, tool = SKIPPED[name]
    finish, ran, session = drive(name, [tool])
    [verdict] = session.propose([guideway.ToolCall(tool, {})])

    assert (finish.why, ran, session.state) == (Why.SILENT, [], step)
    assert isinstance(verdict, guideway.Deny)
    assert verdict.code == "out_of_sequence"
    assert verdict.path is not None and verdict.path[-1] == tool


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("left_out", [0, 2])
def test_leaving_out_a_step_of_the_seeds_playbooks_is_no_success(name: str, left_out: int) -> None:
    """An agent that leaves one required turn out never comes to `success`."""
    turns = TURNS[name]
    finish, _, session = drive(name, turns[:left_out] + turns[left_out + 1 :])

    assert finish.text != "success"
    assert session.outcome_class != "success"
