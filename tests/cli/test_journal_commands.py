"""`runs`, `resume`, `trace`, `replay`, `verify`: what they print, after crashes and tampering too."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from guideway.runtime import records

from .desk import Desk

Run = Callable[..., Any]


@pytest.fixture(name="desk")
def _desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk whose run asks for an approval."""
    desk = Desk(tmp_path)
    yield desk
    desk.close()


def plain(text: str) -> str:
    """Without what differs from run to run."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME................", text)
    return re.sub(r"\b[0-9a-f]{64}\b", "HASH", re.sub(r"\b[0-9a-f]{12}\b", "VERSION.....", text))


def test_a_killed_run_goes_on_where_it_was_and_no_call_is_made_twice(desk: Desk) -> None:
    """SIGKILL after the effect of an irreversible call: a person says whether it happened, and it is not made again."""
    desk.run()
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    killed = desk.resume(DIE="after")
    again = desk.resume()
    asked = desk.asked()
    shown = desk.guideway("reconcile", "r")
    desk.guideway("reconcile", "r", asked, "--happened", "--result", '{"isolated": "ws-7"}', "--by", "ines")
    ended = desk.resume()

    assert killed.status == -signal.SIGKILL
    assert again.status == 3
    assert f"decide with:  guideway reconcile r '{asked}' --happened --by NAME" in again.err
    assert shown.out.startswith(f"{asked}: Did `isolate` happen?")
    assert (ended.status, ended.out.splitlines()[-1]) == (0, "end success")
    assert desk.done == ["look, key in sight: False", "isolate ws-7"]


def test_a_call_that_did_not_happen_is_made_again(desk: Desk) -> None:
    """On a person's word alone."""
    desk.run()
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    desk.resume(DIE="after")
    desk.resume()
    desk.guideway("reconcile", "r", desk.asked(), "--did-not-happen", "--by", "ines")
    ended = desk.resume()

    assert ended.status == 0
    assert desk.done.count("isolate ws-7") == 2


@pytest.mark.parametrize("journal", ["runs.db", "kept"])
def test_a_run_that_waits_is_killed_and_resumed(tmp_path: Path, journal: str) -> None:
    """The question stays; what was decided meanwhile counts once; nothing is run twice."""
    desk = Desk(tmp_path, journal)
    waiting = desk.begin("--wait")
    asked = desk.asked()
    waiting.kill()
    waiting.communicate()
    desk.guideway("approve", "r", asked, "--by", "lead")
    ended, after = desk.resume(), desk.resume()

    assert (ended.status, after.status) == (0, 0)
    assert desk.done == ["look, key in sight: False", "isolate ws-7"]
    assert len(desk.records("answered")) == 1


def test_the_run_is_told_from_its_journal_as_it_was_told(desk: Desk) -> None:
    """With its playbook to the letter; without it by the names of its steps; as JSON, a trace that draw takes."""
    told = desk.run().out
    with_playbook, without = desk.guideway("trace", "r", "contain.yaml"), desk.guideway("trace", "r")
    as_json = desk.guideway("trace", "r", "--json").out
    (desk.folder / "t.jsonl").write_text(as_json)
    drawn = desk.guideway("draw", "contain.yaml", "--trace", "t.jsonl", journal=False)

    assert with_playbook.out == told
    assert plain(without.out).splitlines()[2:5] == ["→ look", "  allow  look()", '  ok     look -> {"hits": 1}']
    assert [record["kind"] for record in records.verify(as_json)][:2] == ["started", "decided"]
    assert drawn.status == 0
    assert desk.guideway("trace", "r", "shift.yaml").status == 2


def test_runs_lists_what_waits_and_what_has_ended(desk: Desk) -> None:
    """Golden, as a table and as JSON."""
    desk.run()
    desk.guideway("run", "shift.yaml", "--run-id", "s")
    desk.guideway("reject", "r", desk.asked(), "--by", "boss")
    desk.resume()
    table, as_json = desk.guideway("runs"), desk.guideway("runs", "--json")

    assert plain(table.out) == (
        "RUN  PLAYBOOK  VERSION       STATUS   STARTED               LAST                  OUTCOME OR WAITING FOR\n"
        "r    contain   VERSION.....  ended    TIME................  TIME................  kept\n"
        "s    shift     VERSION.....  waiting  TIME................  TIME................  desk\n"
    )
    first, second = map(json.loads, as_json.out.splitlines())
    assert (first["status"], first["outcome"], first["waits_for"]) == ("ended", "kept", [])
    assert (second["status"], second["waits_for"], second["asked"]) == ("waiting", ["desk"], ["ask sure@1"])


