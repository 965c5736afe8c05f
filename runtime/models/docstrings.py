"""What a docstring says of a function and of each of its parameters, in the three styles in use."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

NAMED = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:(?!:)\s*(.*)")
"""Google: `hours (int): how far back`"""
TYPED = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
"""NumPy: `hours : int`, the text indented below"""
FIELD = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
"""reST: `:param int hours: how far back`"""
OTHER_FIELD = re.compile(r":\w+(?:\s[^:]*)?:")
PARAMETERS = ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters")
SECTIONS = (*PARAMETERS, "returns", "return", "yields", "raises", "examples", "example", "notes", "note", "see also",
            "warnings", "warns", "attributes", "references", "todo")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A docstring, taken apart: `text` is what comes before its sections."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def told_of(docstring: str | None) -> Told:
    """
    Take a docstring apart, be it written in the style of Google, NumPy or reST.

    >>> told_of('''Look a host up.
    ...
    ...     Args:
    ...         host: its name,
    ...             not its address
    ...     ''')
    Told(text='Look a host up.', parameters={'host': 'its name, not its address'})
    """
    lines = inspect.cleandoc(docstring or "").split("\n")
    text: list[str] = []
    found: dict[str, str] = {}
    for heading, body in _sections(lines):
        if not heading:
            text = body
        elif heading in PARAMETERS:
            found.update(_parameters(body))
    plain, fields = _without_fields(text)
    return Told("\n".join(plain).strip(), {**found, **fields})


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Cut at headings: `Args:` alone on its line, or `Parameters` underlined."""
    heading, body = "", list[str]()
    rest = iter(enumerate(lines))
    for number, line in rest:
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        underlined = len(below) >= 3 and set(below) == {"-"}
        word = line.strip().lower()
        if word.removesuffix(":") in SECTIONS and (underlined or word.endswith(":")):
            yield heading, body
            heading, body = word.removesuffix(":"), []
            if underlined:
                next(rest)
        else:
            body.append(line)
    yield heading, body


def _parameters(body: list[str]) -> dict[str, str]:
    """The entries of a section: those that are least indented name a parameter, what lies deeper goes on."""
    filled = [line for line in body if line.strip()]
    outer = min((_indent(line) for line in filled), default=0)
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in filled:
        if _indent(line) > outer:
            for name in names:
                found[name].append(line.strip())
            continue
        names, first = _named(line.strip())
        found.update({name: [first] if first else [] for name in names})
    return {name: joined for name, texts in found.items() if (joined := " ".join(texts))}


def _named(line: str) -> tuple[list[str], str]:
    if (google := NAMED.fullmatch(line)) and not re.match(r"\w+\s+:", line):
        return [google[1]], google[2]
    if numpy := TYPED.fullmatch(line):
        return [name.strip().lstrip("*") for name in numpy[1].split(",")], ""
    return [], ""


def _without_fields(lines: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Take the fields of reST out of a text."""
    plain: list[str] = []
    found: dict[str, str] = {}
    name: str | None = None
    inside = False
    for line in lines:
        word = line.strip()
        if match := FIELD.fullmatch(word):
            name, inside = match[1], True
            found[name] = match[2]
        elif OTHER_FIELD.match(word):
            name, inside = None, True
        elif inside and word and line != line.lstrip():
            if name is not None:
                found[name] = f"{found[name]} {word}".strip()
        else:
            inside = False
            plain.append(line)
    return plain, {key: text for key, text in found.items() if text}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
