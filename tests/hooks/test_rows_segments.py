"""Row 51 of the parity list: segments, pending approvals and hook state survive a restart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def segment(*args: str) -> dict[str, Any]:
    """Run one segment in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hooks.segment", *args], cwd=ROOT, capture_output=True, text=True, check=True
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_row_51_segments_approvals_and_hook_state_survive_a_restart(tmp_path: Path) -> None:
    """
    One process looks and asks, and ends; another brings the decision, and acts, once.
    """
    file = str(tmp_path / "run.json")
    first = segment(file)
    second = segment(file, "approve")

    assert first == {
        "status": "suspended", "calls": [["query_siem", 24]], "pending": 1, "told": ["suspended"],
        "states": {"CountRuns": {"runs": 1}},
    }  # fmt: skip
    assert second == {
        "status": "completed", "calls": [["isolate_host", "ws-7"]], "pending": 0, "told": ["completed"],
        "states": {"CountRuns": {"runs": 2}},
    }  # fmt: skip
