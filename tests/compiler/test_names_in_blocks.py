"""Names that blocks give: items, facts of one item, results of loops, answers, and what of them is kept."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook

from .helpers import agent, lower


def call(name: str, tool: str = "t", **keys: Any) -> dict[str, Any]:
    """A step in which the runtime calls a tool."""
    return {"id": name, "call": {"tool": tool}, **keys}


def loop(name: str, *steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A loop over two numbers that are called `x`."""
    return {"id": name, "for_each": {"as": "x", "in": [1, 2], **keys}, "steps": list(steps)}


def codes(*steps: dict[str, Any], **top: Any) -> list[str]:
    """The codes of what is found."""
    page = load_playbook({"id": "p", "name": "P", "steps": list(steps), **top})
    return [finding.code for finding in compile_playbook(page).diagnostics]


def test_s32_an_item_is_read_in_the_steps_inside_and_nowhere_else() -> None:
    """In guards, arguments and questions of the body, and in `collect`; not beside or behind it, nor in `in`."""
    inside = loop(
        "e",
        call("a", when="x > 1", next=[{"when": "x > 1", "goto": "done"}, {"goto": "b"}]),
        {"id": "b", "ask": "Is it {{ x }}?"},
        collect="x * 2",
    )
    beside = {"id": "e", "for_each": {"as": "x", "in": "[x]"}, "steps": [call("a")], "when": "x > 1"}

    assert codes(inside) == []
    assert codes(beside) == ["GW116", "GW116"]
    assert codes(loop("e", call("a")), call("b", when="x > 1")) == ["GW116"]


def test_an_item_may_be_read_by_what_admits_a_call() -> None:
    """S32, and the last table: loop names are read everywhere in the body."""
    entry = {"tool": "t", "where": "args.n == x", "expect": "result.n == x", "approval": {"ask": "{{ x }}?"}}

    assert codes(loop("e", agent("a", entry, validation=["x > 0"]))) == []


def test_items_of_a_loop_around_are_read_as_well() -> None:
    """The inner list may come from the outer item."""
    inner = {"id": "f", "for_each": {"as": "y", "in": "x.ports"}, "steps": [call("a", when="x.n > y")]}
    outer = {"id": "e", "for_each": {"as": "x", "in": "inputs.hosts"}, "steps": [inner]}

    assert codes(outer, inputs={"hosts": {"type": "array"}}) == []


@pytest.mark.parametrize(
    ("items", "guard", "found"),
    [
        ([5, 25], "x > 3", []),
        ([5, 25], 'x == "5"', ["GW302"]),
        (["a", "b"], 'x == "c"', ["GW302"]),
        (["{{ run.id }}", 5], 'x == "c"', []),
        ("inputs.names", "x > 3", ["GW302"]),
        ("{{ inputs.names }}", "x > 3", ["GW302"]),
        ("{{ inputs.names }}", 'x == "c"', []),
        ("{{ inputs.name }}", 'x == "c"', ["GW302"]),
        ("{{ inputs.names }}, and more", 'x == "c"', ["GW302"]),
        ("inputs.names", 'x == "c"', []),
        ("inputs.name", 'x == "c"', ["GW302"]),
    ],
)
def test_items_have_the_type_of_their_list(items: Any, guard: str, found: list[str]) -> None:
    """Written items are constants; a list of declared shape tells what is in it; what is no list is a finding."""
    step = {"id": "e", "for_each": {"as": "x", "in": items}, "steps": [call("a", when=guard)]}
    inputs = {"name": "string", "names": {"type": "array", "items": {"type": "string"}}}

    assert found == codes(step, inputs=inputs)


def test_s32_what_an_item_writes_is_read_inside_only() -> None:
    """Its frame is gone afterwards; what the items gave is the list under the id of the loop."""
    assert codes(loop("e", call("a"), call("b", when="facts.a.n > x")), call("c", when="size(facts.e) > 1")) == []
    assert codes(loop("e", call("a")), call("c", when="facts.a.n > 1")) == ["GW114"]
    assert codes(loop("e", call("a")), outputs={"n": "history.a"}) == ["GW114"]


