"""Blocks as regions, and the states of people, time and other playbooks."""

from __future__ import annotations

from dataclasses import replace

import mermaidx
import pytest

from guideway.diagrams.build import picture
from guideway.diagrams.columns import breaks
from guideway.diagrams.dot import dot
from guideway.diagrams.mermaid import mermaid
from guideway.diagrams.picture import Arrow, Frame, FrameKind, Picture, Shape, Tone
from guideway.diagrams.walk import Walk
from guideway.statemachine.approvals import Approval
from guideway.statemachine.blocks import Parallel, SubPlaybook
from guideway.statemachine.definition import StateKind
from guideway.statemachine.expressions import parse
from guideway.statemachine.policies import Pattern, Policy, PolicyKind
from guideway.statemachine.steps import Call, Entry, Step, Work
from guideway.statemachine.tools import Tool

from .blocks import MACHINES, block, canary, enrich, machine, order
from .conftest import TORTURE, goal, state
from .test_dot import groups, svg
from .test_picture import box


def arrows(drawn: Picture, source: str, target: str) -> list[Arrow]:
    """Find the arrows between the boxes of two states."""
    pair = box(drawn, source).id, box(drawn, target).id
    return [arrow for arrow in drawn.arrows if (arrow.source, arrow.target) == pair]


def region(drawn: Picture, title: str) -> Frame:
    """Find the only frame of a title."""
    [found] = [frame for frame in drawn.frames if frame.title == title]
    return found


def lines(drawn: Picture, name: str) -> list[str]:
    """Give what the box of a state says under its title."""
    return [line.text for line in box(drawn, name).lines]


def test_a_block_is_a_region_from_its_box_to_its_bar() -> None:
    """The steps inside stand between the two; a block in it has a region in the region, and a step its frame."""
    drawn = picture(enrich())
    whole, notes, write = (region(drawn, title) for title in ("enrich", "notes", "write"))

    assert whole.nodes == tuple(box(drawn, name).id for name in ("enrich", "address", "look", "check", "enrich.join"))
    assert notes.nodes == (box(drawn, "notes").id, box(drawn, "notes.join").id)
    assert write.nodes == (box(drawn, "write.approval").id, box(drawn, "write").id)
    assert (whole.inside, notes.inside, write.inside) == ("", whole.id, notes.id)
    assert (whole.kind, write.kind) == (FrameKind.BLOCK, FrameKind.STEP)


def test_boxes_stand_in_the_order_of_the_page_blocks_in_one_piece() -> None:
    """However the states are listed, a region is not torn apart."""
    definition = enrich()
    mixed = replace(definition, states=dict(sorted(definition.states.items())))
    drawn = picture(mixed)
    inside = {id for frame in drawn.frames for id in frame.nodes}
    places = [place for place, node in enumerate(drawn.nodes) if node.id in inside]

    assert places == list(range(places[0], places[0] + len(inside)))
    assert drawn.nodes[places[0]].title == "enrich"
    assert drawn.nodes[places[-1]].states == ("enrich.join",)


def test_where_a_failure_arrives_is_no_box() -> None:
    """What happens then leaves the edge of the region; that the steps inside fail by default needs no arrow."""
    drawn = picture(canary())
    [failed] = arrows(drawn, "ramp", "roll_back")

    assert box(drawn, "ramp.failed") == box(drawn, "ramp")
    assert (failed.labels, failed.dashed, failed.leaves) == (("failed",), True, region(drawn, "ramp").id)
    assert arrows(drawn, "bake", "roll_back") == []


def test_all_that_ends_a_block_as_a_whole_leaves_the_edge_of_its_region() -> None:
    """Its timeout, too; a `when` that is false passes it over before it begins."""
    drawn = picture(enrich())
    [timeout] = arrows(drawn, "enrich", "escalated")
    [passed] = arrows(drawn, "enrich", "success")

    assert (timeout.labels, timeout.leaves) == (("timeout",), region(drawn, "enrich").id)
    assert (passed.labels, passed.leaves) == (("passed over",), "")


