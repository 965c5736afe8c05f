"""SIGKILL at every point of a run with side effects: nothing is lost, nothing done twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from guideway.runtime.journal import replay, verify

from . import killing

KINDS = ("sqlite", "jsonl")


def child(kind: str, folder: Path, point: int) -> int:
    """Run the playbook in a process of its own, forked so that nothing is imported anew; returns how it ended."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            killing.main(kind, folder, point)
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_any_point_is_resumed_and_does_nothing_twice(kind: str, tmp_path: Path) -> None:
    """
    A real SIGKILL before and after every journal write and every effect, then another process goes on to the end.

    No completed call is made again, no irreversible one twice, reads and idempotent ones at most once more; a write
    that nobody saw the end of is asked about, and the secret input stands in no file.
    """
    whole = tmp_path / "whole"
    whole.mkdir()
    killing.machine()
    assert child(kind, whole, 0) == 0
    points = json.loads((whole / "end.json").read_text())["points"]
    sys.stdout.write(f"{kind}: {points} points\n")

    for point in range(1, points + 1):
        folder = tmp_path / str(point)
        folder.mkdir()
        assert os.WTERMSIG(child(kind, folder, point)) == signal.SIGKILL
        if point % 3 == 0:  # and once more, while it is being resumed
            again = 1 + random.Random(point).randrange(6)
            assert child(kind, folder, again) == signal.SIGKILL or (folder / "end.json").exists()
        assert child(kind, folder, 0) == 0, point
        check(kind, folder, point)
    assert points >= 38, "before and after every write and every effect"


def check(kind: str, folder: Path, point: int) -> None:
    """What must hold after a crash at one point."""
    end = json.loads((folder / "end.json").read_text())
    effects = [json.loads(line) for line in (folder / "effects.txt").read_text().splitlines()]
    made = Counter(tool for tool, _ in effects)
    asked = (folder / "reconciled.txt").read_text().split() if (folder / "reconciled.txt").exists() else []
    assert end["outcome"] == "success", point
    assert set(made) == {"look", "note", "page", "owner_of", "tag", "isolate", "ticket"}, point
    for tool, times in made.items():
        assert times == 1 or (times == 2 and tool in killing.ALWAYS_AGAIN), (point, tool, times)
    assert not set(asked) & killing.ALWAYS_AGAIN, (point, asked)
    assert len(set(map(tuple, effects))) == len(effects), "one admission, one effect"
    journal = killing.opened(kind, folder)
    checked = verify(journal, killing.RUN, key=b"k" * 32)
    again = replay(journal, killing.RUN, killing.machine(), inputs=killing.INPUTS, key=b"k" * 32)
    assert checked.outcome == again.outcome == "success", point
    journal.close()
    for path in folder.rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), (point, path)


def test_one_kill_in_a_process_that_imports_everything_anew(tmp_path: Path) -> None:
    """
    The same without fork: an interpreter of its own starts the run and is killed, another one resumes it.
    """
    import subprocess

    script = [sys.executable, "-c", "import sys; from tests.journal.killing import main; from pathlib import Path;"
              "main('sqlite', Path(sys.argv[1]), int(sys.argv[2]))", str(tmp_path)]  # fmt: skip
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run([*script, "17"], cwd=root, check=False)
    resumed = subprocess.run([*script, "0"], cwd=root, check=False)

    assert killed.returncode == -signal.SIGKILL
    assert resumed.returncode == 0
    check("sqlite", tmp_path, 17)
