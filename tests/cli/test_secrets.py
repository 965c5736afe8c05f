"""What is sensitive is hidden in its place, and nobody who passes it chooses what else people cannot read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guideway as package
from guideway.runtime import records
from guideway.runtime.approvals import Approvals, Question
from guideway.runtime.asks import Piece, put_together
from guideway.runtime.marks import HIDDEN, Marks
from guideway.runtime.plan import plan_of
from guideway.runtime.redact import Redactor

Run = Callable[..., Any]

PLAYBOOK = """
id: red
name: Red
tools:
  login: {effect: read, parameters: {type: object, properties: {password: {sensitive: true}}}}
  pay: {effect: irreversible, approval: {ask: "Pay {{ args.amount }} to {{ args.to }}?", approvers: [lead]}}
steps:
  - {id: a, description: pay, expected_tools: [pay], optional_tools: [login]}
"""
GREEDY = ["mallory", "9999", "pay", "Pay", "lead", "amount", "to", 1, 2, "a", "login", "call"]
TURNS: list[list[dict[str, Any]]] = [
    [{"tool": "login", "args": {"password": GREEDY}}],
    [{"tool": "login", "args": {"password": "mallory", "other": 1}, "id": "x"}, {"tool": "nonsense", "args": {}}],
    [{"tool": "pay", "args": {"amount": 9999, "to": "mallory"}}],
]


@pytest.fixture(name="red")
def _red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a playbook, its tools, and an agent that calls its secrets by the words of everybody else."""
    (tmp_path / "red.yaml").write_text(PLAYBOOK)
    (tmp_path / "tools.py").write_text("TOOLS = {'login': lambda **k: {}, 'pay': lambda **k: {}}\n")
    (tmp_path / "red.jsonl").write_text("".join(json.dumps({"calls": calls}) + "\n" for calls in TURNS))
    (tmp_path / "yes.json").write_text('[{"step": "a", "decision": "approve", "by": "lead"}]')
    monkeypatch.chdir(tmp_path)
    return tmp_path


LINE = "run red.yaml --tools tools.py --agent scripted:red.jsonl"


def test_a_model_cannot_blank_the_record_with_its_arguments(guideway: Run, red: Path) -> None:
    """Its secret is hidden in its place, and every word of it stays readable everywhere else."""
    result = guideway(*f"{LINE} --approve file:yes.json --trace t.jsonl".split())
    entries = records.verify((red / "t.jsonl").read_text())
    [asked] = [entry for entry in entries if entry["kind"] == "asked"]
    logins = [entry["args"] for entry in entries if entry["kind"] == "decided" and entry["tool"] == "login"]

    assert result.status == 0
    assert 'ask    lead on a: Pay 9999 to mallory? pay(amount=9999, to="mallory")' in result.out
    assert "answer a approved by lead" in result.out
    assert (asked["tool"], asked["args"]) == ("pay", {"amount": 9999, "to": "mallory"})
    assert (asked["ask"], asked["approvers"]) == ("Pay 9999 to mallory?", ["lead"])
    assert [entry["number"] for entry in entries if entry["kind"] == "turn"] == [1, 2, 3]
    assert logins == [{"password": HIDDEN}, {"password": HIDDEN, "other": 1}]


def test_a_person_at_the_terminal_reads_the_whole_question(guideway: Run, red: Path) -> None:
    """Tool, arguments and text, whatever the agent called its secrets."""
    result = guideway(*LINE.split(), stdin="l\n", terminal=True)

    assert result.status == 3
    for line in ("a: Pay 9999 to mallory?", '  pay\n    amount = 9999\n    to = "mallory"', "  may decide: lead"):
        assert line in result.out
    assert "waiting for lead to decide on `a`: Pay 9999 to mallory?" in result.err


NESTED = {
    "type": "object",
    "$defs": {"key": {"type": "string", "sensitive": True}},
    "properties": {
        "user": {"type": "string"},
        "opts": {"type": "object", "properties": {"key": {"type": "string", "sensitive": True}}},
        "all": {"type": "array", "items": {"anyOf": [{"properties": {"pin": {"sensitive": True}}}, {"type": "null"}]}},
        "pair": {"prefixItems": [{"type": "string"}, {"sensitive": True}], "items": {"type": "string"}},
        "ref": {"$ref": "#/$defs/key"},
    },
    "patternProperties": {"^x-": {"sensitive": True}},
}
DEEP = {
    "user": "ann", "opts": {"key": "deep-1", "n": 1}, "all": [{"pin": "deep-2", "m": 2}, None], "pair": ["a", "deep-3"],
    "ref": "deep-4", "x-auth": ["deep-5"],
}  # fmt: skip
SHOWN = {
    "user": "ann", "opts": {"key": HIDDEN, "n": 1}, "all": [{"pin": HIDDEN, "m": 2}, None], "pair": ["a", HIDDEN],
    "ref": HIDDEN, "x-auth": HIDDEN,
}  # fmt: skip


def asking(ask: str, parameters: dict[str, Any], args: dict[str, Any], given: Any = None) -> tuple[Question, Redactor]:
    """A question about one call of `send`, and who hides what in it."""
    machine = package.load({
        "id": "p", "name": "P",
        "inputs": {"token": {"type": "string", "sensitive": True, "default": "none-given"}},
        "tools": {"look": {"effect": "read"}, "send": {"parameters": parameters, "approval": {"ask": ask}}},
        "steps": [
            {"id": "look", "call": {"tool": "look"}},
            {"id": "s", "description": "d", "expected_tools": ["send"]},
        ],
    })  # fmt: skip
    inputs = {} if given is None else {"token": given}
    session = package.Session(machine, inputs=inputs)
    [run_call] = session.commands
    assert isinstance(run_call, package.RunCall)
    session.observe(run_call.call_id, package.Succeeded({"x": "seen", "y": "seen"}))
    session.propose([package.ToolCall("send", args)])
    [question] = Approvals(session).pending
    return question, Redactor(plan_of(machine).definition, inputs)


