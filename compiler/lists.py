"""The lists of steps on a page: the playbook's own, and those that lie in blocks."""

from __future__ import annotations

from collections.abc import Sequence

from guideway.playbooks.handlers import Defaults
from guideway.playbooks.models import Playbook
from guideway.playbooks.steps import PlaybookStep

from .defaults import TARGETS, Keys, Listing
from .findings import Path

ANY_ORDER = "(any order)"
"""The step that holds all others, side by side, where `strict_sequence` is false (S34)."""


def lay_out(playbook: Playbook) -> Listing:
    """
    Give the playbook's own list, the lists inside hanging on their steps.

    >>> inner = PlaybookStep(id="inner", description="Look")
    >>> own = lay_out(Playbook(id="p", name="P", steps=[PlaybookStep(id="outer", steps=[inner])]))
    >>> [(keys.step.id, keys.home.block, keys.path) for keys in own.walk()]
    [('outer', '', ('steps', 0)), ('inner', 'outer', ('steps', 0, 'steps', 0))]
    """
    own = Listing()
    if playbook.strict_sequence or not playbook.steps:
        return _fill(own, playbook.steps, ("steps",), playbook.defaults)
    whole = PlaybookStep(
        id=ANY_ORDER, description="the steps, in any order", parallel={step.id: step for step in playbook.steps}
    )
    keys = Keys(whole, ("strict_sequence",), _handlers(playbook.defaults), own)
    keys.lists = [Listing(ANY_ORDER, own, concurrent=True) for _ in playbook.steps]
    for index, (step, listing) in enumerate(zip(playbook.steps, keys.lists, strict=True)):
        _add(listing, step, ("steps", index), playbook.defaults)
    own.steps.append(keys)
    return own


def closing(playbook: Playbook) -> Listing:
    """Give the list `finally`."""
    return _fill(Listing(), playbook.finally_, ("finally",), playbook.defaults)


def _handlers(defaults: Defaults | None) -> Defaults | None:
    """Nobody has written the step around all others, so it takes no limit, only where a failure goes."""
    if defaults is None:
        return None
    given = {key: getattr(defaults, key) for key in TARGETS if key in defaults.model_fields_set}
    return Defaults.model_construct(set(given), **given)


def _fill(listing: Listing, steps: Sequence[PlaybookStep], path: Path, defaults: Defaults | None) -> Listing:
    for index, step in enumerate(steps):
        _add(listing, step, (*path, index), defaults)
    return listing


def _add(listing: Listing, step: PlaybookStep, path: Path, defaults: Defaults | None) -> None:
    keys = Keys(step, path, defaults, listing)
    listing.steps.append(keys)
    if step.parallel is not None:
        for name, branch in step.parallel.items():
            inner = Listing(step.id, listing, concurrent=True)
            here: Path = (*path, "parallel", name)
            if isinstance(branch, list):
                _fill(inner, branch, here, defaults)
            else:
                _add(inner, branch, here, defaults)
            keys.lists.append(inner)
    elif step.steps is not None:
        inner = Listing(step.id, listing, step.for_each is not None and step.for_each.concurrency > 1)
        keys.lists.append(_fill(inner, step.steps, (*path, "steps"), defaults))
