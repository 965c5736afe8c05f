"""The end of a run in its picture: what was published, whatever stands on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway.diagrams.build import picture
from guideway.diagrams.dot import dot
from guideway.diagrams.mermaid import mermaid
from guideway.diagrams.picture import Node, Picture, Role, Shape, Tone
from guideway.diagrams.walk import Walk
from guideway.runtime.records import to_json
from guideway.statemachine.definition import Definition

GOLDEN = Path(__file__).parent / "golden"
TELL = {"id": "tell", "response": {"after": "isolate", "eventually": "notify"}}


def page(*policies: dict[str, Any], **step: Any) -> guideway.Machine:
    """Read a playbook of one step that isolates, and may notify."""
    work = {"id": "contain", "expected_tools": ["isolate"], **step}
    return guideway.load(
        {"id": "p", "name": "Contain", "steps": [work], "policies": list(policies), "optional_tools": ["notify"],
         "tools": {"isolate": {}, "notify": {}}}
    )  # fmt: skip


def definition(machine: guideway.Machine) -> Definition:
    """Give what the machine was made from."""
    assert machine.definition is not None
    return machine.definition


def isolated(machine: guideway.Machine, outcome: Any) -> guideway.Session:
    """Isolate, once, with that outcome."""
    session = guideway.Session(machine)
    session.propose([guideway.ToolCall("isolate", {}, "1")])
    session.observe("1", outcome)
    return session


def owing(**step: Any) -> guideway.Session:
    """Isolate, and be taken on by the host though nobody was notified."""
    session = isolated(page(TELL, **step), guideway.Succeeded())
    session.complete()
    return session


def walked(session: guideway.Session) -> Picture:
    """Draw where the run has been."""
    walk = Walk.from_records([to_json(record) for record in session.records])
    return picture(definition(session.machine), walk)


def box(drawn: Picture, state: str) -> Node:
    """Find the box of a state."""
    [found] = [node for node in drawn.nodes if state in node.states]
    return found


def dangers(node: Node) -> list[str]:
    """Give the lines that stand out."""
    return [line.text for line in node.lines if line.role is Role.DANGER]


def test_an_end_with_a_policy_open_is_a_failure() -> None:
    """The box of the end that was reached has the shape of a failure and says which policy was not kept."""
    session = owing()
    end = box(walked(session), "success")

    assert session.outcome == "failed:policy:tell"
    assert (end.shape, end.tone, dangers(end)) == (Shape.FAILED, Tone.WALKED, ["ended failed:policy:tell"])


def test_an_end_with_a_step_incomplete_is_no_success() -> None:
    """It is drawn as a stop, with the step."""
    session = isolated(page(expected_tools=["isolate", "notify"], max_tool_calls=1), guideway.Succeeded())
    end = box(walked(session), "success")

    assert session.outcome == "incomplete:contain"
    assert (end.shape, end.tone, dangers(end)) == (Shape.STOPPED, Tone.WALKED, ["ended incomplete:contain"])


def test_an_end_with_a_call_unknown_is_a_failure() -> None:
    """It is drawn as one, with the tool."""
    session = isolated(page(on_unknown="success"), guideway.Unknown())
    end = box(walked(session), "success")

    assert session.outcome == "failed:unknown:isolate"
    assert (end.shape, end.tone, dangers(end)) == (Shape.FAILED, Tone.WALKED, ["ended failed:unknown:isolate"])


def test_an_end_that_counted_looks_as_on_the_page() -> None:
    """Nothing is added to it."""
    end = box(walked(isolated(page(), guideway.Succeeded())), "success")

    assert (end.shape, end.tone, dangers(end)) == (Shape.SUCCESS, Tone.WALKED, [])


def test_an_end_not_reached_looks_as_on_the_page() -> None:
    """What was published stands in one box only."""
    drawn = walked(owing(on_failure="escalated"))

    assert box(drawn, "escalated").shape is Shape.ESCALATED
    assert [node.title for node in drawn.nodes if any("ended" in text for text in dangers(node))] == ["success"]


def test_a_run_that_broke_off_says_so_where_it_stood(triage: Definition) -> None:
    """It is in no end, so its box keeps its shape."""
    walk = Walk.from_records([
        {"kind": "started", "state": "look"}, {"kind": "ended", "state": "look", "outcome": "failed:engine"},
    ])  # fmt: skip
    look = box(picture(triage, walk), "look")

    assert (look.shape, look.tone) == (Shape.AGENT, Tone.WALKED)
    assert dangers(look)[-1] == "ended failed:engine"


@pytest.mark.parametrize("name", ["owed-walk.dot", "owed-walk.mmd"])
def test_every_renderer_writes_the_true_end(name: str) -> None:
    """Word for word the files in `golden`."""
    drawn = walked(owing())
    source = mermaid(drawn) if name.endswith(".mmd") else dot(drawn).source

    assert source == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (TELL, True),
        ({"succession": {"first": "isolate", "then": "notify"}}, True),
        ({"chain_response": {"after": "isolate", "eventually": "notify"}}, True),
        ({"at_least": {"event": "notify", "times": 1}}, True),
        ({"exactly": {"event": "notify", "times": 1}}, True),
        ({"precedence": {"first": "notify", "then": "isolate"}}, False),
        ({"at_most": {"event": "notify", "times": 1}}, False),
        ({"never": "notify"}, False),
        ({"not_together": ["isolate", "notify"]}, False),
    ],
    ids=lambda value: next(iter(set(value) - {"id"})) if isinstance(value, dict) else str(value),
)
def test_the_box_of_faults_names_what_can_be_owed(policy: dict[str, Any], said: bool) -> None:
    """A policy that asks for something to be done is one of the ways to fail; one that only forbids is none."""
    drawn = picture(definition(page(policy)))
    [faults] = [node for node in drawn.nodes if node.muted and node.shape is Shape.FAILED]

    assert ("a policy not kept (1)" in [line.text for line in faults.lines]) is said
