"""Which parts of which results are ever read (S5): a session keeps those and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Path = tuple[str, ...]


class Projections:
    """
    Notes the reads of `facts` and `history`.

    >>> read = Projections()
    >>> read.note(("facts", "look", "user", "id"))
    >>> read.note(("facts", "look", "user"))
    >>> read.note(("history", "look", 0, "hits"))
    >>> read.facts(["look"]), read.history(["look"])
    ({'look': (('user',),)}, {'look': (('hits',),)})
    """

    def __init__(self) -> None:
        self._read: dict[str, dict[str, set[Path]]] = {"facts": {}, "history": {}}
        self._all: set[str] = set()

    def note(self, path: tuple[str | int, ...]) -> None:
        """Remember one read.  Whatever is not `facts.NAME…` or `history.NAME…` reads all names, or none."""
        root = str(path[0])
        if root not in self._read:
            return
        if len(path) == 1 or not isinstance(path[1], str):
            self._all.add(root)
            return
        rest = path[2:]
        if root == "history" and rest and isinstance(rest[0], int):
            rest = rest[1:]
        elif root == "history":
            rest = ()
        self._read[root].setdefault(path[1], set()).add(_fields(rest))

    def reads(self, name: str) -> bool:
        """Tell whether anything reads the fact, or its history."""
        return bool(self._all) or any(name in read for read in self._read.values())

    def facts(self, names: Iterable[str]) -> dict[str, tuple[Path, ...]]:
        """For each fact that is read, the paths to keep; `names` are all there are."""
        return self._kept("facts", names)

    def history(self, names: Iterable[str]) -> dict[str, tuple[Path, ...]]:
        """For each history that is read, the paths to keep of every item."""
        return self._kept("history", names)

    def _kept(self, root: str, names: Iterable[str]) -> dict[str, tuple[Path, ...]]:
        read: Mapping[str, set[Path]] = self._read[root]
        if root in self._all:
            return dict.fromkeys(sorted({*names, *read}), ((),))
        return {name: shortest(read[name]) for name in sorted(read)}


def _fields(path: tuple[str | int, ...]) -> Path:
    """Cut a path at its first position in a list: lists are kept whole."""
    fields: list[str] = []
    for part in path:
        if not isinstance(part, str):
            break
        fields.append(part)
    return tuple(fields)


def shortest(paths: Iterable[Path]) -> tuple[Path, ...]:
    """
    Leave out every path that another one covers.

    >>> shortest([("a", "b"), ("a",), ("c",)])
    (('a',), ('c',))
    """
    kept: list[Path] = []
    for path in sorted(paths):
        if not kept or path[: len(kept[-1])] != kept[-1]:
            kept.append(path)
    return tuple(kept)
