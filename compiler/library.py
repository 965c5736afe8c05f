"""
Where the playbooks that others call are found: under `imports`, among those given, or beside the caller.

Nothing outside the root is read, whatever a path or a symbolic link says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from guideway.playbooks.document import Document
from guideway.playbooks.limits import Limits
from guideway.playbooks.models import Playbook
from guideway.playbooks.reader import read_file
from guideway.playbooks.validate import validate
from guideway.statemachine.diagnostic import Diagnostic

from .heads import MOST_FILES, Head, TooManyError, heads, heads_beside, may_be_playbook

PLACELESS = frozenset({"<text>", "<dict>", "<stdin>"})
"""Names of sources that are no files."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a name leads to: no playbook where the file has faults of shape.  `findings` are those of reading."""

    id: str
    file: str
    playbook: Playbook | None
    findings: tuple[Diagnostic, ...] = ()
    document: Document | None = None
    """What was read, where the playbook is not usable."""

    def same_as(self, other: Found) -> bool:
        """Both are one source; two that come from no file are one if they say the same."""
        if self.file in PLACELESS or other.file in PLACELESS:
            return self.playbook is not None and self.playbook == other.playbook
        return os.path.realpath(self.file) == os.path.realpath(other.file)


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that leads nowhere: why, and what to do; where it simply names nothing, the names there are (`known`)."""

    why: str = ""
    repair: str = ""
    known: tuple[str, ...] = ()
    twice: bool = False
    """Two playbooks have that id."""


class Library:
    """
    Finds playbooks by the names that their callers use.

    Args:
        given: playbooks by the name they are called by; several pairs with one name are an error where it is used.
        files: files whose playbooks may be called by id, though they do not lie beside the caller.
        root: the folder out of which nothing is read; by default that of the file the first caller came from.
        limits: how much is read of one file.
    """

    def __init__(
        self,
        given: Mapping[str, Playbook] | Iterable[tuple[str, Playbook]] = (),
        *,
        files: Iterable[str] = (),
        root: str | Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.root = None if root is None else os.path.realpath(root)
        self._limit = "the folder of the first playbook" if root is None else f"the root `{root}`"
        self._given: dict[str, list[Playbook]] = {}
        for name, playbook in given.items() if isinstance(given, Mapping) else given:
            self._given.setdefault(name, []).append(playbook)
        self._files = tuple(files)
        self._limits = limits or Limits()
        self._beside: dict[str, list[Head]] = {}
        self._named: list[Head] | None = None
        self._read: dict[str, Found] = {}

    def under(self, playbook: Playbook) -> str | None:
        """Give the root that holds for the calls of a playbook, and of those it calls."""
        folder = folder_of(playbook)
        return self.root if self.root is not None or folder is None else os.path.realpath(folder)

    def find(self, name: str, caller: Playbook, root: str | None) -> Found | Missing:
        """Find the playbook that `caller` means by a name; `root` is that of the playbook at the top."""
        folder = folder_of(caller)
        if folder is None:
            folder = root
        elif root is None or (self.root is None and not _within(folder, root)):
            root = os.path.realpath(folder)  # the caller was given, from elsewhere
        written = caller.imports.get(name)
        if written is not None and folder is not None and root is not None:
            return self._import(written, folder, root)
        if name in self._given:
            return _only([of_playbook(playbook) for playbook in self._given[name]], name, caller)
        if written is not None:
            return Missing(
                f"`{written}` cannot be looked for: this playbook comes from no file",
                "say where to look when loading: `root=…`, or give the playbook itself: `library=[…]`",
            )
        if folder is not None and root is not None and _within(folder, root):
            try:
                found = self._called(name, self._heads(folder), root)
            except TooManyError:
                return Missing(
                    f"there are more than {MOST_FILES:,} playbooks beside this one, which are not looked through",
                    f"name the file: `imports: {{{name}: ./{name}.yaml}}`",
                )
            if found:
                return _only(found, name, caller)
        return _only(self._called(name, self._of_files(), None), name, caller, self._known(caller, folder))

    # --- by path -------------------------------------------------------------------------------------------------

    def _import(self, written: str, folder: str, root: str) -> Found | Missing:
        path = os.path.normpath(Path(folder) / written)
        if not _within(path, root):
            return Missing(
                f"`{written}` lies outside {self._limit}, and nothing there is read",
                "move the file, or name a folder that holds both when loading: `root=…`",
            )
        if not may_be_playbook(Path(path).name):
            return Missing(f"`{written}` is no .yaml, .yml or .json file", "name the file of a playbook")
        if not _is_file(path):
            return Missing(f"`{written}` names no file", "a path is relative to the file it stands in; correct it")
        return self._whole(path)

    # --- by id ---------------------------------------------------------------------------------------------------

    def _called(self, name: str, among: Iterable[Head], root: str | None) -> list[Found]:
        """Read those files whose head speaks of the id, and keep those whose id it is; the same file counts once."""
        found: dict[str, Found] = {}
        for head in among:
            if name in head.ids and (root is None or _within(head.path, root)):
                read = self._whole(head.path)
                if read.id == name:
                    found.setdefault(os.path.realpath(head.path), read)
        return list(found.values())

    def _heads(self, folder: str) -> list[Head]:
        if folder not in self._beside:
            self._beside[folder] = heads_beside(folder)
        return self._beside[folder]

    def _of_files(self) -> list[Head]:
        if self._named is None:
            self._named = list(heads(self._files))
        return self._named

    def _known(self, caller: Playbook, folder: str | None) -> tuple[str, ...]:
        """Names for a suggestion."""
        beside = self._beside.get(folder, []) if folder is not None else []
        near = (head.ids[0] for head in (*beside, *self._of_files()))
        return tuple(dict.fromkeys([*caller.imports, *self._given, *near]))

    def _whole(self, path: str) -> Found:
        real = os.path.realpath(path)
        if real not in self._read:
            document = read_file(path, limits=self._limits)
            playbook, findings = validate(document)
            name = playbook.id if playbook is not None else _id_in(document)
            self._read[real] = Found(name, path, playbook, tuple(findings), document)
        return self._read[real]


def of_playbook(playbook: Playbook) -> Found:
    """Give a playbook as what was found."""
    return Found(playbook.id, playbook.file, playbook, playbook.findings)


def folder_of(playbook: Playbook) -> str | None:
    """Give the folder in which the file of a playbook lies; None where it comes from no file."""
    return None if playbook.file in PLACELESS else str(Path(playbook.file).parent)


def as_seen_from(caller: Playbook, file: str) -> str:
    """Write the path of a file as the file of the caller would have it under `imports`."""
    folder = folder_of(caller)
    return file if folder is None or file in PLACELESS else os.path.relpath(file, folder)


def _only(found: list[Found], name: str, caller: Playbook, known: tuple[str, ...] = ()) -> Found | Missing:
    """Take the one that was found; where there is none, `known` are the names there are."""
    if len(found) == 1:
        return found[0]
    if not found:
        return Missing(known=known)
    places = " and ".join(sorted(as_seen_from(caller, each.file) for each in found)[:2])
    repair = f"give one of them another id, or say which is meant: `imports: {{{name}: ./FILE.yaml}}`"
    return Missing(f"{places} have this id", repair, twice=True)


def _within(path: str, root: str) -> bool:
    """Tell whether a path leads, symbolic links followed, to something inside the root."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(root)
    except (OSError, ValueError):
        return False


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _id_in(document: Document) -> str:
    """Read the id of a playbook that has faults of shape."""
    members = document.root.value if document.root is not None else None
    node = members.get("id") if isinstance(members, dict) else None
    return node.value if node is not None and isinstance(node.value, str) else ""