@pytest.mark.parametrize(
    ("read", "code"),
    [('answers.q == "x"', "GW119"), ('claims.j.user == "x"', "GW118"), ("signals.n.ok == true", "GW119")],
)
def test_s32_what_people_signals_and_the_agent_say_of_an_item_is_read_inside_only(read: str, code: str) -> None:
    """They lie in its frame as its facts do."""
    steps: list[dict[str, Any]] = [
        {"id": "q", "ask": "Well?"},
        {"id": "j", "description": "Weigh it", "claims": {"user": "string"}},
        {"id": "w", "wait": {"signal": "n"}},
    ]

    assert codes(loop("e", *steps, call("a", when=read))) == []
    assert codes(loop("e", *steps), call("a", when=read)) == [code]


def test_a_signal_that_also_ends_the_run_is_everybodys() -> None:
    """Only what an item alone waits for is its own."""
    wait = loop("e", {"id": "w", "wait": {"signal": "n"}})
    condition = [{"signal": "n", "outcome": "stopped"}]

    assert codes(wait, call("a", when="has(signals.n)"), termination=condition) == []


def test_s32_an_item_reads_through_to_what_lies_around_it() -> None:
    """Facts of the playbook, and of the item of a loop around."""
    assert (
        codes(
            call("z"),
            loop(
                "e",
                call("a"),
                {
                    "id": "f",
                    "for_each": {"as": "y", "in": [1]},
                    "steps": [call("b", when="facts.a.n > 1 && facts.z.n > 1")],
                },
            ),
        )
        == []
    )


def test_a_name_that_is_also_written_outside_is_read_anywhere() -> None:
    """Two agents' steps may call one tool, one of them in a loop."""
    assert codes(agent("z", "t"), loop("e", agent("a", "t")), call("c", when="facts.t.n > 1")) == []


@pytest.mark.parametrize("step", [{"steps": [call("a")]}, {"parallel": {"a": {"call": {"tool": "t"}}}}])
def test_sections_and_branches_write_in_the_frame_around_them(step: dict[str, Any]) -> None:
    """S31: what a branch has found is read behind it."""
    assert codes({"id": "s", **step}, call("c", when="facts.a.n > 1")) == []


@pytest.mark.parametrize(("collect", "found"), [({"collect": "facts.a.n"}, []), ({}, ["GW114"])])
def test_a_loop_of_rounds_gives_a_list_where_it_collects(collect: dict[str, str], found: list[str]) -> None:
    """Without `collect` there is nothing under its id."""
    rounds = {"id": "r", "repeat": {"until": "facts.a.n > 1", "at_most": 3, **collect}, "steps": [call("a")]}

    assert found == codes(rounds, call("c", when="size(facts.r) > 1"))


def test_s5_the_last_fact_of_an_item_is_kept_where_the_list_is_read() -> None:
    """Without `collect` each item gives the last fact it wrote, so all of it is kept; else only what is read."""
    reads = call("c", when="size(facts.e) > 1")

    assert lower(loop("e", call("a"), call("b")), reads).facts == {"a": ((),), "b": ((),), "e": ((),)}
    assert lower(loop("e", call("a"), collect="facts.a.n"), reads).facts == {"a": (("n",),), "e": ((),)}
    assert lower(loop("e", call("a"), call("b"))).facts == {}


def test_s5_lists_of_lists_are_kept_to_the_ground() -> None:
    """The inner list is the last fact of the outer item, and so on."""
    inner = {"id": "f", "for_each": {"as": "y", "in": [1]}, "steps": [call("a")]}
    made = lower(loop("e", inner), call("c", when="size(facts.e) > 1"))

    assert made.facts == {"a": ((),), "e": ((),), "f": ((),)}


