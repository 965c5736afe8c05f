"""Compiled machines as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.statemachine.approvals import Approval
from guideway.statemachine.artifact import definition_digest, dump, load, to_json
from guideway.statemachine.blocks import Ask, Each, Parallel, Probe, SubPlaybook, Undo, Wait
from guideway.statemachine.conditions import Custom, Signalled, ToolCalled
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
from guideway.statemachine.policies import TABLES, Pattern, Policy, PolicyKind
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Call, Entry, Repeat, Retry, Step, Work
from guideway.statemachine.tools import Effect, Reversal, Tool

SOURCES = ["inputs.x == 1", 'facts.a.b != "ü🚀"', "1 < 2 && true"]
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
expressions = st.sampled_from(SOURCES).map(parse)
spans = st.none() | st.builds(Span, names, st.integers(1, 99), st.integers(1, 99))
scalars = st.none() | st.booleans() | st.integers(-9, 9) | names
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2), max_leaves=4
)
tables = st.dictionaries(names, data, max_size=2)
rules = st.builds(
    Approval, names, st.tuples(names), st.none() | names, spans, st.none() | expressions, st.integers(1, 3),
    st.booleans(), st.tuples(names), st.none() | st.floats(1, 9),
)  # fmt: skip
approvals = st.builds(replace, rules, more=st.lists(rules, max_size=2).map(tuple))
entries = st.builds(
    Entry, names, st.booleans(), st.none() | st.integers(1, 3), st.none() | expressions, st.none() | expressions, names,
    st.none() | approvals, st.none() | names, spans,
)  # fmt: skip
steps = st.builds(
    Step, names, names, st.tuples(names, names), st.booleans(), st.none() | expressions, st.none() | st.integers(1, 5),
    st.none() | st.floats(0.5, 9), st.none() | approvals,
    st.none() | st.builds(Work, st.lists(entries, max_size=1).map(tuple), st.booleans()),
    st.none() | st.builds(Call, names, tables), st.tuples(expressions),
    st.integers(0, 3), st.none() | st.integers(0, 9),
    st.none() | st.builds(Retry, st.integers(1, 5), st.floats(0, 9)), tables, spans,
    claims=st.dictionaries(names, tables, max_size=1), probes=st.tuples(st.builds(Probe, names, names, names)),
    undo=st.none() | st.builds(Undo, st.tuples(names)),
    ask=st.none()
    | st.builds(Ask, names, st.tuples(names), st.tuples(names), st.dictionaries(names, tables, max_size=1)),
    wait=st.none() | st.sampled_from([Wait(60.0), Wait(until=parse("run.calls > 3")), Wait(signal="go")]),
    each=st.none() | st.builds(Each, names, st.none() | expressions, st.none() | st.tuples(data), st.integers(1, 5)),
    parallel=st.none() | st.builds(Parallel, st.tuples(names, names), st.integers(1, 2)),
    repeat=st.none() | st.builds(Repeat, expressions, st.integers(1, 5), st.floats(0, 9), st.none() | expressions),
)  # fmt: skip
patterns = (
    st.builds(Pattern, tool=names, where=st.none() | expressions, expect=st.none() | expressions)
    | st.builds(Pattern, step=names) | st.builds(Pattern, approval=names)
    | st.builds(Pattern, effect=st.sampled_from(Effect))
)  # fmt: skip
tools = st.builds(
    Tool, names, st.sampled_from(Effect), st.booleans(), st.none() | names, st.none() | tables, st.none() | tables,
    st.none() | expressions, st.none() | names, st.none() | approvals, spans,
    st.none() | st.builds(Reversal, names, st.none() | tables),
)  # fmt: skip


@st.composite
def policies(draw: st.DrawFn) -> tuple[Policy, ...]:
    """Draw policies of every kind, each with the table that goes with it."""
    kinds = draw(st.lists(st.sampled_from(PolicyKind), max_size=3, unique=True))
    made = []
    for kind in kinds:
        table, violated, open_ = TABLES.get(kind, ((), None, ()))
        count = draw(st.integers(0, 3))
        events = draw(st.tuples(patterns, patterns) if table else st.tuples(patterns))
        most = None if table else count
        same = draw(st.tuples(names))
        made.append(Policy(kind.value, kind, events, table, violated, open_, most, same=same, span=draw(spans)))
    return tuple(made)


def fitting(step: Step) -> StateKind:
    """Choose a kind of state for which the step says enough."""
    wanted = [(step.call, StateKind.CALL), (step.approval, StateKind.APPROVAL), (step.ask, StateKind.ASK),
              (step.wait, StateKind.WAIT), (step.undo, StateKind.UNDO)]  # fmt: skip
    return next((kind for part, kind in wanted if part is not None), StateKind.STEP)


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Draw a machine that holds together: steps in a row, each with odd edges back, and one end."""
    row = draw(st.lists(steps, min_size=1, max_size=2, unique_by=lambda step: step.id))
    end = draw(names.filter(lambda name: all(name != step.id for step in row)))
    following = [step.id for step in row[1:]] + [end]
    states = {end: State(end, StateKind.END, end=End(EndKind.GOAL, draw(names), draw(st.sampled_from(OutcomeClass))))}
    for step, target in zip(row, following, strict=True):
        event = draw(names)
        branches = (Edge(step.id, event, row[0].id, draw(expressions), draw(spans)), Edge(step.id, event, target))
        states[step.id] = State(step.id, fitting(step), {event: branches}, step)
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
        outputs={"o": draw(expressions)},
        conversation=draw(st.booleans()),
        predicates=draw(st.tuples(names)),
        policies=draw(policies()),
    )  # fmt: skip