def test_a_failure_that_the_author_chose_leads_to_the_handler() -> None:
    """`goto: failed` in a list is drawn to where the block then goes."""
    definition = canary()
    chosen = replace(definition.states["bake"].edges["failed"][0], event="timeout")
    bake = replace(definition.states["bake"], edges={**definition.states["bake"].edges, "timeout": (chosen,)})
    drawn = picture(replace(definition, states={**definition.states, "bake": bake}))

    assert [arrow.labels for arrow in arrows(drawn, "bake", "roll_back")] == [("timeout",)]


def test_a_failure_that_the_author_chose_is_told_where_nothing_handles_it() -> None:
    """The box says that the block fails, or, of a `parallel` that bears it, that a branch does."""
    strict, lenient = enrich(), enrich()
    parallel = Parallel(("address", "account", "notes"), 3)
    whole = replace(strict.steps["enrich"], parallel=parallel)
    strict = replace(strict, states={
        name: replace(s, step=whole) if s.step and s.step.id == "enrich" else s for name, s in strict.states.items()
    })  # fmt: skip

    assert lines(picture(strict), "check")[-1] == "claims.look.why == 'bad' → enrich fails"
    assert lines(picture(lenient), "check")[-1] == "claims.look.why == 'bad' → a branch of enrich fails"
    assert lines(picture(strict), "write.approval")[-1] == "rejected → enrich fails"


def test_guards_on_what_follows_a_failure_stay() -> None:
    """Each branch leaves the region by an arrow of its own."""
    drawn = picture(order())

    assert [arrow.labels for arrow in arrows(drawn, "pages", "back")] == [("failed: facts.read.half",)]
    assert [arrow.labels for arrow in arrows(drawn, "pages", "confirm")] == [("failed: otherwise",)]


def test_a_fork_names_branches_that_begin_with_another_step() -> None:
    """`account` begins with `look`, so its arrow says so; none says `otherwise`, for all are taken."""
    drawn = picture(enrich())

    assert [arrow.labels for arrow in arrows(drawn, "enrich", "look")] == [("account",)]
    assert [arrow.labels for arrow in arrows(drawn, "enrich", "address")] == [()]
    assert [arrow.labels for arrow in arrows(drawn, "enrich", "notes")] == [()]


def test_a_loop_leads_back_and_an_empty_list_ahead() -> None:
    """`again` from the bar to the head; only a list of items can be empty."""
    drawn, rounds = picture(canary()), picture(order())

    assert [arrow.labels for arrow in arrows(drawn, "ramp.join", "shift")] == [("again",)]
    assert [arrow.labels for arrow in arrows(drawn, "ramp", "ramp.join")] == [("empty list",)]
    assert [arrow.labels for arrow in arrows(rounds, "pages.join", "read")] == [("again",)]
    assert arrows(rounds, "pages", "pages.join") == []
    assert arrows(picture(enrich()), "enrich", "enrich.join") == []


def test_each_kind_has_its_shape() -> None:
    """The word under the sign is the one of the format."""
    shapes = {
        node.states[-1]: node.shape for name in MACHINES for node in picture(MACHINES[name]()).nodes if node.states
    }

    assert {
        "ramp": Shape.EACH, "bake": Shape.WAIT, "ramp.join": Shape.JOIN, "enrich": Shape.FORK,
        "address": Shape.PLAYBOOK, "notes": Shape.SECTION, "confirm": Shape.ASK, "pages": Shape.LOOP,
        "back": Shape.UNDO,
    }.items() <= shapes.items()  # fmt: skip


def test_boxes_say_what_their_steps_hold() -> None:
    """Items, rounds, waits, joins, playbooks, claims, probes."""
    first, second, third = picture(canary()), picture(enrich()), picture(order())

    assert lines(first, "ramp") == ["percent in [5, 25, 100]"]
    assert lines(first, "bake") == ["10m"]
    assert lines(second, "enrich") == ["when inputs.x > 1", "join: all", "not needed: notes", "within 1m"]
    assert lines(second, "address") == ["▤ enrich-ip", "with ip"]
    assert lines(second, "look") == ["• query", "claims why", "must look at log"]
    assert lines(third, "pages") == ["repeat ≤ 5 until facts.read.last, every 1m", "collect facts.read"]
    assert lines(third, "hold") == ["signal go_on"]


