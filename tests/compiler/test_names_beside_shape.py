"""Faults of shape and misspelt names cost one run, and a fault of shape makes no name look misspelt."""

from __future__ import annotations

import random
from typing import Any

import guideway

from .strategies import playbook

TEXT = """\
id: two
name: Two kinds of fault
inputs: {host: string}
steps:
  - id: look
    expected_tool: [query]
    next: fuond
  - id: act
    call: {tool: isolate, args: {host: "{{ inputs.hots }}"}}
    max_tool_calls: -1
    on_failure: look
"""


def test_both_kinds_of_fault_are_told_in_one_run() -> None:
    """A misspelt key hides neither a misspelt target nor a misspelt input."""
    found = [(d.span.line, d.code) for d in guideway.check(TEXT)]
    assert found == [(6, "GW020"), (7, "GW110"), (9, "GW113"), (10, "GW025")]


def test_a_name_whose_section_is_broken_is_not_reported() -> None:
    """What was left out with its fault may have declared the name."""
    codes = [d.code for d in guideway.check(TEXT.replace("{host: string}", "{host: strin}"))]
    assert "GW113" not in codes and "GW110" in codes


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every key."""
    found = []
    if isinstance(value, dict):
        for key, below in value.items():
            found += [(*path, key), *paths(below, (*path, key))]
    elif isinstance(value, list):
        for index, below in enumerate(value):
            found += paths(below, (*path, index))
    return found


def broken(page: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The page with one key misspelt, or its value of a kind that no key takes."""
    *way, key = rng.choice([p for p in paths(page) if isinstance(p[-1], str)])
    at: Any = page
    for part in way:
        at = at[part]
    if rng.random() < 0.5:
        at[f"{key}x"] = at.pop(key)
    else:
        at[key] = [[None]]
    return page


def test_a_fault_of_shape_makes_no_name_look_misspelt() -> None:
    """1,500 clean playbooks, each broken in one place: no finding about a name that was right before."""
    told = 0
    for seed in range(1_500):
        rng = random.Random(seed)
        page = playbook(rng, rng.randint(1, 6))
        before = {d.code for d in guideway.check(page)}
        after = guideway.check(broken(page, rng))
        told += any(d.code < "GW100" for d in after)
        names = {d.code for d in after if "GW110" <= d.code <= "GW119"} - before
        if any(d.code < "GW100" for d in after):
            assert names == set(), (seed, [str(d) for d in after])
    assert told > 500
