"""Where a run has been."""

from __future__ import annotations

from typing import Any

from guideway.diagrams.walk import Walk


def moved(source: str, event: str, target: str) -> dict[str, Any]:
    """Write a line of a trace."""
    return {"kind": "moved", "source": source, "event": event, "target": target}


def test_a_trace_becomes_counts() -> None:
    """The state a run starts in counts once; each move counts its target and its edge."""
    walk = Walk.from_records([moved("a", "completed", "b"), moved("b", "failed", "a"), moved("a", "completed", "b")])

    assert walk.visited == {"a": 2, "b": 2}
    assert walk.taken == {("a", "completed", "b"): 2, ("b", "failed", "a"): 1}
    assert (walk.current, walk.ended) == (frozenset({"b"}), None)


def test_an_ended_run_waits_nowhere() -> None:
    """Its end is known instead."""
    walk = Walk.from_records([moved("a", "completed", "z"), {"kind": "ended", "state": "z"}])

    assert (walk.current, walk.ended) == (frozenset(), "z")


def test_only_refusals_are_counted_as_refused() -> None:
    """Another verdict counts for nothing; a run that was only refused is where it was refused."""
    deny = {"kind": "decided", "verdict": "deny", "state": "a"}
    walk = Walk.from_records([deny, {"kind": "decided", "verdict": "allow", "state": "a"}, deny])

    assert walk.refused == {"a": 2}
    assert walk.visited == {"a": 1}
    assert walk.current == {"a"}


def test_other_lines_and_torn_lines_are_passed_over() -> None:
    """A trace may hold kinds that are not known here."""
    torn: list[dict[str, Any]] = [{}, {"kind": "started"}, {"kind": "moved"}, {"kind": "moved", "source": 1}]

    assert Walk.from_records([*torn, {"kind": None}]) == Walk()


def framed(source: str, event: str, target: str, frame: str) -> dict[str, Any]:
    """Write a line of a trace that belongs to a frame."""
    return {**moved(source, event, target), "frame": frame}


def test_branches_are_followed_side_by_side() -> None:
    """The cursor of the block waits; one that arrives is gone; the block moves on as one."""
    apart = [moved("p", "forked", "a"), moved("p", "forked", "b"), moved("a", "completed", "a2")]
    arrived = [*apart, moved("b", "completed", "p.join")]
    joined = [*arrived, moved("a2", "completed", "p.join"), moved("p", "joined", "p.join")]

    assert Walk.from_records(apart).current == {"a2", "b"}
    assert Walk.from_records(arrived).current == {"a2"}
    assert Walk.from_records([*joined, moved("p.join", "completed", "next")]).current == {"next"}


def test_a_block_that_moves_on_takes_those_inside_with_it() -> None:
    """By a failure of one branch, or a timeout of all."""
    apart = [moved("p", "forked", "a"), moved("p", "forked", "b")]
    failed = [
        *apart,
        moved("a", "failed", "p.failed"),
        moved("p", "failed", "p.failed"),
        moved("p.failed", "failed", "h"),
    ]

    assert Walk.from_records([*failed, moved("p.failed", "failed", "h")]).current == {"h"}
    assert Walk.from_records([*apart, moved("p", "timeout", "t")]).current == {"t"}


def test_a_block_between_two_rounds_is_where_the_run_is() -> None:
    """Nothing is inside, so the block itself waits."""
    walk = Walk.from_records([moved("p", "forked", "a"), moved("a", "completed", "p.join")])

    assert walk.current == {"p"}


def test_a_jump_out_of_a_block_leaves_nothing_behind() -> None:
    """Recorded of the cursor inside; a later visit of the block, and of one in another branch, goes as the first."""
    out = [moved("s", "forked", "a"), moved("a", "failed", "h")]
    again = [*out, moved("h", "completed", "s"), moved("s", "forked", "a")]
    branch = [moved("p", "forked", "s"), moved("p", "forked", "x"), *out, moved("h", "completed", "p.join")]

    assert Walk.from_records(out).current == {"h"}
    assert Walk.from_records(again).current == {"a"}
    assert Walk.from_records(branch).current == {"x"}


def test_items_are_part_of_the_picture_of_their_playbook() -> None:
    """Each moves on by itself, in its own frame; a second visit and items in items have longer paths."""
    records = [
        framed("r", "forked", "a", "r[0]/"), framed("r", "forked", "a", "r[1]/"),
        framed("a", "completed", "b", "r[1]/"),
    ]  # fmt: skip
    deep = [framed("a", "completed", "b", path) for path in ("r#2[0]/", "r[0]/s[3]/", "r[0]#2/")]

    assert Walk.from_records(records).current == {"a", "b"}
    assert Walk.from_records(deep).taken == {("a", "completed", "b"): 3}