@pytest.mark.parametrize(("needed", "word"), [(3, "all"), (1, "any"), (2, "2 of 3")])
def test_a_fork_says_when_it_joins(needed: int, word: str) -> None:
    """In the words of the format."""
    step = Step("f", parallel=Parallel(("a", "b", "c"), needed))
    branches = [Step(name, block="f", call=Call("x")) for name in "abc"]
    states = [
        *block(StateKind.FORK, step, "a", "b", "c", completed="success", fails="failed:f"),
        *(state(inner.id, StateKind.CALL, inner, completed="f.join", failed="f.failed") for inner in branches),
        goal("success"), goal("failed:f"),
    ]  # fmt: skip

    assert lines(picture(machine("x", [step, *branches], states)), "f") == [f"join: {word}"]


def test_a_question_shows_its_answers_on_the_arrows() -> None:
    """An answer is as planned, so its arrow is solid, and shares it with what else leads there."""
    drawn = picture(order())
    [no], [later] = arrows(drawn, "confirm", "back"), arrows(drawn, "confirm", "stopped")

    assert (no.labels, no.dashed) == (("no",), False)
    assert (later.labels, later.dashed) == (("later", "or timeout"), False)
    assert lines(drawn, "confirm") == [
        "Go on?", "to customer", "one of yes, no, later", "with why", "reminded every 1h", "within 2h",
    ]  # fmt: skip


def test_an_undo_says_what_takes_what_back() -> None:
    """With its harm; of named tools only those."""
    drawn = picture(order())

    assert lines(drawn, "back") == [
        "⚠ refund (irreversible, takes back charge)", "↶ release (takes back reserve)",
        "what has succeeded, newest first",
    ]  # fmt: skip


def test_rules_of_an_approval_are_numbered_and_counted() -> None:
    """The first that applies decides; how many persons, who not, until when."""
    last = Approval("Wipe?", ("it", "hr"), everyone=True, timeout=3600)
    first = Approval(
        "Wipe all?", ("it",), when=parse("args.all"), count=2, excluded=("{{ run.started_by }}",), more=(last,)
    )
    step = Step("wipe", approval=first, work=Work((Entry("wipe", waived=True), Entry("burn"))))
    states = [
        state("wipe.approval", StateKind.APPROVAL, step, approved="wipe"),
        state("wipe", StateKind.STEP, step, completed="success"), goal("success"),
    ]  # fmt: skip
    tools = {name: Tool(name, approval=Approval("?")) for name in ("wipe", "burn")}
    drawn = picture(replace(machine("x", [step], states), tools=tools))

    assert lines(drawn, "wipe.approval") == [
        "1 · when args.all", "Wipe all?", "by 2 of it · not by {{ run.started_by }}",
        "2 · otherwise", "Wipe?", "by one each of it, hr · within 1h",
    ]  # fmt: skip
    assert lines(drawn, "wipe") == ["• wipe", "• burn (asks first)"]


def test_the_steps_of_finally_have_a_region_of_their_own() -> None:
    """After all others, joined in their order; no edge leads there."""
    drawn = picture(canary())
    closing = region(drawn, "finally")
    page, log = box(drawn, "page").id, box(drawn, "log").id

    assert (closing.kind, closing.nodes) == (FrameKind.CLOSING, (page, log))
    assert [(a.source, a.target) for a in drawn.arrows if {a.source, a.target} & {page, log}] == [(page, log)]


def test_a_policy_that_only_forbids_is_not_drawn() -> None:
    """It is a monitor beside the machine: a picture with it is the picture without."""
    definition = canary()
    once = Policy("once", PolicyKind.AT_MOST, (Pattern(tool="shift"),), most=1)

    assert picture(definition) == picture(replace(definition, policies=(once,)))


def test_an_end_called_like_a_kind_of_end_has_its_own_box() -> None:
    """`stopped` as a target is no limit of the engine's."""
    drawn = picture(order())

    assert box(drawn, "stopped").states == ("stopped",)
    assert box(drawn, "stopped:nudges").muted


