"""
A step in its place: its own keys with those of `defaults` behind them, and the list it stands in.

A step's own key wins, and a target never handles itself.  Inside a block a failure fails the block, so the targets of
`defaults` are not for the steps there.
"""

from __future__ import annotations

from collections.abc import Iterator

from guideway.playbooks.attempts import RetrySpec
from guideway.playbooks.branches import Branch
from guideway.playbooks.handlers import Defaults
from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.values import seconds
from guideway.statemachine.definition import FAILED, JOIN

from .findings import Path

TARGETS = ("on_failure", "on_reject", "on_timeout", "on_exhausted", "on_unknown", "on_max_visits")

Target = str | list[Branch]

_PLAIN = frozenset({
    "id", "description", "expected_tools", "optional_tools", "order", "hints", "required", "validation", "when", "next",
    "uses", "min_tool_calls", "max_tool_calls", "metadata",
})  # fmt: skip


class Keys:
    """The keys of one step with the defaults behind them; `home` is the list it stands in, `lists` those in it."""

    def __init__(self, step: PlaybookStep, path: Path, defaults: Defaults | None, home: Listing) -> None:
        self.step = step
        self.path = path
        simple = step.model_fields_set <= _PLAIN
        self.kind = "agent" if simple else step.kind
        self.plain = simple and defaults is None
        """The step is the agent's and says nothing of exceptions, nor do the defaults: most steps of a large page."""
        self.home = home
        self.lists: list[Listing] = []
        self._defaults = defaults
        self._given = defaults.model_fields_set if defaults else frozenset[str]()

    def own(self, key: str) -> bool:
        """Tell whether the step itself holds the key."""
        return key in self.step.model_fields_set

    def target(self, key: str) -> tuple[Target, Path] | None:
        """Give the target of `on_…`, and where it is written."""
        if self.own(key):
            written: Target | None = getattr(self.step, key)
            return None if written is None else (written, (*self.path, key))
        if key not in self._given or self.home.block:
            return None
        given: Target | None = getattr(self._defaults, key)
        return None if given is None or _names(given, self.step.id) else (given, ("defaults", key))

    def count(self, key: str) -> int | None:
        """Give `max_visits` or `max_tool_calls`."""
        holder = self.step if self.own(key) else self._defaults
        value: int | None = getattr(holder, key, None)
        return value

    def timeout(self) -> float | None:
        """Give the deadline in seconds; the two spellings of it are one key.  A pause is as long as it says."""
        holder = self.step if self.own("timeout") or self.own("timeout_seconds") else self._defaults
        pause = self.step.wait is not None and self.step.wait.duration is not None
        if holder is None or (pause and holder is self._defaults):
            return None
        return seconds(holder.timeout) if holder.timeout is not None else holder.timeout_seconds

    def retry(self) -> RetrySpec | None:
        """Give the step's own `retry`, else the default one."""
        holder = self.step if self.own("retry") else self._defaults
        return holder.retry if holder is not None else None


class Listing:
    """
    One list of steps.

    `block` is the step it lies in, none for the playbook's own list; `outer` the list that step stands in.  What lies
    in a `concurrent` list runs beside others, so no jump leads out of it.
    """

    __slots__ = ("block", "concurrent", "fence", "outer", "steps")

    def __init__(self, block: str = "", outer: Listing | None = None, concurrent: bool = False) -> None:
        self.block = block
        self.outer = outer
        self.concurrent = concurrent
        self.steps: list[Keys] = []
        self.fence: Listing | None = self if concurrent else outer.fence if outer is not None else None
        """The nearest concurrent list, this one or one around it."""

    @property
    def join(self) -> str:
        """The state to which the list leads; none at the top, where the run is done."""
        return self.block + JOIN if self.block else ""

    @property
    def failed(self) -> str:
        """The state in which the block fails; none at the top, where the run does."""
        return self.block + FAILED if self.block else ""

    def walk(self) -> Iterator[Keys]:
        """Every step of the list, in the order of the page; those in a block come after it."""
        for keys in self.steps:
            yield keys
            for inner in keys.lists:
                yield from inner.walk()


def _names(target: Target, step: str) -> bool:
    return target == step if isinstance(target, str) else any(branch.goto == step for branch in target)
