"""The flow rules on blocks: against a plain search over the page, and on shapes that break naive checkers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from guideway.compiler import check, check_definition, compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.graph import can_reach, reachable, shortest_path

from .helpers import agent, lower


def call(name: str, tool: str = "", **keys: Any) -> dict[str, Any]:
    """A step in which the runtime calls a tool."""
    return {"id": name, "call": {"tool": tool or f"t_{name}"}, **keys}


def codes(*steps: dict[str, Any], **top: Any) -> list[tuple[str, str]]:
    """What is found: the code and the first name in the message."""
    found = check(load_playbook({"id": "p", "name": "P", "steps": list(steps), **top}))
    return [(finding.code, finding.message.split("`")[1]) for finding in found]


FAILS = {"call": {"tool": "bad"}, "next": "failed"}
ARRIVES = {"call": {"tool": "good"}}


@pytest.mark.parametrize(
    ("join", "branches", "found"),
    [
        ("all", {"a": ARRIVES, "b": ARRIVES}, []),
        ("all", {"a": ARRIVES, "b": FAILS}, [("GW204", "both")]),
        ("any", {"a": ARRIVES, "b": FAILS}, []),
        ("any", {"a": FAILS, "b": FAILS}, [("GW204", "both")]),
        (2, {"a": ARRIVES, "b": FAILS, "c": ARRIVES}, []),
        (2, {"a": ARRIVES, "b": FAILS, "c": FAILS}, [("GW204", "both")]),
    ],
)
def test_s31_a_join_that_can_be_met_is_no_finding(join: Any, branches: dict[str, Any], found: list[Any]) -> None:
    """Branches that always fail are fine as long as enough others arrive."""
    assert found == codes({"id": "both", "parallel": branches, "join": join}, agent("behind"))


def test_a_branch_that_never_ends_is_carried_by_the_others() -> None:
    """A watch beside the work: with `join: any` its endless loop is no dead end."""
    watch = [call("look", next="again"), {"id": "again", "wait": "1m", "next": "look"}]
    step = {"id": "both", "parallel": {"work": ARRIVES, "watch": watch}}

    assert codes(step | {"join": "any"}) == []
    assert codes(step) == [("GW204", "both")]


def test_a_branch_that_ends_the_run_by_a_tool_need_not_arrive() -> None:
    """S47: a `tool_called` that is legal there is a way out on purpose."""
    watch = [call("look", next="again"), agent("again", "hand_over", next="look")]
    step = {"id": "both", "parallel": {"work": ARRIVES, "watch": watch}}

    assert codes(step, termination=[{"tool_called": "hand_over"}]) == []


def test_a_broken_join_inside_breaks_no_second_one_that_is_handled() -> None:
    """The inner one is reported; its failure leads on, so the outer branch arrives."""
    inner = {"id": "inner", "parallel": {"x": FAILS, "y": ARRIVES}, "on_failure": "done"}
    outer = {"id": "outer", "parallel": {"a": [inner], "b": {"call": {"tool": "c"}}}}

    assert codes(outer, agent("behind")) == [("GW204", "inner")]


def test_a_broken_join_inside_is_no_way_to_the_outer_one() -> None:
    """Without a handler the branch around it never arrives either."""
    inner = {"id": "inner", "parallel": {"x": FAILS, "y": ARRIVES}}
    outer = {"id": "outer", "parallel": {"a": [inner], "b": {"call": {"tool": "c"}}}}

    assert sorted(codes(outer, agent("behind"))) == [("GW204", "inner"), ("GW204", "outer")]


def test_a_refusal_that_two_places_share_hides_no_dead_end() -> None:
    """The end `stopped:rejected` is nobody's way on, though a branch that never arrives leads there, too."""
    asked = {"call": {"tool": "bad"}, "approval": {"ask": "Go?"}, "next": "failed"}
    both = {"id": "both", "parallel": {"a": asked, "b": ARRIVES}, "join": "any"}
    loop = agent("l", next="m"), agent("m", approval={"ask": "Go?"}, next="l")

    assert codes(both, *loop) == [("GW202", "both")]


