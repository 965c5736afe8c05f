"""docs/expressions.md: every line with an arrow is true, and the table of functions is the one that runs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from guideway.statemachine.expressions import FUNCTIONS, Unknown, parse, parse_template

TEXT = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
DATA: dict[str, Any] = json.loads(TEXT.split("```json\n")[1].split("```")[0])
NOW = datetime(2026, 1, 31, 9, tzinfo=UTC)
EXAMPLES = [tuple(part.strip() for part in line.split("→")) for line in TEXT.splitlines() if "→" in line]


@pytest.mark.parametrize("example", EXAMPLES, ids=[source[:40] for source, _ in EXAMPLES])
def test_every_example_gives_what_it_says(example: tuple[str, str]) -> None:
    """The value after the arrow, kind included, or the reason for the unknown."""
    source, expected = example
    value = (parse_template(source) or parse(source))(DATA, NOW)
    if expected.startswith("unknown: "):
        assert value == Unknown(expected.removeprefix("unknown: "))
    else:
        assert json.dumps(value, ensure_ascii=False) == expected


def test_there_are_examples() -> None:
    """The page is read: it has some seventy examples."""
    assert len(EXAMPLES) > 60


def test_the_table_of_functions_is_complete() -> None:
    """Each function stands in the table with its form and its meaning, and there is no other."""
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", TEXT.split("## Functions")[1].split("```")[0], re.MULTILINE)
    assert rows == [(function.call, function.says) for function in FUNCTIONS.values()]
