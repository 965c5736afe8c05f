"""
Every benchmark, one after the other, in one run: `make bench`.

Nothing here asserts a time; what the figures were on one machine stands in the README beside this command.
"""

from __future__ import annotations

import platform

import bench_blocks
import bench_check
import bench_gate
import bench_journal
import bench_reading
import bench_sessions
import bench_trigger
from table import Row, show


def main() -> None:
    """Print every table."""
    print(f"Python {platform.python_version()} on {platform.machine()}")
    show("one gated call, µs", bench_gate.rows())
    show("one plain trigger, µs", [Row(r["name"], r["size"], r["peer"], r["micros"]) for r in bench_trigger.rows()])
    show("many cursors", bench_blocks.rows())
    show("many sessions of one machine", bench_sessions.rows())
    show("one journalled call, ms", bench_journal.rows())
    show("read and validate a file, ms", bench_reading.rows())
    show("check a file of ten steps, start to finish, ms", bench_check.rows())


if __name__ == "__main__":
    main()
