"""
Builds the tree from a stream of keys, scalars and brackets; YAML, JSON and dicts all end here.

What every syntax shares is decided here once: duplicate keys, the budget of values, the depth, and what to do with a
key that is none.  Nothing stops the building but a spent budget: a faulty part is read to its end and left out.
"""

from __future__ import annotations

from collections.abc import Callable

from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.span import Span

from .limits import Limits
from .nodes import Node
from .scalars import short


class _Mark(str):
    """A key that no source can hold, compared by identity."""

    __slots__ = ()


_DROP = _Mark("the key of a value that is read and left out")


MAX_FOUND = 1000
"""Findings of one reading; a bound on what a hostile source can make us say."""


class SpentError(Exception):
    """The budget of values (or of findings) is spent; what was built stays."""


class Builder:
    """
    One reading: the tree so far (`root`), the findings so far (`found`).

    >>> made = Builder("a.json", Limits())
    >>> made.open({}, 1, 1), made.key("id", 1, 2), made.scalar(Node("x", 1, 8)), made.close()
    (True, None, None, None)
    >>> made.root.plain()
    {'id': 'x'}
    """

    def __init__(self, file: str, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.found: list[Diagnostic] = []
        self.root: Node | None = None
        self.here: Node | None = None  # the innermost open container
        self.pending: str | None = None  # the key that waits for its value
        self.wants_key = False  # whether the next scalar is a key
        self.left = limits.max_values
        self.dropped = 0  # open brackets inside a part that is left out
        self.on_close: Callable[[Node], None] | None = None
        self._stack: list[tuple[Node, str | None]] = []
        self._told_deep = False

    def report(
        self,
        code: str,
        message: str,
        line: int,
        column: int,
        help: str | None = None,
        related: tuple[Related, ...] = (),
        level: Level = Level.ERROR,
    ) -> None:
        """Add a finding; the thousandth ends the reading (`SpentError`), for a person is not helped by more."""
        self.found.append(Diagnostic(code, level, message, Span(self.file, line, column), help, related))
        if len(self.found) == MAX_FOUND:
            message = f"reading stops after {MAX_FOUND:,} findings"
            self.found.append(Diagnostic(code, Level.ERROR, message, Span(self.file, line, column)))
            raise SpentError

    @property
    def depth(self) -> int:
        """How many containers are open."""
        return len(self._stack) + (self.here is not None)

    def key(self, text: str, line: int, column: int) -> None:
        """Take a key; the next value is its own."""
        if self.dropped:
            return
        self.left -= 1
        here = self.here
        assert here is not None  # noqa: S101 - a reader gives keys inside maps only
        places = here.more
        if text in places:
            first = places[text]
            self.drop_value()
            self.report(
                "GW007",
                f"key `{short(text)}` is written twice in one map; first at line {first[0]}, column {first[1]}",
                line,
                column,
                "delete one of the two, or rename it",
                (Related(Span(self.file, *first), "first here"),),
            )
            return
        places[text] = (line, column)
        self.pending = text
        self.wants_key = False

    def drop_value(self) -> None:
        """In the place of a key: the value that follows is read and left out."""
        self.pending = _DROP
        self.wants_key = False

    def scalar(self, node: Node) -> None:
        """Take a value that is no container (or a finished one, from an alias)."""
        if self.dropped:
            return
        self.left -= 1
        if self.left < 0:
            self.spend(node.line, node.column)
        here = self.here
        if here is None:
            self.root = node
        elif self.pending is None:
            here.value.append(node)
        else:
            if self.pending is not _DROP:
                here.value[self.pending] = node
            self.pending = None
            self.wants_key = True

    def open(self, value: dict[str, Node] | list[Node], line: int, column: int, style: str = "") -> bool:
        """Begin a container; False when it lies too deep (or inside such a one) and will be left out."""
        if self.dropped:
            self.dropped += 1
            return False
        if self.depth >= self.limits.max_depth:
            self.too_deep(line, column)
            self.scalar(Node(None, line, column, style))
            self.dropped = 1
            return False
        is_map = type(value) is dict
        node = Node(value, line, column, style, {} if is_map else None)
        here, pending = self.here, self.pending
        self.scalar(node)
        if here is not None:
            self._stack.append((here, pending))
        self.here = node
        self.pending = None
        self.wants_key = is_map
        return True

    def close(self) -> None:
        """End the innermost container."""
        if self.dropped:
            self.dropped -= 1
            return
        if self.on_close is not None and self.here is not None:
            self.on_close(self.here)
        if not self._stack:
            self.here, self.pending, self.wants_key = None, None, False
            return
        self.here, pending = self._stack.pop()
        self.pending, self.wants_key = None, pending is not None

    def spend(self, line: int, column: int, more: int = 0) -> None:
        """Take `more` values from the budget; raise `SpentError` once it is spent."""
        self.left -= more
        if self.left < 0:
            self.report(
                "GW008",
                f"more than {self.limits.max_values:,} keys and values once aliases are expanded",
                line,
                column,
                "split the playbook with `imports`, or raise `--max-values`",
            )
            raise SpentError

    def too_deep(self, line: int, column: int) -> None:
        """Report nesting beyond the limit, once a reading."""
        if not self._told_deep:
            self._told_deep = True
            self.report(
                "GW009",
                f"lists and maps are nested more than {self.limits.max_depth} deep",
                line,
                column,
                "flatten the structure, or raise `--max-depth`",
            )
