"""What is sensitive never reaches the disk, and a run that needs it again says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.journal import JsonLinesJournal, MemoryJournal, replay, resume, start

T0 = datetime(2026, 1, 31, 9, tzinfo=UTC)
SECRETS = {
    "input": "hunter2-input", "param": "4711-param", "result": "s3-result", "field": "f1-field", "inner": "i9-inner",
}  # fmt: skip
PLAYBOOK: dict[str, Any] = {
    "id": "p", "name": "P",
    "inputs": {"host": "string", "token": {"type": "string", "sensitive": True}},
    "tools": {
        "login": {"effect": "read", "parameters": {"type": "object", "properties": {
            "pin": {"type": "string", "sensitive": True}, "user": {"type": "string"}}}},
        "fetch": {"effect": "read", "result": {"type": "object", "properties": {
            "key": {"type": "string", "sensitive": True}}}},
        "reset": {"parameters": {"type": "object", "properties": {"pin": {"type": "string", "sensitive": True}}},
                  "approval": {"ask": "Reset to {{ args.pin }}?", "approvers": ["lead"]}},
    },
    "steps": [
        {"id": "login", "description": "L", "expected_tools": ["login"]},
        {"id": "fetch", "call": {"tool": "fetch", "args": {"auth": "Bearer {{ inputs.token }}"}}},
        {"id": "owner", "ask": {"question": "Which?", "assignees": ["ann"],
                                "fields": {"code": {"type": "string", "sensitive": True}}}},
        {"id": "inner", "playbook": "inner", "with": {"pass": SECRETS["inner"]}},
        {"id": "reset", "description": "R", "expected_tools": ["reset"]},
    ],
}  # fmt: skip
INNER = {
    "id": "inner", "name": "I", "inputs": {"pass": {"type": "string", "sensitive": True}},
    "steps": [{"id": "w", "wait": {"signal": "go"}}],
}  # fmt: skip
GIVEN = {"host": "ws-7", "token": SECRETS["input"]}


class Safe:
    """A vault."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Any] = {}

    def put(self, run: str, name: str, value: Any) -> None:
        """Keep."""
        self.kept[run, name] = value

    def get(self, run: str, name: str) -> Any:
        """Give back."""
        return self.kept.get((run, name))


def machine() -> gw.Machine:
    """The playbook, compiled."""
    return gw.load(PLAYBOOK, library=[INNER])


def steps(session: gw.Session) -> list[Any]:
    """What happens in the run, in order."""
    people = gw.Approvals(session)

    def ask(args: dict[str, str]) -> None:
        session.propose([gw.ToolCall("reset", args, "c9")])

    return [
        lambda: session.propose([gw.ToolCall("login", {"pin": SECRETS["param"], "user": "a"}, "c1")]),
        lambda: session.observe("c1", gw.Succeeded({"ok": True})),
        lambda: session.observe(session.commands[0].call_id, gw.Succeeded({"key": SECRETS["result"]})),
        lambda: people.answer(people.pending[0].approval_id, "x", by="ann", fields={"code": SECRETS["field"]}),
        lambda: session.signal("go"),
        lambda: ask({"pin": "77-" + SECRETS["param"]}),
        lambda: people.approve("call c9", by="lead"),
        lambda: session.observe("c9", gw.Succeeded()),
    ]


def test_no_secret_is_on_the_disk_at_any_moment(tmp_path: Path) -> None:
    """
    Neither in events, nor in what they made happen, nor in snapshots, which follow where something is hidden by place.
    """
    journal = JsonLinesJournal(tmp_path)
    session = start(journal, machine(), run_id="r", inputs=GIVEN, now=T0)
    for number, do in enumerate(steps(session)):
        do()
        content = (tmp_path / "r.jsonl").read_text()
        assert not [name for name, secret in SECRETS.items() if name != "inner" and secret in content], number

    assert session.outcome == "success"
    assert '"kind":"snapshot"' in content


@pytest.mark.parametrize("after", range(9))
def test_with_a_vault_and_its_inputs_a_run_goes_on_from_any_moment(after: int) -> None:
    """
    What was hidden is there again, as it was.
    """
    journal, vault = MemoryJournal(), Safe()
    session = start(journal, machine(), run_id="r", inputs=GIVEN, now=T0, vault=vault)
    for do in steps(session)[:after]:
        do()
    later = resume(journal, "r", machine(), inputs={"token": SECRETS["input"]}, now=T0, vault=vault)
    known = later.snapshot.data["frames"][0]

    assert known["inputs"] == GIVEN
    if after > 2:
        assert later.outcome == "success" or "facts" not in known or "•••" not in str(known)
    assert replay(journal, "r", machine(), inputs={"token": SECRETS["input"]}, vault=vault).events >= after


