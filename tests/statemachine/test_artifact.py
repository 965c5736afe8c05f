"""Compiled machines as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.statemachine.artifact import definition_digest, dump, load, to_json
from guideway.statemachine.conditions import ToolCalled
from guideway.statemachine.definition import (
    ANYWHERE,
    FORMAT_VERSION,
    Definition,
    Edge,
    End,
    EndKind,
    Input,
    OutcomeClass,
    State,
    StateKind,
    Termination,
)
from guideway.statemachine.errors import JournalError
from guideway.statemachine.expressions import parse
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Approval, Call, Entry, Retry, Step, Work
from guideway.statemachine.tools import Effect, Tool

SOURCES = ["inputs.x == 1", 'facts.a.b != "ü🚀"', "1 < 2 && true"]
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
expressions = st.sampled_from(SOURCES).map(parse)
spans = st.none() | st.builds(Span, names, st.integers(1, 99), st.integers(1, 99))
scalars = st.none() | st.booleans() | st.integers(-9, 9) | names
data = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(names, inner))
tables = st.dictionaries(names, data, max_size=2)
approvals = st.builds(Approval, names, st.tuples(names), st.none() | names, spans)
entries = st.builds(
    Entry, names, st.booleans(), st.none() | st.integers(1, 3), st.none() | expressions, st.none() | expressions, names,
    st.none() | approvals, st.none() | names, spans,
)  # fmt: skip
steps = st.builds(
    Step, names, names, st.tuples(names, names), st.booleans(), st.none() | expressions, st.none() | st.integers(1, 5),
    st.none() | st.floats(0.5, 9), st.none() | approvals,
    st.none() | st.builds(Work, st.lists(entries, max_size=2).map(tuple), st.booleans()),
    st.none() | st.builds(Call, names, tables), st.tuples(expressions),
    st.integers(0, 3), st.none() | st.integers(0, 9),
    st.none() | st.builds(Retry, st.integers(1, 5), st.floats(0, 9)), tables, spans,
)  # fmt: skip
tools = st.builds(
    Tool, names, st.sampled_from(Effect), st.booleans(), st.none() | names, st.none() | tables, st.none() | tables,
    st.none() | expressions, st.none() | names, st.none() | approvals, spans,
)  # fmt: skip


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Draw a machine that holds together: steps in a row, each with odd edges back, and one end."""
    row = draw(st.lists(steps, min_size=1, max_size=3, unique_by=lambda step: step.id))
    end = draw(names.filter(lambda name: all(name != step.id for step in row)))
    following = [step.id for step in row[1:]] + [end]
    states = {end: State(end, StateKind.END, end=End(EndKind.GOAL, draw(names), draw(st.sampled_from(OutcomeClass))))}
    for step, target in zip(row, following, strict=True):
        event = draw(names)
        branches = (Edge(step.id, event, row[0].id, draw(expressions), draw(spans)), Edge(step.id, event, target))
        states[step.id] = State(step.id, draw(st.sampled_from(list(StateKind)[:4])), {event: branches}, step)
    return Definition(
        draw(names), draw(names), row[0].id, states, {step.id: step for step in row},
        inputs={"x": draw(st.builds(Input, st.just("x"), tables, st.booleans(), data))},
        outcomes={end: draw(st.sampled_from(OutcomeClass))},
        tools={tool.name: tool for tool in draw(st.lists(tools, max_size=2))},
        terms={"t": draw(expressions)},
        termination=(Termination(ToolCalled(draw(names), draw(expressions)), end, draw(names), span=draw(spans)),),
        anywhere=(Edge(ANYWHERE, "terminated", end),),
        facts={"f": (("a", "b"), ())},
        metadata=draw(tables),
        span=draw(spans),
    )  # fmt: skip


def small(**changes: Any) -> Definition:
    """Build a machine of one step."""
    step = Step("look", span=Span("a.yaml", 2, 5))
    states = {
        "look": State("look", StateKind.STEP, {"completed": (Edge("look", "completed", "success"),)}, step),
        "success": State("success", StateKind.END, end=End(EndKind.GOAL, "success", OutcomeClass.SUCCESS)),
    }
    return replace(Definition("t", "Triage", "look", states, {"look": step}, span=Span("a.yaml", 1, 1)), **changes)


@settings(max_examples=60, deadline=None)
@given(definitions())
def test_a_machine_survives_its_file(definition: Definition) -> None:
    """What was loaded is equal, has the same digest, and writes the same file; so does the plain JSON form."""
    text = dump(definition)
    back = load(text)

    assert back == definition
    assert definition_digest(back) == definition_digest(definition) == to_json(definition)["digest"]
    assert dump(back) == text
    assert load(to_json(definition)) == definition


def test_states_and_steps_share_their_step_again() -> None:
    """A step is written once; its states get the very same one back."""
    definition = load(dump(small()))

    assert definition.states["look"].step is definition.steps["look"]
    assert to_json(small())["definition"]["states"]["look"]["step"] == "look"


def test_places_and_file_names_leave_the_digest_alone() -> None:
    """S50: moving the text changes no digest, though the places are kept in the file."""
    moved = small(span=Span("b.yaml", 7, 1))

    assert definition_digest(moved) == definition_digest(small())
    assert load(dump(moved)).span == Span("b.yaml", 7, 1)


