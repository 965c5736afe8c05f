"""Blocks: how their lists hang together, where what happens inside leads, and what may jump where."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.blocks import Each, Parallel
from guideway.statemachine.definition import BLOCKS, Definition, StateKind
from guideway.statemachine.expressions import parse
from guideway.statemachine.steps import Repeat

from .helpers import agent, edges, lower, plain


def call(name: str, tool: str = "t", **keys: Any) -> dict[str, Any]:
    """A step in which the runtime calls a tool."""
    return {"id": name, "call": {"tool": tool}, **keys}


def kinds(definition: Definition) -> dict[str, StateKind]:
    """Every state that belongs to a step, with its kind."""
    return {state.name: state.kind for state in definition.states.values() if state.step is not None}


def faults(*steps: dict[str, Any], **top: Any) -> list[tuple[str, str]]:
    """What is wrong with the targets of a page: the code and the target."""
    found = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": list(steps), **top})).diagnostics
    return [(finding.code, finding.message.split("`")[1]) for finding in found]


# --- parallel -------------------------------------------------------------------------------------------------------


def test_s31_a_fork_leads_to_every_branch_and_the_branches_to_the_join() -> None:
    """One edge for each branch, in the order of the page; a branch that is one step is called like it."""
    both = {"left": {"call": {"tool": "t"}}, "right": [call("first"), agent("second")]}
    made = lower({"id": "both", "parallel": both}, agent("behind"))

    assert edges(made, "both")["forked"] == [("left", None), ("first", None)]
    assert edges(made, "both")["joined"] == [("both.join", None)]
    assert edges(made, "both")["failed"] == [("both.failed", None)]
    assert plain(made, "left") == {"completed": "both.join", "failed": "both.failed"}
    assert plain(made, "first") == {"completed": "second", "failed": "both.failed"}
    assert plain(made, "second") == {"completed": "both.join", "failed": "both.failed"}
    assert plain(made, "both.join") == {"completed": "behind"}
    assert plain(made, "both.failed") == {"failed": "failed:both"}


@pytest.mark.parametrize(("join", "needed"), [(None, 3), ("all", 3), ("any", 1), (2, 2)])
def test_s31_how_many_branches_are_needed(join: Any, needed: int) -> None:
    """`all`, which is also what is meant where nothing is said, `any` or a number."""
    branches = {name: {"call": {"tool": "t"}} for name in "abc"}
    keys = {} if join is None else {"join": join}

    assert Parallel(("a", "b", "c"), needed) == lower({"id": "p", "parallel": branches, **keys}).steps["p"].parallel


def test_a_block_is_entered_like_any_step() -> None:
    """A router, an approval, a deadline and `required` have their places and edges, as everywhere."""
    made = lower(
        {
            "id": "both",
            "when": "run.calls > 1",
            "approval": {"ask": "Go?"},
            "timeout": "5m",
            "required": False,
            "parallel": {"a": {"call": {"tool": "t"}}},
        },
        agent("behind"),
    )

    assert made.initial == "both.entry"
    assert plain(made, "both.entry")["entered"] == "both.approval"
    assert plain(made, "both.approval") == {
        "approved": "both",
        "rejected": "stopped:rejected",
        "timeout": "stopped:timeout:both",
        "failed": "failed:both",
        "skipped": "behind",
    }
    assert plain(made, "both") == {
        "forked": "a",
        "joined": "both.join",
        "failed": "both.failed",
        "timeout": "stopped:timeout:both",
        "skipped": "behind",
    }


def test_a_step_knows_the_block_it_stands_in() -> None:
    """`Step.block` is the block directly around it; steps are in the order of the page, inner ones behind theirs."""
    inner = {"id": "inner", "steps": [call("deep")]}
    made = lower({"id": "both", "parallel": {"a": {"call": {"tool": "t"}}, "b": [inner]}}, agent("z"))

    assert [(step.id, step.block) for step in made.steps.values()] == [
        ("both", ""),
        ("a", "both"),
        ("inner", "both"),
        ("deep", "inner"),
        ("z", ""),
    ]


def test_a_list_begins_with_the_head_of_its_first_step() -> None:
    """The fork enters a branch through the router of its first step."""
    made = lower({"id": "both", "parallel": {"a": {"call": {"tool": "t"}, "when": "run.calls > 1"}}})

    assert edges(made, "both")["forked"] == [("a.entry", None)]
    assert plain(made, "a.entry")["passed"] == "both.join"


# --- loops and sections ---------------------------------------------------------------------------------------------


def test_s32_items_one_after_another() -> None:
    """The join of a `for_each` leads on, or again to the head for the next item."""
    made = lower({"id": "e", "for_each": {"as": "x", "in": [5, "{{ run.id }}"]}, "steps": [call("a"), call("b")]})

    assert made.states["e"].kind == StateKind.EACH
    assert plain(made, "e.join") == {"completed": "success", "again": "a"}
    assert Each("x", items=(5, "{{ run.id }}")) == made.steps["e"].each


@pytest.mark.parametrize("source", ["inputs.hosts", "{{ inputs.hosts }}"])
def test_s32_items_that_an_expression_gives(source: str) -> None:
    """All that may be said of a loop is kept; braces around the whole expression change nothing."""
    loop = {"as": "x", "in": source, "at_most": 9, "concurrency": 4, "collect": "facts.a.n"}
    made = lower({"id": "e", "for_each": loop, "steps": [call("a")]}, inputs={"hosts": {"type": "array"}})

    expected = Each("x", parse("inputs.hosts"), None, 9, 4, parse("facts.a.n"))
    assert expected == made.steps["e"].each


def test_s28_rounds_of_steps() -> None:
    """`repeat` with `steps` is a loop whose join leads on or again."""
    rounds = {"until": "facts.a.done == true", "at_most": 5, "wait": "1m", "collect": "facts.a.n"}
    made = lower({"id": "r", "repeat": rounds, "steps": [call("a")]})

    assert made.states["r"].kind == StateKind.LOOP
    assert plain(made, "r.join") == {"completed": "success", "again": "a"}
    assert Repeat(parse("facts.a.done == true"), 5, 60.0, parse("facts.a.n")) == made.steps["r"].repeat


def test_a_section_is_gone_through_once() -> None:
    """Its join leads on only."""
    made = lower({"id": "s", "steps": [call("a")]}, agent("b"))

    assert {name: kind.value for name, kind in kinds(made).items()} == {
        "s": "section",
        "s.join": "join",
        "s.failed": "join",
        "a": "call",
        "b": "step",
    }
    assert plain(made, "s.join") == {"completed": "b"}


# --- failures -------------------------------------------------------------------------------------------------------


def test_s27_a_failure_inside_fails_the_block_and_so_on_outwards() -> None:
    """Without handlers the failure climbs from block to block and ends the run under the name of the outermost."""
    inner = {"id": "inner", "for_each": {"as": "x", "in": [1]}, "steps": [call("deep")]}
    made = lower({"id": "outer", "steps": [inner]})

    assert plain(made, "deep")["failed"] == "inner.failed"
    assert plain(made, "inner.failed") == {"failed": "outer.failed"}
    assert plain(made, "outer.failed") == {"failed": "failed:outer"}


def test_s22_exhaustion_inside_fails_the_block() -> None:
    """The default of a spent step follows its default failure."""
    made = lower({"id": "s", "steps": [agent("a", "t", max_tool_calls=2)]})

    assert plain(made, "a")["exhausted"] == "s.failed"
    assert plain(made, "a")["advanced"] == "s.join"


def test_a_block_has_a_handler_of_its_own() -> None:
    """`on_failure` of the block is where its failure leads."""
    made = lower({"id": "s", "steps": [call("a")], "on_failure": "back", "next": "success"}, agent("back"))

    assert plain(made, "s.failed") == {"failed": "back"}


def test_default_targets_are_for_the_block_and_not_for_what_lies_in_it() -> None:
    """FORMAT section 2: inside, a failure fails the block; limits reach the steps inside all the same."""
    made = lower(
        {"id": "s", "steps": [call("a"), agent("b", timeout="1m")]},
        defaults={"on_failure": "escalated", "on_timeout": "escalated", "max_visits": 3},
    )

    assert plain(made, "a")["failed"] == "s.failed"
    assert plain(made, "b")["timeout"] == "stopped:timeout:b"
    assert plain(made, "s.failed") == {"failed": "escalated"}
    assert made.steps["a"].max_visits == 3


def test_default_stops_end_the_frame_from_anywhere() -> None:
    """Refusals, deadlines and spent visits without a handler are ends, in a branch as well."""
    made = lower(
        {
            "id": "both",
            "parallel": {
                "a": {"call": {"tool": "t"}, "approval": {"ask": "Go?"}, "timeout": "1m", "max_visits": 2},
                "b": {"call": {"tool": "t"}},
            },
        }
    )

    assert plain(made, "a.approval")["rejected"] == "stopped:rejected"
    assert plain(made, "a")["timeout"] == "stopped:timeout:a"
    assert plain(made, "a.entry")["max_visits"] == "stopped:max_visits:a"


def test_what_a_tool_says_of_cut_off_calls_does_not_lead_out_of_a_branch() -> None:
    """There a person reconciles; in a section the tool's word holds."""
    section = {"id": "s", "steps": [call("in")]}
    fork = {"id": "both", "parallel": {"side": {"call": {"tool": "t"}}}}
    made = lower(section, fork, tools={"t": {"on_unknown": "escalated"}})

    assert plain(made, "in")["unknown t"] == "escalated"
    assert "unknown t" not in plain(made, "side")