def test_verify_prints_the_head_and_finds_what_was_changed_or_cut_off(desk: Desk) -> None:
    """An entry edited in the database; the end cut off, which the hash of before gives away."""
    desk.run()
    line = desk.guideway("verify", "r").out
    head = line.split()[0]
    held = desk.guideway("verify", "r", "--head", head)
    with sqlite3.connect(desk.folder / "runs.db") as db:
        db.execute("DELETE FROM entries WHERE run = 'r' AND seq = (SELECT MAX(seq) FROM entries WHERE run = 'r')")
    cut, whole = desk.guideway("verify", "r", "--head", head), desk.guideway("verify", "r")
    with sqlite3.connect(desk.folder / "runs.db") as db:
        db.execute("UPDATE entries SET text = replace(text, 'ws-7', 'dc-1') WHERE seq = 0")
    forged = desk.guideway("verify", "--all")

    assert plain(line) == "HASH  r: 2 entries, not ended\n"
    assert (held.status, held.out) == (0, line)
    assert (cut.status, "its end was cut off" in cut.err) == (1, True)
    assert whole.status == 0
    assert (forged.status, "entry 0 of run r is not the one that was written there" in forged.err) == (1, True)
    assert desk.resume().status == 1


def test_replay_makes_the_same_records(desk: Desk) -> None:
    """Golden; another version of the playbook is refused."""
    desk.run()
    same = desk.guideway("replay", "r", "contain.yaml")
    playbook = desk.folder / "contain.yaml"
    playbook.write_text(playbook.read_text().replace("name: Contain", "name: Changed"))
    other, resumed = desk.guideway("replay", "r", "contain.yaml"), desk.resume()

    assert (same.status, same.out) == (0, "r: 1 event made the same 4 records; not ended\n")
    for refused in (other, resumed):
        assert refused.status == 2
        assert "PLAYBOOK: run r runs on another version of `contain`" in refused.err


def test_a_script_goes_on_after_the_turns_it_has_played(desk: Desk) -> None:
    """The agent's call that a person allows meanwhile is run when the run is resumed."""
    (desk.folder / "agent.yaml").write_text(
        "id: contain\nname: C\ntools:\n"
        "  look: {effect: read}\n  isolate: {effect: irreversible, approval: {ask: Go?, approvers: [lead]}}\n"
        "steps:\n  - {id: look, description: L, expected_tools: [look]}\n"
        "  - {id: contain, description: C, expected_tools: [isolate]}\n"
        "  - {id: after, description: A, expected_tools: [look]}\n"
    )
    turns = [{"tool": "look"}, {"tool": "isolate", "args": {"host": "ws-7"}}, {"tool": "look"}]
    (desk.folder / "turns.jsonl").write_text("".join(json.dumps({"calls": [turn]}) + "\n" for turn in turns))
    about = ("agent.yaml", "--tools", "tools.py", "--agent", "scripted:turns.jsonl")
    left = desk.guideway("run", *about, "--run-id", "r")
    desk.guideway("approve", "r", "contain", "--by", "lead")
    ended = desk.guideway("resume", "r", *about)

    assert (left.status, ended.status) == (3, 0)
    assert [line.split(",")[0] for line in desk.done] == ["look", "isolate ws-7", "look"]
    assert "turn 3" in ended.out
    assert "turn 1" not in ended.out


def test_sensitive_inputs_are_given_again_and_are_on_no_disk(desk: Desk) -> None:
    """Named when they are missing, or given though the journal holds them."""
    (desk.folder / "secret.yaml").write_text(
        "id: s\nname: S\ninputs: {host: string, token: {type: string, sensitive: true}}\ntools: {isolate: {}}\n"
        "steps:\n  - {id: agree, approval: {ask: 'Use {{ inputs.token }}?', approvers: [lead]}}\n"
        "  - {id: go, call: {tool: isolate, args: {host: '{{ inputs.token }}'}}}\n"
    )
    token = ("--input", "token=hunter2")
    left = desk.guideway("run", "secret.yaml", "--tools", "tools.py", *token, "--input", "host=a", "--run-id", "r")
    shown = desk.guideway("approve", "r")
    desk.guideway("approve", "r", "agree", "--by", "lead")
    about = ("resume", "r", "secret.yaml", "--tools", "tools.py")
    without, wrong = desk.guideway(*about), desk.guideway(*about, "--input", "token=hunter3")
    twice, ended = desk.guideway(*about, *token, "--input", "host=b"), desk.guideway(*about, *token)
    replayed = desk.guideway("replay", "r", "secret.yaml", *token)

    assert left.status == 3
    assert "Use •••?" in shown.out
    assert (without.status, "`token`" in without.err) == (2, True)
    assert (wrong.status, "hunter3" in wrong.err) == (2, False)
    assert twice.err == "guideway resume: --input: the journal holds `host`; only sensitive inputs are given again\n"
    assert (ended.status, replayed.status) == (0, 0)
    assert desk.done == ["isolate hunter2"]
    assert not any(b"hunter2" in file.read_bytes() for file in desk.folder.glob("runs.db*"))
    assert "hunter2" not in left.out + left.err + ended.out + desk.guideway("trace", "r").out


