"""Laws of reading, against the json module and PyYAML as independent readers."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.playbooks.nodes import Node
from guideway.playbooks.reader import read_data, read_text

LIMIT = 2**53
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LIMIT, LIMIT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
# Without the texts that YAML 1.1 writes unquoted and 1.2 takes for numbers: `0E0`, `08`, `0o7`.
CALM = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=12).filter(
    lambda text: not re.match(r"[-+]?\.?[0-9]", text)
)
CALM_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LIMIT, LIMIT) | CALM,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(CALM, inner, max_size=4),
    max_leaves=20,
)


def same(left: Any, right: Any) -> bool:
    """Equal with equal types all the way down (1 is not True, 1 is not 1.0)."""
    return json.dumps(left) == json.dumps(right)


def nodes(root: Node) -> list[Node]:
    """All scalars of a tree."""
    found, work = [], [root]
    while work:
        node = work.pop()
        if node.kind == "scalar":
            found.append(node)
        else:
            work.extend(node.value.values() if node.kind == "map" else node.value)
    return found


@settings(deadline=None)
@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2, "\t"]))
def test_json_round_trips(value: Any, ascii_only: bool, indent: Any) -> None:
    """Reading what the json module wrote gives the value back, however it is laid out."""
    document = read_text(json.dumps(value, ensure_ascii=ascii_only, indent=indent), syntax="json")
    assert document.root is not None
    assert same(document.root.plain(), value)
    assert {d.code for d in document.diagnostics} <= {"GW017"}


@settings(deadline=None)
@given(VALUES)
def test_dicts_round_trip(value: Any) -> None:
    """Reading a dict gives its value back."""
    document = read_data(value)
    assert document.root is not None
    assert same(document.root.plain(), value)
    assert {d.code for d in document.diagnostics} <= {"GW017"}


@settings(deadline=None)
@given(CALM_VALUES, st.booleans(), st.sampled_from([True, False, None]), st.sampled_from([20, 80, 1000]))
def test_yaml_round_trips(value: Any, unicode: bool, flow: bool | None, width: int) -> None:
    """Reading what PyYAML wrote gives the value back: what YAML 1.1 quotes is a text in 1.2 too."""
    text = yaml.safe_dump(value, allow_unicode=unicode, default_flow_style=flow, width=width, sort_keys=False)
    if "|" in text or "\ufeff" in text or "? " in text:
        return  # what PyYAML itself does not read back: blank first lines, byte order marks, long keys
    document = read_text(text, syntax="yaml")
    if "GW018" in [d.code for d in document.diagnostics]:
        return  # `[(, )]` looks like one text cut at its comma
    assert document.root is not None, text
    assert same(document.root.plain(), value), text
    assert [d for d in document.diagnostics if d.code != "GW017"] == []


@settings(deadline=None)
@given(CALM_VALUES, st.booleans())
def test_json_is_yaml(value: Any, ascii_only: bool) -> None:
    """A JSON text read as YAML has the same value and the same places (surrogate escapes apart, which YAML lacks)."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    if "\\ud8" in text or "\\ud9" in text or "\\uda" in text or "\\udb" in text or "\\u00" in text or "\ufeff" in text:
        return
    left, right = read_text(text, syntax="json"), read_text(text, syntax="yaml")
    assert left.root is not None
    assert right.root is not None, right.diagnostics
    assert same(left.root.plain(), right.root.plain())
    assert [(n.line, n.column) for n in nodes(left.root)] == [(n.line, n.column) for n in nodes(right.root)]


WORDS = st.text(st.sampled_from("abcé🚒"), min_size=1, max_size=6)
STYLES = st.sampled_from(["", "'", '"'])