# --- targets --------------------------------------------------------------------------------------------------------


def test_s35_done_leaves_the_list() -> None:
    """Inside a block `done` is its join."""
    made = lower({"id": "s", "steps": [call("a", next="done"), call("b")]}, agent("c"))

    assert plain(made, "a")["completed"] == "s.join"


def test_s35_a_sequential_block_may_be_left_for_steps_around_it_and_for_ends() -> None:
    """Outwards any number of blocks; an outcome word ends the playbook."""
    deep = {"id": "deep", "steps": [call("a", next="top", on_failure="stopped"), call("b", next="beside")]}
    each = {"id": "e", "for_each": {"as": "x", "in": [1]}, "steps": [deep, call("beside")]}
    made = lower(each, agent("top"))

    assert plain(made, "a") == {"completed": "top", "failed": "stopped"}
    assert plain(made, "b")["completed"] == "beside"


def test_s35_failed_in_a_branch_fails_the_nearest_parallel() -> None:
    """However deep in sections it is said."""
    inner = {"id": "s", "steps": [call("a", on_failure="failed")]}
    made = lower({"id": "both", "parallel": {"x": [inner], "y": {"call": {"tool": "t"}}}})

    assert plain(made, "a")["failed"] == "both.failed"


def test_a_block_inside_a_branch_may_be_left_for_its_branch() -> None:
    """Up to the list of the branch, jumps lead outwards."""
    section = {"id": "s", "steps": [call("a", next="c"), call("b")]}
    made = lower({"id": "both", "parallel": {"x": [section, call("d"), call("c")]}})

    assert plain(made, "a")["completed"] == "c"


