"""What the boxes say of tools: which are called, which do harm, which take others back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guideway.statemachine.blocks import Undo
from guideway.statemachine.definition import Definition
from guideway.statemachine.steps import Entry, Work
from guideway.statemachine.tools import Effect

from .picture import Line, Role
from .texts import short

TOOLS = 8
"""How many tools a box lists."""

TIMES = "\N{MULTIPLICATION SIGN}"


def worked_with(definition: Definition, work: Work) -> Iterator[Line]:
    """List the tools of an agent's step."""
    yield from _listed(_entry(definition, entry, place, work.listed) for place, entry in enumerate(work.entries, 1))


def _entry(definition: Definition, entry: Entry, place: int, listed: bool) -> Line:
    sign = f"{place} · " if listed and not entry.optional else "◦ " if entry.optional else "• "
    notes = [f"{TIMES}{entry.times}"] if entry.times and entry.times > 1 else []
    notes += ["optional"] if entry.optional else []
    tool = definition.tool(entry.tool)
    notes += ["asks first"] if not entry.waived and (entry.approval or (tool and tool.approval)) else []
    return called(definition, entry.tool, sign, ", ".join(notes))


def called(definition: Definition, name: str, sign: str, notes: str = "") -> Line:
    """Name a tool; one that cannot be taken back stands out."""
    tool = definition.tool(name)
    danger = tool is not None and tool.effect is Effect.IRREVERSIBLE
    told = ", ".join(filter(None, ["irreversible" if danger else "", notes]))
    text = short(name) + (f" ({told})" if told else "")
    return Line(Role.DANGER, f"⚠ {text}") if danger else Line(Role.TOOL, sign + text)


def taken_back(definition: Definition, undo: Undo) -> Iterator[Line]:
    """List what an `undo` takes back, and by which tools."""
    declared = {name: tool.undo.tool for name, tool in definition.tools.items() if tool.undo}
    named = undo.tools or tuple(declared)
    by = ((name, definition.tool(name)) for name in named)
    yield from _listed(
        called(definition, tool.undo.tool, "↶ ", f"takes back {short(name)}") for name, tool in by if tool and tool.undo
    )
    yield Line(Role.LIMIT, "what has succeeded, newest first")


def _listed(lines: Iterable[Line]) -> Iterator[Line]:
    every = list(lines)
    yield from every[:TOOLS]
    if len(every) > TOOLS:
        yield Line(Role.TOOL, f"… and {len(every) - TOOLS} more")
