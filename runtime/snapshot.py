"""All there is to save of a run (S1), as plain JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guideway.statemachine.errors import HostError

from .ending import class_of
from .loading import check_agreement, rebuild
from .plan import Plan
from .run import Run
from .saving import VERSION, write
from .shapes import check_shape
from .upgrade import completed, from_version_1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at rest.  `data` is JSON; it names the digest of its playbook, and fits no other."""

    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A copy that may be written anywhere."""
        copied: dict[str, Any] = json.loads(json.dumps(self.data))
        return copied


def outcome_class(run: Run) -> str | None:
    """The class of the outcome, once there is one."""
    return None if run.outcome is None else class_of(run.outcome, run.root.row.state.end)


def take(run: Run) -> Snapshot:
    """Write the run down."""
    return Snapshot(write(run))


def restore(plan: Plan, saved: Snapshot | Mapping[str, Any]) -> Run:
    """
    Make the run again, from a snapshot of this version or of one before.

    Raises:
        HostError: another playbook's snapshot, a later version's, or none at all.
    """
    data = saved.data if isinstance(saved, Snapshot) else saved
    version = data.get("version") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or type(version) is not int or version not in (1, VERSION):
        raise HostError("this is no snapshot that this version of guideway can read")
    if data.get("digest") != plan.definition.digest:
        raise HostError(f"the snapshot is of another playbook or version than `{plan.definition.id}`")
    try:
        whole = completed(from_version_1(data) if version == 1 else data)
        check_shape(whole)
        check_agreement(whole)
        return rebuild(plan, whole)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise HostError(f"the snapshot is damaged: {type(error).__name__} {error}") from None
