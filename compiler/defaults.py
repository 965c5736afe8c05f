"""A step's own keys and those of `defaults`: a step's own key wins, and a target never handles itself."""

from __future__ import annotations

from guideway.playbooks.attempts import RetrySpec
from guideway.playbooks.branches import Branch
from guideway.playbooks.models import Defaults, PlaybookStep
from guideway.playbooks.values import seconds

from .findings import Path

TARGETS = ("on_failure", "on_reject", "on_timeout", "on_exhausted", "on_unknown", "on_max_visits")

Target = str | list[Branch]

_PLAIN = frozenset({
    "id", "description", "expected_tools", "optional_tools", "order", "hints", "required", "validation", "when", "next",
    "uses", "min_tool_calls", "max_tool_calls", "metadata",
})  # fmt: skip


class Keys:
    """The keys of one step with the defaults behind them."""

    def __init__(self, step: PlaybookStep, path: Path, defaults: Defaults | None) -> None:
        self.step = step
        self.path = path
        self._defaults = defaults
        self._given = defaults.model_fields_set if defaults else frozenset[str]()

    def own(self, key: str) -> bool:
        """Tell whether the step itself holds the key."""
        return key in self.step.model_fields_set

    @property
    def plain(self) -> bool:
        """The step is the agent's and says nothing of exceptions, nor do the defaults: most steps of a large page."""
        return self._defaults is None and self.step.model_fields_set <= _PLAIN

    def target(self, key: str) -> tuple[Target, Path] | None:
        """Give the target of `on_…`, and where it is written."""
        if self.own(key):
            written: Target | None = getattr(self.step, key)
            return None if written is None else (written, (*self.path, key))
        if key not in self._given:
            return None
        given: Target | None = getattr(self._defaults, key)
        return None if given is None or _names(given, self.step.id) else (given, ("defaults", key))

    def count(self, key: str) -> int | None:
        """Give `max_visits` or `max_tool_calls`."""
        holder = self.step if self.own(key) else self._defaults
        value: int | None = getattr(holder, key, None)
        return value

    def timeout(self) -> float | None:
        """Give the deadline in seconds; the two spellings of it are one key."""
        holder = self.step if self.own("timeout") or self.own("timeout_seconds") else self._defaults
        if holder is None:
            return None
        return seconds(holder.timeout) if holder.timeout is not None else holder.timeout_seconds

    def retry(self) -> RetrySpec | None:
        """Give the step's own `retry`, else the default one."""
        holder = self.step if self.own("retry") else self._defaults
        return holder.retry if holder is not None else None


def _names(target: Target, step: str) -> bool:
    return target == step if isinstance(target, str) else any(branch.goto == step for branch in target)
