"""
A picture as DOT, through `graphviz`.

Boxes have HTML-like labels, for a title and several kinds of lines; every text in them is escaped here, as are `&` and
`<` everywhere else: dot 2.43 writes a raw `&` of a tooltip into its SVG, which is then no XML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from . import colours
from .colours import PAINT
from .columns import breaks
from .picture import Arrow, Frame, FrameKind, Line, Node, Picture, Role, Shape, Tone
from .tools import TIMES

if TYPE_CHECKING:
    import graphviz

FONT = "Helvetica,Arial,DejaVu Sans,sans-serif"
_GRAPH = {"rankdir": "TB", "bgcolor": colours.PAPER, "fontname": FONT, "fontsize": "15", "fontcolor": colours.INK,
          "labelloc": "t", "nodesep": "0.35", "ranksep": "0.42", "pad": "0.25", "splines": "true"}  # fmt: skip
_NODE = {"fontname": FONT, "fontsize": "11", "fontcolor": colours.INK, "margin": "0.13,0.07"}
_EDGE = {"fontname": FONT, "fontsize": "9", "fontcolor": colours.SOFT, "color": colours.LINE,
         "arrowsize": "0.7", "arrowhead": "normal"}  # fmt: skip
_CLUSTER = {"label": "", "style": "rounded,filled", "margin": "8",
            "color": colours.FRAME_LINE, "fillcolor": colours.FRAME}  # fmt: skip
_BLOCK = {"color": colours.BLOCK_LINE, "margin": "12"}
_BAR = 5
"""How thick the bar under the box of a fork is, in points."""
_SHAPES: Mapping[Shape, Mapping[str, str]] = {
    Shape.START: {"shape": "circle", "width": "0.18", "fixedsize": "true"},
    Shape.AGENT: {"shape": "box", "style": "rounded,filled"},
    Shape.CALL: {"shape": "box", "style": "filled"},
    Shape.APPROVAL: {"shape": "octagon", "style": "filled", "margin": "0.05,0.03"},
    Shape.ROUTER: {"shape": "diamond", "style": "filled", "margin": "0,0"},
    Shape.ASK: {"shape": "note", "style": "filled"},
    Shape.WAIT: {"shape": "box", "style": "rounded,filled"},
    Shape.UNDO: {"shape": "box", "style": "filled"},
    Shape.PLAYBOOK: {"shape": "box", "style": "filled", "peripheries": "2"},
    Shape.FORK: {"shape": "box", "style": "filled"},
    Shape.EACH: {"shape": "box", "style": "rounded,filled"},
    Shape.LOOP: {"shape": "box", "style": "rounded,filled"},
    Shape.SECTION: {"shape": "box", "style": "rounded,filled"},
    Shape.JOIN: {"shape": "box", "style": "filled", "width": "0.9", "height": "0.07", "fixedsize": "true"},
    Shape.SUCCESS: {"shape": "ellipse", "peripheries": "2", "margin": "0.02,0.02"},
    Shape.STOPPED: {"shape": "ellipse", "margin": "0.02,0.02"},
    Shape.FAILED: {"shape": "ellipse", "margin": "0.02,0.02"},
    Shape.ESCALATED: {"shape": "ellipse", "margin": "0.02,0.02"},
    Shape.ANYWHERE: {"shape": "box", "style": "rounded,filled,dashed"},
}
_FONTS = {
    Role.NOTE: (9, colours.SOFT),
    Role.TOOL: (10, colours.INK),
    Role.DANGER: (10, colours.DANGER),
    Role.GUARD: (9, colours.INK),
    Role.LIMIT: (9, colours.SOFT),
    Role.EXIT: (9, colours.SOFT),
}
_WIDTHS = {Role.NOTE: 38, Role.LIMIT: 46, Role.EXIT: 46}
"""Where lines are broken, in characters; the others are not."""


def dot(picture: Picture) -> graphviz.Digraph:
    """Write a picture as a `graphviz.Digraph`; its `source` is the text, the same for the same picture."""
    import graphviz

    title = f"<<B>{_html(picture.title)}</B><BR/> >" if picture.title else ""
    look = _GRAPH | {"label": title}
    if any(arrow.leaves for arrow in picture.arrows):
        look |= {"compound": "true"}
    drawn = graphviz.Digraph(name="playbook", graph_attr=look, node_attr=_NODE, edge_attr=_EDGE)
    framed, begun = picture.frames_around(), set[str]()
    for node in picture.nodes:  # in the order of the page: Graphviz lays out by it
        _place(drawn, node, framed.get(node.id, ()), begun)
    if apart := _apart(picture):
        with drawn.subgraph(graph_attr={"rank": "sink"}) as bottom:
            for id in apart:
                bottom.node(id)
    loose = breaks(picture) | _back(picture)
    exits = {frame.id: frame.nodes[-1] for frame in picture.frames}
    for arrow in picture.arrows:
        tail = exits.get(arrow.leaves, arrow.source)
        drawn.edge(tail, arrow.target, **_line(arrow, arrow.id in loose))
    return drawn


def _place(drawn: graphviz.Digraph, node: Node, around: tuple[Frame, ...], begun: set[str], depth: int = 0) -> None:
    """Put a box into the frames around it, the outermost first; a frame is described where it begins."""
    if not around:
        drawn.node(node.id, **_box(node))
        return
    frame = around[0]
    with drawn.subgraph(name=f"cluster_{frame.id}") as inner:
        if frame.id not in begun:
            begun.add(frame.id)
            inner.attr(id=frame.id, **_cluster(frame, depth))
        _place(inner, node, around[1:], begun, depth + 1)


def _cluster(frame: Frame, depth: int) -> dict[str, str]:
    if frame.kind is FrameKind.STEP:
        return _CLUSTER
    look = _CLUSTER | _BLOCK | {"fillcolor": colours.BLOCK[depth % 2]}
    if frame.kind is FrameKind.CLOSING:  # a block is named by its first box
        look |= {"label": f"<<B>{_html(frame.title)}</B>, at every end>", "fontsize": "10", "style": "rounded,dashed"}
    return look


def _back(picture: Picture) -> frozenset[str]:
    """Find the arrows out of or within a block that lead up the page across a frame: they would turn it over."""
    order = {node.id: place for place, node in enumerate(picture.nodes)}
    around = picture.frames_around()
    return frozenset(
        arrow.id
        for arrow in picture.arrows
        if order[arrow.target] < order[arrow.source]
        and around.get(arrow.source) != around.get(arrow.target)
        and any(frame.kind is FrameKind.BLOCK for frame in around.get(arrow.source, ()))
    )


def _apart(picture: Picture) -> list[str]:
    """Find the ends no arrow leads to: they belong at the bottom all the same."""
    reached = {arrow.target for arrow in picture.arrows}
    return [node.id for node in picture.nodes if node.shape.is_end and not node.muted and node.id not in reached]


def _box(node: Node) -> dict[str, str]:
    paint = PAINT[node.shape]
    dim = node.tone is Tone.DIMMED or node.muted
    look = {"id": node.id, "class": f"{node.shape.token} {node.tone}", "fillcolor": paint.fill, "color": paint.line,
            "style": "filled", "penwidth": "1.2", **_SHAPES[node.shape]}  # fmt: skip
    if node.muted:
        look |= {"shape": "box", "style": "rounded,filled,dashed", "margin": "0.1,0.05", "peripheries": "1"}
    if dim:
        look |= {"fillcolor": colours.PAPER, "color": colours.FAINT_LINE, "penwidth": "1"}
    if node.tone is Tone.WALKED:
        look |= {"color": colours.WALKED, "penwidth": "2.6"}
    if node.tone is Tone.CURRENT:
        look |= {"fillcolor": colours.CURRENT, "color": colours.CURRENT_LINE, "penwidth": "3.2"}
    if node.shape in (Shape.START, Shape.JOIN):
        return look | {"label": "", "fillcolor": look["color"], "tooltip": _plain(node.title)}
    if node.detail:
        look["tooltip"] = _plain(node.detail)
    return look | {"label": _label(node)}


def _label(node: Node) -> str:
    align = "LEFT" if node.shape in (Shape.AGENT, Shape.CALL, Shape.UNDO) else "CENTER"
    ink = colours.FAINT if node.tone is Tone.DIMMED else colours.SOFT if node.muted else ""
    rows = [_head(node, ink), f'<FONT COLOR="{ink or colours.INK}"><B>{_html(node.title)}</B></FONT>']
    rows += [row for line in node.lines for row in _rows(line, ink)]
    if node.refused:
        rows.append(f'<FONT POINT-SIZE="10" COLOR="{colours.DANGER}"><B>✗ {node.refused} refused</B></FONT>')
    cells = "".join(f'<TR><TD ALIGN="{align}">{row}</TD></TR>' for row in rows if row)
    if node.shape is Shape.FORK:
        cells += f'<TR><TD BGCOLOR="{ink or colours.INK}" HEIGHT="{_BAR}" CELLPADDING="0"></TD></TR>'
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{cells}</TABLE>>'


def _head(node: Node, ink: str) -> str:
    """Write the sign and the word of a shape, and how often the walk came by."""
    paint = PAINT[node.shape]
    if node.shape is Shape.ANYWHERE:
        return ""
    word = f"{paint.sign} {node.shape}"
    word += f" {TIMES}{node.visits}" if node.visits > 1 else ""
    text = f'<FONT POINT-SIZE="8" COLOR="{ink or paint.line}">{_html(word)}</FONT>'
    if node.tone is Tone.CURRENT:
        text += f'<FONT POINT-SIZE="9" COLOR="{colours.CURRENT_LINE}"><B>  ● here</B></FONT>'
    return text


def _rows(line: Line, ink: str) -> Iterator[str]:
    size, colour = _FONTS[line.role]
    text = "<I>{}</I>" if line.role in (Role.NOTE, Role.GUARD) else "{}"
    for part in wrapped(line):
        yield f'<FONT POINT-SIZE="{size}" COLOR="{ink or colour}">{text.format(_html(part))}</FONT>'


def wrapped(line: Line) -> list[str]:
    """
    Break a line at its spaces, where its kind has a width.

    >>> wrapped(Line(Role.NOTE, "Find out whether the sign-in was the user's own"))
    ['Find out whether the sign-in was the', "user's own"]
    """
    width = _WIDTHS.get(line.role, len(line.text) + 1)
    return wrap(line.text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _line(arrow: Arrow, loose: bool) -> dict[str, str]:
    look = {"id": arrow.id, "class": f"arrow {arrow.tone}"}
    lines = [_plain(label) for label in arrow.labels]
    if arrow.count > 1:
        lines.append(f"{TIMES}{arrow.count}")
    if lines:
        look["label"] = "\\n".join(f" {line} " for line in lines)
    if arrow.detail:
        look |= {"tooltip": _plain(arrow.detail), "labeltooltip": _plain(arrow.detail)}
    if arrow.dashed:
        look["style"] = "dashed"
    if loose:
        look["constraint"] = "false"
    if arrow.leaves:
        look["ltail"] = f"cluster_{arrow.leaves}"
    if arrow.tone is Tone.WALKED:
        look |= {"color": colours.WALKED, "fontcolor": colours.WALKED, "penwidth": "2.6"}
    if arrow.tone is Tone.DIMMED:
        look |= {"color": colours.FAINT_LINE, "fontcolor": colours.FAINT}
    return look


def _html(text: str) -> str:
    """Escape a text for an HTML-like label, in which Graphviz still reads `\\N` and its like."""
    return escape(text).replace("\\", "\\\\")


def _plain(text: str) -> str:
    """Escape a text for a label that is not HTML-like: Graphviz reads entities and backslashes in it."""
    import graphviz

    escaped: str = graphviz.escape(escape(text, quote=False))
    return escaped
