"""
The ids that the files of a folder may have, read cheaply.

Only the first part of each file is looked at, and not parsed: an id found here is what may be meant.  Whoever takes the
file reads it whole, and then knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".yaml", ".yml", ".json")
ARTIFACT = ".machine.json"
MOST_FILES = 1000
"""So many playbooks beside one another are looked through; of more, `imports` has to say which."""

MOST_BYTES = 1_000_000
"""An id stands near the top."""

_IN_LINES = re.compile(r"""^(?:id|"id"|'id')[ \t]*:[ \t]+(.+)$""", re.MULTILINE)
_IN_BRACES = re.compile(r"""(?<![\w-])(?:id|"id"|'id')\s*:\s*("[^"\n]*"|'[^'\n]*'|[^,}\n]*)""")
_COMMENT = re.compile(r"\s#.*$")


class TooManyError(Exception):
    """The folder holds more playbooks than are looked through."""


@dataclass(frozen=True, slots=True)
class Head:
    """A file, and the ids it may have."""

    path: str
    ids: tuple[str, ...]


def heads_beside(folder: str) -> list[Head]:
    """
    Give the playbooks of a folder, by name; compiled machines and hidden files are none.

    Raises `TooManyError` where there are more than `MOST_FILES`.
    """
    names = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if may_be_playbook(entry.name) and not entry.name.startswith("."):
                    names.append(entry.name)
                if len(names) > MOST_FILES:
                    raise TooManyError(folder)
    except OSError:
        return []
    return list(heads(str(Path(folder) / name) for name in sorted(names)))


def heads(paths: Iterable[str]) -> Iterator[Head]:
    """Look into files; one that cannot be read has no id."""
    for path in paths:
        found = tuple(ids_in(_top(path)))
        if found:
            yield Head(path, found)


def may_be_playbook(name: str) -> bool:
    """
    Tell by its name whether a file may hold a playbook.

    >>> may_be_playbook("enrich.yaml"), may_be_playbook("enrich.machine.json"), may_be_playbook("notes.md")
    (True, False, False)
    """
    return name.lower().endswith(SUFFIXES) and not name.endswith(ARTIFACT)


def ids_in(text: str) -> Iterator[str]:
    """
    Find what may be the id of a playbook: in braces any id, else those at the beginning of a line.

    >>> list(ids_in("id: triage  # the first\\nsteps:\\n  - id: look\\n")), list(ids_in('{"name": "T", "id": "t"}'))
    (['triage'], ['t'])
    """
    pattern = _IN_BRACES if text.lstrip("\ufeff \t\r\n").startswith("{") else _IN_LINES
    for match in pattern.finditer(text):
        found = match[1].strip()
        if found[:1] not in "\"'":
            found = _COMMENT.sub("", found).rstrip()
        elif (end := found.find(found[0], 1)) > 0:
            found = found[1:end]
        yield found


def _top(path: str) -> str:
    try:
        if not Path(path).is_file():
            return ""
        with Path(path).open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
