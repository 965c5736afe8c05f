"""Rules of branch lists: `next`, `switch` and every `on_…`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .faults import Fault, Path

BRANCH_KEYS = (
    "next",
    "switch",
    "on_failure",
    "on_reject",
    "on_timeout",
    "on_exhausted",
    "on_unknown",
    "on_max_visits",
)
_KEYS = frozenset(BRANCH_KEYS)


def branch_faults(owner: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check every branch list of a step, of a tool or of the defaults."""
    if _KEYS.isdisjoint(owner):
        return
    for key in BRANCH_KEYS:
        if key in owner and isinstance(owner[key], list):
            yield from list_faults(owner[key], (*path, key))


def list_faults(branches: list[Any], path: Path) -> Iterator[Fault]:
    """Check one list of branches."""
    if not branches:
        yield Fault("GW032", path, f"`{path[-1]}` has no branch", "write `- goto: STEP`, or delete the key", "key")
    for index, branch in enumerate(branches[:-1]):
        if isinstance(branch, dict) and "when" not in branch:
            yield _shadowing(branches, index, path)
            return


def _shadowing(branches: list[Any], index: int, path: Path) -> Fault:
    """The first true branch is taken: behind one without a condition all others are dead."""
    dead = range(index + 1, len(branches))
    named = [_goto(branches[i]) for i in dead]
    listed = ", ".join(named[:3]) + (" …" if len(named) > 3 else "")
    message = f"a branch without `when` is always taken: the way to {listed} behind it never is"
    related = tuple(((*path, i), "never taken") for i in dead[:10])
    return Fault(
        "GW035", (*path, index), message, "move it to the end of the list, or give it a `when`", related=related
    )


def _goto(branch: Any) -> str:
    target = branch.get("goto") if isinstance(branch, dict) else None
    return f"`{target}`" if isinstance(target, str) else "…"
