"""Dataclasses to JSON and back."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.statemachine.approvals import Approval
from guideway.statemachine.blocks import Ask, Each, Parallel, SubPlaybook, Wait
from guideway.statemachine.codec import decode, encode
from guideway.statemachine.conditions import (
    AllOf,
    AnyOf,
    ConfidenceMet,
    Custom,
    MaxIterations,
    Not,
    NoToolCalls,
    Signalled,
    ToolCalled,
)
from guideway.statemachine.definition import Edge, End, EndKind, Input, OutcomeClass, State, StateKind, Termination
from guideway.statemachine.expressions import parse
from guideway.statemachine.policies import TABLES, Pattern, Policy, PolicyKind
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Call, Entry, Repeat, Retry, Step, Work
from guideway.statemachine.tools import Effect, Reversal, Tool

PLACE = Span("a.yaml", 3, 5)
STEP = Step(
    "lock",
    hints=("first", "second"),
    required=False,
    when=parse("inputs.user != ''"),
    timeout=90.0,
    approval=Approval("Lock?", ("soc-lead",), span=PLACE),
    work=Work((Entry("lock", times=1, where=parse("args.user == inputs.user"), fact="lock"),), listed=True),
    validation=(parse("facts.lock.done"),),
    retry=Retry(2, backoff=1.5),
    metadata={"owner": ["a", {"b": None}]},
    span=PLACE,
)
SAMPLES = [
    STEP,
    Step("verify", call=Call("list", {"user": "{{ inputs.user }}"}, repeat=Repeat(parse("result.done"), 5, 60.0))),
    Tool("mcp__*", Effect.IRREVERSIBLE, idempotent=True, parameters={}, result=None),
    Edge("a", "completed", "b", parse("1 < 2"), PLACE),
    State("done", StateKind.END, end=End(EndKind.GOAL, "success", OutcomeClass.SUCCESS)),
    State("a", StateKind.ROUTER, {"completed": (Edge("a", "completed", "b"), Edge("a", "completed", "c"))}),
    Input("rate", {"type": "number"}, required=False, default=0.01),
    Termination(AllOf((ToolCalled("x", expect=parse("result.ok")), Not(NoToolCalls()))), "t", "r"),
    Termination(AnyOf((NoToolCalls(), MaxIterations(4))), "t", "r", outcome="done"),
    Termination(AllOf((Signalled("stop"), Not(Custom("is_vip")))), "t", "r"),
    Approval("Pay?", ("a", "b"), when=parse("args.x > 1"), everyone=True, count=2, more=(Approval("?", count=3),)),
    Tool("reserve", undo=Reversal("release", {"id": "{{ result.id }}"})),
    Policy(
        "p",
        PolicyKind.PRECEDENCE,
        (Pattern("a", where=parse("1 < 2")), Pattern(effect=Effect.READ)),
        *TABLES[PolicyKind.PRECEDENCE],
        same=("id",),
    ),
    Policy("q", PolicyKind.NEVER, (Pattern(step="s"),), most=0),
    Step("e", block="both", each=Each("x", items=(1, {"a": ["{{ x }}"]}), concurrency=3, collect=parse("x.y"))),
    Step(
        "w", wait=Wait(until=parse("facts.a.b")), ask=Ask("Sure?", choices=("yes",), fields={"n": {"type": "number"}})
    ),
    Step("p", parallel=Parallel(("a", "b"), 1, ("b",)), playbook=SubPlaybook("q", {"ip": "{{ inputs.ip }}"})),
]


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_what_was_written_reads_back_equal(value: Any) -> None:
    """Each kind of value of a definition survives, and writes the same JSON again."""
    written = encode(value)

    assert decode(type(value), written) == value
    assert encode(decode(type(value), written)) == written


def test_defaults_are_left_out() -> None:
    """Only what differs from its default is written; what has none always is."""
    assert encode(Tool("x")) == {"name": "x"}
    assert encode(Retry(2)) == {"at_most": 2}
    assert encode(Tool("x", parameters={})) == {"name": "x", "parameters": {}}


def test_the_forms_of_the_leaves() -> None:
    """Expressions are text, enums values, conditions tagged, spans lists, tuples lists."""
    edge = Edge("a", "completed", "b", parse("1 < 2"), PLACE)
    termination = Termination(Not(ConfidenceMet(0.9)), "t", "r", span=PLACE)

    assert encode(edge) == {
        "source": "a", "event": "completed", "target": "b", "guard": "1 < 2", "span": ["a.yaml", 3, 5],
    }  # fmt: skip
    assert encode(termination)["condition"] == {"not": {"part": {"confidence_met": {"threshold": 0.9}}}}
    assert encode(Tool("x", Effect.READ))["effect"] == "read"
    assert encode(STEP)["hints"] == ["first", "second"]


def test_without_spans_no_place_is_left_anywhere() -> None:
    """Neither the word `span` nor the name of a file occurs."""
    bare = encode(STEP, spans=False)

    assert "span" not in str(bare)
    assert "a.yaml" not in str(bare)
    assert "a.yaml" in str(encode(STEP))


def test_spans_come_back() -> None:
    """Equality ignores places, so they are compared here."""
    back = decode(Step, encode(STEP))

    assert back.span == PLACE
    assert back.approval is not None
    assert back.approval.span == PLACE


def test_a_whole_number_is_read_as_a_float_where_a_float_belongs() -> None:
    """JSON does not tell 90 from 90.0; the field's type does."""
    assert type(decode(Step, {"id": "a", "timeout": 90}).timeout) is float