WALKED = [
    {"kind": "started", "state": "ramp"},
    *({"kind": "moved", "source": s, "event": e, "target": t, "frame": f} for s, e, t, f in (
        ("ramp", "forked", "shift", "ramp[0]/"), ("shift", "completed", "bake", "ramp[0]/"),
        ("bake", "completed", "measure", "ramp[0]/"), ("measure", "completed", "ramp.join", "ramp[0]/"),
        ("ramp", "forked", "shift", "ramp[1]/"), ("shift", "completed", "bake", "ramp[1]/"),
    )),
]  # fmt: skip
FAILED = [
    *WALKED,
    *({"kind": "moved", "source": s, "event": e, "target": t, "frame": f} for s, e, t, f in (
        ("bake", "failed", "ramp.failed", "ramp[1]/"), ("ramp", "failed", "ramp.failed", ""),
        ("ramp.failed", "failed", "roll_back", ""),
    )),
]  # fmt: skip


def test_a_walk_goes_round_a_loop() -> None:
    """The second item came along `again`; the list was not empty; the run is inside, so its block is not marked."""
    drawn = picture(canary(), Walk.from_records(WALKED))

    assert [(a.count, a.tone) for a in arrows(drawn, "ramp", "shift")] == [(1, Tone.WALKED)]
    assert [(a.count, a.tone) for a in arrows(drawn, "ramp.join", "shift")] == [(1, Tone.WALKED)]
    assert [a.tone for a in arrows(drawn, "ramp", "ramp.join")] == [Tone.DIMMED]
    assert (box(drawn, "ramp").tone, box(drawn, "bake").tone) == (Tone.WALKED, Tone.CURRENT)


def test_a_walk_over_an_empty_list_is_seen() -> None:
    """It went straight to the bar."""
    records = [WALKED[0], {"kind": "moved", "source": "ramp", "event": "joined", "target": "ramp.join"}]
    drawn = picture(canary(), Walk.from_records(records))

    assert [a.tone for a in arrows(drawn, "ramp", "ramp.join")] == [Tone.WALKED]
    assert [a.tone for a in arrows(drawn, "ramp", "shift")] == [Tone.DIMMED]


def test_a_walk_says_which_step_failed_the_block() -> None:
    """In the step's box; the arrow that was taken is the block's."""
    drawn = picture(canary(), Walk.from_records(FAILED))

    assert lines(drawn, "bake") == ["10m", "failed → ramp fails"]
    assert [a.tone for a in arrows(drawn, "ramp", "roll_back")] == [Tone.WALKED]
    assert box(drawn, "roll_back").tone is Tone.CURRENT


def test_a_failed_block_that_nobody_handles_shows_where_it_ended() -> None:
    """The fault has a box of its own then, and the arrow leaves the region."""
    moves = [
        ("enrich.entry", "entered", "enrich"), ("enrich", "forked", "address"), ("address", "failed", "enrich.failed"),
        ("enrich", "failed", "enrich.failed"), ("enrich.failed", "failed", "failed:enrich"),
    ]  # fmt: skip
    records = [{"kind": "moved", "source": s, "event": e, "target": t} for s, e, t in moves]
    drawn = picture(enrich(), Walk.from_records([*records, {"kind": "ended", "state": "failed:enrich"}]))

    [before, failed] = arrows(drawn, "enrich", "failed:enrich")
    assert (before.tone, before.leaves) == (Tone.DIMMED, "")  # its `when` was not unknown
    assert (failed.tone, failed.leaves) == (Tone.WALKED, region(drawn, "enrich").id)
    assert lines(drawn, "address")[-1] == "failed → a branch of enrich fails"


def test_several_boxes_may_be_where_a_run_is() -> None:
    """Each branch has a cursor of its own."""
    moves = [("enrich.entry", "entered", "enrich"), ("enrich", "forked", "address"), ("enrich", "forked", "look")]
    walk = Walk.from_records({"kind": "moved", "source": s, "event": e, "target": t} for s, e, t in moves)
    drawn = picture(enrich(), walk)

    assert [node.title for node in drawn.nodes if node.tone is Tone.CURRENT] == ["address", "look"]


def test_a_block_that_fails_into_itself_does_not_break_the_picture() -> None:
    """An arrow cannot leave a region for a box in it: it leads from the block's box back to it."""
    definition = canary()
    failed = definition.states["ramp.failed"]
    edge = replace(failed.edges["failed"][0], target="ramp")
    states = {**definition.states, "ramp.failed": replace(failed, edges={"failed": (edge,)})}
    drawn = picture(replace(definition, states=states))

    [back] = arrows(drawn, "ramp", "ramp")
    assert (back.labels, back.leaves) == (("failed",), "")
    assert "<svg" in mermaidx.render(mermaid(drawn)).svg()
    assert back.id in groups(svg(drawn), "edge")


