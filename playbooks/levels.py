"""Which keys are legal where, read off the models: one place for suggestions, messages and tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from .approvals import ApprovalSpec
from .attempts import RepeatSpec, RetrySpec
from .base import Part, written_order
from .blocks import AskSpec, ForEachSpec, ProbeSpec, UndoSpec, WaitSpec
from .branches import Branch
from .inputs import OWN_KEYS, InputSpec
from .models import Defaults, Playbook, PlaybookStep
from .policies import CountSpec, EventSpec, OrderSpec, PolicySpec, PredicateSpec, ResponseSpec
from .terminations import TerminationItem
from .tools_spec import CallSpec, ToolEntry, ToolSpec

LABELS: Mapping[type[Part], str] = {
    Playbook: "at the top of the playbook",
    PlaybookStep: "in a step",
    Defaults: "in `defaults`",
    ToolSpec: "in a tool of `tools`",
    ToolEntry: "in an entry of `expected_tools` or `optional_tools`",
    CallSpec: "in `call`",
    ApprovalSpec: "in `approval`",
    RetrySpec: "in `retry`",
    RepeatSpec: "in `repeat`",
    Branch: "in a branch of `next`, `switch` or `on_…`",
    TerminationItem: "in a condition of `termination`",
    InputSpec: "in an input",
    ForEachSpec: "in `for_each`",
    WaitSpec: "in `wait`",
    AskSpec: "in `ask`",
    ProbeSpec: "in a probe of `required_probes`",
    UndoSpec: "in the `undo` of a tool",
    PolicySpec: "in a policy",
    OrderSpec: "in `precedence` or `succession`",
    ResponseSpec: "in `response`",
    CountSpec: "in `at_most`, `at_least` or `exactly`",
    EventSpec: "in an event of a policy",
    PredicateSpec: "in a predicate",
}
"""Every map of the format, and how messages speak of it."""


class Child(NamedTuple):
    """What the value of a key is made of: parts of this model, under names of the author's where `named`."""

    model: type[Part]
    named: bool


def written_name(name: str, field: FieldInfo) -> str:
    """The key in the file: `as` for the attribute `as_`."""
    return field.validation_alias if isinstance(field.validation_alias, str) else name


@cache
def keys(model: type[Part]) -> Mapping[str, FieldInfo]:
    """The legal keys of a map, in the order people write them."""
    fields = model.model_fields
    return {written_name(name, fields[name]): fields[name] for name in written_order(model)}


@cache
def children(model: type[Part]) -> Mapping[str, Child]:
    """The keys whose values are maps of the format again."""
    found: dict[str, Child] = {}
    for key, field in keys(model).items():
        for part, named in _parts(field.annotation):
            found[key] = Child(part, named)
    return found


def _parts(annotation: Any, named: bool = False) -> Iterator[tuple[type[Part], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation, named
    arguments = get_args(annotation)
    for argument in arguments:
        yield from _parts(argument, named or (len(arguments) == 2 and getattr(annotation, "__origin__", None) is dict))


def level_at(path: Sequence[str | int]) -> type[Part] | None:
    """
    The model of the map at a path; None where the format says nothing of what stands there.

    >>> level_at(("steps", 3, "retry")).__name__, level_at(("tools", "retry")).__name__, level_at(("metadata", "a"))
    ('RetrySpec', 'ToolSpec', None)
    """
    model: type[Part] | None = Playbook
    in_names = False
    for part in path:
        if isinstance(part, int):
            continue
        if in_names:
            in_names = False
            continue
        child = children(model).get(part) if model else None
        model, in_names = child or (None, False)
    return None if in_names else model


@cache
def homes(key: str) -> tuple[str, ...]:
    """The maps that have such a key, as messages speak of them."""
    named = {model: label for model, label in LABELS.items() if model is not Defaults}
    own = frozenset(OWN_KEYS)
    return tuple(label for model, label in named.items() if key in (own if model is InputSpec else keys(model)))


@cache
def limits(model: type[Part], key: str) -> tuple[float | None, float | None]:
    """The least and the greatest number that a key takes."""
    field = keys(model).get(key)
    low: float | None = None
    high: float | None = None
    for mark in _marks(field) if field else ():
        if isinstance(mark, Ge | Gt):
            bound: Any = mark.ge if isinstance(mark, Ge) else mark.gt
            low = bound
        elif isinstance(mark, Le):
            bound = mark.le
            high = bound
    return low, high


def _marks(field: FieldInfo) -> Iterator[Any]:
    work: list[Any] = [field.annotation]
    yield from field.metadata
    while work:
        annotation = work.pop()
        for mark in getattr(annotation, "__metadata__", ()):
            yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)
        work.extend(get_args(annotation))
