"""Standard output and traces that take nothing more: whose fault that is, and where the run stands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guideway.runtime import records

Run = Callable[..., Any]
FULL = Path("/dev/full")
START = "import sys; from guideway.cli import main; sys.exit(main())"
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")


def process(line: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run `guideway LINE` as a process of its own, under a shell that may close its streams."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -c "{START}" {line}', sys.executable],
        stderr=subprocess.PIPE, text=True, timeout=60, check=False, **streams,
    )  # fmt: skip


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, triage: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a playbook and its tools, as the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GUIDEWAY_TRACEBACK", raising=False)
    return tmp_path


RUN = "run triage.yaml --tools tools.py --input host=a"


@needs_full
@pytest.mark.parametrize("line", ["check triage.yaml", "draw triage.yaml", "schema", "explain", "--help", "--version"])
def test_a_full_disk_is_no_fault_of_ours(folder: Path, line: str) -> None:
    """One sentence that names what could not be written, and status 1."""
    with FULL.open("w") as full:
        result = process(line, stdout=full)

    assert result.returncode == 1
    assert "standard output cannot be written: No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1


@needs_full
def test_a_run_goes_on_when_it_can_no_longer_be_told(folder: Path) -> None:
    """The sentence says how it ended and what ran last; its trace is whole."""
    with FULL.open("w") as full:
        result = process(f"{RUN} --trace t.jsonl", stdout=full)

    assert result.returncode == 1
    assert "the run went on: it ended in `nothing`, and the last call that ran was `query`" in result.stderr
    assert result.stderr.count("\n") == 1
    assert records.verify((folder / "t.jsonl").read_text())[-1]["kind"] == "ended"


@pytest.mark.parametrize("line", ["check triage.yaml >&-", f"{RUN} >&-", f"{RUN} >&- 2>&- <&-", "explain >&-"])
def test_closed_streams_are_nobodys_fault(folder: Path, line: str) -> None:
    """Quiet, and the status of the command."""
    result = process(line)

    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("deed", ["os.close(1)", "sys.stdout.close()"])
def test_a_tool_that_closes_standard_output_does_not_end_the_run(folder: Path, deed: str) -> None:
    """The run has its end in the trace, and its status."""
    (folder / "tools.py").write_text(f"import os, sys\ndef query(host, hours):\n    {deed}\n    return {{'hits': 0}}\n")
    result = process(f"{RUN} --trace t.jsonl", stdout=subprocess.DEVNULL)

    assert (result.returncode, result.stderr) == (0, "")
    assert records.verify((folder / "t.jsonl").read_text())[-1]["kind"] == "ended"


def test_a_reader_that_leaves_does_not_change_the_status(folder: Path) -> None:
    """Of a run that goes on to its end, in a process of its own."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = process(RUN, stdout=writing)
    finally:
        os.close(writing)

    assert (result.returncode, result.stderr) == (0, "")


def test_a_trace_that_breaks_off_says_what_ran_last(
    guideway: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up behind the first call, whose effect is in the world."""
    (folder / "triage.yaml").write_text(
        "id: t\nname: T\nsteps:\n  - {id: one, call: {tool: query}}\n  - {id: two, call: {tool: query}}\n"
    )
    (folder / "tools.py").write_text(
        "import builtins\nbuiltins.ran = 0\ndef query():\n    builtins.ran += 1\n    return {}\n"
    )
    import builtins

    from guideway.runtime.trace import TraceFile

    happened = TraceFile.happened

    def full(self: TraceFile, new: Any) -> None:
        if getattr(builtins, "ran", 0):
            self._stream.close()
            self._stream = FULL.open("w")
        happened(self, new)

    if not FULL.exists():
        pytest.skip("no /dev/full on this system")
    monkeypatch.setattr(TraceFile, "happened", full)
    result = guideway("run", "triage.yaml", "--tools", "tools.py", "--trace", "t.jsonl")

    assert result.status == 1
    assert "the trace cannot be written: No space left on device; it stopped in `two`" in result.err
    assert "the last call that ran was `query` (one@1.1)" in result.err
    assert builtins.ran == 1  # type: ignore[attr-defined]


@needs_full
@pytest.mark.parametrize("line", ["draw triage.yaml --format dot -o /dev/full", "schema -o /dev/full"])
def test_a_file_that_cannot_be_written_to_its_end_is_named(guideway: Run, folder: Path, line: str) -> None:
    """Status 1: the command was right."""
    result = guideway(*line.split())

    assert result.status == 1
    assert "--output: /dev/full cannot be written: No space left on device" in result.err
