"""The example that is shipped runs, and shows what it says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent.py"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """
    Refused out of sequence, sent back, looked up, asked about, and contained.
    """
    runpy.run_path(str(EXAMPLE))
    first, *lines = capsys.readouterr().out.splitlines()

    assert first == "Isolate ws-7? {'host': 'ws-7'} -> soc-lead says yes"
    assert "not legal in the step" in lines[0]
    assert lines[-1] == "complete contained True"


def test_the_example_is_short() -> None:
    """
    Embedding takes about twenty lines beside the tools.
    """
    lines = [line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]

    assert len(lines) < 30
