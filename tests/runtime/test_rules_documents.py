"""Rows 21, 23, 25 and 26 of the list of public reports: documents that open a gate, or run something."""

from __future__ import annotations

from typing import Any

import pytest

import guideway
from guideway import Deny, PlaybookError, check

from .helpers import (
    book,
    command,
    ends,
    ok,
    propose,
    start,
    step,
)


def codes(source: Any) -> list[str]:
    """The codes of what `check` finds."""
    return [finding.code for finding in check(source)]


def test_torture_21_a_key_written_twice_is_an_error_at_both_places() -> None:
    """The last one does not win in silence: not for a step id, not for a guard, not for any key."""
    head = "id: p\nname: P\nsteps:\n"
    twice = f"{head}  - id: a\n    description: A\n    expected_tools: [x]\n    when: inputs.a\n    when: inputs.b\n"
    twice += "inputs: {a: boolean, b: boolean}\n"
    [finding] = [
        f
        for f in check(twice)
        if "twice" in f.message or "duplicate" in f.message.lower() or "second time" in f.message
    ]
    assert finding.span.line == 8 and [r.span.line for r in finding.related] == [7]
    ids = head + "  - {id: a, description: A, expected_tools: [x]}\n  - {id: a, description: B, expected_tools: [y]}\n"
    found = check(ids)
    assert found and found[0].span.line == 5 and any(r.span.line == 4 for r in found[0].related)
    with pytest.raises(PlaybookError):
        guideway.load(twice)


@pytest.mark.parametrize(
    "name", ["on", "off", "yes", "no", "y", "n", "1e3", "null_", "0o7", "1:30", "~x", "NaN", ".inf", "On", "TRUE_"]
)
def test_torture_21_words_that_other_yamls_read_as_something_else(name: str) -> None:
    """A step named `on` is named `on`: YAML 1.2 core has two booleans and no base 60."""
    quote = name if name[0] not in "~" else f"'{name}'"
    text = "id: p\nname: P\nsteps:\n  - id: first\n    description: F\n    expected_tools: [x]\n"
    text += f"    next: {quote}\n  - id: {quote}\n    description: D\n    expected_tools: [y]\n"
    findings = [f for f in check(text) if f.level is guideway.Level.ERROR]
    if findings:  # a number is no name: it is refused with a place, and quoted it is one
        assert all(f.span.line in (7, 8) for f in findings)
        text = text.replace(quote, f'"{name}"')
    session = start(guideway.load(text))
    ok(session, "x")
    assert session.state == name
    assert ok(session, "y").outcome == "success"


MISPLACED: list[dict[str, Any]] = [
    {"steps": [step("a", "x", approval={"ask": "?", "aprovers": ["lead"]})]},
    {"steps": [step("a", {"tool": "x", "when": "inputs.n == 1"})]},
    {"steps": [step("a", call={"tool": "x", "when": "inputs.n == 1"})]},
    {"steps": [step("a", {"tool": "x", "approval": {"ask": "?", "where": "args.n > 1"}})]},
    {"steps": [step("a", "x")], "tools": {"x": {"when": "args.n == 1"}}},
    {"steps": [step("a", "x")], "when": "inputs.n == 1"},
    {"steps": [step("a", "x", where="args.n == 1")]},
    {"steps": [step("a", "x", approvel={"ask": "?"})]},
    {"steps": [step("a", "x", next_=[{"if": "inputs.n == 1", "goto": "success"}, {"goto": "failed"}])]},
    {"steps": [step("a", "x", retry={"at_most": 1, "where": "error.n == 1"})], "tools": {"x": {"effect": "read"}}},
    {"steps": [step("a", "x")], "termination": [{"tool_called": "x", "when": "args.n == 1"}]},
    {"steps": [step("a", "x")], "outcomes": {"gone": {"class": "success"}}},
]


@pytest.mark.parametrize("body", MISPLACED, ids=str)
def test_torture_23_a_gate_on_the_wrong_level_is_an_error(body: dict[str, Any]) -> None:
    """A key nobody reads there is never ignored: the gate it was meant to be would stand open."""
    source = {"id": "p", "name": "P", "inputs": {"n": "integer"}} | body
    findings = [f for f in check(source) if f.level is guideway.Level.ERROR]
    assert findings
    with pytest.raises(PlaybookError) as caught:
        guideway.load(source)
    assert caught.value.diagnostics