@st.composite
def linked(draw: st.DrawFn) -> Definition:
    """Draw a machine that holds another, though no step calls it."""
    inner = draw(definitions())
    outer = draw(definitions().filter(lambda made: made.id != inner.id))
    return replace(outer, callees={inner.id: inner})


def small(**changes: Any) -> Definition:
    """Build a machine of one step."""
    step = Step("look", span=Span("a.yaml", 2, 5))
    states = {
        "look": State("look", StateKind.STEP, {"completed": (Edge("look", "completed", "success"),)}, step),
        "success": State("success", StateKind.END, end=End(EndKind.GOAL, "success", OutcomeClass.SUCCESS)),
    }
    return replace(Definition("t", "Triage", "look", states, {"look": step}, span=Span("a.yaml", 1, 1)), **changes)


@settings(max_examples=60, deadline=None)
@given(definitions() | linked())
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


# --- blocks, policies, playbooks that are called ---------------------------------------------------------------------


def block(kind: StateKind = StateKind.FORK, **changes: Any) -> Definition:
    """Build a machine of one block `both` with the steps `a` and `b` inside."""
    outer = Step("both", parallel=Parallel(("a", "b"), 2), repeat=Repeat(parse("true"), 3), each=Each("x", items=(1,)))
    inner = {name: Step(name, call=Call("t"), block="both") for name in "ab"}
    end = State("success", StateKind.END, end=End(EndKind.GOAL, "success", OutcomeClass.SUCCESS))

    def state(name: str, kind: StateKind, step: Step, **edges: str) -> State:
        return State(name, kind, {event: (Edge(name, event, target),) for event, target in edges.items()}, step)

    heads = tuple(Edge("both", "forked", name) for name in ("ab" if kind is StateKind.FORK else "a"))
    states = {
        "both": State("both", kind, {"forked": heads, "joined": (Edge("both", "joined", "both.join"),)}, outer),
        "a": state("a", StateKind.CALL, inner["a"], completed="both.join", failed="both.failed"),
        "b": state("b", StateKind.CALL, inner["b"], completed="both.join", failed="both.failed"),
        "both.join": state("both.join", StateKind.JOIN, outer, completed="success"),
        "both.failed": state("both.failed", StateKind.JOIN, outer, failed="success"),
        "success": end,
    }
    return replace(Definition("t", "T", "both", states, {"both": outer, **inner}), **changes)


