"""What expressions may read where, what is kept of facts, and how findings name their place."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import check, compile_playbook
from guideway.compiler.places import EVERYWHERE, PLACES
from guideway.compiler.projections import shortest
from guideway.playbooks.loader import load_playbook
from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.statemachine.expressions.names import ROOTS

from .helpers import agent, lower

READABLE = {
    "where": "args inputs facts history answers signals terms run",
    "expect": "args inputs facts history answers signals terms run result error",
    "until": "args inputs facts history answers signals terms run result error",
    "collect": "args inputs facts history answers signals terms run result error",
    "retry": "args inputs facts history answers signals terms run error",
    "when": "inputs facts history answers signals claims terms run",
    "validation": "inputs facts history answers signals claims terms run",
    "term": "inputs facts history answers signals claims terms run",
    "template": "inputs facts history answers signals claims terms run",
    "with": "inputs facts history answers signals claims terms run",
    "items": "inputs facts history answers signals claims terms run",
    "block until": "inputs facts history answers signals claims terms run",
    "block collect": "inputs facts history answers signals claims terms run",
    "wait until": "inputs facts history answers signals claims terms run",
    "output": "inputs facts history answers signals claims terms run",
    "question": "inputs facts history answers signals claims terms run",
    "assignees": "inputs facts history answers signals terms run",
    "undo": "args result",
    "step ask": "inputs facts history answers signals claims terms run",
    "call ask": "args inputs facts history answers signals claims terms run",
    "step when": "inputs facts history answers signals terms run",
    "call when": "args inputs facts history answers signals terms run",
    "step except": "inputs facts history answers signals terms run",
    "call except": "args inputs facts history answers signals terms run",
    "step approvers": "inputs facts history answers signals terms run",
    "call approvers": "args inputs facts history answers signals terms run",
}
"""The last table of the semantics, written down a second time."""

SAMPLE = {"facts": "facts.a", "history": "history.a", "run": "run.calls", "claims": "claims.text", "inputs": "inputs.i",
          "terms": "terms.t", "answers": "answers.q", "signals": "signals.n"}  # fmt: skip


def place(name: str, expression: str) -> dict[str, Any]:
    """A playbook that holds the expression in the named place."""
    step = agent("s", "t")
    call = {"id": "s", "call": {"tool": "t"}}
    ask = {"id": "s", "ask": {"question": "Well?"}}
    block = {"id": "s", "steps": [{"id": "in", "call": {"tool": "t"}}]}
    text = f"{{{{ {expression} }}}}"
    where: dict[str, Any] = {
        "where": agent("s", {"tool": "t", "where": expression}),
        "expect": call | {"call": {"tool": "t", "expect": expression}},
        "until": call | {"repeat": {"until": expression, "at_most": 2}},
        "collect": call | {"repeat": {"until": "true", "at_most": 2, "collect": expression}},
        "retry": call | {"retry": {"at_most": 2, "when": expression}},
        "when": step | {"when": expression},
        "validation": step | {"validation": [expression]},
        "term": step,
        "template": call | {"call": {"tool": "t", "args": {"x": text}}},
        "step ask": step | {"approval": {"ask": text}},
        "step approvers": step | {"approval": {"approvers": [text]}},
        "call ask": agent("s", {"tool": "t", "approval": {"ask": text}}),
        "call approvers": agent("s", {"tool": "t", "approval": {"approvers": [text]}}),
        "step when": step | {"approval": {"when": expression, "ask": "Go?"}},
        "call when": agent("s", {"tool": "t", "approval": {"when": expression, "ask": "Go?"}}),
        "step except": step | {"approval": {"ask": "Go?", "except": text}},
        "call except": agent("s", {"tool": "t", "approval": {"ask": "Go?", "except": [text]}}),
        "with": {"id": "s", "playbook": "other", "with": {"x": text}},
        "items": block | {"for_each": {"as": "x", "in": f"[{expression}]"}},
        "block until": block | {"repeat": {"until": expression, "at_most": 2}},
        "block collect": block | {"for_each": {"as": "x", "in": [1], "collect": expression}},
        "wait until": {"id": "s", "wait": {"until": expression}},
        "question": {"id": "s", "ask": {"question": text}},
        "assignees": ask | {"ask": {"question": "Well?", "assignees": [text]}},
        "output": step,
        "undo": step,
    }
    terms = {"t": "run.calls > 1", **({"u": expression} if name == "term" else {})}
    undo = {"undo": {"tool": "t", "args": {"x": text}}} if name == "undo" else {}
    first = [
        {"id": "a", "call": {"tool": "t"}},
        {"id": "q", "ask": "Well?"},
        {"id": "w", "wait": {"signal": "n"}},
    ]
    return {
        "id": "p", "name": "P", "inputs": {"i": {}}, "terms": terms, "tools": {"t": {"effect": "read", **undo}},
        "outputs": {"o": expression} if name == "output" else {}, "steps": [*first, where[name]],
    }  # fmt: skip


OTHER = {"id": "other", "name": "Other", "inputs": {"x": {}}, "steps": []}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("root", sorted({*ROOTS} - EVERYWHERE))
def test_each_place_reads_what_the_table_says(name: str, root: str) -> None:
    """A root outside its places is GW117 there, and no finding inside them."""
    expression = f"has({SAMPLE.get(root, root + '.x')})"
    made = compile_playbook(load_playbook(place(name, expression)), callees={"other": load_playbook(OTHER)})
    codes = {finding.code for finding in made.diagnostics}

    assert codes == (set() if root in READABLE[name].split() else {"GW117"})


def test_a_term_carries_what_it_reads() -> None:
    """Claims do not reach a `where` through a term, however long the way."""
    terms = {"a": "terms.b", "b": "terms.c || run.calls > 1", "c": "claims.confidence > 0.5"}
    step = agent("s", {"tool": "t", "where": "terms.a"}, when="terms.a")
    [finding] = check(load_playbook({"id": "p", "name": "P", "terms": terms, "steps": [step]}))

    assert finding.code == "GW117"
    assert "`claims` (through `terms.a`)" in finding.message


def test_s5_only_what_is_read_is_kept() -> None:
    """The shortest of the paths that any expression or template reads, by name of the fact."""
    definition = lower(
        agent("a", "t", {"tool": "u", "as": "found"}, approval={"ask": "Go for {{ facts.t.title }}?"}),
        {"id": "c", "call": {"tool": "v", "args": {"x": ["{{ facts.found.user.id }}"]}}},
        agent("b", when="facts.found.user == null || facts.c[0].x > 1 || history.t[2].n > 1 || size(history.c) > 1"),
    )

    assert definition.facts == {"c": ((),), "found": (("user",),), "t": (("title",),)}
    assert definition.history == {"c": ((),), "t": (("n",),)}
    assert not definition.reads_now


def test_s5_a_computed_name_keeps_every_fact() -> None:
    """`facts[x]` may mean any of them."""
    definition = lower(
        agent("a", "t"), agent("b", "u", when="facts[inputs.name].ok == true"), inputs={"name": "string"}
    )

    assert definition.facts == {"t": ((),), "u": ((),)}


def test_the_clock_is_noticed_wherever_it_is_read() -> None:
    """A read of `now` in a template, a term or a guard makes the machine need a clock."""
    assert lower(agent("a"), terms={"late": "now.getHours() > 20"}).reads_now
    assert lower({"id": "a", "call": {"tool": "t", "args": {"at": "{{ now }}"}}}).reads_now
    assert not lower(agent("a")).reads_now


def test_shortest_paths_cover_all_others() -> None:
    """A path that another one begins with is left out, whatever their order."""
    assert shortest([("a", "b", "c"), ("ab",), ("a", "b"), ("a", "c")]) == (("a", "b"), ("a", "c"), ("ab",))
    assert shortest([("a",), ()]) == ((),)


def test_a_dict_has_no_lines_so_the_message_names_the_path() -> None:
    """Findings about a playbook given as a dict can be found in it."""
    [finding] = check(load_playbook({"id": "p", "name": "P", "steps": [agent("a", next=[{"goto": "b"}])]}))

    assert str(finding).startswith("<dict>:1:1: error: steps[0].next[0].goto: `b` is neither")


def test_a_playbook_built_in_python_keeps_the_rules_of_files() -> None:
    """Two steps of one name make no machine, though no reader ever saw them."""
    steps = [PlaybookStep(id="a", description="A", expected_tools=["t"]) for _ in range(2)]
    compiled = compile_playbook(Playbook(id="p", name="P", steps=steps))

    assert compiled.definition is None
    assert [finding.code for finding in compiled.diagnostics] == ["GW029"]


def test_lowering_goes_on_after_the_first_fault() -> None:
    """Ten faults cost one run: all of them are reported at once."""
    steps = [agent(f"s{i}", next=f"gone{i}") for i in range(10)]

    assert len(compile_playbook(load_playbook({"id": "p", "name": "P", "steps": steps})).diagnostics) == 10


def test_very_many_unknown_names_take_no_time_for_guesses() -> None:
    """A page of 3,000 misspelt targets is reported whole; names are suggested for the first ones only."""
    steps = [agent(f"step-number-{i}", next=f"stepnumber{i}") for i in range(3000)]
    found = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": steps})).diagnostics

    assert len(found) == 3000
    assert 0 < sum(finding.help is not None and "did you mean" in finding.help for finding in found) <= 50
