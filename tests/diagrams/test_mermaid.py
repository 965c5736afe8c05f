"""Pictures as Mermaid text, read by Mermaid itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import mermaidx
import pytest

from guideway.diagrams.build import picture
from guideway.diagrams.mermaid import mermaid, plain
from guideway.diagrams.picture import Arrow, Line, Node, Picture, Role, Shape, Tone
from guideway.diagrams.texts import clean
from guideway.diagrams.walk import Walk
from guideway.statemachine.definition import Definition


def texts(source: str) -> list[str]:
    """Let Mermaid draw a text, and give what it shows."""
    root = ElementTree.fromstring(mermaidx.render(source).svg())  # noqa: S314 - our own drawing
    return ["".join(text.itertext()) for text in root.iter() if text.tag.endswith(("}text", "}p"))]


def unescaped(text: str) -> str:
    """Read Mermaid's entities."""
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


def test_mermaid_refuses_what_is_wrong() -> None:
    """The judge of these tests can say no."""
    with pytest.raises(RuntimeError):
        mermaidx.render('stateDiagram-v2\n  state "a as n0\n  n0 --> : x').svg()


def test_mermaid_draws_every_box(triage: Definition) -> None:
    """Titles, lines and labels of the picture are all there."""
    drawn = picture(triage, Walk(visited={"look": 2}, current=frozenset({"look"}), refused={"look": 1}))
    shown = "".join(texts(mermaid(drawn))).replace(" ", "")

    for node in drawn.nodes[1:]:
        for text in (node.title, *(line.text for line in node.lines)):
            assert plain(text).replace(" ", "") in shown
    for arrow in drawn.arrows:
        assert all(plain(label).replace(" ", "") in shown for label in arrow.labels)
    assert "✗1refused" in shown
    assert "●here" in shown


def test_names_that_break_diagrams_are_drawn_by_mermaid(torture: Definition) -> None:
    """As titles, lines and labels each name is seen, but for look-alikes of what Markdown would take."""
    names = [clean(name) for name in torture.steps]
    nodes = [Node("n0", Shape.START, ""), Node("n1", Shape.CALL, "all", tuple(Line(Role.NOTE, name) for name in names))]
    nodes += [Node(f"n{i}", Shape.AGENT, name) for i, name in enumerate(names, 2)]
    arrows = (Arrow("a0", "n1", "n2", tuple(names)), Arrow("a1", "n1", "n3", (names[0],)))
    shown = texts(mermaid(Picture(clean(torture.name), tuple(nodes), arrows)))

    assert "⚙ all(call)" + "".join(map(plain, names)) in shown
    assert "".join(map(plain, names)) in shown
    for name in names:
        assert f"▷ {plain(name)}(agent)".replace("\u2060", "") in [text.replace("\u2060", "") for text in shown]
    assert 'A "torture": 100% \uff06 \u2039more\u203a \\ # 🚀' in shown


def test_no_name_of_a_step_is_an_id(torture: Definition) -> None:
    """Outside quotes and labels only made-up ids and keywords stand."""
    words = {"stateDiagram-v2", "direction", "TB", "state", "as", "{", "}", "[*]", "-->"}
    body = mermaid(picture(torture)).split("---\n")[2]
    bare = re.sub(r'"[^"]*"| : .*|  class(Def)? .*', "", body).split()

    assert {word for word in bare if word not in words and not re.fullmatch(r"[nf]\d+", word)} == set()


def test_escapes_lose_nothing(torture: Definition) -> None:
    """What Mermaid's entities stand for is the text."""
    source = mermaid(picture(torture))

    for name in torture.steps:
        assert plain(f"• {clean(name)}") in unescaped(source)


def test_a_walked_arrow_says_so(triage: Definition) -> None:
    """Mermaid cannot colour an arrow of a state diagram, so the label carries the mark."""
    walk = Walk(visited={"look": 1, "sort": 2}, taken={("look", "completed", "sort"): 2})
    drawn = picture(triage, walk)
    [arrow] = [a for a in drawn.arrows if a.tone is Tone.WALKED and a.count]

    assert f"  {arrow.source} --> {arrow.target} : #10003; #215;2\n" in mermaid(drawn)
