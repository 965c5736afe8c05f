"""Pictures as DOT."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from guideway.diagrams.build import picture
from guideway.diagrams.dot import dot
from guideway.diagrams.mermaid import mermaid
from guideway.diagrams.picture import Arrow, Node, Picture, Shape
from guideway.diagrams.render import render
from guideway.diagrams.texts import clean
from guideway.diagrams.walk import Walk
from guideway.statemachine.definition import Definition

GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"
WALK = Walk(
    visited={"look": 2, "sort": 2, "lock.entry": 1, "lock.approval": 1},
    taken={
        ("look", "completed", "sort"): 2, ("sort", "completed", "look"): 1, ("sort", "completed", "lock.entry"): 1,
        ("lock.entry", "entered", "lock.approval"): 1,
    },
    current=frozenset({"lock.approval"}),
    refused={"look": 3},
)  # fmt: skip


def svg(drawn: Picture) -> ElementTree.Element:
    """Draw a picture and read it as XML; what is no XML fails here."""
    return ElementTree.fromstring(render(drawn, "svg"))  # noqa: S314 - our own drawing


def texts(root: ElementTree.Element) -> list[str]:
    """Give all texts of a drawing, without the spaces around them."""
    return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]


def groups(root: ElementTree.Element, kind: str) -> dict[str, ElementTree.Element]:
    """Give the groups of one kind (`node`, `edge`, `cluster`) by their ids."""
    return {g.attrib["id"]: g for g in root.iter(f"{SVG}g") if g.attrib.get("class", "").split(" ")[0] == kind}


@pytest.mark.parametrize(
    ("name", "walk"), [("triage.dot", None), ("triage-walk.dot", WALK), ("triage.mmd", None), ("triage-walk.mmd", WALK)]
)
def test_the_text_is_the_one_that_was_looked_at(triage: Definition, name: str, walk: Walk | None) -> None:
    """Word for word the files in `golden`: a change of a picture is a change somebody has looked at."""
    drawn = picture(triage, walk)
    source = mermaid(drawn) if name.endswith(".mmd") else dot(drawn).source

    assert source == (GOLDEN / name).read_text()


def test_a_new_step_adds_lines_and_changes_no_order(triage: Definition) -> None:
    """The same definition gives the same text, whatever was drawn before."""
    assert dot(picture(triage)).source == dot(picture(triage)).source
    assert dot(picture(triage)).source != dot(picture(triage, WALK)).source


def test_the_drawing_holds_each_box_arrow_and_frame_once(triage: Definition) -> None:
    """By their ids, so that a page can find them; and nothing else."""
    drawn = picture(triage)
    root = svg(drawn)

    assert set(groups(root, "node")) == {node.id for node in drawn.nodes}
    assert set(groups(root, "edge")) == {arrow.id for arrow in drawn.arrows}
    assert set(groups(root, "cluster")) == {frame.id for frame in drawn.frames}


def test_the_drawing_joins_the_boxes_the_picture_joins(triage: Definition) -> None:
    """Each arrow's ends, as Graphviz understood them."""
    drawn = picture(triage)
    found = groups(svg(drawn), "edge")

    for arrow in drawn.arrows:
        assert found[arrow.id].findtext(f"{SVG}title") == f"{arrow.source}->{arrow.target}"


def test_names_that_break_diagrams_are_shown_as_they_are(torture: Definition) -> None:
    """Colons, quotes, percents, entities, tags, backslashes, keywords, emoji: as titles, notes, tools and approvers."""
    root = svg(picture(torture))
    shown = texts(root)

    assert clean(torture.name) in shown
    for name in torture.steps:
        assert shown.count(clean(name)) >= 3  # the titles of two boxes and a note
        assert f"• {clean(name)}" in shown
        assert f"by {clean(name)}" in shown
    assert 'inputs.x == "<&> \\" %"' in [text.removeprefix("1 · ") for text in shown]
    assert 'done: "50%" & <more>' in shown


def test_a_tooltip_is_well_formed_and_says_the_whole(torture: Definition) -> None:
    """dot 2.43 writes a tooltip's `&` as it is: the DOT holds none that is not the start of an entity."""
    source = dot(picture(torture)).source
    titles = [v for e in svg(picture(torture)).iter() for k, v in e.attrib.items() if k.endswith("}title")]

    assert not re.findall(r"&(?!amp;|lt;|gt;|quot;|#x27;)", source)
    assert 'completed: inputs.x == "<&> \\" %"' in titles


@pytest.mark.parametrize(
    "text", ["<b>", "<<B>x</B>>", "a\\nb", "\\G", "\\N", '"', "\\", "&amp;", "x]", "//", "#", "\\\\", "a\\"]
)
def test_no_text_is_read_as_a_language(text: str) -> None:
    """HTML-like labels, escapes such as `\\N`, entities and comments of DOT stay texts, in boxes and on arrows."""
    nodes = (Node("n0", Shape.AGENT, text), Node("n1", Shape.SUCCESS, text, detail=text))
    root = svg(Picture(text, nodes, (Arrow("a0", "n0", "n1", (text,), text),)))

    assert texts(root).count(text) == 4  # the title of the picture, two boxes, the arrow


def test_a_kind_is_told_by_more_than_its_colour(triage: Definition) -> None:
    """Each box shows a sign and a word."""
    shown = texts(svg(picture(triage)))

    for words in ("▷ agent", "♙ approval", "⚙ call", "◇ router", "✓ success", "■ stopped", "✗ failed", "▲ escalated"):
        assert words in shown
    assert "⚠ wipe (irreversible, \N{MULTIPLICATION SIGN}2, asks first)" in shown


def test_a_walk_is_seen_without_colour(triage: Definition) -> None:
    """Thick lines where it went, counts, a word where it is, a mark where it was refused."""
    root = svg(picture(triage, WALK))
    shown = texts(root)

    assert "▷ agent \N{MULTIPLICATION SIGN}2" in shown
    assert "✗ 3 refused" in shown
    assert sum("● here" in text for text in shown) == 1
    thick = {g for g, e in groups(root, "edge").items() if any(p.attrib.get("stroke-width") == "2.6" for p in e.iter())}
    walked = {arrow.id for arrow in picture(triage, WALK).arrows if arrow.tone == "walked"}
    assert thick == walked
    assert len(walked) == 4
