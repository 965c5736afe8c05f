"""Half a surrogate pair in a dict is no character: a finding, wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

import guideway

HALF = "\ud83d"
PLACES: list[dict[str, Any]] = [
    {"inputs": {"queue": HALF}},
    {"inputs": {HALF: "string"}},
    {"steps": [{"id": HALF, "expected_tools": ["look"]}]},
    {"steps": [{"id": "a", "parallel": {"b": {"call": {"tool": HALF}}}}]},
    {"policies": [{"never": HALF}]},
    {"steps": [{"id": "a", HALF: 1}]},
]


@pytest.mark.parametrize("part", PLACES, ids=range(len(PLACES)))
def test_half_a_surrogate_pair_is_a_finding(part: dict[str, Any]) -> None:
    """It is told with its code; nothing is raised."""
    assert "GW019" in {finding.code for finding in guideway.check({"id": "p", "name": "P", **part})}
