"""
Forks the program again and again: killed at each point, then gone on with in a process that knows nothing of it.

    python -m tests.journal.cutting_off.server KIND FOLDER SECOND

writes a line of JSON for each point.  With SECOND above zero, the process that goes on is killed too, at every
SECOND-th point of its own, and a third one ends the run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guideway import Machine
from guideway.runtime.journal import replay, verify

from .playbook import machine
from .program import KEY, RUN, count, opened, program
from .world import Points, effects


def child(work: Callable[[], None]) -> int:
    """Do it in a process of its own; gives the signal that ended it."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("the program failed; see above")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def lived(book: Machine, kind: str, folder: Path, chosen: int, report: str) -> int:
    """One life of the program, killed at a point (0: not at all); it writes what it saw to a file of that name."""

    def life() -> None:
        points = Points(chosen)
        session = program(book, kind, folder, points)
        (folder / report).write_text(json.dumps({"points": points.passed, "outcome": session.outcome}))

    return child(life)


def kept(kind: str, folder: Path) -> list[str]:
    """The lines of the journal, as a reader finds them."""
    journal = opened(kind, folder)
    lines = [stored.text for stored in journal.read(RUN)]
    journal.close()
    return lines


def judged(book: Machine, kind: str, folder: Path) -> dict[str, Any]:
    """The journal at the end: verified, replayed, and its records."""
    journal = opened(kind, folder)
    found, again = verify(journal, RUN, key=KEY), replay(journal, RUN, book, key=KEY)
    entries = [json.loads(stored.text) for stored in journal.read(RUN)]
    assert found.entries == count(journal) == len(entries)
    journal.close()
    return {
        "replayed": again.outcome, "verified": found.outcome,
        "records": [[entry["seq"], record] for entry in entries for record in entry["body"].get("records", ())],
    }  # fmt: skip


def story(book: Machine, kind: str, folder: Path, *deaths: int) -> dict[str, Any]:
    """A run whose program dies at these points, one life after the other, and then lives to its end."""
    folder.mkdir()
    left: list[list[str]] = []
    for number, chosen in enumerate(deaths):
        if lived(book, kind, folder, chosen, f"{number}.json") != signal.SIGKILL:
            return {}
        left.append(kept(kind, folder))
    lived(book, kind, folder, 0, "end.json")
    end = kept(kind, folder)
    return {
        "deaths": deaths, "prefix": all(end[: len(lines)] == lines for lines in left), "left": [len(x) for x in left],
        "effects": [[e.tool, e.call_id, e.entries] for e in effects(folder)],
        **json.loads((folder / "end.json").read_text()), **judged(book, kind, folder),
    }  # fmt: skip


def say(found: dict[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps(found) + "\n")


def main(kind: str, folder: Path, second: int) -> None:
    """Every point, or every pair of points that is asked for."""
    book = machine()
    whole = story(book, kind, folder / "0")
    say({**whole, "where": "nowhere"})
    for first, where in enumerate(whole["points"], 1):
        if not second:
            say({**story(book, kind, folder / f"{first}", first), "where": where})
            continue
        at = 1 + first % second
        while found := story(book, kind, folder / f"{first}-{at}", first, at):
            say({**found, "where": where})
            at += second


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
