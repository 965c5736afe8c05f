"""
Reading and validating one YAML file of N steps: ours with places, tulip-agents' loader, and libyaml's bare events.

Each step has an id, a description, two expected tools, a hint and a limit, which is what both formats know.

    python benchmarks/bench_reading.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from table import Row, show

SIZES = (100, 1_000, 10_000)
ROUNDS = 3


def text_of(size: int) -> str:
    """The file."""
    step = (
        "  - id: step_{0}\n"
        "    description: Look at indicator {0} and say whether it is known\n"
        "    expected_tools: [query_{0}, enrich_{0}]\n"
        "    hints: [Look at the last 24 hours first]\n"
        "    max_tool_calls: 5\n"
    )
    return "id: long\nname: Long\nsteps:\n" + "".join(step.format(i) for i in range(size))


def guideway(path: Path) -> None:
    """Read, locate, validate."""
    from guideway import load_playbook

    load_playbook(path)


def tulip(path: Path) -> None:
    """The nearest peer's loader."""
    from tulip.playbooks.loader import load_playbook

    load_playbook(path)


def events(path: Path) -> None:
    """What libyaml alone takes."""
    import yaml

    for _ in yaml.parse(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        pass


PEERS: dict[str, Callable[[Path], None]] = {"guideway": guideway, "tulip-agents": tulip, "libyaml events alone": events}


def measure(size: int, folder: Path) -> list[Row]:
    """Best of a few rounds, the peers in turns, in milliseconds."""
    path = folder / f"{size}.yaml"
    path.write_text(text_of(size), encoding="utf-8")
    best = dict.fromkeys(PEERS, float("inf"))
    for _ in range(ROUNDS):
        for name, read in PEERS.items():
            start = time.perf_counter()
            read(path)
            best[name] = min(best[name], time.perf_counter() - start)
    return [Row("read and validate", size, name, seconds * 1e3) for name, seconds in best.items()]


def rows() -> list[Row]:
    """Every figure, in milliseconds a file."""
    with tempfile.TemporaryDirectory() as folder:
        return [row for size in SIZES for row in measure(size, Path(folder))]


if __name__ == "__main__":
    show("read and validate a file, ms", rows())