def test_a_frame_is_left_at_its_edge() -> None:
    """In DOT by `ltail`, with `compound`; a picture without blocks has neither. In Mermaid the frame is the source."""
    drawn = picture(canary())
    frame = region(drawn, "ramp").id
    source = dot(drawn).source

    assert "compound=true" in source
    assert source.count(f"ltail=cluster_{frame}") == 1
    assert f"  {frame} --> {box(drawn, 'roll_back').id} : failed\n" in mermaid(drawn)


def test_forks_and_joins_are_bars_in_mermaid() -> None:
    """The branches begin at the bar under the box of the fork."""
    drawn = picture(enrich())
    fork, join = box(drawn, "enrich").id, box(drawn, "enrich.join").id
    source = mermaid(drawn)

    assert f"state {fork}b <<fork>>\n" in source
    assert f"  {fork} --> {fork}b\n" in source
    assert f"  {fork}b --> {box(drawn, 'address').id}\n" in source
    assert f"state {join} <<join>>\n" in source


@pytest.mark.parametrize("name", MACHINES)
def test_frames_are_drawn_in_frames(name: str) -> None:
    """Graphviz finds every box, arrow and region; Mermaid accepts the text."""
    drawn = picture(MACHINES[name]())
    root = svg(drawn)

    assert set(groups(root, "node")) == {node.id for node in drawn.nodes}
    assert set(groups(root, "edge")) == {arrow.id for arrow in drawn.arrows}
    assert set(groups(root, "cluster")) == {frame.id for frame in drawn.frames}
    assert "<svg" in mermaidx.render(mermaid(drawn)).svg()


def test_names_that_break_diagrams_name_blocks() -> None:
    """As branches, steps, playbooks and their inputs; both renderers still draw them."""
    names = TORTURE[::2]
    fork = Step("f", parallel=Parallel(tuple(f"{name} branch" for name in names), len(names)))
    steps = [Step(name, name, block="f", playbook=SubPlaybook(name, {name: 1})) for name in names]
    states = [
        *block(StateKind.FORK, fork, *names, completed="success", fails="failed:f"),
        *(state(step.id, StateKind.FRAME, step, completed="f.join", failed="f.failed") for step in steps),
        goal("success"), goal("failed:f"),
    ]  # fmt: skip
    drawn = picture(machine("x", [fork, *steps], states))

    assert set(groups(svg(drawn), "edge")) == {arrow.id for arrow in drawn.arrows}
    assert "<svg" in mermaidx.render(mermaid(drawn)).svg()


def test_a_column_is_not_broken_inside_a_block() -> None:
    """Thirty steps in a section stay together; thirty sections of a step each do not."""
    whole = Step("s")
    steps = [Step(f"s{n}", block="s", call=Call("x")) for n in range(30)]
    after = [*(step.id for step in steps[1:]), "s.join"]
    inside = [
        state(s.id, StateKind.CALL, s, completed=to, failed="s.failed") for s, to in zip(steps, after, strict=True)
    ]
    states = [*block(StateKind.SECTION, whole, "s0", completed="success", fails="failed:s"), *inside]
    drawn = picture(machine("x", [whole, *steps], [*states, goal("success"), goal("failed:s")]))

    apart, pieces = [Step(f"b{n}") for n in range(30)], []
    for n, step in enumerate(apart):
        only = Step(f"c{n}", block=step.id, call=Call("x"))
        following = f"b{n + 1}" if n < 29 else "success"
        pieces += block(StateKind.SECTION, step, only.id, completed=following, fails=f"failed:{step.id}")
        pieces += [state(only.id, StateKind.CALL, only, completed=f"{step.id}.join", failed=f"{step.id}.failed")]
        pieces += [goal(f"failed:{step.id}")]
    columns = picture(machine("x", apart, [*pieces, goal("success")]))

    assert breaks(drawn) == frozenset()
    assert len(breaks(columns)) > 3
