"""What takes a call back, and the conditions that come from outside."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.conditions import AllOf, Custom, Not, Signalled
from guideway.statemachine.definition import EndKind, OutcomeClass
from guideway.statemachine.tools import Reversal

from .helpers import agent, lower


def schema(*names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The parameters of a tool with these names."""
    return {"type": "object", "properties": {name: {} for name in names}, "required": list(required)}


def codes(tools: dict[str, Any]) -> list[str]:
    """Give the codes of what is found in the tools of a playbook."""
    playbook = load_playbook({"id": "p", "name": "P", "tools": tools, "steps": [agent("buy", "reserve")]})
    return [finding.code for finding in compile_playbook(playbook).diagnostics]


@pytest.mark.parametrize(
    ("written", "reversal"),
    [
        ("release", Reversal("release")),
        ({"tool": "release"}, Reversal("release")),
        ({"tool": "release", "args": {}}, Reversal("release", {})),
        (
            {"tool": "release", "args": {"id": "{{ result.id }}", "why": "undo of {{ args.order }}"}},
            Reversal("release", {"id": "{{ result.id }}", "why": "undo of {{ args.order }}"}),
        ),
    ],
    ids=str,
)
def test_a_tool_says_what_takes_it_back(written: Any, reversal: Reversal) -> None:
    """A tool alone is called with the same arguments; `args` are templates over the undone call."""
    definition = lower(agent("buy", "reserve"), tools={"reserve": {"undo": written}, "release": {}})

    assert definition.tools["reserve"].undo == reversal


@pytest.mark.parametrize(
    ("undo", "code"),
    [
        ("relase", "GW112"),
        ({"tool": "relase"}, "GW112"),
        ("complete_step", "GW703"),
        ({"tool": "release", "args": {"id": "{{ facts.reserve.id }}"}}, "GW117"),
        ({"tool": "release", "args": {"id": ["{{ inputs.id }}"]}}, "GW117"),
        ({"tool": "release", "args": {"id": "{{ result. }}"}}, "GW301"),
    ],
    ids=str,
)
def test_an_undo_names_a_tool_and_reads_the_call_alone(undo: Any, code: str) -> None:
    """Also under a pattern, whose undo serves every tool that matches."""
    assert codes({"reserve": {"undo": undo}, "release": {}}) == [code]
    assert codes({"reserve": {}, "release": {}, "mcp__*": {"undo": undo}}) == [code]


def test_the_arguments_of_an_undo_are_those_the_tool_has() -> None:
    """Names are looked up in the `parameters` of the tool that takes back; the same arguments must do for it."""
    release = {"parameters": schema("id", "why", required=("id",))}

    def undone(undo: Any, **parameters: Any) -> list[str]:
        return codes({"reserve": {"undo": undo, **parameters}, "release": release})

    assert undone({"tool": "release", "args": {"id": "{{ result.id }}"}}) == []
    assert undone({"tool": "release", "args": {"idd": "{{ result.id }}"}}) == ["GW701", "GW702"]
    assert undone("release", parameters=schema("id")) == []
    assert undone("release", parameters=schema("order")) == ["GW702"]
    assert undone("release") == []


def test_a_signal_and_a_predicate_end_a_run_as_goals() -> None:
    """S37: named by their reason; nothing has to wait for the signal."""
    definition = lower(
        agent("talk"), predicates={"is_done": {}}, termination=[{"signal": "closed"}, {"custom": "is_done"}]
    )
    ends = {branch.reason: definition.states[branch.target].end for branch in definition.termination}

    assert [branch.condition for branch in definition.termination] == [Signalled("closed"), Custom("is_done")]
    assert {reason: (end.kind, end.outcome) for reason, end in ends.items() if end} == {
        "signal:closed": (EndKind.GOAL, "success"),
        "custom:is_done": (EndKind.GOAL, "success"),
    }


def test_conditions_from_outside_combine_with_the_others() -> None:
    """Inside `all` and `not`, with the author's word for the end."""
    definition = lower(
        agent("talk"),
        predicates={"is_vip": {}},
        outcomes={"dropped": "stopped"},
        termination={"all": [{"signal": "hung_up"}, {"not": {"custom": "is_vip"}}], "outcome": "dropped"},
    )
    [branch] = definition.termination
    end = definition.states["dropped"].end

    assert branch.condition == AllOf((Signalled("hung_up"), Not(Custom("is_vip"))))
    assert end is not None
    assert end.outcome_class is OutcomeClass.STOPPED


def test_a_predicate_nobody_declared_is_no_condition() -> None:
    """The host could not know that it has to supply one."""
    source = {"id": "p", "name": "P", "steps": [agent("talk")], "termination": [{"custom": "is_vip"}]}

    assert [finding.code for finding in compile_playbook(load_playbook(source)).diagnostics] == ["GW119"]