def test_the_innermost_cursor_of_the_right_item_moves() -> None:
    """Two items stand in the same inner loop; each sends its own items off."""
    records = [
        framed("r", "forked", "s", "r[0]/"), framed("r", "forked", "s", "r[1]/"),
        framed("s", "forked", "a", "r[1]/s[0]/"), framed("a", "completed", "s.join", "r[1]/s[0]/"),
        framed("s", "joined", "s.join", "r[1]/"), framed("s.join", "completed", "r.join", "r[1]/"),
    ]  # fmt: skip

    assert Walk.from_records(records[:3]).current == {"s", "a"}
    assert Walk.from_records(records).current == {"s"}


def test_a_sub_playbook_has_a_walk_of_its_own() -> None:
    """Its states may be called as those around it: only `frame` asks for them."""
    records = [
        {"kind": "started", "state": "a", "frame": None}, moved("a", "completed", "b"),
        {"kind": "called", "state": "a", "frame": "b/"}, framed("a", "completed", "c", "b/"),
        framed("c", "forked", "d", "b/c[0]/"), framed("x", "completed", "y", "b/e/"),
        {"kind": "decided", "verdict": "deny", "state": "d", "frame": "b/c[0]/"},
    ]  # fmt: skip
    root, inner = Walk.from_records(records), Walk.from_records(records, frame="b/")

    assert (root.visited, root.current, root.refused) == ({"a": 1, "b": 1}, frozenset({"b"}), {})
    assert (inner.visited, inner.current, inner.refused) == ({"a": 1, "c": 1, "d": 1}, frozenset({"d"}), {"d": 1})
    assert Walk.from_records(records, frame="b/e/").visited == {"x": 1, "y": 1}


def test_an_ending_run_stands_in_its_end_alone() -> None:
    """The other cursors are gone; a step of `finally` that ran counts as visited."""
    records = [
        moved("p", "forked", "a"), moved("p", "forked", "b"), moved("a", "terminated", "z"),
        {"kind": "ending", "state": "z"}, {"kind": "closed", "step": "tell"},
    ]  # fmt: skip
    walk = Walk.from_records(records)

    assert walk.current == {"z"}
    assert walk.visited["tell"] == 1


def test_the_frame_of_a_playbook_that_has_returned_stands_nowhere() -> None:
    """Its picture shows the end it came to, and no place where it waits."""
    lines: list[dict[str, object]] = [
        {"kind": "called", "state": "look", "frame": "c/"},
        {"kind": "moved", "source": "look", "event": "completed", "target": "success", "frame": "c/"},
        {"kind": "returned", "outcome": "success", "frame": "c/"},
    ]
    walk = Walk.from_records(lines, frame="c/")
    assert walk.current == frozenset()
    assert (walk.ended, walk.outcome) == ("success", "success")
    assert Walk.from_records(lines).ended is None


CALLED: list[dict[str, Any]] = [
    {"kind": "started", "state": "c"},
    {"kind": "called", "step": "c", "state": "look", "frame": "c/"},
    framed("look", "completed", "sort", "c/"),
]


def test_a_playbook_that_was_left_waits_nowhere() -> None:
    """Its caller moved on, or the run ended around it: it never returned, and it stands there no longer."""
    over = [{"kind": "ending", "state": "z"}, {"kind": "ended", "state": "z", "outcome": "stopped"}]
    again = [moved("c", "timeout", "d"), moved("d", "completed", "c")]

    assert Walk.from_records(CALLED, frame="c/").current == {"sort"}
    for ending in ([moved("c", "timeout", "d")], again, over):
        walk = Walk.from_records([*CALLED, *ending], frame="c/")

        assert (walk.current, walk.ended, walk.outcome) == (frozenset(), None, None)


def test_the_playbook_of_one_item_is_left_by_itself() -> None:
    """Another item still waits in the same step."""
    records = [
        framed("r", "forked", "c", "r[0]/"), framed("r", "forked", "c", "r[1]/"),
        {"kind": "called", "step": "c", "state": "look", "frame": "r[0]/c/"},
        {"kind": "called", "step": "c", "state": "look", "frame": "r[1]/c/"},
        framed("c", "timeout", "r.join", "r[0]/"),
    ]  # fmt: skip

    assert Walk.from_records(records, frame="r[0]/c/").current == frozenset()
    assert Walk.from_records(records, frame="r[1]/c/").current == {"look"}


def test_a_playbook_inside_one_that_was_left_waits_nowhere() -> None:
    """It is asked of every caller, up to the run."""
    records = [
        *CALLED,
        {"kind": "called", "step": "sort", "state": "deep", "frame": "c/sort/"},
        moved("c", "timeout", "d"),
    ]

    assert Walk.from_records(records[:-1], frame="c/sort/").current == {"deep"}
    assert Walk.from_records(records, frame="c/sort/").current == frozenset()
