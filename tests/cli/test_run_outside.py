"""`guideway run` where a run needs more than tools: users, signals, predicates, answers, called playbooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guideway.runtime import records

Run = Callable[..., Any]

CALLEE = """
id: enrich
name: Enrich
inputs: {ip: string, key: {type: string, sensitive: true}}
tools: {whois: {parameters: {properties: {ip: {}, key: {}, pin: {sensitive: true}}}}}
outputs: {owner: facts.whois.owner}
steps:
  - {id: whois, call: {tool: whois, args: {ip: "{{ inputs.ip }}", key: "{{ inputs.key }}", pin: swordfish}}}
"""
PLAYBOOK = """
id: main
name: Main
outcomes: {theirs: success, mine: success}
tools: {secret: {effect: read}, count: {}, close: {}}
predicates: {is_vip: {description: on the list}}
steps:
  - {id: key, call: {tool: secret}}
  - id: both
    parallel:
      address: {playbook: enrich, with: {ip: 198.51.100.7, key: "{{ facts.key }}"}}
      counts:
        - {id: first, call: {tool: count}}
        - id: again
          for_each: {as: n, in: [1, 2]}
          steps:
            - {id: one, call: {tool: count, args: {n: "{{ n }}"}}}
  - id: go
    wait: {signal: go_ahead}
  - id: sure
    ask:
      question: "{{ facts.address.owner }}?"
      assignees: [desk]
      choices: {yes: end, no: mine}
      fields: {pin: {type: string, sensitive: true}, days: integer}
  - id: end
    switch:
      - {when: predicate("is_vip"), goto: theirs}
      - {goto: mine}
finally:
  - {id: tidy, call: {tool: close}}
"""
TOOLS = """
def secret():
    return "hunter2"
def whois(ip, key, pin):
    return {"owner": "ISP", "echo": key}
def count(n=0):
    return n
def close():
    raise OSError("closed already")
"""
ANSWER = {"step": "sure", "answer": "yes", "by": "ann", "groups": ["desk"], "fields": {"pin": "sesame", "days": 3}}
LINE = "run main.yaml --tools tools.py --trace t.jsonl --approve file:a.json --predicates yes.py --signal go_ahead"


@pytest.fixture(name="desk", autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two playbooks, tools, a predicate and an answer."""
    for name, text in {
        "main.yaml": PLAYBOOK, "enrich.yaml": CALLEE, "tools.py": TOOLS, "a.json": json.dumps([ANSWER]),
        "yes.py": "def is_vip(names):\n    return names['answers']['sure']['days'] == 3\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_told_with_what_goes_on_side_by_side_in_it(guideway: Run) -> None:
    """A step is named again when the telling comes back to it; items and called playbooks by their frame."""
    result = guideway(*LINE.split())

    assert result.status == 0
    assert result.out.split("\n", 1)[1] == Path(__file__).with_name("side_by_side.txt").read_text()


def test_what_is_sensitive_in_a_called_playbook_and_in_answers_is_hidden(guideway: Run, desk: Path) -> None:
    """Its input wherever it turns up once the playbook is called, a marked parameter, a marked field."""
    result = guideway(*LINE.split())
    trace = (desk / "t.jsonl").read_text()
    entries = records.verify(trace)
    called = entries.index(next(entry for entry in entries if entry["kind"] == "called"))

    for text in (result.out.split("calls enrich")[1], "".join(map(str, entries[called:])), result.err):
        for secret in ("hunter2", "swordfish", "sesame"):
            assert secret not in text
    [answered] = [entry for entry in entries if entry["kind"] == "answered"]
    assert answered["answer"] == {"pin": "•••", "days": 3, "choice": "yes"}
    assert entries[called]["inputs"] == {"ip": "198.51.100.7", "key": "•••"}


def test_a_called_playbook_is_drawn_as_it_went(guideway: Run) -> None:
    """`--frame` names its frame; one that is none is misuse that names those there are."""
    guideway(*LINE.split())
    drawn = guideway(*["draw", "main.yaml", "--trace", "t.jsonl", "--frame", "address/"])

    assert drawn.status == 0
    assert "walked" in drawn.out
    assert "whois" in drawn.out
    assert "sure" not in drawn.out
    wrong = guideway(*["draw", "main.yaml", "--trace", "t.jsonl", "--frame", "elsewhere/"])
    assert (wrong.status, wrong.err) == (
        2, "guideway draw: --frame: the run called no playbook at elsewhere/; known: address/\n"
    )  # fmt: skip
    assert guideway(*["draw", "main.yaml", "--frame", "address/"]).status == 2


def test_without_its_signal_the_run_waits_for_it(guideway: Run) -> None:
    """Status 3, and it is named."""
    result = guideway(*LINE.replace(" --signal go_ahead", "").split())

    assert (result.status, result.err) == (3, "guideway run: waiting for the signal `go_ahead` (step `go`)\n")


@pytest.mark.parametrize(("change", "said"), [
    ((" --signal go_ahead", " --signal go_ahaed"), "--signal: `main` waits for no signal `go_ahaed`; did you mean"),
    ((" --signal go_ahead", " --signal go_ahead={"), "--signal: what comes with `go_ahead` must be JSON"),
    ((" --predicates yes.py", ""), "--predicates: no predicate `is_vip` was given, and `main` asks it"),
    ((" --predicates yes.py", " --predicates no.py"), "--predicates: no.py does not exist"),
    (("run main.yaml", "run main.yaml --user bob"), "--user: bob is neither ask nor scripted:FILE"),
    (("run main.yaml", "run main.yaml --user scripted:a.json"), "--user: a.json: entry 1: unknown key `step`"),
    (("run main.yaml", "run main.yaml --at noon"), "--at: noon is no time; write it as 2026-03-03T09:00:00Z"),
    (("run main.yaml", "run main.yaml --at 2026-03-03"), "--at: 2026-03-03 must name its time zone"),
    (("run main.yaml", "run main.yaml --root nowhere"), "--root: nowhere does not exist"),
    (("run main.yaml", "run main.yaml --root tools.py"), "--root: tools.py is no folder"),
])  # fmt: skip
def test_misuse_names_the_option(guideway: Run, change: tuple[str, str], said: str) -> None:
    """One sentence, before anything runs."""
    result = guideway(*LINE.replace(*change).split())

    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"guideway run: {said}")


