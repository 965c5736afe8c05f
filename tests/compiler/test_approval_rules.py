"""Approvals: one rule or a list of rules, what they read, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.approvals import Approval
from guideway.statemachine.expressions import parse

from .helpers import agent, lower

REFUND = [
    {"when": "args.amount > 1000", "ask": "Refund?", "approvers": ["finance", "lead"], "count": "all"},
    {"when": "args.amount > 100", "ask": "Refund {{ args.amount }}?", "approvers": ["lead"], "because": "much"},
]


def of_step(approval: Any) -> Approval | None:
    """Lower an approval that stands on a step."""
    return lower(agent("pay", approval=approval)).steps["pay"].approval


def test_a_rule_keeps_all_that_is_said_of_it() -> None:
    """Who, how many, who not, how long, when, and why."""
    rule = {
        "ask": "Deploy {{ run.id }}?",
        "approvers": ["release", "on-call"],
        "count": 2,
        "except": "{{ run.started_by }}",
        "timeout": "1h30m",
        "when": "run.calls > 3",
        "because": "customers see it",
    }

    assert of_step(rule) == Approval(
        "Deploy {{ run.id }}?",
        ("release", "on-call"),
        "customers see it",
        when=parse("run.calls > 3"),
        count=2,
        excluded=("{{ run.started_by }}",),
        timeout=5400.0,
    )


def test_one_person_decides_where_no_number_is_said() -> None:
    """`count` left out is one; no deadline, nobody left out."""
    assert of_step({"ask": "Go?"}) == Approval("Go?")
    assert Approval("Go?").count == 1


def test_all_means_one_from_each_group() -> None:
    """`count: all` needs as many persons as there are approvers."""
    made = of_step({"ask": "Go?", "approvers": ["finance", "lead", "legal"], "count": "all"})

    assert made is not None
    assert (made.everyone, made.count) == (True, 3)


def test_a_list_is_its_first_rule_which_holds_the_others() -> None:
    """The order of the page is the order in which rules are tried."""
    tool = lower(agent("pay", "refund"), tools={"refund": {"approval": REFUND}}).tools["refund"]

    assert tool.approval is not None
    assert [rule.when and rule.when.source for rule in tool.approval.rules()] == [
        "args.amount > 1000",
        "args.amount > 100",
    ]
    assert [rule.because for rule in tool.approval.rules()] == [None, "much"]
    assert tool.approval.more[0].more == ()


def test_each_rule_has_its_own_place() -> None:
    """A question that is asked names the line of the rule that asks it."""
    text = "id: p\nname: P\nsteps:\n- id: go\n  approval:\n  - {ask: A, when: run.calls > 1}\n  - {ask: B}\n"
    definition = compile_playbook(load_playbook(text)).definition

    assert definition is not None
    approval = definition.steps["go"].approval
    assert approval is not None
    assert [rule.span and rule.span.line for rule in approval.rules()] == [6, 7]


def test_names_that_are_left_out_may_be_one_or_many() -> None:
    """`except` takes a text or a list."""
    one, many = of_step({"ask": "Go?", "except": "ann"}), of_step({"ask": "Go?", "except": ["ann", "bob"]})

    assert one is not None
    assert one.excluded == ("ann",)
    assert many is not None
    assert many.excluded == ("ann", "bob")


def test_none_waives_an_approval() -> None:
    """`approval: none` lowers to no approval, and the entry says that it was waived."""
    entry = {"tool": "look", "approval": "none", "because": "it only reads"}
    step = lower(agent("see", entry), tools={"look": {"approval": {"ask": "Look?"}}}).steps["see"]

    assert step.work is not None
    assert (step.work.entries[0].approval, step.work.entries[0].waived) == (None, True)


def test_a_list_on_an_entry_waives_nothing() -> None:
    """Rules beside an entry are the author's word for that entry, and no waiver."""
    step = lower(agent("see", {"tool": "look", "approval": REFUND})).steps["see"]

    assert step.work is not None
    assert step.work.entries[0].waived is False
    assert step.work.entries[0].approval is not None
    assert len(step.work.entries[0].approval.rules()) == 2


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({"ask": "Go?", "when": "args.x > 1"}, "GW117"),
        ({"ask": "Go?", "when": "claims.confidence > 0.5"}, "GW117"),
        ({"ask": "Go?", "except": "{{ claims.text }}"}, "GW117"),
        ({"ask": "Go?", "approvers": ["{{ claims.text }}"]}, "GW117"),
        ({"ask": "Go?", "except": ["ann", "{{ inputs.who }}"]}, "GW113"),
        ({"ask": "{{ facts.nothing }}"}, "GW114"),
        ({"ask": "Go?", "when": "1 + 1"}, "GW302"),
    ],
    ids=str,
)
def test_what_a_rule_of_a_step_may_not_read_is_an_error(rule: dict[str, Any], code: str) -> None:
    """No arguments without a call; and who decides is never for claims to say."""
    for approval in (rule, [{"ask": "First?", "when": "run.calls > 9"}, rule]):
        compiled = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": [agent("pay", approval=approval)]}))

        assert [finding.code for finding in compiled.diagnostics] == [code]


def test_a_rule_of_a_call_reads_the_arguments_with_their_types() -> None:
    """`when` on a tool is checked against the tool's `parameters`."""
    parameters = {"type": "object", "properties": {"amount": {"type": "number"}}}

    def codes(when: str) -> list[str]:
        tools = {"pay": {"parameters": parameters, "approval": [{"ask": "Pay?", "when": when}]}}
        playbook = load_playbook({"id": "p", "name": "P", "tools": tools, "steps": [agent("pay", "pay")]})
        return [finding.code for finding in compile_playbook(playbook).diagnostics]

    assert codes("args.amount > 100") == []
    assert codes('args.amount > "100"') == ["GW302"]
