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
