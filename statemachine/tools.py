"""What a playbook says of a tool, wherever the tool is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from .approvals import Approval
from .expressions import Expression
from .span import Span

CONTROL = ("complete_step", "skip_step")
"""Tools that Guideway itself gives an agent (S17); no playbook may declare or list one."""


class Effect(StrEnum):
    """What a call of the tool does to the world."""

    READ = "read"
    WRITE = "write"
    IRREVERSIBLE = "irreversible"


@dataclass(frozen=True, slots=True)
class Reversal:
    """The call that takes a success back: `args` may hold `{{ EXPR }}` over `args` and `result`; none: the same."""

    tool: str
    args: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """
    A tool of the alphabet.

    `name` may be a pattern; `alias` is the framework's real name where it differs.
    `parameters` and `result` are JSON Schemas (none: anything).
    """

    name: str
    effect: Effect = Effect.WRITE
    idempotent: bool = False
    alias: str | None = None
    parameters: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    where: Expression | None = None
    because: str | None = None
    approval: Approval | None = None
    span: Span | None = field(default=None, compare=False)
    undo: Reversal | None = None

    @property
    def repeatable(self) -> bool:
        """A second call does no harm: the tool only reads, or is idempotent."""
        return self.idempotent or self.effect is Effect.READ


def is_pattern(name: str) -> bool:
    """
    Tell a pattern from a name.

    >>> is_pattern("mcp__siem__*"), is_pattern("query_siem")
    (True, False)
    """
    return "*" in name


def best_match(name: str, patterns: Iterable[str]) -> str | None:
    """
    Find what `name` matches: itself, else the most specific pattern (the one with most literal characters).

    >>> best_match("mcp__siem__get", ["mcp__*", "mcp__siem__*"])
    'mcp__siem__*'
    """
    fits = [p for p in patterns if p == name or (is_pattern(p) and fnmatchcase(name, escape(p)))]
    return max(fits, key=lambda p: (not is_pattern(p), len(p.replace("*", ""))), default=None)


class Names:
    """
    Names and patterns of tools, looked up at the cost of the patterns alone, however many names there are.

    >>> names = Names(["query_siem", "mcp__*"])
    >>> "query_siem" in names, "mcp__get" in names, "isolate_host" in names
    (True, True, False)
    """

    __slots__ = ("_names", "_patterns")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._patterns = tuple(sorted(name for name in self._names if is_pattern(name)))

    def __contains__(self, name: str) -> bool:
        return name in self._names or best_match(name, self._patterns) is not None


def escape(pattern: str) -> str:
    """Leave `*` its meaning and take `?` and `[` from fnmatch: in a playbook they are letters."""
    return "".join(f"[{c}]" if c in "?[" else c for c in pattern)
