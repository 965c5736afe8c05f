"""Rules of `finally`: plain calls, which lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .branch_rules import BRANCH_KEYS
from .faults import Fault, Path
from .kind_rules import KIND_KEYS

_LEADS = (*(key for key in BRANCH_KEYS if key != "switch"), "max_visits")


def finally_faults(steps: Any) -> Iterator[Fault]:
    """Check the steps that run at every end."""
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield from _step(step, ("finally", index))


def _step(step: dict[str, Any], path: Path) -> Iterator[Fault]:
    if "call" not in step:
        other = next((key for key in KIND_KEYS if step.get(key)), None)
        found = f"`{other}` cannot stand in `finally`" if other else "a step of `finally` has no `call`"
        yield Fault("GW047", (*path, other) if other else path, f"{found}: every step there is a call of the runtime's",
                    "write `call: {tool: …}`", "key" if other else "value")  # fmt: skip
        return
    for key in _LEADS:
        if step.get(key) is not None:
            message = f"`{key}` leads nowhere in `finally`: the run has ended, and nothing there changes how"
            yield Fault("GW047", (*path, key), message, "delete it", "key")
    for key, tools_own in (("approval", "approval"), ("when", "where")):
        if step.get(key) is not None:
            message = f"`{key}` cannot stand in `finally`: its calls are made at every end"
            yield Fault(
                "GW047", (*path, key), message, f"delete it; the `{tools_own}` of a tool holds there as well", "key"
            )
