"""
What libyaml's complaints mean for a person: the mistake behind them, its place, the repair.

Each rule looks at one kind of mistake and answers with a `Hint` or passes; the first that answers wins.  The rules on
single values know the exact repair, so reading can go on as if it had been made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .pieces import Piece, after_quotes, pieces_of
from .places import line_at, place_of
from .scalars import quoted, short

_BLOCK_HEADER = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-]?)$")
_ANCHOR_OR_ALIAS = re.compile(r"[&*][\w-]+(?:\s|$)")
_NO_SPACE = re.compile(r"[ ]*(?:- +)*([\w-]+):([^\s:/].*)")


@dataclass(frozen=True, slots=True)
class Fault:
    """A complaint of libyaml: its words, and where (indexes into the text)."""

    problem: str
    context: str
    index: int
    context_index: int | None


@dataclass(frozen=True, slots=True)
class Hint:
    """What to tell; with `value`, reading can go on as if `start` to `end` were that text, quoted."""

    code: str
    message: str
    index: int
    help: str
    start: int = 0
    end: int = 0
    value: str | None = None


def explain(text: str, fault: Fault) -> Hint:
    """
    Word one complaint.

    >>> fault = Fault("mapping values are not allowed in this context", "", 13, None)
    >>> print(explain("what: a note: here", fault).help)
    quote the whole value: "a note: here"
    """
    for index in dict.fromkeys((fault.index, fault.context_index)):
        if index is None:
            continue
        start, line = line_at(text, index)
        in_brackets = "flow" in fault.context and index == fault.index and start > _opened(fault)
        for piece in pieces_of(line, start, in_brackets):
            for rule in _VALUE_RULES:
                if hint := rule(piece, fault):
                    return hint
    for structure in _STRUCTURE_RULES:
        if hint := structure(text, fault):
            return hint
    return Hint("GW005", f"this is no YAML: {fault.problem}", fault.index, "check quotes, brackets and indentation")


def _opened(fault: Fault) -> int:
    return fault.index if fault.context_index is None else fault.context_index


def _quote_all(code: str, message: str, piece: Piece, value: str | None = None) -> Hint:
    value = piece.text if value is None else value
    help_ = f"quote the whole value: {quoted(short(value, 100))}"
    return Hint(code, message, piece.start, help_, piece.start, piece.end, value)


def _near(piece: Piece, fault: Fault) -> bool:
    """Whether the complaint is about this value."""
    places = [i for i in (fault.index, fault.context_index) if i is not None]
    return any(piece.start <= i <= piece.end for i in places)


# --- rules on one value ---


def _tag(piece: Piece, fault: Fault) -> Hint | None:
    if piece.text[0] != "!":
        return None
    return _quote_all("GW010", f"`{short(piece.text)}` begins with `!`, which YAML reads as a tag", piece)


def _template(piece: Piece, fault: Fault) -> Hint | None:
    if not piece.text.startswith("{{"):
        return None
    return _quote_all("GW016", f"`{short(piece.text)}` is not quoted: YAML reads `{{{{` as a map inside a map", piece)


def _sign(piece: Piece, fault: Fault) -> Hint | None:
    sign = piece.text[0]
    if sign not in "*&%@`|>" or not _near(piece, fault) or _ANCHOR_OR_ALIAS.match(piece.text):
        return None
    if sign in "|>" and _BLOCK_HEADER.match(piece.text):
        return None
    return _quote_all("GW005", f"unquoted text cannot begin with `{sign}`", piece)


def _behind_quotes(piece: Piece, fault: Fault) -> Hint | None:
    sign = piece.text[0]
    if sign not in "\"'" or not _near(piece, fault) or not (rest := after_quotes(piece.text)):
        return None
    inner = piece.text
    if len(rest) > 1 and rest.endswith(sign):
        inner = inner[1:-1].replace("''", "'") if sign == "'" else inner[1:-1]
    return _quote_all("GW005", f"text goes on behind the closing quote: `{short(rest)}`", piece, inner)


def _escape(piece: Piece, fault: Fault) -> Hint | None:
    if "escape" not in fault.problem or piece.text[0] != '"' or not _near(piece, fault):
        return None
    if after_quotes(piece.text) != "":
        return None
    inner = piece.text[1:-1]
    help_ = "single quotes leave the backslash alone: '" + short(inner, 100).replace("'", "''") + "'"
    return Hint("GW005", "a backslash in double quotes begins an escape that YAML does not know", fault.index, help_,
                piece.start, piece.end, inner)


def _colon(piece: Piece, fault: Fault) -> Hint | None:
    inside = piece.start < fault.index < piece.end
    if "mapping values are not allowed" not in fault.problem or not inside or piece.text[0] in "\"'{[":
        return None
    return _quote_all("GW005", "`: ` inside unquoted text begins a key", piece)


def _brackets(piece: Piece, fault: Fault) -> Hint | None:
    inside = piece.start < fault.index <= piece.end
    if "did not find expected ','" not in fault.problem or not (inside and piece.in_brackets):
        return None
    sign = next((s for s in ("[", "{", ": ", ",") if s in piece.text), None)
    if sign is None or piece.text[0] in "\"'":
        return None
    return _quote_all("GW005", f"`{sign.strip()}` inside unquoted text between brackets ends the text", piece)


_VALUE_RULES: tuple[Callable[[Piece, Fault], Hint | None], ...] = (
    _tag, _template, _sign, _behind_quotes, _escape, _colon, _brackets,
)  # fmt: skip


# --- rules on the structure ---


def _depth(text: str, fault: Fault) -> Hint | None:
    if "nesting depth" not in fault.problem:
        return None
    return Hint("GW009", "lists and maps are nested too deep to read", fault.index, "flatten the structure")


def _tab(text: str, fault: Fault) -> Hint | None:
    start, line = line_at(text, fault.index)
    blank = line[: len(line) - len(line.lstrip())]
    if "\t" not in blank or fault.index > start + len(blank):
        return None
    return Hint("GW005", "a tab indents this line; YAML indents with spaces", start + blank.index("\t"), "use spaces")


def _open_quote(text: str, fault: Fault) -> Hint | None:
    if "quoted scalar" not in fault.context or "end of stream" not in fault.problem or fault.context_index is None:
        return None
    sign = text[fault.context_index]
    message = f"the quote `{sign}` that opens here is never closed"
    return Hint("GW005", message, fault.context_index, f"close it with `{sign}`")


def _swallowed(text: str, fault: Fault) -> Hint | None:
    """A missing closing quote swallows lines up to the next quote; the complaint comes behind that one."""
    before = text[: fault.index].rstrip(" \t")
    if not before.endswith(('"', "'")):
        return None
    sign = before[-1]
    opened = before.rfind(sign, 0, len(before) - 1)
    if opened < 0 or "\n" not in text[opened : fault.index]:
        return None
    line, _ = place_of(text, fault.index)
    return Hint(
        "GW005",
        f"the quote `{sign}` that opens here is not closed on its line; it ends at the next quote, in line {line}",
        opened,
        f"close it with `{sign}`",
    )


def _open_bracket(text: str, fault: Fault) -> Hint | None:
    if "flow" not in fault.context or fault.context_index is None or "did not find expected ','" not in fault.problem:
        return None
    sign = text[fault.context_index]
    if sign not in "[{":
        return None
    line, column = place_of(text, fault.index)
    closer = "]" if sign == "[" else "}"
    return Hint(
        "GW005",
        f"the bracket `{sign}` that opens here is not closed before line {line}, column {column}",
        fault.context_index,
        f"add `{closer}`, or a comma between the items",
    )


def _list_on_line(text: str, fault: Fault) -> Hint | None:
    if "block sequence entries are not allowed" not in fault.problem:
        return None
    return Hint("GW005", "a list cannot begin on the line of its key", fault.index, "put `- …` on a line of its own")


def _no_space(text: str, fault: Fault) -> Hint | None:
    """`id:x` is a text, not a key; the complaint comes a line later."""
    for index in (fault.context_index, fault.index, _previous_line(text, fault.index)):
        if index is None:
            continue
        start, line = line_at(text, index)
        if found := _NO_SPACE.fullmatch(line):
            key, value = found.groups()
            message = f"no space stands behind the colon of `{short(found.group(0).strip())}`"
            return Hint("GW005", message, start + found.start(2), f"write `{key}: {short(value)}`")
    return None


def _no_colon(text: str, fault: Fault) -> Hint | None:
    if "could not find expected ':'" not in fault.problem or fault.context_index is None:
        return None
    _, line = line_at(text, fault.context_index)
    message = f"`{short(line.strip())}` is neither a `key: value` nor an item of a list"
    return Hint("GW005", message, fault.context_index, "add a colon, or quote and indent it as part of a text")


def _indentation(text: str, fault: Fault) -> Hint | None:
    start, line = line_at(text, fault.index)
    indent = len(line) - len(line.lstrip(" "))
    if fault.index < start or (
        line[: fault.index - start].strip(" -") and "mapping values" not in fault.problem
    ):
        return None
    if "block" in fault.context and fault.context_index is not None:
        above, column = place_of(text, fault.context_index)
        what = "list" if "collection" in fault.context or "sequence" in fault.context else "map"
        if indent != column - 1:
            message = f"this line is indented by {indent}, the {what} of line {above} by {column - 1}"
            return Hint("GW005", message, start + indent, "give lines that belong together the same indentation")
        return Hint("GW005", f"this line does not go on with the {what} that began in line {above}", start + indent,
                    "write `- …` in a list and `key: value` in a map, not both")
    before = _previous_line(text, fault.index)
    if "mapping values" in fault.problem and before is not None:
        _, above_text = line_at(text, before)
        if ":" not in above_text:
            message = f"`{short(above_text.strip())}` is neither a `key: value` nor an item of a list"
            return Hint("GW005", message, before, "add a colon, or quote it as part of a text")
        shown = short(above_text.strip())
        message = f"this line is indented deeper than the one above, which has a value already: `{shown}`"
        return Hint("GW005", message, start + indent, "give both lines the same indentation, or quote the text")
    return None


def _cut_off(text: str, fault: Fault) -> Hint | None:
    if "node content" not in fault.problem or fault.index < len(text.rstrip()):
        return None
    return Hint("GW005", "the text ends before the value that begins here does", max(len(text.rstrip()) - 1, 0),
                "close every bracket and quote")


def _unexpected(text: str, fault: Fault) -> Hint | None:
    sign = text[fault.index : fault.index + 1]
    if "node content" not in fault.problem or sign not in {",", "]", "}", ":", "?"}:
        return None
    return Hint("GW005", f"`{sign}` stands where a value was expected", fault.index, "delete it, or quote the text")


def _directive(text: str, fault: Fault) -> Hint | None:
    if "directive" not in fault.context and "document start" not in fault.problem:
        return None
    if "directive" in fault.context:
        message = "a line that begins with `%` is a directive to YAML"
        return Hint("GW005", message, fault.index, "quote or indent the line")
    return Hint("GW005", "text stands behind the end of the document", fault.index, "delete it, or the `...` above it")


def _previous_line(text: str, index: int) -> int | None:
    """The start of the last line before this one that holds anything."""
    start, _ = line_at(text, index)
    before = text[:start].rstrip()
    return line_at(before, len(before))[0] if before else None


_STRUCTURE_RULES: tuple[Callable[[str, Fault], Hint | None], ...] = (
    _depth, _tab, _open_quote, _swallowed, _open_bracket, _list_on_line, _no_space, _no_colon, _cut_off, _unexpected,
    _directive, _indentation,
)  # fmt: skip