def test_a_secret_input_must_be_given_again_and_be_the_same() -> None:
    """
    Missing or another, it is refused, by its name.
    """
    journal = MemoryJournal()
    start(journal, machine(), run_id="r", inputs=GIVEN, now=T0)

    with pytest.raises(gw.HostError, match="sensitive input `token`; give it again"):
        resume(journal, "r", machine(), now=T0)
    with pytest.raises(gw.HostError, match="`token` is not the one"):
        resume(journal, "r", machine(), inputs={"token": "other"}, now=T0)


def test_without_a_vault_a_run_that_needs_a_lost_value_is_refused_and_one_that_does_not_goes_on() -> None:
    """
    A call that is under way needs its arguments; once it is settled nothing does.
    """
    journal = MemoryJournal()
    session = start(journal, machine(), run_id="r", inputs=GIVEN, now=T0)
    doings = steps(session)
    doings[0]()
    with pytest.raises(gw.HostError, match="a sensitive argument or result"):
        resume(journal, "r", machine(), inputs=GIVEN, now=T0)
    doings[1]()
    later = resume(journal, "r", machine(), inputs=GIVEN, now=T0)

    assert later.commands[0].args == {"auth": "Bearer hunter2-input"}  # type: ignore[union-attr]


def test_a_tool_that_writes_a_mark_writes_no_secret() -> None:
    """
    The mark of a hidden value holds a number that only the journal has: text that looks like one is text.
    """
    told = gw.load({"id": "p", "name": "P", "inputs": {"token": {"type": "string", "sensitive": True}},
                    "tools": {"look": {"effect": "read"}, "tell": {}}, "steps": [
        {"id": "look", "description": "L", "expected_tools": ["look"]},
        {"id": "tell", "call": {"tool": "tell", "args": {"text": "{{ facts.look.echo }}"}}}]})  # fmt: skip
    journal = MemoryJournal()
    session = start(journal, told, run_id="r", inputs={"token": SECRETS["input"]})
    session.propose([gw.ToolCall("look", {}, "c1")])
    session.observe("c1", gw.Succeeded({"echo": "•••{token.0} •••{0.token.0}"}))
    [question] = gw.Approvals(resume(journal, "r", told, inputs={"token": SECRETS["input"]})).pending

    assert question.args == {"text": "•••{token.0} •••{0.token.0}"}


def test_a_note_with_calls_in_it_hides_what_their_tools_mark() -> None:
    """
    The transcript of an agent is such a note: arguments, results and what a model wrote that is no JSON.
    """
    journal, vault = MemoryJournal(), Safe()
    session = start(journal, machine(), run_id="r", inputs=GIVEN, now=T0, vault=vault)
    note = {"messages": [
        {"role": "assistant", "tool_calls": [
            {"call_id": "c1", "name": "login", "args": {"pin": SECRETS["param"], "user": "a"}},
            {"call_id": "c2", "name": "login", "args": '{"pin": "4711-param"'}]},
        {"role": "tool", "name": "fetch", "content": {"key": SECRETS["result"]}},
        {"role": "user", "content": "in the name of the law"}]}  # fmt: skip
    session.note("agent", note)
    written = "".join(stored.text for stored in journal.read("r"))
    from guideway.runtime.journal.resuming import rebuild

    assert not [secret for secret in SECRETS.values() if secret in written]
    assert "in the name of the law" in written
    for known in (vault, None):  # a note moves nothing, so what is lost in it does not matter
        rebuild(journal, "r", machine(), inputs=GIVEN, vault=known)


MARKS = ["•••{NONCE.token.0}", "a •••{NONCE. b", "•••{NONCE.!}", "•••{NONCE.#1}", "•••••{NONCE."]


@pytest.mark.parametrize("said", MARKS)
def test_who_has_read_the_journal_cannot_have_a_mark_filled(said: str) -> None:
    """
    An agent that knows the number of the run's marks writes one: it is text, before a crash and after it.
    """
    told = gw.load({"id": "p", "name": "P", "inputs": {"token": {"type": "string", "sensitive": True}},
                    "tools": {"look": {"effect": "read"}, "tell": {"effect": "read"}}, "steps": [
        {"id": "look", "description": "L", "expected_tools": ["look"]},
        {"id": "tell", "call": {"tool": "tell", "args": {"text": "{{ facts.look.echo }}"}}}]})  # fmt: skip
    journal = MemoryJournal()
    session = start(journal, told, run_id="r", inputs={"token": SECRETS["input"]})
    mark = said.replace("NONCE", json.loads(next(journal.read("r")).text)["body"]["nonce"])
    session.propose([gw.ToolCall("look", {mark: mark}, "c1")])
    session.observe("c1", gw.Succeeded({"echo": mark, "token": SECRETS["input"]}))
    before = [command.args for command in session.commands if isinstance(command, gw.RunCall)]
    later = resume(journal, "r", told, inputs={"token": SECRETS["input"]})
    again = [command.args for command in later.commands if isinstance(command, gw.RunCall)]

    assert before == again == [{"text": mark}]
    assert not any(SECRETS["input"] in stored.text for stored in journal.read("r"))
    assert replay(journal, "r", told, inputs={"token": SECRETS["input"]}).events == 3