def caller(*called: str, **changes: Any) -> Definition:
    """Build a machine whose steps call playbooks."""
    names = [f"s{number}" for number in range(len(called))]
    steps = {name: Step(name, playbook=SubPlaybook(playbook)) for name, playbook in zip(names, called, strict=True)}
    states = {name: State(name, StateKind.FRAME, step=step) for name, step in steps.items()}
    states["success"] = END
    first = names[0] if names else "success"
    return replace(Definition("top", "Top", first, states, steps), **changes)


SMALL = small()
BLOCK = block()
STRAY = Step("a", call=Call("t"), block="nowhere")
BOTH, JOINED = BLOCK.states["both"], BLOCK.states["both.join"]


@pytest.mark.parametrize("kind", [StateKind.FORK, StateKind.EACH, StateKind.LOOP, StateKind.SECTION])
def test_a_block_survives_its_file(kind: StateKind) -> None:
    """With its joins, and each state with the step that the table holds."""
    definition = block(kind)
    back = load(dump(definition))

    assert back == definition
    assert back.states["both.join"].step is back.steps["both"]


def test_what_is_called_survives_its_file() -> None:
    """Callees are written whole, by id, and are as good as when they were compiled."""
    definition = caller("t", "t", callees={"t": SMALL})
    back = load(dump(definition))

    assert back == definition
    assert back.callees["t"].digest == SMALL.digest
    assert back.callees["t"].states["look"].step is back.callees["t"].steps["look"]


def test_the_digest_covers_what_is_called_and_none_of_its_places() -> None:
    """S50."""
    moved = replace(SMALL, span=Span("elsewhere.yaml", 9, 9))

    assert caller("t", callees={"t": SMALL}).digest != caller("t", callees={"t": replace(SMALL, version="2")}).digest
    assert caller("t", callees={"t": SMALL}).digest == caller("t", callees={"t": moved}).digest


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (caller("t"), "`top` calls `t`, which is missing"),
        (caller("top"), "playbooks call one another in a ring: top → top"),
        (caller("t", callees={"t": caller("u", id="t")}), "`t` calls `u`, which is missing"),
        (caller("t", callees={"t": caller("top", id="t")}), "in a ring: t → top → t"),
        (
            caller("t", callees={"t": caller("u", id="t"), "u": caller("t", id="u")}),
            "playbooks call one another in a ring: t → u → t",
        ),
        (caller("t", callees={"t": small(id="u")}), "the playbook `t` is called `u`"),
        (caller("t", callees={"t": small(initial="lok")}), "in `t`: the initial state `lok` is missing"),
        (caller("t", callees={"t": small(format_version=7)}), "`t` has the format 7"),
        (
            block(states={n: s for n, s in BLOCK.states.items() if n != "both.join"}),
            "`both` leads to `both.join`, which is missing",
        ),
        (
            block(states={**BLOCK.states, "both.join": replace(JOINED, kind=StateKind.ROUTER)}),
            "`both.join` is missing",
        ),
        (
            block(states={**BLOCK.states, "both": replace(BOTH, edges={})}),
            "`both` does not lead to each of its lists",
        ),
        (
            block(states={**BLOCK.states, "both": replace(BOTH, step=None)}),
            "the state `both` is of no step",
        ),
        (
            block(
                states={**BLOCK.states, "a": replace(BLOCK.states["a"], step=STRAY)},
                steps={**BLOCK.steps, "a": STRAY},
            ),
            "`a` lies in `nowhere`, which is no block",
        ),
        (small(policies=(Policy("p", PolicyKind.NEVER, (Pattern(),), most=0),)), "an event of the policy `p`"),
        (
            small(policies=(Policy("p", PolicyKind.NEVER, (Pattern("t", "s"),), most=0),)),
            "an event of the policy `p` is not exactly one thing",
        ),
        (small(policies=(Policy("p", PolicyKind.NEVER, (Pattern("t"),)),)), "the table of the policy `p`"),
        (
            small(policies=(Policy("p", PolicyKind.RESPONSE, (Pattern("a"), Pattern("b")), ((1, 0), (9, 0))),)),
            "the table of the policy `p` does not fit its events",
        ),
        (
            small(policies=(Policy("p", PolicyKind.RESPONSE, (Pattern("a"), Pattern("b")), ((0,),)),)),
            "the table of the policy `p` does not fit its events",
        ),
        (
            small(policies=(Policy("p", PolicyKind.RESPONSE, (Pattern("a"), Pattern("b")), ((0, 0),), violated=-1),)),
            "the table of the policy `p` does not fit its events",
        ),
        (
            small(policies=(Policy("p", PolicyKind.NEVER, (Pattern("t"),), most=0),) * 2),
            "two policies are called `p`",
        ),
        (small(closing=("look",)), "`look` of `finally` is missing, or no single call"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_blocks_policies_and_calls_hold_together_or_are_refused(definition: Definition, message: str) -> None:
    """What a runtime would follow blindly is looked at first."""
    assert message in refusal(signed(definition))


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (kind, kind.value)
        for kind in StateKind
        if kind not in {StateKind.STEP, StateKind.ROUTER, StateKind.JOIN, StateKind.END, StateKind.SECTION}
    ],
    ids=str,
)
def test_a_state_of_a_kind_has_a_step_that_says_something_of_it(kind: StateKind, what: str) -> None:
    """A call without a call, an approval without a question: nobody could run it."""
    states = {"look": replace(LOOK, kind=kind), "success": END}

    assert f"the state `look` is a {what}, and its step `look` says nothing of one" in refusal(
        signed(small(states=states))
    )


