"""Rules of `policies`: each is of exactly one kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .faults import Fault, Path
from .policies import POLICY_KINDS

_LISTED = ", ".join(f"`{kind}`" for kind in POLICY_KINDS)


def policy_faults(policies: Any) -> Iterator[Fault]:
    """Check every policy of the list."""
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        if isinstance(policy, dict):
            yield from _policy(policy, ("policies", index))


def _policy(policy: dict[str, Any], path: Path) -> Iterator[Fault]:
    found = [key for key in policy if key in POLICY_KINDS]
    for other in found[1:]:
        message = f"a policy is of one kind: `{found[0]}` and `{other}` cannot stand in the same one"
        yield Fault("GW044", (*path, other), message, "write a policy for each", "key")
    if not found and policy.keys() <= {"id", "because"}:
        yield Fault("GW044", path, "a policy of no kind", f"write one of {_LISTED}")