HOSTILE = [
    "__import__('os').system('x')",
    "args.__class__.__mro__",
    "facts.x.__globals__",
    "().__class__",
    "args['__class__']",
    "2 ** 99999999",
    "9" * 10_000,
    "(" * 5000 + "1" + ")" * 5000,
    "!" * 5000 + "true",
    "lambda: 1",
    "[x for x in args]",
    "args.n; import os",
    "eval('1')",
    "open('/etc/passwd')",
    "'a' * 1000000000 == 'b'",
    "args.n if args.n else 0",
    "args.f()()",
    "matches(args.s, '(a+)+$')",
    "args.s.matches('(?=a)b')",
    "{{ args.n }}",
    "args.n.__init__()",
    "\x00",
    "args.n ==",
    "",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_torture_25_hostile_guards_run_nothing(text: str) -> None:
    """A guard is read by our own parser: what it does not know is an error, or unknown, in bounded time."""
    source = {"id": "p", "name": "P", "steps": [step("a", {"tool": "x", "where": text})]}
    with ends():
        try:
            machine = guideway.load(source)
        except PlaybookError as error:
            assert error.diagnostics
            return
        verdict = propose(start(machine), "x", s="a" * 5000 + "!", n=1)
    assert isinstance(verdict, Deny) and verdict.code == "where"


def test_torture_25_alias_bombs_and_tags_are_refused() -> None:
    """YAML cannot make objects, nor a billion values out of ten lines."""
    bomb = "id: p\nname: P\nmetadata:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"  a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)
    )
    for text in (
        bomb,
        "id: !!python/object/apply:os.system ['x']\nname: P\n",
        "id: &p [*p]\nname: P\n",
        "id: p\n<<: {name: P}\n",
    ):
        with ends(), pytest.raises(PlaybookError):
            guideway.load(text)


def test_torture_25_nothing_hostile_arrives_by_data() -> None:
    """Arguments and results that look like code are texts."""
    session = start(
        book(
            step("a", {"tool": "x", "where": 'args.q == "{{ inputs.n }}"'}),
            step("b", call={"tool": "y", "args": {"q": "{{ facts.x.q }}"}}),
            inputs={"n": "string"},
        ),
        inputs={"n": "secret"},
    )
    ok(session, "x", {"q": "{{ inputs.n }} ${inputs.n} __import__('os')"}, q="{{ inputs.n }}")
    assert command(session).args == {"q": "{{ inputs.n }} ${inputs.n} __import__('os')"}


def test_torture_26_a_jump_to_nothing_is_an_error() -> None:
    """Every key that takes a target refuses one that is neither step nor outcome, at the place of the word."""
    places: list[dict[str, Any]] = [
        {"next_": "nowhere"},
        {"on_failure": "nowhere"},
        {"on_timeout": "nowhere", "timeout": "5s"},
        {"on_reject": "nowhere"},
        {"on_exhausted": "nowhere", "max_tool_calls": 1},
        {"on_unknown": "nowhere"},
        {"on_max_visits": "nowhere", "max_visits": 1},
        {"next_": [{"when": "facts.x.n == 1", "goto": "nowhere"}, {"goto": "b"}]},
        {"on_failure": [{"goto": "nowhere"}]},
    ]
    for more in places:
        source = {"id": "p", "name": "P", "steps": [step("a", "x", **more), step("b", "y")]}
        found = [f for f in check(source) if f.level is guideway.Level.ERROR]
        assert [f for f in found if "nowhere" in f.message], more
    assert check(
        {"id": "p", "name": "P", "steps": [step("a", "x")], "termination": [{"tool_called": "x", "outcome": "nowhere"}]}
    )
    text = "id: p\nname: P\nsteps:\n  - id: a\n    description: A\n    expected_tools: [x]\n    next: nowhere\n"
    assert [(f.span.line, f.span.column) for f in check(text) if "nowhere" in f.message] == [(7, 11)]


def test_torture_26_a_jump_across_a_region_is_refused_with_the_region() -> None:
    """Parallel branches belong to the second half of the format: a playbook with one is refused, not half read."""
    source = {
        "id": "p",
        "name": "P",
        "steps": [{"id": "f", "parallel": {"l": step("l1", "x", next_="r1"), "r": step("r1", "y")}}],
    }
    assert "GW045" in codes(source) or any("parallel" in f.message for f in check(source))
    with pytest.raises(PlaybookError):
        guideway.load(source)
