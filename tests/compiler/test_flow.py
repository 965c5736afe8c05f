"""The flow rules against a plain search of our own, on shapes that break naive checkers."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from guideway.compiler import check, check_definition, compile_playbook
from guideway.playbooks.loader import load_playbook

from .helpers import agent, lower

ENDS = ("success", "failed", "escalated")


def codes(*steps: dict[str, Any], **top: Any) -> dict[str, list[str]]:
    """The findings: by code, the first step that each message names."""
    found = defaultdict(list)
    for finding in check(load_playbook({"id": "p", "name": "P", "steps": list(steps), **top})):
        found[finding.code].append(finding.message.split("`")[1])
    return dict(found)


def test_sixty_diamonds_are_checked_without_walking_their_paths() -> None:
    """2^60 paths, each step visited once: torture row 16."""
    steps: list[dict[str, Any]] = []
    for i in range(60):
        below = f"d{i + 1}" if i < 59 else "done"
        steps += [
            {"id": f"d{i}", "switch": [{"when": "run.calls > 1", "goto": f"l{i}"}, {"goto": f"r{i}"}]},
            agent(f"l{i}", next=below),
            agent(f"r{i}", next=below),
        ]

    assert codes(*steps) == {}


def test_a_long_page_is_lowered_and_checked() -> None:
    """5,000 steps in a row: nothing in the compiler grows faster than the page."""
    definition = lower(*(agent(f"s{i}") for i in range(5_000)))

    assert len(definition.states) == 2 * 5_000 + 6
    assert check_definition(definition) == []


@pytest.mark.parametrize("seed", range(40))
def test_declaration_order_means_nothing_to_the_flow(seed: int) -> None:
    """Torture row 15: steps reached by name alone give the same findings in any order of the page."""
    rng = random.Random(seed)
    names = [f"s{i}" for i in range(rng.randint(2, 9))]
    steps = [agent(name, next=_targets(rng, names), max_visits=3) for name in names]
    first, rest = steps[0], steps[1:]
    before = codes(first, *rest)
    rng.shuffle(rest)
    after = codes(first, *rest)

    assert _lost_and_stuck(steps, before) == _lost_and_stuck(steps, after)


@pytest.mark.parametrize("seed", range(150))
def test_findings_agree_with_a_plain_search(seed: int) -> None:
    """Some step is unreachable, or stuck, exactly when a search over the page itself says so."""
    rng = random.Random(seed)
    names = [f"s{i}" for i in range(rng.randint(1, 9))]
    steps = [agent(name, next=_targets(rng, names)) for name in names]

    lost, stuck = _searched(steps)
    found = _lost_and_stuck(steps, codes(*steps))
    assert found == (lost, stuck)


def _targets(rng: random.Random, names: list[str]) -> list[dict[str, str]]:
    guarded = [{"when": "run.calls > 1", "goto": rng.choice([*names, *ENDS])} for _ in range(rng.choice((0, 0, 1)))]
    return [*guarded, {"goto": rng.choice([*names, rng.choice(ENDS)])}]


def _links(steps: list[dict[str, Any]]) -> dict[str, set[str]]:
    return {step["id"]: {branch["goto"] for branch in step["next"]} for step in steps}


def _searched(steps: list[dict[str, Any]]) -> tuple[set[str], set[str]]:
    """Unreachable steps, and reachable ones from which no end is reachable: by the definition of the words."""
    links = _links(steps)
    reached = _from(steps[0]["id"], links)
    stuck = {name for name in reached & links.keys() if not _from(name, links) & set(ENDS)}
    return links.keys() - reached, stuck


def _from(start: str, links: dict[str, set[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        for target in links.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _lost_and_stuck(steps: list[dict[str, Any]], found: dict[str, list[str]]) -> tuple[set[str], set[str]]:
    """Spread each finding over the region it leads: what its first step leads to, within the unreached or the stuck."""
    links = _links(steps)
    reached = _from(steps[0]["id"], links)
    lost = {s for first in found.get("GW201", ()) for s in _from(first, links) if s in links and s not in reached}
    stuck = {s for first in found.get("GW202", ()) for s in _from(first, links) if s in links}
    return lost, stuck


@pytest.mark.parametrize(
    ("termination", "finding"),
    [
        ([], True),
        ([{"max_iterations": 50}], True),
        ([{"text_mention": "enough"}, {"time_limit": "5m"}, {"confidence_met": 0.9}], True),
        ([{"not": {"tool_called": "t_a"}}], True),
        ([{"tool_called": "t_b"}], False),
        ([{"any": [{"max_iterations": 50}, {"tool_called": "t_b"}]}], False),
        ([{"tool_called": "help_me"}], False),
    ],
)
def test_s47_a_limit_does_not_hide_a_loop_without_end(termination: list[Any], finding: bool) -> None:
    """Only a call that is legal in the loop ends it on purpose; limits, text, confidence and time do not count."""
    loop = (agent("a", next="b"), agent("b", optional_tools=["help_*"], next="a"))

    assert codes(*loop, termination=termination).get("GW202", []) == (["a"] if finding else [])


def test_a_way_into_a_dead_end_is_shown() -> None:
    """The witness is a shortest sequence of events from the start."""
    branches = [{"when": "run.calls > 1", "goto": "done"}, {"goto": "c"}]
    definition = lower(agent("a"), agent("b", next=branches), agent("c", when="run.calls > 3", next="c"))

    [finding] = check_definition(definition)
    assert finding.witness == ("a: completed → b", "b: completed → c.entry")


def test_a_failure_handler_is_a_way_out() -> None:
    """A loop whose step may fail to a declared end can end: the agent's failures are part of the machine."""
    assert codes(agent("a", next="a", on_failure="escalated")) == {}


def test_names_are_reported_before_flow() -> None:
    """A misspelt target is one finding, not also an unreachable step."""
    found = check(load_playbook({"id": "p", "name": "P", "steps": [agent("a", next="bb"), agent("b")]}))

    assert [finding.code for finding in found] == ["GW110"]


def test_a_definition_of_another_author_is_checked_too() -> None:
    """`check_definition` needs no playbook and no places."""
    compiled = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": [agent("a", next="done"), agent("b")]}))
    assert compiled.definition is not None

    assert [finding.code for finding in check_definition(compiled.definition)] == ["GW201"]