@pytest.mark.parametrize(("entry", "said"), [
    ({"step": "sure", "by": "ann"}, "`decision` is missing; for an `ask` give `answer`, or `fields`"),
    ({"step": "sure", "by": "ann", "answer": 1}, "`answer` must be text"),
    ({"step": "sure", "by": "ann", "answer": "yes", "groups": [1]}, "`groups` must be a list of names"),
])  # fmt: skip
def test_an_answer_that_is_none_is_named(guideway: Run, desk: Path, entry: dict[str, Any], said: str) -> None:
    """With its place in the file."""
    (desk / "a.json").write_text(json.dumps([entry]))
    result = guideway(*LINE.split())

    assert result.status == 2
    assert f"--approve: a.json: entry 1: {said}" in result.err


def test_a_person_at_the_terminal_answers(guideway: Run, desk: Path) -> None:
    """A choice by its number, fields by their type, a name with its groups; what is none is asked again."""
    typed = "maybe\n1\nsesame\nmany\n3\nann (desk)\n"
    line = LINE.replace(" --approve file:a.json", "").split()
    result = guideway(*line, stdin=typed, terminal=True)

    assert result.status == 0
    assert "    1. yes\n    2. no\n  may answer: desk\n" in result.out
    assert "that is no JSON" in result.out
    assert "end theirs" in result.out
    [answered] = [e for e in records.verify((desk / "t.jsonl").read_text()) if e["kind"] == "answered"]
    assert (answered["by"], answered["answer"]) == ("ann", {"pin": "•••", "days": 3, "choice": "yes"})


@pytest.mark.parametrize("typed", ["\n", "later\n", ""])
def test_who_puts_an_answer_off_leaves_the_run_waiting(guideway: Run, typed: str) -> None:
    """Status 3, and whom it waits for."""
    result = guideway(*LINE.replace(" --approve file:a.json", "").split(), stdin=typed, terminal=True)

    assert result.status == 3
    assert "waiting for desk to answer in `sure`: ISP?" in result.err


CHAT = """
id: chat
name: Chat
conversation: true
steps:
  - {id: find, description: Find the order., expected_tools: [get_order]}
"""


@pytest.fixture(name="chat")
def _chat(desk: Path) -> str:
    """A conversation: the agent asks, then looks up what it is told."""
    turns = [{"text": "Which order?"}, {"calls": [{"tool": "get_order", "args": {"id": "o-1"}}]}]
    (desk / "chat.yaml").write_text(CHAT)
    (desk / "shop.py").write_text("def get_order(id):\n    return {'id': id}\n")
    (desk / "agent.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    (desk / "user.jsonl").write_text('{"text": "It is o-1."}\n')
    return "run chat.yaml --tools shop.py --agent scripted:agent.jsonl"


def test_a_conversation_is_played(guideway: Run, chat: str) -> None:
    """What the user says is told between two turns."""
    result = guideway(*chat.split(), "--user", "scripted:user.jsonl")

    assert result.status == 0
    assert "  agent  turn 1: Which order?\n  user   It is o-1.\n  agent  turn 2\n" in result.out


def test_the_user_of_a_conversation_sits_at_the_terminal(guideway: Run, chat: str) -> None:
    """Or nobody does, and the run waits."""
    there = guideway(*chat.split(), stdin="It is o-1.\n", terminal=True)
    nobody = guideway(*chat.split())

    assert there.status == 0
    assert "you: " in there.out
    assert (nobody.status, nobody.err) == (3, "guideway run: waiting for the user to answer\n")


def test_a_playbook_out_of_reach_is_reached_with_root(guideway: Run, desk: Path) -> None:
    """For every command that reads playbooks."""
    (desk / "team").mkdir()
    text = PLAYBOOK.replace("predicates:", "imports: {enrich: ../enrich.yaml}\npredicates:")
    (desk / "team" / "main.yaml").write_text(text)

    for line in ("check {} team/main.yaml", "compile {} team/main.yaml", "draw {} team/main.yaml"):
        assert guideway(*line.format("").split()).status > 0
        assert guideway(*line.format("--root .").split()).status == 0
    assert guideway(*LINE.replace("main.yaml", "team/main.yaml --root .").split()).status == 0


def test_a_run_can_be_played_at_another_time(guideway: Run, desk: Path) -> None:
    """It begins then, and only waits move its clock."""
    (desk / "later.yaml").write_text("id: later\nname: Later\nsteps: [{id: bake, wait: 90m}]\n")
    result = guideway(*["run", "later.yaml", "--trace", "t.jsonl", "--at", "2026-03-03T09:00:00Z"])
    times = [entry["at"] for entry in records.verify((desk / "t.jsonl").read_text())]

    assert result.status == 0
    assert (times[0], times[-1]) == ("2026-03-03T09:00:00Z", "2026-03-03T10:30:00Z")
