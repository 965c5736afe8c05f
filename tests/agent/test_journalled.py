"""An agent whose run is kept: taken up after a real crash, decided on from outside, and never doubled."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, Decision
from guideway.runtime.journal import Control, JsonLinesJournal, MemoryJournal, SqliteJournal, verify
from guideway.runtime.models.fake import FakeModel, FunctionModel

from .kit import ASKING, ISOLATE, SIEM, Tools, agent, answers, words

CHILD = """
import json, os, signal, sys
import guideway as gw
from guideway.agent import Agent
from guideway.runtime.journal import SqliteJournal
from guideway.runtime.models.fake import FakeModel

folder, playbook, kill_in = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]

def note(tool):
    with open(folder + "/effects", "a") as file:
        file.write(tool + "\\n")
    if tool == kill_in:
        os.kill(os.getpid(), signal.SIGKILL)

def query_siem(hours: int = 24) -> dict:
    note("query_siem")
    return {"hits": 3}

def isolate_host(host: str) -> dict:
    note("isolate_host")
    return {"ticket": "C-1"}

model = FakeModel([gw.ToolCall("query_siem", {"hours": 24}), gw.ToolCall("isolate_host", {"host": "ws-7"})])
agent = Agent(model, [query_siem, isolate_host], playbook=playbook, journal=SqliteJournal(folder + "/j.db"))
agent.run_sync("An alert on ws-7.", run_id="r1")
"""
PLAIN: dict[str, Any] = {**ASKING, "tools": {"query_siem": {"effect": "read"}, "isolate_host": {"effect": "write"}}}


def crashed(folder: Path, kill_in: str) -> SqliteJournal:
    """The journal of a run whose process was killed inside a tool."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), json.dumps(PLAIN), kill_in], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    return SqliteJournal(folder / "j.db")


def test_a_write_that_was_cut_off_is_not_run_again(tmp_path: Path) -> None:
    """
    Nobody knows whether it happened: a person says so, and the run goes on from there (S24, S54, E10).
    """
    journal, tools = crashed(tmp_path, "isolate_host"), Tools()
    later = agent([], tools, playbook=PLAIN, journal=journal)
    waits = later.recover_sync("r1")
    done = later.send_sync(Decision("happened", "lead", result={"ticket": "C-1"}), to=waits)

    assert [question.of for question in waits.pending] == ["reconcile"]
    assert words(done) == ("complete", "success", True)
    assert tools.ran == []
    assert (tmp_path / "effects").read_text().split() == ["query_siem", "isolate_host"]


def test_a_read_that_was_cut_off_may_be_made_again(tmp_path: Path) -> None:
    """
    The model hears that nobody knows what came of it, and calls again; nothing before is lost.
    """
    journal, tools = crashed(tmp_path, "query_siem"), Tools()
    result = agent([SIEM, ISOLATE], tools, playbook=PLAIN, journal=journal).recover_sync("r1")

    assert words(result) == ("complete", "success", True)
    assert result.messages[0]["content"] == "An alert on ws-7."
    assert "nobody knows what came of it" in answers(result)[0]


@pytest.mark.parametrize("kind", ["memory", "jsonl", "sqlite"])
def test_a_run_that_waits_is_taken_up_from_its_journal(kind: str, tmp_path: Path) -> None:
    """
    The question is still open in another process, and the decision lets exactly that call run.
    """
    journal = journal_of(kind, tmp_path)
    tools = Tools()
    waits = agent([SIEM, ISOLATE], tools, playbook=ASKING, journal=journal).run_sync("go", run_id="r1")
    if kind != "memory":
        close(waits)
    later = agent([], tools, playbook=ASKING, journal=journal)
    again = later.recover_sync("r1")
    done = later.send_sync(Decision("approve", "lead"), to=again)

    assert [question.ask for question in again.pending] == ["Isolate ws-7?"]
    assert words(done) == ("complete", "success", True)
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]
    assert verify(journal, "r1").entries > 0


def journal_of(kind: str, folder: Path) -> Any:
    """An empty journal of a kind."""
    if kind == "memory":
        return MemoryJournal()
    return JsonLinesJournal(folder / "j") if kind == "jsonl" else SqliteJournal(folder / "j.db")


def close(result: Any) -> None:
    """Let go of the journal, as a process that ends does."""
    recorder = result.session._recorder
    release = getattr(recorder, "close", None)
    if release is not None:
        release()