def test_an_empty_list_of_items_is_a_way_past_the_body() -> None:
    """S32: what lies behind a `for_each` is reached though its body always leaves for elsewhere."""
    loop = {"as": "x", "in": [1]}

    assert codes({"id": "e", "for_each": loop, "steps": [call("a", next="escalated")]}, agent("b")) == []


@pytest.mark.parametrize("keys", [{}, {"repeat": {"until": "run.calls > 3", "at_most": 3}}])
def test_a_section_that_is_always_left_hides_what_lies_behind_it(keys: dict[str, Any]) -> None:
    """Nothing ever comes to the end of its list."""
    assert codes({"id": "s", "steps": [call("a", next="escalated")], **keys}, agent("b")) == [("GW201", "b")]


def test_a_block_that_nothing_leads_to_is_one_finding() -> None:
    """The block, and how many more there are behind it."""
    found = check(
        load_playbook(
            {
                "id": "p",
                "name": "P",
                "steps": [agent("a", next="success"), {"id": "s", "steps": [call("b"), call("c")]}, agent("d")],
            }
        )
    )

    assert [finding.message for finding in found] == ["step `s` can never be reached, nor can the 3 behind it"]


def test_a_step_inside_that_nothing_leads_to_is_found() -> None:
    """Within a list the same rule holds."""
    assert codes({"id": "s", "steps": [call("a", next="done"), call("b")]}) == [("GW201", "b")]


@pytest.mark.parametrize(("choices", "found"), [({"yes": "b", "no": "stopped"}, True), (["yes", "no"], False)])
def test_behind_a_question_whose_answers_all_lead_elsewhere_nothing_is_reached(choices: Any, found: bool) -> None:
    """The step that follows on the page is reached only where some answer has no way of its own."""
    ask = {"id": "q", "ask": {"question": "Well?", "choices": choices}}
    lost = [("GW201", "a")] if found else []

    assert lost == codes(ask, agent("a", next="b"), agent("b"))


def test_finally_is_no_part_of_the_flow() -> None:
    """Its calls are reached by no edge, and that is no fault; a fault before them is still found."""
    closing = {"finally": [call("z")]}

    assert codes(agent("a"), **closing) == []
    assert codes(agent("a", next="success"), agent("b"), **closing) == [("GW201", "b")]


def test_a_dead_end_inside_a_block_shows_the_way_into_it() -> None:
    """The witness goes through the fork."""
    made = lower({"id": "s", "steps": [call("a", next="b"), call("b", next="a")]})
    [finding] = check_definition(made)

    assert finding.code == "GW202"
    assert "`s`" in finding.message


def test_a_failure_of_the_block_is_a_way_out() -> None:
    """A loop inside whose steps may fail to the handler of the block can end."""
    loop = {"id": "s", "steps": [call("a", next="b"), call("b", next="a")], "on_failure": "escalated"}

    assert codes(loop) == []


def test_steps_in_any_order_are_all_reached() -> None:
    """However many there are, and none leads to the next."""
    assert codes(*(agent(f"s{number}") for number in range(30)), strict_sequence=False) == []
    assert codes(agent("a"), agent("b", next="failed"), strict_sequence=False) == [("GW204", "(any order)")]
    assert codes(agent("a"), agent("b", next="failed", required=False), strict_sequence=False) == []


def test_s33_a_condition_sees_the_calls_of_a_sub_playbook() -> None:
    """A loop around a sub-playbook that may call the tool can end by it."""
    page = load_playbook(
        {
            "id": "p",
            "name": "P",
            "steps": [{"id": "s", "playbook": "c", "next": "s"}],
            "tools": {"hand_over": {}, "t": {}},
            "termination": [{"tool_called": "hand_over"}],
        }
    )
    for tool, found in (("hand_over", []), ("t", ["GW202"])):
        callee = load_playbook({"id": "c", "name": "C", "steps": [agent("a", tool)]})
        made = compile_playbook(page, callees={"c": callee}).definition
        assert made is not None
        assert found == [finding.code for finding in check_definition(made)]


