"""The one flow rule that needs the page: a handler that is also fallen into."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.playbooks.branches import Branch
from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.statemachine.diagnostic import Diagnostic, Level, Related

from .defaults import TARGETS


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
    handled: dict[str, str] = {}
    chosen: set[str] = set()
    for step in playbook.steps:
        chosen |= {goto for goto in (*gotos(step.next), *gotos(step.switch)) if goto != step.id}
        for key in TARGETS:
            for goto in gotos(getattr(step, key)):
                if goto != step.id:
                    handled.setdefault(goto, f"`{key}` of `{step.id}`")
    for key in TARGETS:
        for goto in gotos(getattr(playbook.defaults, key, None)):
            handled.setdefault(goto, f"`{key}` of `defaults`")
    for index, step in enumerate(playbook.steps):
        above = playbook.steps[index - 1] if index else None
        if above is not None and step.id in handled and step.id not in chosen and falls(above):
            yield Diagnostic(
                "GW203", Level.WARNING,
                f"step `{above.id}` falls into `{step.id}`, which is only named as a handler ({handled[step.id]})",
                playbook.span(("steps", index, "id")),
                help=f"end `{above.id}` with `next: success`, or lead it on purpose: `next: {step.id}`",
                related=(Related(playbook.span(("steps", index - 1)), f"`{above.id}` has no `next`"),),
            )  # fmt: skip


def falls(step: PlaybookStep) -> bool:
    """Tell whether a step goes on to the following one by its place on the page."""
    return step.next is None and (step.switch is None or step.when is not None)


def gotos(target: str | list[Branch] | None) -> list[str]:
    """
    Name the steps and outcomes that a target may lead to.

    >>> gotos("success"), gotos([Branch(goto="a"), Branch(goto="b")])
    (['success'], ['a', 'b'])
    """
    if target is None:
        return []
    return [target] if isinstance(target, str) else [branch.goto for branch in target]