@pytest.mark.parametrize(
    ("cls", "value", "message"),
    [
        (Step, {"id": "a", "hint": []}, 'unknown key "hint"; a step has id, description'),
        (Step, {}, 'the key "id" is missing'),
        (Step, {"id": 3}, "id: expected text, found 3"),
        (Step, {"id": "a", "required": 1}, "required: expected true or false, found 1"),
        (Step, {"id": "a", "min_calls": True}, "min_calls: expected a whole number, found True"),
        (Step, {"id": "a", "hints": ["x", 2]}, "hints[1]: expected text, found 2"),
        (Step, {"id": "a", "hints": "x"}, "hints: expected a list, found 'x'"),
        (Step, {"id": "a", "when": "a ="}, "when: `a =` is no expression"),
        (Step, {"id": "a", "work": {"entries": [{"tool": "t"}, {}]}}, 'work.entries[1]: the key "tool" is missing'),
        (Step, {"id": "a", "span": ["f", 1]}, "span: expected a place, as [file, line, column], found a list"),
        (Step, {"id": "a", "span": ["f", True, 1]}, "span: expected a place"),
        (Step, [], "expected an object, found []"),
        (Tool, {"name": "a", "effect": "reads"}, "effect: expected one of read, write, irreversible, found 'reads'"),
        (State, {"name": "a", "kind": "end", "edges": {"e": [{"source": "a"}]}}, 'edges.e[0]: the key "event" is'),
        (Termination, {"condition": {"x": {}}, "target": "t", "reason": "r"}, "condition: expected one of max_iter"),
        (Termination, {"condition": {"not": {"part": {"all_of": {"parts": [{}]}}}}, "target": "t", "reason": "r"},
         "condition.not.part.all_of.parts[0]: expected one of"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_path(cls: type, value: Any, message: str) -> None:
    """Unknown keys, missing keys and wrong types, at any depth."""
    with pytest.raises(ValueError) as caught:
        decode(cls, value)

    assert str(caught.value).startswith(message)


def test_hostile_nesting_is_a_clear_error() -> None:
    """A condition a thousand deep is refused, not a RecursionError."""
    condition: Any = {"no_tool_calls": {}}
    for _ in range(1000):
        condition = {"not": {"part": condition}}

    with pytest.raises(ValueError, match="nested deeper"):
        decode(Termination, {"condition": condition, "target": "t", "reason": "r"})


def test_what_is_no_json_is_refused_when_it_is_written() -> None:
    """A field of any type is checked, with its path."""
    with pytest.raises(ValueError, match=r"metadata\.seen: a Python set is no JSON value"):
        encode(Step("a", metadata={"seen": {1}}))