def test_a_secret_that_stands_in_the_mark_of_another_breaks_no_mark() -> None:
    """
    One secret is the name of the other's input: both are hidden, and both come back.
    """
    two = {name: {"type": "string", "sensitive": True} for name in ("token", "word")}
    told = gw.load({"id": "p", "name": "P", "inputs": two, "tools": {"look": {"effect": "read"}}, "steps": [
        {"id": "look", "call": {"tool": "look", "args": {"a": "{{ inputs.token }}-{{ inputs.word }}"}}}]})  # fmt: skip
    given = {"token": "hunter2-hunter2", "word": "token"}
    journal = MemoryJournal()
    session = start(journal, told, run_id="r", inputs=given, key=b"k" * 32)
    later = resume(journal, "r", told, inputs=given, key=b"k" * 32)

    assert [c.args for c in session.commands if isinstance(c, gw.RunCall)] == [{"a": "hunter2-hunter2-token"}]
    assert [c.args for c in later.commands if isinstance(c, gw.RunCall)] == [{"a": "hunter2-hunter2-token"}]


def test_a_question_that_shows_a_marked_result_is_written_without_it() -> None:
    """
    The playbook writes the question itself; what its tools mark stays out of it, in records and snapshots.
    """
    tools = {**PLAYBOOK["tools"], "fetch": {**PLAYBOOK["tools"]["fetch"]},
             "cut": {"approval": {"ask": "Cut with {{ facts.fetch.key }}?", "approvers": ["lead"]}}}  # fmt: skip
    steps = [{"id": "fetch", "description": "F", "expected_tools": ["fetch"]},
             {"id": "cut", "description": "C", "expected_tools": ["cut"]}]  # fmt: skip
    asking = gw.load({"id": "p", "name": "P", "tools": tools, "steps": steps})
    journal = MemoryJournal()
    session = start(journal, asking, run_id="r", vault=(vault := Safe()))
    session.propose([gw.ToolCall("fetch", {}, "c1")])
    session.observe("c1", gw.Succeeded({"key": SECRETS["result"]}))
    session.propose([gw.ToolCall("cut", {}, "c2")])
    later = resume(journal, "r", asking, vault=vault)
    later.propose([gw.ToolCall("cut", {}, "c3")])
    written = "".join(stored.text for stored in journal.read("r"))

    assert gw.Approvals(session).pending[0].ask == f"Cut with {SECRETS['result']}?"
    assert SECRETS["result"] not in written
    assert "Cut with •••?" in written


def test_what_people_say_of_a_sensitive_call_lies_sealed_in_the_journal() -> None:
    """
    Edited arguments are read by who has the key; without a key the desk refuses to write them down.
    """
    from guideway.journal import Control, deliver

    key = b"k" * 40
    for known in (key, None):
        journal, vault = MemoryJournal(), Safe()
        steps = [{"id": "reset", "description": "R", "expected_tools": ["reset"]}]
        resetting = gw.load({**PLAYBOOK, "steps": steps, "inputs": {}})
        session = start(journal, resetting, run_id="r", key=known, vault=vault)
        session.propose([gw.ToolCall("reset", {"pin": "1-first-pin"}, "c1")])
        desk = Control(journal, known)
        if known is None:
            with pytest.raises(gw.HostError, match="without a key"):
                desk.approve("r", "call c1", by="lead", args={"pin": SECRETS["param"]})
            continue
        desk.approve("r", "call c1", by="lead", args={"pin": SECRETS["param"]})
        assert SECRETS["param"] not in journal.posted("r")[0].text
        assert deliver(session, known)[0].accepted
        assert session.call("c1").args == {"pin": SECRETS["param"]}
        assert SECRETS["param"] not in "".join(stored.text for stored in journal.read("r"))


@pytest.mark.parametrize("run", ["", "a" * 121, "half \ud800", 5])
def test_the_name_of_a_run_can_be_one_everywhere(run: Any) -> None:
    """
    What is no name is refused; left out, one is drawn.
    """
    with pytest.raises(gw.HostError, match="1 to 120 characters"):
        start(MemoryJournal(), gw.load({"id": "p", "name": "P"}), run_id=run)
