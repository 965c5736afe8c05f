"""Steps inside steps: the way through a playbook of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .steps import PlaybookStep

Path = tuple[str | int, ...]


def walk(steps: Sequence[PlaybookStep], path: Path) -> Iterator[tuple[PlaybookStep, Path]]:
    """
    Every step of a list that stands at `path`, in the order of the page, nested ones after the one they lie in.

    >>> look, act = (PlaybookStep(id=name, description="Work") for name in ("look", "act"))
    >>> both = PlaybookStep(id="both", parallel={"look": look, "acting": [act]})
    >>> for step, path in walk([both], ("steps",)): print(step.id, path)
    both ('steps', 0)
    look ('steps', 0, 'parallel', 'look')
    act ('steps', 0, 'parallel', 'acting', 0)
    """
    for index, step in enumerate(steps):
        yield from _from(step, (*path, index))


def _from(step: PlaybookStep, path: Path) -> Iterator[tuple[PlaybookStep, Path]]:
    yield step, path
    for name, branch in (step.parallel or {}).items():
        here: Path = (*path, "parallel", name)
        yield from walk(branch, here) if isinstance(branch, list) else _from(branch, here)
    if step.steps:
        yield from walk(step.steps, (*path, "steps"))


def lists_of(step: PlaybookStep) -> dict[str, tuple[PlaybookStep, ...]]:
    """
    The lists of steps that lie directly in a step: its branches by name, or the one list of its block under no name.

    >>> lists_of(PlaybookStep(id="a", steps=[PlaybookStep(id="b", description="B")]))
    {'': (PlaybookStep(id='b', description='B'),)}
    """
    if step.parallel is not None:
        return {name: tuple(part) if isinstance(part, list) else (part,) for name, part in step.parallel.items()}
    return {} if step.steps is None else {"": tuple(step.steps)}