def test_a_mark_counts_at_any_depth_of_the_schema(guideway: Run, tmp_path: Path) -> None:
    """In properties, items, alternatives, references and patterns; what stands beside it is shown."""
    question, redactor = asking("Send?", NESTED, DEEP)

    assert redactor.question(question).args == SHOWN
    assert redactor.record({"kind": "decided", "tool": "send", "args": DEEP})["args"] == SHOWN
    assert Marks({"$ref": "elsewhere", "properties": {"a": {"sensitive": True}}}).hide({"b": 1}) == {"b": HIDDEN}


PASSWORD = {"properties": {"password": {"type": "string", "sensitive": True}, "to": {"type": "string"}}}


@pytest.mark.parametrize(
    ("ask", "shown"),
    [
        ("Send {{ args.password }} to {{ args.to }}?", "Send ••• to ann?"),
        ("{{ args.to }}: {{ args.password }}", "ann: •••"),
        ("All: {{ args }}", 'All: {"password":"•••","to":"ann"}'),
        ("Send {{ facts.look.x }} and {{ args.password }} to {{ args.to }}?", "Send seen and ••• to ann?"),
        ("Sent {{ facts.look.x + args.password }} by {{ facts.look.y }} to {{ args.to }}", "Sent ••• by seen to ann"),
        ("Send {{ size(args.password) }} letters to {{ args.to }}?", "Send ••• letters to ann?"),
        ("Send ann to {{ args.to }}?", "Send ann to ann?"),
    ],
)
@pytest.mark.parametrize("password", ["ann", "Send", " to ", "hunter2", "", "e"])
def test_a_question_hides_the_secret_just_where_it_stands(ask: str, shown: str, password: str) -> None:
    """The author's words and the other arguments are shown, also where the secret is the same word."""
    question, redactor = asking(ask, PASSWORD, {"password": password, "to": "ann"})
    clean = redactor.question(question)

    assert clean.args == {"password": HIDDEN, "to": "ann"}
    assert clean.ask == shown


def test_what_may_be_read_in_two_ways_is_hidden() -> None:
    """A secret that looks like the words between two values nobody knows here."""
    ask = "Sent {{ facts.look.x + args.password }} by {{ facts.look.y }} to {{ args.to }}"
    question, redactor = asking(ask, PASSWORD, {"password": "a by b", "to": "ann"})

    assert redactor.question(question).ask == "Sent ••• by ••• to ann"


def test_what_is_said_against_an_argument_does_not_show_it() -> None:
    """The schema's complaint quotes the value."""
    _, redactor = asking("Send?", PASSWORD, {"password": "a", "to": "b"})
    record = {"kind": "decided", "tool": "send", "args": {"password": 4711}, "code": "bad_args"}

    assert redactor.record({**record, "detail": "['password']: 4711 is not of type 'string'"})["detail"] == HIDDEN
    harmless = "'to' is a required property"
    assert redactor.record({**record, "detail": harmless})["detail"] == harmless


def test_a_sensitive_input_is_hidden_by_value_and_leaves_the_playbooks_words_alone() -> None:
    """In texts, under other quoting and as a number; not in the author's part of a question, names or counts."""
    question, redactor = asking("Send {{ args.to }}?", PASSWORD, {"to": "Send", "password": "p"}, "Send")
    odd = asking("Send?", PASSWORD, {}, 'hun"ter')[1]

    assert redactor.question(question).ask == "Send •••?"
    assert redactor.question(question).args == {"to": HIDDEN, "password": HIDDEN}
    assert odd.hide(['say hun"ter', json.dumps({"a": 'hun"ter'}), "gunter"]) == ["say •••", '{"a": "•••"}', "gunter"]
    assert asking("Send?", PASSWORD, {}, "send")[1].record(
        {"kind": "decided", "tool": "send", "verdict": "allow", "step": "send", "args": {"to": "send", "send": 1}}
    ) == {"kind": "decided", "tool": "send", "verdict": "allow", "step": "send", "args": {"to": HIDDEN, "send": 1}}


def test_an_input_that_is_refused_is_not_shown(guideway: Run, tmp_path: Path) -> None:
    """The complaint about a sensitive input does not quote it."""
    playbook = tmp_path / "p.yaml"
    playbook.write_text(
        "id: p\nname: P\ninputs: {token: {type: string, minLength: 20, sensitive: true}}\nsteps:\n"
        "  - {id: a, approval: {ask: Go on?}}\n"
    )
    result = guideway("run", playbook, "--input", "token=hunter2")

    assert result.status == 2
    assert "hunter2" not in result.err


KNOWN = st.text("ab ", max_size=3)


@given(st.lists(st.tuples(st.booleans(), KNOWN), min_size=1, max_size=6))
def test_a_text_is_put_together_from_its_pieces(parts: list[tuple[bool, str]]) -> None:
    """Known pieces are shown as they are; what is found of the others is theirs, or hidden."""
    text = "".join(part for _, part in parts)
    marked = put_together([Piece(None if open_ else part, lambda t: t) for open_, part in parts], text)

    assert marked is not None
    if HIDDEN not in marked:
        assert marked == text
    if sum(open_ for open_, _ in parts) <= 1:
        assert marked == text
    assert put_together([Piece("c", str), Piece(None, str)], text) is None