def test_a_wait_is_for_exactly_one_thing() -> None:
    """Neither for nothing nor for two."""
    for wait in (Wait(), Wait(60.0, signal="go")):
        step = Step("look", wait=wait)
        states = {"look": replace(LOOK, kind=StateKind.WAIT, step=step), "success": END}

        assert "says nothing of one" in refusal(signed(small(states=states, steps={"look": step})))


def test_blocks_in_a_ring_are_refused() -> None:
    """A step inside itself, by way of another, would be looked for without end."""
    outer = block().steps["both"]
    ring = replace(outer, block="both")
    states = {
        name: replace(state, step=ring) if state.step is outer or state.step == outer else state
        for name, state in BLOCK.states.items()
    }

    assert "blocks lie in one another in a ring: both → both" in refusal(
        signed(block(states=states, steps={**BLOCK.steps, "both": ring}))
    )


@pytest.mark.parametrize(
    ("callees", "message"),
    [
        (5, "callees: expected an object of definitions"),
        (None, "callees: expected an object of definitions"),
        ([], "callees: expected an object of definitions"),
        ({"t": 5}, "callees.t: expected an object, found 5"),
        ({"t": None}, "callees.t: expected an object"),
        ({"t": {}}, 'callees.t: the key "id" is missing'),
        ({"t": {"states": []}}, "callees.t"),
        ({"t": {"states": {"a": 3}}}, "callees.t"),
        ({"t": {"callees": {}}}, "callees.t: a playbook that is called holds none itself"),
    ],
    ids=str,
)
def test_hostile_callees_are_refused_with_their_path(callees: Any, message: str) -> None:
    """Whatever stands in the place of a definition is one clear sentence."""
    assert message in refusal(changed(lambda a: a["definition"].update(callees=callees)))


def test_the_conditions_of_the_outside_survive() -> None:
    """A signal and a predicate, among the other conditions."""
    end = replace(END, name="s", end=End(EndKind.GOAL, "success", OutcomeClass.SUCCESS))
    made = (Termination(Signalled("stop"), "s", "signal:stop"), Termination(Custom("vip"), "s", "custom:vip"))
    definition = small(states={"look": LOOK, "success": END, "s": end}, termination=made)

    assert load(dump(definition)).termination == made


def test_a_state_with_a_step_of_its_own_cannot_be_written() -> None:
    """Steps are kept once, so a state may not carry another."""
    states = {"look": replace(LOOK, step=Step("look", "other")), "success": END}

    with pytest.raises(ValueError, match=r"states\.look: its step is not the one"):
        dump(small(states=states))
