"""Rules of blocks, pauses and questions: nothing empty, no word twice, one form each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .branch_rules import list_faults
from .faults import Fault, Path, short
from .schema_rules import schema_faults

_WAITS = ("duration", "until", "signal")


def block_faults(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check the blocks of a step, and what it waits or asks for."""
    if "parallel" in step:
        yield from _parallel(step, path)
    if step.get("steps") == []:
        yield Fault("GW043", (*path, "steps"), "`steps` holds no step", "write one, or delete the block", "key")
    if step.get("undo") == []:
        yield Fault("GW043", (*path, "undo"), "`undo` names no tool", "name the tools, or write `undo: all`", "key")
    if isinstance(step.get("wait"), dict):
        yield from _wait(step["wait"], (*path, "wait"))
    if isinstance(step.get("ask"), dict):
        yield from _ask(step["ask"], (*path, "ask"))
    if isinstance(step.get("claims"), dict):
        for name, schema in step["claims"].items():
            if isinstance(schema, dict):
                yield from schema_faults(schema, (*path, "claims", name))
    if isinstance(step.get("undo"), list):
        for index, tool in enumerate(step["undo"]):
            if isinstance(tool, str) and "*" in tool:
                message = f"`{short(tool)}` is a pattern; what is taken back is named tool by tool"
                yield Fault("GW033", (*path, "undo", index), message, "name the tools, or write `undo: all`")


def _parallel(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    branches = step["parallel"]
    if not isinstance(branches, dict):
        return
    if not branches:
        yield Fault("GW043", (*path, "parallel"), "`parallel` holds no branch", "write `NAME: {…}`", "key")
    for name, branch in branches.items():
        if branch == []:
            message = f"the branch `{short(name)}` holds no step"
            yield Fault("GW043", (*path, "parallel", name), message, "write one, or delete the branch", "key")
    needed = step.get("join")
    if type(needed) is int and needed > len(branches) > 0:
        there = "there is 1 branch" if len(branches) == 1 else f"there are {len(branches)} branches"
        message = f"`join` wants {needed:,} to arrive, and {there}"
        yield Fault("GW025", (*path, "join"), message, "write a number that can be reached; `all` is the default")


def _wait(wait: dict[str, Any], path: Path) -> Iterator[Fault]:
    found = [key for key in wait if key in _WAITS]
    for other in found[1:]:
        message = f"a step waits for one thing: `{found[0]}` and `{other}` cannot stand in the same `wait`"
        yield Fault("GW044", (*path, other), message, "make two steps; `timeout` says how long at most", "key")
    if not wait:
        yield Fault("GW044", path, "`wait` waits for nothing", "write `wait: 10m`, `{until: EXPR}` or `{signal: NAME}`")


def _ask(ask: dict[str, Any], path: Path) -> Iterator[Fault]:
    choices, fields = ask.get("choices"), ask.get("fields")
    here: Path = (*path, "choices")
    if choices in ([], {}):
        yield Fault("GW032", here, "`choices` lists no answer", "list the answers, or delete the key", "key")
    if isinstance(choices, list):
        yield from _repeated(choices, here)
    elif isinstance(choices, dict):
        for label, target in choices.items():
            if isinstance(target, list):
                yield from list_faults(target, (*here, label))
    if isinstance(fields, dict):
        yield from _fields(fields, bool(choices), (*path, "fields"))


def _repeated(labels: list[Any], path: Path) -> Iterator[Fault]:
    texts = [label for label in labels if isinstance(label, str)]
    for label in (label for label, count in Counter(texts).items() if count > 1):
        first, again = [index for index, text in enumerate(labels) if text == label][:2]
        related = (((*path, first), "first listed here"),)
        yield Fault("GW029", (*path, again), f"the answer `{short(label)}` is listed twice", "delete one of them",
                    related=related)  # fmt: skip


def _fields(fields: dict[str, Any], chosen: bool, path: Path) -> Iterator[Fault]:
    if not fields:
        yield Fault("GW043", path, "`fields` holds no field", "write `NAME: string`, or delete the key", "key")
    if chosen and "choice" in fields:
        message = "a field beside `choices` cannot be called `choice`: the answer given is kept by that name"
        yield Fault("GW027", (*path, "choice"), message, "choose another word", "key")
    for name, schema in fields.items():
        if isinstance(schema, dict):
            yield from schema_faults(schema, (*path, name))
