"""Shows at the end of the run how much the property tests of the session have covered."""

from __future__ import annotations

from typing import Any

from .counting import report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts of each test."""
    if lines := report():
        terminalreporter.section("what the property tests went through")
        for line in lines:
            terminalreporter.write_line(line)