@pytest.mark.parametrize("mode", ["record", "shadow"])
def test_a_run_may_only_watch(desk: Desk, mode: str) -> None:
    """What is illegal runs, is told, and moves nothing; the legal call after it does (S55)."""
    (desk.folder / "watched.yaml").write_text(
        "id: w\nname: W\ntools: {look: {effect: read}, isolate: {}}\n"
        "steps:\n  - {id: look, description: L, expected_tools: [look]}\n"
    )
    turns = [{"tool": "isolate", "args": {"host": "ws-7"}}, {"tool": "look"}]
    (desk.folder / "turns.jsonl").write_text("".join(json.dumps({"calls": [turn]}) + "\n" for turn in turns))
    about = ("watched.yaml", "--tools", "tools.py", "--agent", "scripted:turns.jsonl", "--mode", mode)
    ended = desk.guideway("run", *about, "--run-id", "r")
    replayed = desk.guideway("replay", "r", "watched.yaml")

    assert ended.status == 0
    assert "against the playbook (out_of_sequence" in ended.out
    assert [line.split(",")[0] for line in desk.done] == ["isolate ws-7", "look"]
    assert replayed.status == 0


@pytest.mark.parametrize(("line", "said"), [
    ("run shift.yaml --wait", "--wait: give --journal"),
    ("run shift.yaml --key k", "--key: give --journal"),
    ("run shift.yaml --mode lax", "--mode: the mode of a session is one of enforce, record, shadow"),
    ("run shift.yaml --journal runs.db --wait --at 2026-03-03T09:00:00Z", "--wait: people take real time"),
    ("run shift.yaml --journal tools.py", "--journal: tools.py is a file; name a .db file, or a folder"),
    ("runs --journal nowhere.db", "--journal: nowhere.db does not exist"),
    ("runs --journal none.db", "--journal: the journal none.db cannot be opened"),
    ("resume r shift.yaml --journal empty", "RUN: empty holds no run r; it holds none"),
])  # fmt: skip
def test_misuse_names_the_option(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, guideway: Run, line: str, said: str
) -> None:
    """One sentence, before anything is written."""
    monkeypatch.chdir(desk.folder)
    (desk.folder / "none.db").write_text("this is no database, but a long enough text to be taken for one" * 20)
    (desk.folder / "empty").mkdir()
    result = guideway(*line.split())

    assert result.status == 2
    assert f"guideway {line.split()[0]}: {said}" in result.err
    assert not (desk.folder / "runs.db").exists()


def test_a_name_that_is_taken_is_misuse(desk: Desk, guideway: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the run that has it is as it was."""
    monkeypatch.chdir(desk.folder)
    line = ["run", "shift.yaml", "--journal", "runs.db", "--run-id", "r"]
    guideway(*line)
    again = guideway(*line)

    assert (again.status, again.out) == (2, "")
    assert "--run-id: runs.db holds a run r already; go on with it: guideway resume r" in again.err
    assert desk.standing().entries == 1


def test_of_two_processes_that_drive_one_run_one_is_refused(desk: Desk) -> None:
    """The one that finds the run moved on by the other stops with a sentence, before any effect."""
    waiting = desk.begin("--wait")
    asked = desk.asked()
    taken = desk.resume()
    desk.guideway("approve", "r", asked, "--by", "lead")
    first, second = desk.end(waiting), desk.resume()

    assert taken.status == 3
    assert first.status == 1
    assert "another process writes to it" in first.err
    assert second.status == 0
    assert desk.done.count("isolate ws-7") == 1


def test_a_resumed_run_writes_the_whole_trace_and_draws_the_whole_way(desk: Desk) -> None:
    """What was before it was resumed, and what came after, in one chain."""
    desk.run()
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    ended = desk.resume("--trace", "t.jsonl", "--draw", "way.mmd")
    kinds = [record["kind"] for record in records.verify((desk.folder / "t.jsonl").read_text())]
    way = (desk.folder / "way.mmd").read_text()

    assert ended.status == 0
    assert (kinds[0], kinds.count("settled"), kinds[-1]) == ("started", 2, "ended")
    assert (desk.folder / "t.jsonl").read_text() == desk.guideway("trace", "r", "--json").out
    assert "look" in way


def test_people_are_heard_while_another_branch_waits_for_time(desk: Desk) -> None:
    """A wait of a minute does not keep an approval from being carried out at once."""
    (desk.folder / "both.yaml").write_text(
        "id: b\nname: B\ntools: {look: {effect: read}, isolate: {}}\nsteps:\n"
        "  - id: both\n    join: any\n    parallel:\n"
        "      slow: [{id: rest, wait: 60s}]\n"
        "      quick: [{id: agree, approval: {ask: Go?, approvers: [lead]}}]\n"
    )
    waiting = desk.begin(playbook="both")
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    ended = desk.end(waiting)

    assert ended.status == 0
    assert "answer agree approved by lead" in ended.out
