"""Questions, waits, undo, sub-playbooks, claims, probes, `finally`: each as a state and as what its step holds."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.compiler.lower import compile_playbook as compile_alone
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.blocks import Ask, Probe, SubPlaybook, Undo, Wait
from guideway.statemachine.definition import StateKind
from guideway.statemachine.expressions import parse

from .helpers import agent, edges, lower, plain

REVERSIBLE = {"reserve": {"undo": "release"}, "release": {}}


def test_an_ask_has_an_edge_for_each_answer_that_leads_somewhere() -> None:
    """Where each of them does, no answer leads to the next step, and there is no such edge."""
    choices = {"yes": "b", "no": "stopped", "later": [{"when": "run.calls > 3", "goto": "b"}, {"goto": "a"}]}
    ask = {"question": "Well, {{ run.id }}?", "assignees": ["lead"], "choices": choices, "remind": "1h"}
    made = lower({"id": "a", "ask": ask, "timeout": "4h", "required": False}, agent("b"))

    assert made.states["a"].kind == StateKind.ASK
    assert Ask("Well, {{ run.id }}?", ("lead",), ("yes", "no", "later"), {}, 3600.0) == made.steps["a"].ask
    assert edges(made, "a") == {
        "skipped": [("b", None)],
        "failed": [("failed:a", None)],
        "timeout": [("stopped:timeout:a", None)],
        "answered yes": [("b", None)],
        "answered no": [("stopped", None)],
        "answered later": [("b", "run.calls > 3"), ("a", None)],
    }


def test_choices_that_are_a_list_lead_to_the_next_step() -> None:
    """There is no edge of their own."""
    made = lower({"id": "a", "ask": {"question": "Well?", "choices": ["yes", "no"]}}, agent("b"))

    assert (made.steps["a"].ask or Ask("")).choices == ("yes", "no")
    assert plain(made, "a") == {"completed": "b", "failed": "failed:a"}


def test_fields_are_schemas() -> None:
    """A type word stands for one."""
    made = lower({"id": "a", "ask": {"question": "Well?", "fields": {"when": "string", "n": {"minimum": 3}}}})

    assert (made.steps["a"].ask or Ask("")).fields == {"when": {"type": "string"}, "n": {"minimum": 3}}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("10m", Wait(600.0)),
        ({"until": "run.calls > 3"}, Wait(until=parse("run.calls > 3"))),
        ({"signal": "restored"}, Wait(signal="restored")),
    ],
)
def test_a_wait_is_for_one_thing(written: Any, expected: Wait) -> None:
    """Time, a condition or a signal."""
    made = lower({"id": "a", "wait": written})

    assert made.states["a"].kind == StateKind.WAIT
    assert expected == made.steps["a"].wait
    assert plain(made, "a") == {"completed": "success", "failed": "failed:a"}


def test_a_default_deadline_is_not_for_a_pause() -> None:
    """A pause of an hour under `timeout: 15m` would never end well; a wait for something has the deadline."""
    made = lower({"id": "a", "wait": "1h"}, {"id": "b", "wait": {"signal": "n"}}, defaults={"timeout": "15m"})

    assert [made.steps[name].timeout for name in "ab"] == [None, 900.0]


def test_s30_undo_has_the_edges_of_a_call_that_may_be_refused() -> None:
    """`rejected` is there where some call that takes back asks a person."""
    step = {"id": "back", "undo": "all"}
    asking = REVERSIBLE | {"release": {"approval": {"ask": "Go?"}}}

    assert plain(lower(step, tools=REVERSIBLE), "back") == {"completed": "success", "failed": "failed:back"}
    assert plain(lower(step, tools=asking), "back")["rejected"] == "stopped:rejected"
    assert plain(lower(step | {"on_reject": "escalated"}, tools=asking), "back")["rejected"] == "escalated"


def test_undo_of_all_and_of_some() -> None:
    """All is written as none named."""
    made = lower({"id": "a", "undo": "all"}, {"id": "b", "undo": ["reserve"]}, tools=REVERSIBLE)

    assert [Undo(), Undo(("reserve",))] == [made.steps[name].undo for name in "ab"]
    assert made.states["a"].kind == StateKind.UNDO


def test_s33_a_sub_playbook_is_known_by_its_id() -> None:
    """Steps may call it by another name; what they give is kept as it is written."""
    step = {"id": "a", "playbook": "enrich", "with": {"ip": "{{ run.id }}"}, "on_failure": "escalated"}
    callee = load_playbook({"id": "enrich-ip", "name": "E", "inputs": {"ip": "string"}, "outputs": {"n": "run.calls"}})
    page = load_playbook({"id": "p", "name": "P", "steps": [step, agent("b", when="facts.a.n > 3")]})
    made = compile_alone(page, callees={"enrich": callee}).definition

    assert made is not None
    assert made.states["a"].kind == StateKind.FRAME
    assert SubPlaybook("enrich-ip", {"ip": "{{ run.id }}"}) == made.steps["a"].playbook
    assert plain(made, "a") == {"completed": "b.entry", "failed": "escalated"}
    assert made.facts == {"a": (("n",),)}


@pytest.mark.parametrize(("read", "codes"), [("n", []), ("outcome", []), ("m", ["GW302"])])
def test_what_a_sub_playbook_gives_is_known_by_name(read: str, codes: list[str]) -> None:
    """Its outputs and its outcome, and nothing else."""
    callee = load_playbook({"id": "e", "name": "E", "outputs": {"n": "run.calls"}})
    steps = [{"id": "a", "playbook": "e"}, agent("b", when=f"has(facts.a.{read})")]
    found = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": steps}), callees={"e": callee})

    assert codes == [finding.code for finding in found.diagnostics]


def test_claims_and_probes_of_an_agents_step() -> None:
    """Schemas and patterns, as they are written."""
    probe = {"name": "logs", "match": "^grep ", "description": "the logs"}
    step = {"id": "a", "description": "Weigh it", "claims": {"user": "string"}, "required_probes": [probe]}
    made = lower(step)

    assert made.states["a"].kind == StateKind.STEP
    assert made.steps["a"].claims == {"user": {"type": "string"}}
    assert (Probe("logs", "^grep ", "the logs"),) == made.steps["a"].probes


def test_s40_calls_of_finally_are_states_without_edges() -> None:
    """They are no part of the way, in the order of the page, and the run does not begin with one."""
    closing = [{"id": name, "call": {"tool": "t"}} for name in ("y", "z")]
    made = lower(agent("a"), **{"finally": closing})

    assert made.closing == ("y", "z")
    assert [made.states[name].kind for name in made.closing] == [StateKind.CALL, StateKind.CALL]
    assert [dict(made.states[name].edges) for name in made.closing] == [{}, {}]
    assert list(made.steps) == ["a", "y", "z"]
    assert lower(**{"finally": closing}).initial == "success"


def test_what_is_said_of_the_whole() -> None:
    """Outputs, predicates and `conversation` are handed on."""
    made = lower(agent("a"), outputs={"n": "run.calls"}, predicates={"is_vip": {}}, conversation=True)

    assert {"n": parse("run.calls")} == made.outputs
    assert made.predicates == ("is_vip",)
    assert made.conversation


def test_s30_an_approval_that_expires_has_its_way() -> None:
    """`on_timeout`, where it is written, is taken without a `timeout` of the step; else the refusal's way is."""
    asked = {"ask": "Go?", "timeout": "30m"}
    step = agent("a", approval=asked, on_timeout="escalated", on_reject="stopped")
    of_call = agent("a", {"tool": "t", "approval": asked}, on_timeout="escalated")

    assert plain(lower(step), "a.approval")["timeout"] == "escalated"
    assert "timeout" not in plain(lower(step), "a")
    assert plain(lower(of_call), "a")["timeout"] == "escalated"
    assert "timeout" not in plain(lower(agent("a", approval=asked)), "a.approval")
