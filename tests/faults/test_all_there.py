"""Every fault of the parity list has a test that is named after it."""

from __future__ import annotations

import re
from pathlib import Path

FAULTS = {f"d{n}" for n in range(1, 18)} | {f"e{n}" for n in (1, 2, *range(4, 11))}


def test_every_fault_has_a_test() -> None:
    """
    D1 to D17, E1, E2, E4 to E10: 26, each driven to the right outcome.
    """
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_faults_*.py"))
    found = set(re.findall(r"^def test_([de]\d+)_", text, re.MULTILINE))

    assert len(FAULTS) == 26
    assert found == FAULTS