@settings(deadline=None)
@given(
    st.lists(st.tuples(WORDS, STYLES, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_place_points_at_its_text(items: list[tuple[str, str, list[str]]], end: str) -> None:
    """At a scalar's place stands its text, and `text_offset` finds each of its characters."""
    lines = ["list:"]
    for i, (key, quote, words) in enumerate(items):
        lines.append(f"  - {key}{i}: {quote}{' '.join(words)}{quote}  # é")
    text = end.join(lines) + end
    document = read_text(text)
    assert document.ok
    assert document.root is not None
    source = [line.rstrip("\r") for line in text.split("\n")]
    for i, (key, quote, words) in enumerate(items):
        path: list[str | int] = ["list", i, f"{key}{i}"]
        node, place = document.root.at(path), document.key_span(path)
        assert source[place.line - 1][place.column - 1 :].startswith(f"{key}{i}:")
        assert source[node.line - 1][node.column - 1 :].startswith(quote + " ".join(words))
        for offset, sign in enumerate(node.value):
            line, column = node.text_offset(offset)
            assert source[line - 1][column - 1] == sign


PARTS = st.text(st.sampled_from("ab&|é"), min_size=1, max_size=5)


@settings(deadline=None)
@given(
    st.lists(st.lists(PARTS, min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from(["|", ">", ">-", "plain", "'", '"']),
)
def test_every_character_of_a_text_of_many_lines_is_found(lines: list[list[str]], style: str) -> None:
    """Also in blocks and folded texts each visible character has its true place."""
    body = [" ".join(line) for line in lines]
    if style in {"|", ">", ">-"}:
        text = f"a:\n  - k: {style}  # why\n" + "".join(f"      {line}\n" for line in body)
    else:
        quote = "" if style == "plain" else style
        body[0] = "x" + body[0]
        text = "a:\n  - k: " + quote + "\n      ".join(body) + quote + "\n"
    document = read_text(text)
    assert document.ok, document.diagnostics
    assert document.root is not None
    node, source = document.root.at(["a", 0, "k"]), text.split("\n")
    for offset, sign in enumerate(node.value):
        if not sign.isspace():
            line, column = node.text_offset(offset)
            assert source[line - 1][column - 1] == sign


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.booleans())
def test_every_character_behind_an_escape_is_found(value: str, ascii_only: bool) -> None:
    """In a JSON text each visible character is found where its escape or itself begins."""
    text = json.dumps({"k": value}, ensure_ascii=ascii_only)
    node = read_text(text).root
    assert node is not None
    node = node.at(["k"])
    for offset, sign in enumerate(value):
        if not sign.isspace():
            line, column = node.text_offset(offset)
            written = json.dumps(sign, ensure_ascii=ascii_only)[1:-1]
            assert line == 1
            assert text[column - 1 :].startswith(written)


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "a",
            "b: ",
            ": ",
            "- ",
            "\n",
            "  ",
            "    ",
            "{",
            "}",
            "[",
            "]",
            ",",
            "'",
            '"',
            "#",
            " #",
            "!",
            "!!str ",
            "&x ",
            "*x",
            "<<: ",
            "{{ ",
            " }}",
            "|",
            ">",
            "%",
            "@",
            "`",
            "\t",
            "\\",
            "? ",
            "---\n",
            "...",
            "012",
            "1e999",
            "é",
            "🚒",
            "\0",
            "\r\n",
            "\u2028",
            "true",
            "null",
            '"a"',
            "(",
            ")",
            "//",
            "/*",
            "x: y\n",
        ]
    ),
    max_size=30,
)


@settings(max_examples=500, deadline=None)
@given(FRAGMENTS.map("".join), st.sampled_from(["yaml", "json", None]))
def test_no_text_raises(text: str, syntax: Any) -> None:
    """Whatever the text: no exception, every finding inside the text, and an unreadable text is never silent."""
    document = read_text(text, syntax=syntax)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for found in document.diagnostics:
        assert 1 <= found.span.line <= len(lines)
        assert 1 <= found.span.column <= len(lines[found.span.line - 1]) + 1
    if not document.complete or document.root is None:
        assert document.diagnostics
    if document.root is not None:
        json.dumps(document.root.plain(), allow_nan=False).encode()


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise(raw: bytes) -> None:
    """Whatever the bytes: no exception, and only what is UTF-8 is read without a word."""
    document = read_text(raw)
    if document.ok:
        raw.decode("utf-8")


@settings(max_examples=300, deadline=None)
@given(FRAGMENTS.map("".join))
def test_a_text_read_without_a_word_means_what_a_yaml_1_1_reader_of_texts_takes_it_for(text: str) -> None:
    """What passes without a finding PyYAML can read too, and it sees the same keys and the same texts."""
    document = read_text(text, syntax="yaml")
    if document.diagnostics or document.root is None or text.count("&x") > 1:
        return  # PyYAML refuses an anchor that is defined anew, YAML 1.2 does not
    other = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - every scalar as text
    assert shape(document.root.plain()) == shape(other)


def shape(value: Any) -> Any:
    """The structure with scalars blanked where the two schemas may differ (numbers, null, booleans)."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    if value is None or isinstance(value, bool | int | float) or value.lower() in {"", "null", "true", "~"}:
        return ...
    try:
        return ... if math.isfinite(float(value)) else value
    except ValueError:
        return value
