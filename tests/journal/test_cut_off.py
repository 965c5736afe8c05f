"""
A program with side effects is killed (SIGKILL) at every point, also in the midst of a write, and another goes on (S54).

Beside `test_kill.py`: decisions come from another process through the inbox, one step takes `on_unknown`, and the
journal that was left must be the beginning of the one at the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .cutting_off.playbook import ONCE
from .cutting_off.program import KINDS
from .cutting_off.world import RESULTS

ROOT = Path(__file__).resolve().parents[2]


def stories(kind: str, folder: Path, second: int = 0) -> list[dict[str, Any]]:
    """What became of the run for each point at which its program was killed."""
    asked = [sys.executable, "-m", "tests.journal.cutting_off.server", kind, str(folder), str(second)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(raw) for raw in done.stdout.splitlines()]


def hold(story: dict[str, Any]) -> None:
    """All that must hold of one story."""
    shred_in_doubt = story["outcome"] == "in_doubt"
    assert story["outcome"] == story["replayed"] == story["verified"]
    assert story["outcome"] in ("success", "in_doubt")
    assert story["prefix"], "what was kept before the kill is the beginning of what is kept at the end"
    made = Counter(tool for tool, _, _ in story["effects"])
    assert all(made[tool] == 1 for tool in ONCE - {"shred"})
    assert made["shred"] <= 1 if shred_in_doubt else made["shred"] == 1
    each_call_once(story)
    intent_before_effect(story)
    unknown_went_to_somebody(story)


def each_call_once(story: dict[str, Any]) -> None:
    """One admission has one effect at most, and nothing that was seen to its end is done again."""
    ids = [call_id for _, call_id, _ in story["effects"]]
    assert len(ids) == len(set(ids))
    settled = {r["call_id"]: seq for seq, r in story["records"] if r["kind"] == "settled" and r["outcome"] == "ok"}
    results = [r for _, r in story["records"] if r["kind"] == "settled" and r["outcome"] == "ok"]
    assert all(r["detail"]["result"] == RESULTS[r["tool"]] for r in results)
    for tool, call_id, entries in story["effects"]:
        same_step = [other for other in settled if other.rpartition(".")[0] == call_id.rpartition(".")[0] != ""]
        assert all(settled[other] >= entries for other in same_step), (tool, call_id)


def intent_before_effect(story: dict[str, Any]) -> None:
    """When a tool had its effect, the journal said already that it may (S57)."""
    allowed: dict[str, int] = {}
    for seq, record in story["records"]:
        if record["kind"] == "decided" and record["verdict"] == "allow":
            allowed.setdefault(record["call_id"], seq)
    assert all(allowed[call_id] < entries for _, call_id, entries in story["effects"])


def unknown_went_to_somebody(story: dict[str, Any]) -> None:
    """An unknown call of a tool that does not bear repeating is asked about, or takes the way its author wrote."""
    unknown = {
        r["call_id"]: r["tool"] for _, r in story["records"] if r["kind"] == "settled" and r["outcome"] == "unknown"
    }
    asked = {r["approval_id"] for _, r in story["records"] if r["kind"] == "asked" and r["of"] == "reconcile"}
    for call_id, tool in unknown.items():
        assert tool in {"look", "whois", "mark"} or f"reconcile {call_id}" in asked or story["outcome"] == "in_doubt"
    assert {name.removeprefix("reconcile ").partition("@")[0] for name in asked}.isdisjoint({"state", "flag"})


@pytest.mark.parametrize("kind", KINDS)
def test_killed_once_at_every_point(kind: str, tmp_path: Path) -> None:
    """
    Nothing lost, nothing that was finished done again, nothing irreversible twice, what nobody saw goes to somebody.
    """
    whole, *cut = stories(kind, tmp_path)
    sys.stdout.write(f"{kind}: killed at {len(cut)} points\n")

    assert len(cut) == len(whole["points"]) > 50
    assert any("half" in story["where"] or "COMMIT" in story["where"] for story in cut)
    assert {story["outcome"] for story in cut} == {"success", "in_doubt"}
    for story in (whole, *cut):
        try:
            hold(story)
        except AssertionError as error:
            raise AssertionError(f"killed {story['where']} (point {story['deaths']})") from error


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_twice(kind: str, tmp_path: Path) -> None:
    """The program that goes on is killed as well, at every fourth of its own points."""
    whole, *cut = stories(kind, tmp_path, 4)
    sys.stdout.write(f"{kind}: killed at {len(cut)} pairs of points\n")

    assert len(cut) > 3 * len(whole["points"])
    for story in cut:
        try:
            hold(story)
        except AssertionError as error:
            raise AssertionError(f"killed {story['where']}, and again (points {story['deaths']})") from error