@pytest.mark.parametrize("target", ["top", "success", "escalated", "mine", "both", "other", "deep"])
@pytest.mark.parametrize("key", ["next", "on_failure"])
def test_s35_nothing_leads_out_of_a_branch_or_into_a_block(target: str, key: str) -> None:
    """A step outside, an end, the block itself, another branch, a step inside a section: each is a located error."""
    branches = {
        "one": [call("a", **{key: target}), {"id": "s", "steps": [call("deep")]}],
        "two": [call("other")],
    }
    found = faults({"id": "both", "parallel": branches}, agent("top"), outcomes={"mine": "stopped"})

    assert [("GW125", target)] == found


@pytest.mark.parametrize(("concurrency", "found"), [(1, []), (2, [("GW125", "top"), ("GW125", "stopped")])])
def test_s35_items_side_by_side_are_fenced_and_items_in_a_row_are_not(concurrency: int, found: list[Any]) -> None:
    """`concurrency` decides whether a jump may leave the body."""
    loop = {"as": "x", "in": [1, 2], "concurrency": concurrency}
    steps = [call("a", on_failure="top"), call("b", on_failure="stopped"), call("c", on_failure="failed")]

    assert found == faults({"id": "e", "for_each": loop, "steps": steps}, agent("top"))


def test_s35_nothing_leads_into_the_middle_of_a_block() -> None:
    """Not even from outside at the top, nor from `defaults` or `tools`."""
    found = faults(
        agent("a", next="in"),
        {"id": "s", "steps": [call("in")]},
        defaults={"on_failure": "in"},
        tools={"t": {"on_unknown": "in"}, "t_a": {}},
    )

    assert found == [("GW125", "in")] * 3


