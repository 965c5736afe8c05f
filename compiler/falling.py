"""The one flow rule that needs the page: a handler that is also fallen into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from guideway.playbooks.branches import Branch
from guideway.playbooks.models import Playbook
from guideway.playbooks.steps import PlaybookStep
from guideway.statemachine.diagnostic import Diagnostic, Level, Related

from .defaults import TARGETS, Keys, Listing
from .lists import lay_out

_TARGETS = frozenset(TARGETS)


def falls_into_handler(playbook: Playbook) -> Iterator[Diagnostic]:
    """
    ## What it finds
    A step that others name only in `on_…` keys, and that the step above it falls into, having no `next`.

    ## Why it matters
    It reads as an exception and happens on every good run: the rollback after the deployment that went well.

    ## Example
    ```yaml
    steps:
      - {id: deploy, expected_tools: [shift_traffic], on_failure: roll_back}
      - {id: roll_back, expected_tools: [restore]}
    ```

    ## Repair
    End the step above with `next: success`, or lead it on purpose: `next: roll_back`.
    """
    if not _handles(playbook):
        return
    page = list(lay_out(playbook).walk())
    handled = _handlers(playbook, page)
    chosen = {goto for keys in page for goto in chosen_by(keys.step) if goto != keys.step.id}
    for above, keys in _neighbours(page):
        name = keys.step.id
        if name in handled and name not in chosen and falls(above.step):
            end = "done" if keys.home.block else "success"
            yield Diagnostic(
                "GW203", Level.WARNING,
                f"step `{above.step.id}` falls into `{name}`, which is only named as a handler ({handled[name]})",
                playbook.span((*keys.path, "id")),
                help=f"end `{above.step.id}` with `next: {end}`, or lead it on purpose: `next: {name}`",
                related=(Related(playbook.span(above.path), f"`{above.step.id}` has no `next`"),),
            )  # fmt: skip


def _handles(playbook: Playbook) -> bool:
    """Some `on_…` key is written at all."""
    owners = chain([playbook.defaults], (step for step, _ in playbook.walk()))
    return any(owner is not None and not _TARGETS.isdisjoint(owner.model_fields_set) for owner in owners)


def _handlers(playbook: Playbook, page: list[Keys]) -> dict[str, str]:
    """What `on_…` keys name, each with the first of them; a step is no handler of what lies in it."""
    handled: dict[str, str] = {}
    for keys in page:
        for key in TARGETS if not _TARGETS.isdisjoint(keys.step.model_fields_set) else ():
            for goto in gotos(getattr(keys.step, key)):
                if goto not in _around(keys):
                    handled.setdefault(goto, f"`{key}` of `{keys.step.id}`")
    for key in TARGETS:
        for goto in gotos(getattr(playbook.defaults, key, None)):
            handled.setdefault(goto, f"`{key}` of `defaults`")
    return handled


def _around(keys: Keys) -> set[str]:
    """Name the step and the blocks around it: to begin one of those again is no handling."""
    home: Listing | None = keys.home
    found = {keys.step.id}
    while home is not None:
        found.add(home.block)
        home = home.outer
    return found


def _neighbours(page: list[Keys]) -> Iterator[tuple[Keys, Keys]]:
    """Give each step but the first of its list, behind the one above it there."""
    above: dict[int, Keys] = {}
    for keys in page:
        home = id(keys.home)
        if home in above:
            yield above[home], keys
        above[home] = keys


def chosen_by(step: PlaybookStep) -> Iterator[str]:
    """Name what a step leads to on purpose: by `next`, by its branches, by the choices of its question."""
    yield from gotos(step.next)
    yield from gotos(step.switch)
    if step.ask is not None and isinstance(step.ask.choices, Mapping):
        for target in step.ask.choices.values():
            yield from gotos(target)


def falls(step: PlaybookStep) -> bool:
    """
    Tell whether a step goes on to the following one by its place on the page.

    A router does not, nor a question of which every answer has a way of its own, unless they may be passed over.
    """
    if step.next is not None:
        return False
    if step.switch is not None:
        return step.when is not None
    answered = step.ask is not None and isinstance(step.ask.choices, Mapping)
    return not answered or step.when is not None or not step.required


def gotos(target: str | list[Branch] | None) -> list[str]:
    """
    Name the steps and outcomes that a target may lead to.

    >>> gotos("success"), gotos([Branch(goto="a"), Branch(goto="b")])
    (['success'], ['a', 'b'])
    """
    if target is None:
        return []
    return [target] if isinstance(target, str) else [branch.goto for branch in target]