def test_a_person_in_another_process_decides(tmp_path: Path) -> None:
    """
    The loop looks for signed messages; the agent has no verb that writes one.
    """
    key, tools = b"k" * 32, Tools()
    journal = SqliteJournal(tmp_path / "j.db")
    control = Control(journal, key)

    class Lead:
        def decide(self, question: Any, objection: str = "") -> None:
            control.approve("r1", question.approval_id, by="lead")

    made = Agent(FakeModel([SIEM, ISOLATE]), tools.both, playbook=ASKING, journal=journal, journal_key=key,
                 poll=0.01, decisions=Lead())  # fmt: skip
    result = made.run_sync("go", run_id="r1")

    assert words(result) == ("complete", "success", True)
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]


def test_poll_needs_a_journal() -> None:
    """
    There is nowhere else to look.
    """
    with pytest.raises(gw.HostError, match="poll"):
        agent([], poll=1.0)


def test_recover_needs_a_journal_and_a_run() -> None:
    """
    Both mistakes say what to do.
    """
    with pytest.raises(gw.HostError, match="keeps no journal"):
        agent([]).recover_sync("r1")
    with pytest.raises(gw.JournalError):
        agent([], journal=MemoryJournal()).recover_sync("r1")


def test_a_journal_that_fails_ends_the_run_before_the_tool_runs() -> None:
    """
    Intent before effect: what cannot be kept does not happen (S8, S57).
    """

    class Full(MemoryJournal):
        def append(self, run: str, entries: Any) -> None:
            if any('"propose"' in entry.text for entry in entries):
                raise gw.JournalError("the disk is full")
            super().append(run, entries)

    tools = Tools()

    with pytest.raises(gw.JournalError, match="full"):
        agent([SIEM], tools, journal=Full()).run_sync("go")
    assert tools.ran == []


def next_legal(request: Any) -> Any:
    """A model that calls what is offered."""
    names = [tool.name for tool in request.tools]
    return next((call for call in (SIEM, ISOLATE) if call.name in names), "nothing to do")


def test_cut_off_at_any_entry_nothing_runs_twice_and_nothing_is_lost() -> None:
    """
    A run taken up from every prefix of its journal: what may have happened is asked about, all else is done once.
    """
    whole, tools = MemoryJournal(), Tools()
    made = Agent(FunctionModel(next_legal), tools.both, playbook=PLAIN, journal=whole)
    assert made.run_sync("An alert.", run_id="r1").success
    entries = list(whole.read("r1"))
    for kept in range(1, len(entries) + 1):
        cut, later = MemoryJournal(), Tools()
        cut.append("r1", entries[:kept])
        text = "".join(entry.text for entry in entries[:kept])
        done = [name for name in ("query_siem", "isolate_host") if f'"ok","step":"{step_of(name)}"' in text]
        agent_ = Agent(FunctionModel(next_legal), later.both, playbook=PLAIN, journal=cut,
                       decisions=lambda question: Decision("happened", "lead", result={"ticket": "C-1"}))  # fmt: skip
        result = taken_up(agent_, kept)

        assert result.success, (kept, result.reason)
        admitted = '"tool":"isolate_host","verdict":"allow"' in text
        assert kept < len(entries) or (admitted and len(done) == 2)
        assert not ({*done} | ({"isolate_host"} if admitted else set())) & {name for name, _ in later.ran}, kept
        assert max([0, *(later.ran.count(call) for call in later.ran)]) <= 1


def step_of(tool: str) -> str:
    """The step that asks for a tool."""
    return {"query_siem": "enrich", "isolate_host": "contain"}[tool]


def taken_up(agent_: Agent, kept: int) -> Any:
    """The run to its end; one that was cut off before anything was said begins with nothing to say."""
    try:
        return agent_.recover_sync("r1")
    except gw.HostError:
        assert kept == 1
        return agent_.run_sync("An alert.", run_id="r2")


def test_a_run_that_has_ended_comes_back_ended() -> None:
    """
    With its whole transcript, and without anybody being asked anything.
    """
    journal = MemoryJournal()
    first = agent([SIEM, ISOLATE], journal=journal).run_sync("go", run_id="r1")
    again = agent([], journal=journal).recover_sync("r1")

    assert words(again) == words(first) == ("complete", "success", True)
    assert again.messages == first.messages
    assert again.usage == first.usage


def test_a_state_does_not_go_past_the_journal() -> None:
    """
    A run that is kept goes on from what is kept, never beside it.
    """
    journal = MemoryJournal()
    waits = agent([SIEM, ISOLATE], playbook=ASKING, journal=journal).run_sync("go", run_id="r1")

    with pytest.raises(gw.HostError, match="recover"):
        agent([], playbook=ASKING, journal=journal).resume_sync(waits.state)