@pytest.mark.parametrize(
    "change", [{"max_iterations": 999}, {"name": "T"}, {"metadata": {"a": 1}}, {"format_version": 2}], ids=str
)
def test_any_other_change_changes_the_digest(change: dict[str, Any]) -> None:
    """A limit, a name, a note, and the version of the format."""
    assert definition_digest(small(**change)) != definition_digest(small())


def test_the_digest_is_of_the_canonical_text_of_version_and_definition() -> None:
    """Written out by hand: keys sorted, no spaces, no spans, defaults left out."""
    from hashlib import sha256

    text = (
        '{"definition":{"id":"t","initial":"look","name":"Triage","states":{'
        '"look":{"edges":{"completed":[{"event":"completed","source":"look","target":"success"}]},"kind":"step",'
        '"name":"look","step":"look"},'
        '"success":{"end":{"kind":"goal","outcome":"success","outcome_class":"success"},"kind":"end","name":"success"}},'
        '"steps":{"look":{"id":"look"}}},"guideway":1}'
    )

    assert definition_digest(small()) == sha256(text.encode()).hexdigest()


def test_the_file_has_a_line_for_each_state() -> None:
    """A diff of two artifacts shows the state that changed."""
    lines = dump(small()).splitlines()

    assert sum(line.startswith(' "look": {"name": "look"') for line in lines) == 1
    assert json.loads(dump(small())) == to_json(small())


def refusal(source: Any) -> str:
    """Load what must not load, and give the message."""
    with pytest.raises(JournalError) as caught:
        load(source)
    message = str(caught.value)
    assert "\n" not in message
    return message


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Alter an artifact."""
    artifact: dict[str, Any] = json.loads(dump(small()))
    change(artifact)
    return artifact


def test_every_torn_file_is_refused() -> None:
    """Cut anywhere, the text gives one sentence."""
    text = dump(small()).rstrip()

    for length in range(len(text)):
        assert "compile" in refusal(text[:length]) or "this is no compiled machine" in refusal(text[:length])


def test_an_altered_machine_is_refused() -> None:
    """A step nobody compiled, a limit raised by hand, a digest of another file."""
    assert "digest does not match" in refusal(changed(lambda a: a["definition"].update(max_iterations=9999)))
    assert "digest does not match" in refusal(changed(lambda a: a.update(digest="0" * 64)))
    skipped = changed(lambda a: a["definition"]["steps"]["look"].update(required=False))
    assert "digest does not match" in refusal(skipped)


def test_a_newer_format_is_named() -> None:
    """The message says which format was found and which can be read."""
    message = refusal(changed(lambda a: a.update(guideway=FORMAT_VERSION + 1)))

    assert "format 2" in message
    assert "reads up to 1" in message


@pytest.mark.parametrize(
    "source", ["[]", "null", "3", '{"id": "t"}', '{"guideway": true}', '{"guideway": 0}', {"guideway": "1"}]
)
def test_what_is_no_artifact_is_told_so(source: Any) -> None:
    """A playbook, a list, a number."""
    assert "no compiled machine" in refusal(source)


def test_unknown_and_missing_parts_are_named() -> None:
    """Nothing in a file is passed over."""
    assert "nothing else" in refusal(changed(lambda a: a.update(note="x")))
    assert 'unknown key "stats"' in refusal(changed(lambda a: a["definition"].update(stats={})))
    assert 'key "initial" is missing' in refusal(changed(lambda a: a["definition"].pop("initial")))
    assert "states.look.step: there is no such step" in refusal(
        changed(lambda a: a["definition"]["states"]["look"].update(step="lok"))
    )
    assert "found 3" in refusal(changed(lambda a: a["definition"].update(states={"look": 3})))
    assert "stands twice" in refusal('{"guideway": 1, "guideway": 1}')


def signed(definition: Definition) -> dict[str, Any]:
    """Write a machine that does not hold together, with its right digest."""
    return to_json(definition)


LOOK = small().states["look"]
END = small().states["success"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial": "lok"}, "the initial state `lok` is missing"),
        ({"states": {"look": LOOK}}, "`look` leads to `success`, which is missing"),
        ({"states": {"look": LOOK, "success": replace(END, end=None)}}, "an end without an outcome"),
        ({"states": {"look": LOOK, "success": END, "x": END}}, "the state `x` is called `success`"),
        ({"states": {"look": LOOK, "success": replace(END, edges={"e": ()})}}, "the end `success` leads on"),
        (
            {"states": {"look": replace(LOOK, edges={"failed": LOOK.edges["completed"]}), "success": END}},
            "an edge of `look` on `failed` says it is another's",
        ),
        ({"anywhere": (Edge("*", "e", "nowhere"),)}, "`*` leads to `nowhere`, which is missing"),
        ({"anywhere": (Edge("look", "e", "success"),)}, "an edge from anywhere says it comes from `look`"),
        ({"termination": (Termination(ToolCalled("x"), "look", "r"),)}, "`r` ends the run in `look`, which is no end"),
        ({"tools": {"x": Tool("y")}}, "`x` is called `y`"),
    ],
)
def test_a_machine_that_does_not_hold_together_is_refused(changes: dict[str, Any], message: str) -> None:
    """A right digest says who wrote it, not that it can run."""
    assert message in refusal(signed(small(**changes)))


def test_a_state_with_a_step_of_its_own_cannot_be_written() -> None:
    """Steps are kept once, so a state may not carry another."""
    states = {"look": replace(LOOK, step=Step("look", "other")), "success": END}

    with pytest.raises(ValueError, match=r"states\.look: its step is not the one"):
        dump(small(states=states))