def test_paths_go_through_blocks_and_into_another_round() -> None:
    """A path follows the lists, not the cursor that waits; from the end of a round it leads to the next one."""
    made = lower({"id": "e", "for_each": {"as": "x", "in": [1]}, "steps": [call("a"), call("b")]}, agent("c"))
    section = lower({"id": "s", "steps": [call("a")]}, agent("c"))

    assert [edge.event for edge in shortest_path(section, "s", ["success"]) or ()] == [
        "forked",
        "completed",
        "completed",
        "completed",
    ]
    assert [edge.event for edge in shortest_path(made, "b", ["a"]) or ()] == ["completed", "again"]
    assert "a" not in can_reach(lower({"id": "s", "steps": [call("a", next="stopped")]}, agent("c")), ["c"])
    assert "c" in reachable(made)


# --- against a search of our own ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(200))
def test_findings_agree_with_a_plain_reading_of_the_page(seed: int) -> None:
    """Which steps are reached, and whether the list of each block can end, by the definition of the words."""
    rng = random.Random(seed)
    steps = _list(rng, "r", rng.randint(1, 4), 3, fenced=False)
    made = lower(*steps)
    found = {state for state in reachable(made) if state in made.steps}
    plain = _Reading()
    plain.run(steps, ends=set())

    assert plain.reached == found


def _list(rng: random.Random, name: str, size: int, depth: int, *, fenced: bool) -> list[dict[str, Any]]:
    names = [f"{name}{number}" for number in range(size)]
    return [_step(rng, each, names, depth, fenced=fenced) for each in names]


def _step(rng: random.Random, name: str, names: list[str], depth: int, *, fenced: bool) -> dict[str, Any]:
    kind = rng.choice(["call", "call", "section", "each", "fork"] if depth else ["call"])
    words = ["done", "failed"] if fenced else ["done", "failed", "success"]
    step: dict[str, Any] = {"id": name}
    if rng.random() < 0.5:
        step["next"] = rng.choice([*names, *words])
    if kind == "call":
        return step | {"call": {"tool": "t"}}
    if kind == "fork":
        inner = {
            f"{name}{letter}": _list(rng, name + letter, rng.randint(1, 2), depth - 1, fenced=True) for letter in "xy"
        }
        return step | {"parallel": {f"{key}_": part for key, part in inner.items()}, "join": "any"}
    inner_list = _list(rng, name + "s", rng.randint(1, 3), depth - 1, fenced=fenced)
    return step | {"steps": inner_list} | ({"for_each": {"as": f"x_{name}", "in": [1]}} if kind == "each" else {})


class _Reading:
    """Reads a page as a person does: a list is gone through from its first step; its end is told to whoever asks."""

    def __init__(self) -> None:
        self.reached: set[str] = set()

    def run(self, steps: list[dict[str, Any]], ends: set[str]) -> set[str]:
        """Give how the list may end: `done`, `failed`, or a word."""
        order = [step["id"] for step in steps]
        page = {step["id"]: step for step in steps}
        waiting, seen = [order[0]], set[str]()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for target in self._after(page[name], order):
                waiting.append(target) if target in page else ends.add(target)
        return ends

    def _after(self, step: dict[str, Any], order: list[str]) -> set[str]:
        """Where the run may be after the step: a step of the list, or an end of the list."""
        self.reached.add(step["id"])
        place = order.index(step["id"])
        falls = order[place + 1] if place + 1 < len(order) else "done"
        on = step.get("next", falls)
        if "call" in step:
            return {on}
        lists = list(step["parallel"].values()) if "parallel" in step else [step["steps"]]
        how = set[str]().union(*(self.run(part, set()) for part in lists))
        led = {on} if "done" in how or "for_each" in step else set[str]()
        return led | ({"success"} & how)