# --- in any order ---------------------------------------------------------------------------------------------------


def test_s34_steps_in_any_order_are_a_fork_of_all() -> None:
    """One branch for each step; those that are required have to arrive."""
    made = lower(agent("a"), agent("b", required=False), {"id": "s", "steps": [call("in")]}, strict_sequence=False)
    whole = made.steps["(any order)"]

    assert made.initial == "(any order)"
    assert Parallel(("a", "b", "s"), 2, ("b",)) == whole.parallel
    assert [target for target, _ in edges(made, made.initial)["forked"]] == ["a", "b", "s"]
    assert plain(made, "(any order).join") == {"completed": "success"}
    assert plain(made, "(any order).failed") == {"failed": "failed:(any order)"}
    assert [made.steps[name].block for name in "abs"] == ["(any order)"] * 3


def test_s34_where_no_step_is_required_all_are_needed() -> None:
    """Else the run would be over before it began."""
    made = lower(agent("a", required=False), agent("b", required=False), strict_sequence=False)

    assert Parallel(("a", "b"), 2) == made.steps["(any order)"].parallel


def test_s34_default_targets_are_for_the_whole_and_limits_are_not() -> None:
    """Nobody has written the step around all others, so no deadline is meant for it."""
    made = lower(agent("a"), strict_sequence=False, defaults={"timeout": "5m", "on_failure": "escalated"})

    assert plain(made, "(any order).failed") == {"failed": "escalated"}
    assert None is made.steps["(any order)"].timeout
    assert made.steps["a"].timeout == 300.0


def test_s34_no_steps_in_any_order_is_success_at_once() -> None:
    """There is nothing to wait for."""
    assert lower(strict_sequence=False).initial == "success"


def test_s34_a_step_cannot_be_called_like_the_fork() -> None:
    """The name that is made up may be somebody's."""
    assert ("GW120", "(any order)") in faults(agent("(any order)"), strict_sequence=False)


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["s.join", "s.failed"])
def test_no_step_is_called_like_a_state_of_a_block(name: str) -> None:
    """A jump to that name could mean either."""
    assert [("GW120", name)] == faults({"id": "s", "steps": [call("a")]}, agent(name))


def test_s39_the_default_limit_counts_every_step() -> None:
    """Steps inside blocks are steps, and so are those of `finally`; the fork that is made up is none."""
    inner = [call(f"i{number}") for number in range(60)]
    made = lower({"id": "s", "steps": inner}, agent("a"), **{"finally": [call("z")]})

    assert made.max_iterations == 20 * 63
    assert lower(*inner, strict_sequence=False).max_iterations == 20 * 60


def test_every_block_has_its_three_states() -> None:
    """Whatever the kind, the runtime finds `S`, `S.join` and `S.failed`."""
    made = lower(
        {"id": "a", "parallel": {"a1": {"call": {"tool": "t"}}}},
        {"id": "b", "for_each": {"as": "x", "in": [1]}, "steps": [call("b1")]},
        {"id": "c", "repeat": {"until": "run.calls > 3", "at_most": 2}, "steps": [call("c1")]},
        {"id": "d", "steps": [call("d1")]},
    )

    assert {"a", "b", "c", "d"} == {state.name for state in made.states.values() if state.kind in BLOCKS}
    for name in "abcd":
        assert {"forked", "joined", "failed"} == set(made.states[name].edges)
        assert name == made.states[f"{name}.join"].block == made.states[f"{name}.failed"].block
