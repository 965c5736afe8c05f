"""
`guideway check` from start to finish, as a process: ten steps, and for scale the bare interpreter.

tulip-agents has no check command; beside it stands a process that imports its loader and loads the same file.
Byte code is cached for all of them, as it is on an ordinary machine, in a folder of this run's own.

    python benchmarks/bench_check.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_reading import text_of
from table import Row, show

STEPS = 10
ROUNDS = 10
TULIP = "import sys; from tulip.playbooks.loader import load_playbook; load_playbook(sys.argv[1])"


def commands(path: Path) -> dict[str, list[str]]:
    """What is timed."""
    return {
        "guideway": [str(Path(sys.executable).with_name("guideway")), "check", str(path)],
        "tulip-agents (load only)": [sys.executable, "-c", TULIP, str(path)],
        "python alone": [sys.executable, "-c", "pass"],
    }


def rows() -> list[Row]:
    """Best of some runs, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten.yaml"
        path.write_text(text_of(STEPS), encoding="utf-8")
        timed = commands(path)
        cached = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        cached["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "cache")
        best = dict.fromkeys(timed, float("inf"))
        for _ in range(ROUNDS):
            for name, command in timed.items():
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True, env=cached)
                best[name] = min(best[name], time.perf_counter() - start)
    return [Row("check, start to finish", STEPS, name, seconds * 1e3) for name, seconds in best.items()]


if __name__ == "__main__":
    show("check a file of ten steps, start to finish, ms", rows())