def branches(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Two branches of one step each."""
    return {"id": "both", "parallel": {"left": left, "right": right}}


def work(*tools: Any, **keys: Any) -> dict[str, Any]:
    """A branch in which the agent works."""
    return {"description": "Work", "expected_tools": list(tools), **keys}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (work("t"), work("t")),
        (work({"tool": "t", "as": "n"}), work({"tool": "u", "as": "n"})),
        (work("t"), work("u", optional_tools=[{"tool": "v", "as": "t"}])),
        (work("t"), {"steps": [agent("a", "t")]}),
        (work("t"), {"parallel": {"a": work("t"), "b": work("u")}}),
    ],
)
def test_one_fact_is_not_written_by_two_branches(left: dict[str, Any], right: dict[str, Any]) -> None:
    """Under a tool's name or `as`, however deep in the branches."""
    assert codes(branches(left, right)) == ["GW126"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (work("t"), work({"tool": "t", "as": "other"})),
        (work("t"), loop("e", agent("a", "t"))),
        (work("t", optional_tools=["look"]), work("u", optional_tools=["look"])),
        (work("t"), {"playbook": "t2"}),
    ],
)
def test_what_is_kept_apart_is_no_clash(left: dict[str, Any], right: dict[str, Any]) -> None:
    """By `as`, in the frame of an item, in a sub-playbook; and an optional tool that nobody asks of."""
    right = {key: value for key, value in right.items() if key != "id"}
    page = load_playbook({"id": "p", "name": "P", "steps": [branches(left, right)]})
    callees = {"t2": load_playbook({"id": "t2", "name": "T", "steps": [agent("a", "t")]})}

    assert compile_playbook(page, callees=callees).diagnostics == []


def test_one_after_the_other_is_no_clash() -> None:
    """Only what runs side by side is compared."""
    assert codes({"id": "s", "steps": [agent("a", "t")]}, agent("b", "t")) == []


def test_an_optional_tool_that_is_read_is_a_clash() -> None:
    """Then it does matter which branch wrote last."""
    left, right = work("t", optional_tools=["look"]), work("u", optional_tools=["look"])

    assert codes(branches(left, right), agent("c", when="facts.look.n > 1")) == ["GW126"]


@pytest.mark.parametrize(("guard", "found"), [("run.calls > 1", []), ("facts.t.n > 1", ["GW126"])])
def test_s34_in_any_order_a_tool_may_be_named_twice_while_nobody_reads_it(guard: str, found: list[str]) -> None:
    """A playbook of the plain form may name a tool in several steps."""
    assert found == codes(agent("a", "t"), agent("b", "t"), agent("c", when=guard), strict_sequence=False)


def test_names_that_people_and_signals_give() -> None:
    """Answers by step, signals by name, claims by step and name."""
    steps: list[dict[str, Any]] = [
        {"id": "q", "ask": "Well?"},
        {"id": "w", "wait": {"signal": "n"}},
        {"id": "j", "description": "Weigh it", "claims": {"user": "string"}},
        agent("a", when='answers.q == "x" && signals.n.ok && has(signals.m) && claims.j.user != "root"'),
    ]

    assert codes(*steps, termination=[{"any": [{"signal": "m"}, {"not": {"max_iterations": 3}}]}]) == []


def test_a_condition_may_name_a_tool_that_a_callee_calls() -> None:
    """S33: the caller's conditions see the calls of those it calls."""
    page = load_playbook(
        {"id": "p", "name": "P", "steps": [{"id": "s", "playbook": "c"}], "termination": [{"tool_called": "hand_over"}]}
    )
    callee = load_playbook({"id": "c", "name": "C", "steps": [agent("a", "hand_over")]})
    other = load_playbook({"id": "c", "name": "C", "steps": [agent("a", "t")]})

    assert compile_playbook(page, callees={"c": callee}).diagnostics == []
    assert [finding.code for finding in compile_playbook(page, callees={"c": other}).diagnostics] == ["GW112"]
