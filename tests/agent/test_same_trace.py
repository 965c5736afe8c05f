"""The same playbook and the same replies give the same records, whoever runs them (DESIGN section 4)."""

from __future__ import annotations

import json
import re
import runpy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent
from guideway.runtime.clocks import StillClock
from guideway.runtime.decisions import Recorded
from guideway.runtime.driver import Driver
from guideway.runtime.models.scripted import ScriptedModel
from guideway.runtime.records import to_json
from guideway.runtime.scripted import ScriptedAgent
from guideway.runtime.session import Session
from guideway.runtime.users import ScriptedUser

ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 3, 9, tzinfo=UTC)

RUNS: list[tuple[str, str, str, str, dict[str, Any]]] = [
    (playbook, folder, agent, approvals, inputs)
    for playbook, folder, agents, approvals, inputs in (
        ("refund-desk", "refund", ("agent", "agent-wrong", "agent-large"), "approvals", {"customer_id": "c-17"}),
        ("suspicious-sign-in", "signin", ("agent", "agent-wrong"), "approvals",
         {"case_id": "c-9", "user": "ann", "source_ip": "198.51.100.7"}),
        ("phishing-triage", "phishing", ("agent", "agent-wrong", "agent-lying"), "approvals",
         {"message_id": "m-501", "reporter": "ines"}),
        ("canary-deploy", "canary", ("",), "approvals", {"service": "checkout", "version": "1.5.1"}),
    )
    for agent in agents
]  # fmt: skip


def parts(folder: str, agent: str, approvals: str) -> tuple[dict[str, Any], Any, Recorded, Any]:
    """Tools, script of the agent, recorded decisions, user: as new as at every start."""
    here = ROOT / "examples" / folder
    tools = runpy.run_path(str(here / "tools.py"))["TOOLS"]
    user = ScriptedUser.load(here / "user.jsonl") if (here / "user.jsonl").exists() else None
    return tools, here / f"{agent}.jsonl" if agent else None, Recorded.load(here / f"{approvals}.json"), user


def driven(playbook: str, folder: str, agent: str, approvals: str, inputs: dict[str, Any]) -> Session:
    """The run as the command line's driver does it."""
    tools, script, decisions, user = parts(folder, agent, approvals)
    machine = gw.load(ROOT / "playbooks" / "library" / f"{playbook}.yaml")
    session = gw.Session(machine, inputs=inputs, now=START, run_id="r")
    acting = ScriptedAgent.load(script) if script else None
    Driver(session, tools, agent=acting, decisions=decisions, clock=StillClock(START), user=user).run()
    return session


def acted(playbook: str, folder: str, agent: str, approvals: str, inputs: dict[str, Any]) -> Session:
    """The run as the agent does it."""
    tools, script, decisions, user = parts(folder, agent, approvals)
    model = ScriptedModel.load(script) if script else ScriptedModel([])
    machine = gw.load(ROOT / "playbooks" / "library" / f"{playbook}.yaml")
    made = Agent(model, tools, machine=machine, decisions=decisions, clock=StillClock(START), user=user)
    result = made.run_sync("Go.", inputs=inputs, run_id="r")
    assert result.session is not None
    return result.session


def trace(session: Session) -> list[Any]:
    """The records, with calls numbered as they came: how an id is spelt is the program's."""
    ids: dict[str, str] = {}
    for record in session.records:
        if record[0] == "decided":
            ids.setdefault(record[2], f"#{len(ids)}")
    text = "\n".join(json.dumps(to_json(record), sort_keys=True) for record in session.records)
    text = re.sub(r'"delivered_at": "[^"]*"', '"delivered_at": "TIME"', text)  # the shop's clock is the real one
    for call_id, number in sorted(ids.items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<=[\" ]){re.escape(call_id)}(?=[\".])", number, text)
    return text.split("\n")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[2] or 'alone'}")
def test_agent_and_driver_leave_the_same_records(run: Any) -> None:
    """
    Each recorded run of the examples, by both loops, record by record.
    """
    assert trace(acted(*run)) == trace(driven(*run))
