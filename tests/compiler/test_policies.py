"""Policies: what is written becomes a table over events."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.expressions import parse
from guideway.statemachine.policies import TABLES, Pattern, Policy, PolicyKind
from guideway.statemachine.tools import Effect

from .helpers import agent, lower

STEPS: list[dict[str, Any]] = [
    agent("look", "get_order"),
    {"id": "agree", "approval": {"ask": "Pay?"}},
    agent("pay", "issue_refund"),
]


def policies(*written: dict[str, Any], steps: list[dict[str, Any]] | None = None, **top: Any) -> tuple[Policy, ...]:
    """Lower policies beside three steps: look, agree, pay."""
    return lower(*(steps or STEPS), policies=list(written), **top).policies


def codes(*written: dict[str, Any], **top: Any) -> list[str]:
    """Give the codes of what is found in policies beside the three steps."""
    playbook = load_playbook({"id": "p", "name": "P", "steps": STEPS, "policies": list(written), **top})
    return [finding.code for finding in compile_playbook(playbook).diagnostics]


PAIRS = ("precedence", "succession", "chain_precedence", "chain_succession")
ANSWERS = ("response", "chain_response")


@pytest.mark.parametrize("kind", [*PAIRS, *ANSWERS, "not_together"])
def test_an_order_of_two_events_takes_its_table(kind: str) -> None:
    """Each kind has the table, the violated state and the open states that DECLARE gives it."""
    written: Any = ["get_order", "issue_refund"]
    if kind != "not_together":
        keys = ("first", "then") if kind in PAIRS else ("after", "eventually")
        written = dict(zip(keys, written, strict=True))
    [policy] = policies({kind: written})

    assert policy.events == (Pattern(tool="get_order"), Pattern(tool="issue_refund"))
    assert (policy.table, policy.violated, policy.open) == TABLES[PolicyKind(kind)]
    assert not policy.counts


@pytest.mark.parametrize(
    ("written", "most", "least"),
    [
        ({"never": "issue_refund"}, 0, None),
        ({"at_most": {"event": "issue_refund", "times": 2}}, 2, None),
        ({"at_least": {"event": "issue_refund", "times": 2}}, None, 2),
        ({"exactly": {"event": "issue_refund", "times": 2}}, 2, 2),
    ],
    ids=str,
)
def test_a_count_has_bounds_and_no_table(written: dict[str, Any], most: int | None, least: int | None) -> None:
    """`never` is at most nothing, `exactly` both bounds."""
    [policy] = policies(written)

    assert (policy.most, policy.least) == (most, least)
    assert policy.counts
    assert (policy.table, policy.violated, policy.open) == ((), None, ())


@pytest.mark.parametrize(
    ("event", "pattern"),
    [
        ("issue_refund", Pattern(tool="issue_refund")),
        ("look", Pattern(step="look")),
        ("step:look", Pattern(step="look")),
        ("approval:agree", Pattern(approval="agree")),
        ("effect:irreversible", Pattern(effect=Effect.IRREVERSIBLE)),
        (
            {"tool": "get_order", "where": "args.id == 1", "expect": "result.open"},
            Pattern(tool="get_order", where=parse("args.id == 1"), expect=parse("result.open")),
        ),
    ],
    ids=str,
)
def test_one_event_pattern_everywhere(event: Any, pattern: Pattern) -> None:
    """A tool, a step, an approval, an effect, or a call under conditions."""
    assert policies({"at_least": {"event": event, "times": 1}})[0].events == (pattern,)


def test_a_policy_without_an_id_is_called_by_kind_and_position() -> None:
    """S43: the position counts the policies of that kind; a given id stands."""
    once = {"event": "issue_refund", "times": 1}
    made = policies({"at_most": once}, {"never": "step:pay"}, {"id": "mine", "at_most": once}, {"at_most": once})

    assert [policy.id for policy in made] == ["at_most-1", "never-1", "mine", "at_most-3"]


def test_reason_arguments_and_place_are_kept() -> None:
    """What a refusal tells is on the policy; `same` are the arguments that must agree."""
    text = (
        "id: p\nname: P\nsteps:\n- {id: a, expected_tools: [look, pay]}\npolicies:\n"
        "- {precedence: {first: look, then: pay, same: [order]}, because: who reads first errs less}\n"
    )
    definition = compile_playbook(load_playbook(text)).definition

    assert definition is not None
    [policy] = definition.policies
    assert (policy.same, policy.because) == (("order",), "who reads first errs less")
    assert policy.span is not None
    assert policy.span.line == 6


def test_a_count_may_be_kept_for_each_value_of_an_argument() -> None:
    """`same` goes with counts as well: at most once for each order."""
    [policy] = policies({"at_most": {"event": "issue_refund", "times": 1, "same": ["order_id"]}})

    assert policy.same == ("order_id",)


def test_steps_at_any_depth_are_events() -> None:
    """A step in a branch and one in a section can be named."""
    steps: list[dict[str, Any]] = [
        {"id": "both", "parallel": {"left": {"call": {"tool": "a"}}, "right": [{"id": "r", "call": {"tool": "b"}}]}},
        {"id": "part", "steps": [{"id": "inner", "approval": {"ask": "Go?"}}]},
    ]
    made = policies(
        {"precedence": {"first": "step:left", "then": "step:part"}},
        {"precedence": {"first": "step:r", "then": "approval:inner"}},
        steps=steps,
    )

    assert [policy.events for policy in made] == [
        (Pattern(step="left"), Pattern(step="part")),
        (Pattern(step="r"), Pattern(approval="inner")),
    ]


def test_in_any_order_the_steps_are_events_and_their_fork_is_none() -> None:
    """`strict_sequence: false` makes a step of its own, which nobody can mean."""
    assert codes({"never": "step:look"}, strict_sequence=False) == []
    assert codes({"never": "step:(any order)"}, strict_sequence=False) == ["GW501"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ({"never": "isue_refund"}, "GW501"),
        ({"never": "step:get_order"}, "GW501"),
        ({"never": "effect:writes"}, "GW501"),
        ({"never": {"tool": "look"}}, "GW501"),
        ({"never": "approval:pay"}, "GW504"),
        ({"never": {"tool": "issue_refund", "where": "result.ok"}}, "GW117"),
        ({"never": {"tool": "issue_refund", "where": "claims.confidence > 0.5"}}, "GW117"),
        ({"never": {"tool": "issue_refund", "expect": "result.ok"}}, "GW506"),
        ({"precedence": {"first": "look", "then": "issue_refund", "same": ["id"]}}, "GW505"),
        ({"chain_response": {"after": "get_order", "eventually": "step:pay"}}, "GW505"),
    ],
    ids=str,
)
def test_what_cannot_be_an_event_is_found(written: dict[str, Any], code: str) -> None:
    """One finding for each flaw."""
    assert codes(written) == [code]


def test_a_result_may_be_judged_where_nothing_is_forbidden() -> None:
    """`expect` on an event that is asked for reads the result of a call that has run."""
    assert codes({"at_least": {"event": {"tool": "get_order", "expect": "result.open"}, "times": 1}}) == []
    assert codes({"precedence": {"first": {"tool": "get_order", "expect": "result.open"}, "then": "pay"}}) == []


def test_a_word_for_two_things_is_refused_and_its_long_forms_are_not() -> None:
    """A tool and a step of one name: the policy has to say which."""
    steps = [agent("isolate", "isolate")]

    assert codes({"never": "isolate"}, steps=steps) == ["GW502"]
    assert policies({"never": "step:isolate"}, {"never": {"tool": "isolate"}}, steps=steps)[0].events == (
        Pattern(step="isolate"),
    )


def test_arguments_that_must_agree_are_those_of_both_tools() -> None:
    """A name is looked up in the `parameters` of each tool that declares them."""
    tools = {
        "get_order": {"parameters": {"type": "object", "properties": {"id": {}}}},
        "issue_refund": {"parameters": {"type": "object", "properties": {"order": {}}}},
    }
    rule = {"first": "get_order", "then": "issue_refund"}

    assert codes({"precedence": {**rule, "same": ["id"]}}, tools=tools) == ["GW701"]
    assert codes({"precedence": {**rule, "same": ["id"]}}, tools={**tools, "issue_refund": {}}) == []


def test_two_policies_cannot_share_an_id() -> None:
    """A given id may not be one that another gets by its position either."""
    never = {"never": "issue_refund"}

    assert codes({"id": "a", **never}, {"id": "a", **never}) == ["GW503"]
    assert codes({"id": "never-2", **never}, never) == ["GW503"]
