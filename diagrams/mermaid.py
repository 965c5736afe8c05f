"""
A picture as Mermaid text (`stateDiagram-v2`), which GitHub and many wikis draw.

Mermaid's grammar has no quoting that holds, so every character of a text that could mean something there is written as
an entity, `#58;`.  Some labels are then read as Markdown, some are not, and a title is cleaned of what looks like HTML:
against that only look-alikes help, so `*`, `\\`, and `_` at the edge of a word stand as characters that look the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from . import colours
from .colours import PAINT
from .picture import Arrow, Frame, Node, Picture, Shape, Tone
from .tools import TIMES

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _,.()?!/=+-")
_MARKDOWN = str.maketrans({"*": "\N{ASTERISK OPERATOR}", "\\": "\N{REVERSE SOLIDUS OPERATOR}"})
_HTML = str.maketrans({"<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "&": "\N{FULLWIDTH AMPERSAND}",
                       ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"})  # fmt: skip
_EDGE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LOW_LINE = "\N{MODIFIER LETTER LOW MACRON}"
_NOTHING = "\N{WORD JOINER}"


def mermaid(picture: Picture) -> str:
    """Write a picture as the text of a Mermaid state diagram, ending in a line end."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    if picture.title:
        yield from ("---", f"title: {json.dumps(picture.title.translate(_HTML), ensure_ascii=False)}", "---")
    yield from ("stateDiagram-v2", "  direction TB")
    framed = {id for frame in picture.frames for id in frame.nodes}
    boxes = {node.id: node for node in picture.nodes}
    for frame in picture.frames:
        if not frame.inside:
            yield from _frame(picture, frame, boxes, "  ")
    for node in picture.nodes:
        if node.id not in framed and node.shape is not Shape.START:
            yield from (f"  {line}" for line in _box(node))
    yield from (_arrow(arrow, boxes) for arrow in picture.arrows)
    yield from _classes(picture)


def _frame(picture: Picture, frame: Frame, boxes: Mapping[str, Node], margin: str) -> Iterator[str]:
    """Write a frame with all in it, in the order of the page."""
    place = {id: number for number, id in enumerate(boxes)}
    nested = {inner.nodes[0]: inner for inner in picture.frames if inner.inside == frame.id}
    yield f'{margin}state "{_escaped(frame.title)}" as {frame.id} {{'
    for id in sorted([*frame.nodes, *nested], key=place.__getitem__):
        if id in nested:
            yield from _frame(picture, nested[id], boxes, margin + "  ")
        else:
            yield from (f"{margin}  {line}" for line in _box(boxes[id]))
    yield f"{margin}}}"


def _box(node: Node) -> Iterator[str]:
    if node.shape is Shape.JOIN:
        yield f"state {node.id} <<join>>"
        return
    yield f'state "{"<br/>".join(_texts(node))}" as {node.id}'
    if node.shape is Shape.FORK:
        yield f"state {_bar(node)} <<fork>>"
        yield f"{node.id} --> {_bar(node)}"


def _bar(node: Node) -> str:
    """Name the bar under the box of a fork, where its branches begin."""
    return f"{node.id}b"


def _texts(node: Node) -> Iterator[str]:
    """Write the title with its sign, then the lines."""
    sign = PAINT[node.shape].sign
    yield _escaped(f"{sign} {node.title}" + (f" {TIMES}{node.visits}" if node.visits > 1 else ""))
    if node.shape is not Shape.ANYWHERE and node.title != node.shape:
        yield _escaped(f"({node.shape})")
    yield from (_escaped(line.text) for line in node.lines)
    if node.refused:
        yield _escaped(f"✗ {node.refused} refused")
    if node.tone is Tone.CURRENT:
        yield _escaped("● here")


def _arrow(arrow: Arrow, boxes: dict[str, Node]) -> str:
    box = boxes[arrow.source]
    source = "[*]" if box.shape is Shape.START else arrow.leaves or (_bar(box) if _forks(arrow, box) else box.id)
    texts = [_escaped(label) for label in arrow.labels]
    if arrow.tone is Tone.WALKED:
        texts.append(_escaped(f"✓ {TIMES}{arrow.count}" if arrow.count > 1 else "✓"))
    label = f" : {'<br/>'.join(texts)}" if texts else ""
    return f"  {source} --> {arrow.target}{label}"


def _forks(arrow: Arrow, box: Node) -> bool:
    return box.shape is Shape.FORK and not arrow.dashed


def _classes(picture: Picture) -> Iterator[str]:
    """Colour the boxes, by shape and tone, with only the classes that occur."""
    names = {node.id: _class(node) for node in picture.nodes if node.shape is not Shape.START}
    first = {name: node for node in reversed(picture.nodes) if (name := names.get(node.id))}
    for name in sorted(first):
        yield f"  classDef {name} {_look(first[name])}"
    for id, name in names.items():
        yield f"  class {id} {name}"


def _class(node: Node) -> str:
    return f"{'muted' if node.muted else node.shape.token}_{node.tone}"


def _look(node: Node) -> str:
    paint = PAINT[node.shape]
    fill, line, ink, width = paint.fill, paint.line, colours.INK, 1
    if node.muted or node.tone is Tone.DIMMED:
        fill, line, ink = colours.PAPER, colours.FAINT_LINE, colours.SOFT
    if node.tone is Tone.WALKED:
        line, width = colours.WALKED, 3
    if node.tone is Tone.CURRENT:
        fill, line, width = colours.CURRENT, colours.CURRENT_LINE, 4
    return f"fill:{fill},stroke:{line},color:{ink},stroke-width:{width}px"


def _escaped(text: str) -> str:
    return "".join(c if c in _PLAIN else f"#{ord(c)};" for c in plain(text))


def plain(text: str) -> str:
    """
    Keep Markdown from finding anything in a text.

    >>> plain("query_siem"), plain("mcp__*") == "mcp\u02cd\u02cd\u2217"
    ('query_siem', True)
    """
    text = _EDGE.sub(_LOW_LINE, text.translate(_MARKDOWN)).replace("$$", f"${_NOTHING}$")
    return _NOTHING + text if text[:1] in "-+#>0123456789" else text
