"""The list of what a superset of the seeds must do has 51 rows, and each has its tests."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
NAME = re.compile(r"^(?:async )?def test_row_(\d+)_", re.MULTILINE)


def test_every_row_has_tests_in_one_file() -> None:
    """
    Rows 1 to 51, none missing, none but those; all tests of a row stand together.
    """
    found: defaultdict[int, set[str]] = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        for row in NAME.findall(path.read_text(encoding="utf-8")):
            found[int(row)].add(path.name if path.parent == TESTS else f"{path.parent.name}/{path.name}")

    assert sorted(found) == list(range(1, 52))
    assert {row: files for row, files in found.items() if len(files) > 1} == {}
