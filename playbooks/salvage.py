"""What is sound of a playbook with faults of shape, so that its names can be checked in the same run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from guideway.statemachine.diagnostic import Level

from .document import Document
from .faults import Path
from .grouped import flatten
from .levels import keys, level_at
from .models import Playbook
from .plain_steps import is_branch
from .validate import judge

PARTS = ("imports", "inputs", "optional_tools", "outcomes", "predicates", "steps", "terms", "tools")
"""Parts of a playbook that declare names."""

MOST = 100
"""With more faults than this nobody asks for more; the names wait for the next run."""


def salvage(document: Document) -> tuple[Playbook, tuple[Path, ...]] | None:
    """
    Leave out what has a fault, and give the rest, with the paths that were left out; None where too little is left.

    Only keys are left out, so that the places of all else stay what they are.  The rest is no playbook to run: it may
    break rules, and is fit for looking up names only.

    >>> from guideway.playbooks.reader import read_text
    >>> text = "id: a\\nname: A\\nsteps: [{id: look, expected_tool: [x], next: fuond}]\\n"
    >>> playbook, lost = salvage(read_text(text))
    >>> playbook.steps[0].next, lost
    ('fuond', (('steps', 0, 'expected_tool'),))
    """
    if document.root is None or document.root.kind != "map":
        return None
    if any(finding.level is Level.ERROR for finding in document.diagnostics):
        return None
    flat, of_groups = flatten(document)
    data = flat.root.plain() if flat.root else {}
    _, faults = judge(data)
    if of_groups or not faults or len(faults) > MOST:
        return None
    lost = tuple(dict.fromkeys(removable(fault.path) for fault in faults))
    if not all(drop(data, path) for path in lost):
        return None
    try:
        playbook = Playbook.model_validate(data, by_alias=True, by_name=False)
    except ValidationError:
        return None
    playbook._source.document = flat
    return playbook, lost


def key_of(path: Path) -> Path:
    """The nearest key on the way to a value: items of a list cannot be left out without moving those behind."""
    whole = list(path)
    while whole and isinstance(whole[-1], int):
        whole.pop()
    return tuple(whole)


def removable(path: Path) -> Path:
    """
    The nearest key on the way to a fault that can be left out; the empty path where nothing can.

    >>> removable(("steps", 0, "for_each", "as")), removable(("steps", 0, "id"))
    (('steps', 0, 'for_each'), ())
    """
    whole = key_of(path)
    while whole and _needed(whole):
        whole = key_of(whole[:-1])
    return whole


def _needed(path: Path) -> bool:
    """Whether what the key stands in could not do without it."""
    model, key = level_at(path[:-1]), str(path[-1])
    if path == ("steps",):
        return True
    if model is None or (key == "id" and is_branch(path[:-1])):
        return False
    field = keys(model).get(key)
    return field is not None and field.is_required()


def drop(data: Any, path: Path) -> bool:
    """Delete the key at the path; False where there is none."""
    if not path or not isinstance(path[-1], str):
        return False
    at = data
    for part in path[:-1]:
        try:
            at = at[part]
        except (LookupError, TypeError):
            return True  # what it lies in is gone already
    if isinstance(at, dict):
        at.pop(path[-1], None)
        return True
    return False


def sections(lost: Iterable[Path]) -> frozenset[str]:
    """
    The parts of the playbook that something was left out of.  A key left out at the top may have meant any of them.

    >>> sorted(sections([("steps", 0, "next"), ("tools", "x", "effect")]))
    ['steps', 'tools']
    >>> "inputs" in sections([("imputs",)])
    True
    """
    return frozenset(name for path in lost for name in (PARTS if len(path) == 1 else [str(path[0])]))
