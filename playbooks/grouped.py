"""
Playbooks in groups: `step_groups` in the place of `steps`.

They are rewritten into the flat form before anything else looks at them; every node keeps its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from guideway.statemachine.diagnostic import Diagnostic

from .base import Part
from .document import Document
from .faults import Fault, Path, key_text, short, value_text
from .levels import LABELS, keys
from .models import Playbook, PlaybookStep
from .nodes import Node
from .suggest import nearest

TEXT_KEYS = ("title", "summary", "mode", "goal", "priority")
STEP_EXTRAS = (*TEXT_KEYS, "guidance", "completion")
GROUP_KEYS = ("id", "description", "steps", "metadata", *STEP_EXTRAS)
TOP_EXTRAS = (*TEXT_KEYS, "guidance", "completion", "step_groups")
"""Keys of a grouped playbook that a flat one does not have."""


def flatten(document: Document) -> tuple[Document, list[Diagnostic]]:
    """
    Write a document with `step_groups` and no `steps` in the flat form; hand on any other as it is.

    >>> from guideway.playbooks.reader import read_text
    >>> text = "id: a\\ntitle: A\\nstep_groups: [{id: g, title: First., steps: [{id: s, title: Look.}]}]"
    >>> flat, found = flatten(read_text(text))
    >>> flat.root.at(["steps", 0, "description"]).value
    'First.\\n\\nLook.'
    """
    root = document.root
    if root is None or root.kind != "map" or "step_groups" not in root.value or "steps" in root.value:
        return document, []
    faults: list[Fault] = list(_text_faults(root.value, ()))
    groups = root.value["step_groups"]
    steps: list[Node] = []
    if groups.kind == "list":
        collides = {name for name, count in Counter(_ids(groups)).items() if count > 1}
        for index, group in enumerate(groups.value):
            steps += _group(group, ("step_groups", index), collides, faults)
    else:
        faults.append(_wrong(("step_groups",), "a list of groups", groups))
    faults += _misspelt(root.value, (), Playbook, TOP_EXTRAS)
    kept = _top(root)
    kept.set("steps", Node(steps, groups.line, groups.column), root.key_places["step_groups"])
    return replace(document, root=kept.node()), [fault.placed(document) for fault in faults]


class _Map:
    """A map node being rewritten: its values and the places of its keys."""

    def __init__(self, node: Node, model: type[Part] | None = None, extras: tuple[str, ...] = ()) -> None:
        self.origin = node
        told = {key for key in node.value if meant_extra(key, model, extras)} if model else set()
        self.values: dict[str, Node] = {key: value for key, value in node.value.items() if key not in told}
        self.places: dict[str, tuple[int, int]] = dict(node.key_places)

    def take(self, key: str) -> tuple[Node, tuple[int, int]] | None:
        value = self.values.pop(key, None)
        return None if value is None else (value, self.places[key])

    def set(self, key: str, value: Node, place: tuple[int, int]) -> None:
        self.values[key] = value
        self.places[key] = place

    def keep_apart(self, extras: Mapping[str, tuple[Node, tuple[int, int]]]) -> None:
        """Put what the flat form has no key for into `metadata`."""
        old = self.values.get("metadata")
        if not extras or (old is not None and old.kind != "map"):
            return
        values = {**(old.value if old else {}), **{key: value for key, (value, _) in extras.items()}}
        places = {**(old.key_places if old else {}), **{key: place for key, (_, place) in extras.items()}}
        first = next(iter(places.values()))
        merged = Node(values, *(first if old is None else (old.line, old.column)), "", places)
        self.set("metadata", merged, self.places.get("metadata", first))

    def node(self) -> Node:
        places = {key: self.places[key] for key in self.values}
        return Node(self.values, self.origin.line, self.origin.column, self.origin.style, places)


def _top(root: Node) -> _Map:
    made = _Map(root, Playbook, TOP_EXTRAS)
    extras = {key: taken for key in TOP_EXTRAS if (taken := made.take(key))}
    del extras["step_groups"]
    for key, extra in (("name", "title"), ("description", "summary")):
        if extra in extras and key not in made.values:
            made.set(key, *extras.pop(extra))
    made.keep_apart(extras)
    return made


def _ids(groups: Node) -> Iterator[str]:
    for group in groups.value:
        steps = group.value.get("steps") if group.kind == "map" else None
        for step in steps.value if steps is not None and steps.kind == "list" else ():
            name = step.value.get("id") if step.kind == "map" else None
            if name is not None and isinstance(name.value, str):
                yield name.value


def _group(group: Node, path: Path, collides: set[str], faults: list[Fault]) -> list[Node]:
    if group.kind != "map":
        faults.append(_wrong(path, "a map with `id`, `title` and `steps`", group))
        return []
    faults += _group_faults(group, path)
    name = group.value.get("id")
    prefix = name.value if name is not None and isinstance(name.value, str) else f"group{path[-1]}"
    steps = group.value.get("steps")
    if steps is None or steps.kind != "list":
        return []
    made: list[Node] = []
    for index, step in enumerate(steps.value):
        if step.kind == "map":
            faults += _text_faults(step.value, (*path, "steps", index))
            faults += _misspelt(step.value, (*path, "steps", index), PlaybookStep, STEP_EXTRAS)
            heading = _text(group, "title", "goal") if index == 0 else ""
            step = _step(step, prefix, heading, collides)
        made.append(step)
    return made


def _step(step: Node, group: str, heading: str, collides: set[str]) -> Node:
    made = _Map(step, PlaybookStep, STEP_EXTRAS)
    extras = {key: taken for key in STEP_EXTRAS if (taken := made.take(key))}
    _describe(made, extras, heading)
    _skills(made, extras)
    name = made.values.get("id")
    if name is not None and isinstance(name.value, str) and name.value in collides:
        made.set("id", Node(f"{group}_{name.value}", name.line, name.column, "data"), made.places["id"])
    place = (step.line, step.column)
    made.keep_apart({**extras, "group": (Node(group, *place, "data"), place)})
    return made.node()


def _describe(made: _Map, extras: dict[str, tuple[Node, tuple[int, int]]], heading: str) -> None:
    """Title and goal are what the agent reads; the heading of the group stands before its first step."""
    written = made.values.get("description")
    if written is not None and not isinstance(written.value, str):
        return
    titled = [key for key in ("title", "goal") if written is None and key in extras]
    said = [extras.pop(key) for key in titled if isinstance(extras[key][0].value, str)]
    parts = [written.value] if written is not None else [" ".join(node.value for node, _ in said)]
    text = "\n\n".join(part for part in (heading, *parts) if part)
    if text:
        origin = written or (said[0][0] if said else made.origin)
        place = made.places.get("description") or (said[0][1] if said else (origin.line, origin.column))
        made.set("description", Node(text, origin.line, origin.column, "data"), place)


def _skills(made: _Map, extras: dict[str, tuple[Node, tuple[int, int]]]) -> None:
    guidance = extras.get("guidance")
    if guidance is None or guidance[0].kind != "map" or "skill_refs" not in guidance[0].value:
        return
    rest = _Map(guidance[0])
    taken = rest.take("skill_refs")
    if taken and "uses" not in made.values:
        made.set("uses", *taken)
    elif taken and taken[0].kind == made.values["uses"].kind == "list":
        uses = made.values["uses"]
        made.set("uses", Node(uses.value + taken[0].value, uses.line, uses.column), made.places["uses"])
    if rest.values:
        extras["guidance"] = (rest.node(), guidance[1])
    else:
        del extras["guidance"]


def _text(node: Node, *keys: str) -> str:
    values = (node.value[key].value for key in keys if key in node.value)
    return " ".join(value for value in values if isinstance(value, str))


def _text_faults(values: Mapping[str, Node], path: Path) -> Iterator[Fault]:
    """Check the keys that only the grouped form has."""
    for key in TEXT_KEYS:
        if key in values and not isinstance(values[key].value, str):
            yield _wrong((*path, key), "text", values[key])
    guidance = values.get("guidance")
    if guidance is None:
        return
    if guidance.kind != "map":
        yield _wrong((*path, "guidance"), "a map", guidance)
        return
    for key in guidance.value:
        if key != "skill_refs" and nearest(key, ("skill_refs",)):
            message = f"unknown key `{short(key)}` in `guidance`; did you mean `skill_refs`?"
            yield Fault("GW020", (*path, "guidance", key), message, None, "key")


def meant_extra(key: str, model: type[Part], extras: tuple[str, ...]) -> str | None:
    """The key of the grouped form, and of that form only, that an unknown key probably stands for."""
    if key in keys(model) or key in extras:
        return None
    meant = nearest(key, (*keys(model), *extras))
    return meant if meant in extras else None


def _misspelt(values: Mapping[str, Node], path: Path, model: type[Part], extras: tuple[str, ...]) -> Iterator[Fault]:
    for key in values:
        if meant := meant_extra(key, model, extras):
            message = f"unknown key `{short(key)}` {LABELS[model]}; did you mean `{meant}`?"
            yield Fault("GW020", (*path, key), message, None, "key", meant=meant)


def _group_faults(group: Node, path: Path) -> Iterator[Fault]:
    yield from _text_faults(group.value, path)
    known = ", ".join(f"`{key}`" for key in GROUP_KEYS)
    for key in group.value:
        if key not in GROUP_KEYS:
            meant = nearest(key, GROUP_KEYS)
            hint = f"; did you mean `{meant}`?" if meant else ""
            message = f"unknown key `{short(key)}` in a group of `step_groups`{hint}"
            yield Fault("GW020", (*path, key), message, f"a group has {known}", "key")
    steps = group.value.get("steps")
    if steps is None:
        yield Fault("GW023", path, "the group has no `steps`", "list its steps under `steps`")
    elif steps.kind != "list":
        yield _wrong((*path, "steps"), "a list of steps", steps)


def _wrong(path: Path, wanted: str, node: Node) -> Fault:
    return Fault("GW024", path, f"{key_text(path)} must be {wanted}, not {value_text(node.plain())}")
