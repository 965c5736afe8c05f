"""The picture of a definition, before it is written in any language."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guideway.diagrams.build import picture
from guideway.diagrams.columns import breaks
from guideway.diagrams.picture import Arrow, Node, Picture, Shape, Tone
from guideway.diagrams.texts import clean, duration, short
from guideway.diagrams.walk import Walk
from guideway.statemachine.definition import Definition


def box(drawn: Picture, state: str) -> Node:
    """Find the box of a state."""
    return next(node for node in drawn.nodes if state in node.states)


def arrow(drawn: Picture, source: str, target: str) -> Arrow:
    """Find the only arrow between the boxes of two states."""
    [found] = [a for a in drawn.arrows if (a.source, a.target) == (box(drawn, source).id, box(drawn, target).id)]
    return found


def moved(source: str, event: str, target: str) -> dict[str, str]:
    """Write a line of a trace."""
    return {"kind": "moved", "source": source, "event": event, "target": target}


def test_every_state_has_one_box(triage: Definition, linear: Definition) -> None:
    """None is lost, none is drawn twice, and ids are made up in order."""
    for definition in (triage, linear):
        drawn = picture(definition)

        assert sorted(name for node in drawn.nodes for name in node.states) == sorted(definition.states)
        assert [node.id for node in drawn.nodes] == [f"n{i}" for i in range(len(drawn.nodes))]
        assert [a.id for a in drawn.arrows] == [f"a{i}" for i in range(len(drawn.arrows))]


def test_the_router_before_a_step_is_drawn_with_it(triage: Definition) -> None:
    """`when` becomes a line of the first box of the step, and no arrow leads from a box into itself."""
    drawn = picture(triage)
    approval = box(drawn, "lock.approval")

    assert approval.states == ("lock.entry", "lock.approval")
    assert [line.text for line in approval.lines] == [
        "when inputs.user != ''", "Lock {{ inputs.user }}?", "by soc-lead", "≤ 2 visits · within 1h30m",
    ]  # fmt: skip
    assert all(a.source != a.target for a in drawn.arrows)
    assert arrow(drawn, "lock.entry", "closed").labels == ("passed over",)


def test_the_boxes_of_one_step_share_a_frame(triage: Definition) -> None:
    """The approval and the call of `lock`, and no other."""
    drawn = picture(triage)

    assert [(frame.title, frame.nodes) for frame in drawn.frames] == [
        ("lock", (box(drawn, "lock.approval").id, box(drawn, "lock").id))
    ]


def test_a_box_says_what_the_step_does(triage: Definition) -> None:
    """Tools with their marks, limits in words."""
    look = box(picture(triage), "look")

    assert look.shape is Shape.AGENT
    assert [line.text for line in look.lines] == [
        "Find out what happened",
        "• query",
        "⚠ wipe (irreversible, \N{MULTIPLICATION SIGN}2, asks first)",
        "◦ help (optional)",
        "may be skipped · ≤ 3 calls, then goes on",
    ]  # fmt: skip


def test_each_class_of_end_has_its_shape(triage: Definition) -> None:
    """The outcome is the title; a state of another name says so in a line."""
    drawn = picture(triage)
    handed = box(drawn, "tool_called:hand_over")

    assert box(drawn, "locked").shape is Shape.SUCCESS
    assert box(drawn, "closed").shape is Shape.STOPPED
    assert box(drawn, "escalated").shape is Shape.ESCALATED
    assert (handed.shape, handed.title, handed.lines[0].text) == (Shape.FAILED, "handed_over", "tool_called:hand_over")


def test_ends_nobody_wrote_share_muted_boxes(triage: Definition) -> None:
    """Faults in one, limits in another; no step has an arrow to the faults, the box for any step has."""
    drawn = picture(triage)
    faults = box(drawn, "failed:look")
    anywhere = next(node for node in drawn.nodes if node.shape is Shape.ANYWHERE)

    assert set(faults.states) == {"failed:look", "failed:sort", "failed:exhausted:look", "failed:host"}
    assert [line.text for line in faults.lines] == [
        "no step handles it", "host", "a failing step (2)", "calls spent (1)",
    ]  # fmt: skip
    assert faults.muted
    assert [a.source for a in drawn.arrows if a.target == faults.id] == [anywhere.id]
    assert box(drawn, "stopped:nudges").states == ("stopped:max_iterations", "stopped:nudges")
    assert box(drawn, "stopped:max_visits:lock").title == "stopped:max_visits"


def test_guards_are_numbered_shortened_and_kept_in_full(triage: Definition) -> None:
    """The first true one wins, so their order is shown; the last needs none."""
    drawn = picture(triage)
    back = arrow(drawn, "sort", "look")

    assert arrow(drawn, "sort", "lock.entry").labels == ("1 · facts.query.score > 10",)
    assert back.labels == ("2 · facts.query.score > 5 && facts.query.kn…",)
    assert back.detail == "completed: facts.query.score > 5 && facts.query.known != true"
    assert arrow(drawn, "sort", "closed").labels == ("otherwise",)


def test_what_goes_as_planned_is_solid_and_the_rest_dashed_with_its_word(triage: Definition) -> None:
    """`completed` and `approved` need no word; two exceptions between one pair of boxes share an arrow."""
    drawn = picture(triage)

    assert (arrow(drawn, "look", "sort").dashed, arrow(drawn, "look", "sort").labels) == (False, ())
    assert (arrow(drawn, "lock.approval", "lock").dashed, arrow(drawn, "lock.approval", "lock").labels) == (False, ())
    rejected = arrow(drawn, "lock.approval", "escalated")
    assert (rejected.dashed, rejected.labels) == (True, ("failed, rejected, timeout",))


def test_a_termination_condition_is_the_label_of_its_arrow(triage: Definition) -> None:
    """From any step, by its reason."""
    drawn = picture(triage)
    handed = box(drawn, "tool_called:hand_over").id

    assert [a.labels for a in drawn.arrows if a.target == handed] == [("tool_called:hand_over",)]


def test_a_crowd_of_exits_becomes_lines(linear: Definition) -> None:
    """Thirty steps that escalate on failure say so in their boxes; a walked one keeps its arrow."""
    states = dict(linear.states)
    for name in list(states):
        if "failed" in states[name].edges:
            edges = {**states[name].edges, "failed": (replace(states[name].edges["failed"][0], target="success"),)}
            states[name] = replace(states[name], edges=edges)
    crowded = replace(linear, states=states)
    plain = picture(crowded)
    walked = picture(crowded, Walk.from_records([moved("s0", "failed", "success")]))

    assert [line.text for line in box(plain, "s3").lines] == ["• t3", "failed → success"]
    assert box(plain, "success").lines[-1].text == "from 29 boxes"
    assert sum(a.target == box(plain, "success").id for a in plain.arrows) == 1
    assert arrow(walked, "s0", "success").tone is Tone.WALKED


def test_a_walk_is_laid_over_the_picture(triage: Definition) -> None:
    """Counts on boxes and arrows, where the run is, what was refused, and all the rest dimmed."""
    walk = Walk.from_records([
        moved("look", "completed", "sort"), moved("sort", "completed", "look"), moved("look", "skipped", "sort"),
        moved("sort", "completed", "lock.entry"), moved("lock.entry", "entered", "lock.approval"),
        {"kind": "decided", "verdict": "deny", "state": "lock.approval"},
    ])  # fmt: skip
    drawn = picture(triage, walk)
    look, approval = box(drawn, "look"), box(drawn, "lock.approval")

    assert (look.tone, look.visits) == (Tone.WALKED, 2)
    assert (approval.tone, approval.visits, approval.refused) == (Tone.CURRENT, 1, 1)
    assert box(drawn, "lock").tone is Tone.DIMMED
    tones = {(a.tone, a.count) for a in drawn.arrows if (a.source, a.target) == (look.id, box(drawn, "sort").id)}
    assert tones == {(Tone.WALKED, 2), (Tone.DIMMED, 0)}
    assert arrow(drawn, "sort", "lock.entry").tone is Tone.WALKED
    assert arrow(drawn, "sort", "closed").tone is Tone.DIMMED
    assert all(node.tone is Tone.PLAIN for node in picture(triage).nodes)


def test_an_end_that_was_reached_gets_its_own_box_and_arrow(triage: Definition) -> None:
    """A fault leaves the shared box; an end that every step has is reached from the very step."""
    failing = [moved("look", "failed", "failed:look"), {"kind": "ended", "state": "failed:look"}]
    fault = picture(triage, Walk.from_records(failing))
    limit = picture(triage, Walk.from_records([moved("look", "nudges", "stopped:nudges")]))

    assert box(fault, "failed:look").states == ("failed:look",)
    assert arrow(fault, "look", "failed:look").tone is Tone.WALKED
    assert "failed:look" not in box(fault, "failed:host").states
    assert arrow(limit, "look", "stopped:nudges").labels == ("nudges",)
    assert box(limit, "stopped:nudges").tone is Tone.CURRENT


def test_a_run_that_a_condition_ended_shows_which(triage: Definition) -> None:
    """The walked arrow leads from the step the run was in, with the reason for its label."""
    drawn = picture(triage, Walk.from_records([moved("look", "terminated", "tool_called:hand_over")]))
    walked = arrow(drawn, "look", "tool_called:hand_over")

    assert (walked.labels, walked.tone, walked.count) == (("tool_called:hand_over",), Tone.WALKED, 1)


def test_a_walk_of_another_machine_marks_nothing(triage: Definition) -> None:
    """Unknown states are left out."""
    walk = Walk(visited={"x": 1}, taken={("x", "e", "y"): 1}, current=frozenset({"x"}), refused={"x": 2})
    drawn = picture(triage, walk)

    assert [node.tone for node in drawn.nodes if node.states] == [Tone.DIMMED] * (len(drawn.nodes) - 2)


def test_the_same_definition_gives_the_same_picture(triage: Definition) -> None:
    """Arrows are sorted by the boxes they join."""
    drawn = picture(triage)
    order = {node.id: place for place, node in enumerate(drawn.nodes)}
    keys = [(order[a.source], order[a.target]) for a in drawn.arrows]

    assert drawn == picture(triage)
    assert keys == sorted(keys)


def test_a_long_list_is_broken_into_columns(linear: Definition, triage: Definition) -> None:
    """Thirty steps stand in three columns of ten; a short playbook stands in one."""
    drawn = picture(linear)
    titles = {node.id: node.title for node in drawn.nodes}
    loose = [(titles[a.source], titles[a.target]) for a in drawn.arrows if a.id in breaks(drawn)]

    assert loose == [("s9", "s10"), ("s19", "s20")]
    assert breaks(picture(triage)) == frozenset()


def test_a_column_is_not_broken_where_several_arrows_cross(linear: Definition) -> None:
    """A jump over the break would be a second arrow across it: the column goes on until one arrow crosses."""
    states = dict(linear.states)
    jump = replace(states["s8"].edges["completed"][0], event="timeout", target="s12")
    states["s8"] = replace(states["s8"], edges={**states["s8"].edges, "timeout": (jump,)})
    drawn = picture(replace(linear, states=states))
    titles = {node.id: node.title for node in drawn.nodes}

    assert ("s12", "s13") in [(titles[a.source], titles[a.target]) for a in drawn.arrows if a.id in breaks(drawn)]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("a\x00b", "a b"), ("a\u202eb", "a b"), ("  a \n b ", "a b"), ("👩\u200d💻", "👩\u200d💻")],
)
def test_what_cannot_be_seen_is_taken_out(raw: str, shown: str) -> None:
    """Control characters and direction marks become spaces; joined emoji stay whole."""
    assert clean(raw) == shown


def test_long_texts_are_cut_to_their_limit() -> None:
    """The cut text is no longer than asked, and says that it was cut."""
    assert short("x" * 50, 10) == "x" * 9 + "…"
    assert short("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "1m30s"), (86400, "1d"), (90061, "1d1h1m1s"), (0.25, "0.25s"), (0, "0s")]
)
def test_times_are_written_as_the_format_writes_them(seconds: float, text: str) -> None:
    """Whole seconds in units, parts of one as a decimal."""
    assert duration(seconds) == text
