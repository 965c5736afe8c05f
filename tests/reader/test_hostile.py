"""Hostile sources: each is refused with its code at its place, quickly and without an exception."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from guideway.playbooks.limits import Limits
from guideway.playbooks.reader import Document, read_data, read_text
from guideway.playbooks.validate import validate


def codes(document: Document) -> list[str]:
    """The findings as `CODE line:column`."""
    return [f"{d.code} {d.span.line}:{d.span.column}" for d in document.diagnostics]


def bomb(levels: int, link: Callable[[int], str]) -> str:
    """Each level uses the one before ten times."""
    head = "a0: &a0 {x: 1}\n"
    return head + "".join(f"a{i}: &a{i} {link(i - 1)}\n" for i in range(1, levels + 1))


LIST_BOMB = bomb(9, lambda i: "[" + ", ".join([f"*a{i}"] * 10) + "]")
MAP_BOMB = bomb(9, lambda i: "{" + ", ".join(f"k{n}: *a{i}" for n in range(10)) + "}")
MERGE_BOMB = bomb(9, lambda i: "{" + ", ".join(f"k{n}: {{<<: *a{i}}}" for n in range(10)) + "}")
DEEP_CHAIN = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 100))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("id: ä\n".encode("utf-16"), ["GW003 1:1"]),
        ("id: ä\n".encode("utf-16-be"), ["GW003 1:1"]),
        ("id: ä\n".encode("utf-32"), ["GW003 1:1"]),
        ("id: x\nname: für\n".encode("latin-1"), ["GW003 2:8"]),
        (b"id: x\n\xc3", ["GW003 2:1", "GW005 2:1"]),
        (b"\xef\xbb\xbfid: x\nname: \xff\n", ["GW003 2:7"]),
        (b"id: x\nname: a\0b\n", ["GW004 2:8"]),
        (b'{"id": "a\0b"}', ["GW004 1:10"]),
        (b"a: 1\r\nb: \x07\r\n", ["GW004 2:4"]),
        ("id: \x85\n", ["GW004 1:5"]),
        ("id: \ud800\n", ["GW004 1:5"]),
        (LIST_BOMB, ["GW008 7:35"]),
        (MAP_BOMB, ["GW008 7:41"]),
        (DEEP_CHAIN, ["GW009 60:12"]),
        ("&a [*a]", ["GW012 1:5"]),
        ("&a {x: &b [*a, *b]}", ["GW012 1:12", "GW012 1:16"]),
        ("a: " + "9" * 100_000, ["GW015 1:4"]),
        ('{"a": ' + "9" * 100_000 + "}", ["GW015 1:7"]),
        ("a: !!python/object/apply:os.system [id]", ["GW010 1:4"]),
        ("a: !!python/name:os.system", ["GW010 1:4"]),
        ("!!map {a: 1}", ["GW010 1:1"]),
        ("[" * 50_000, ["GW009 1:1001"]),
        ('{"a":' + "[" * 50_000, ["GW009 1:65", "GW006 1:50005"]),
        ('{"a":' + "[" * 50_000 + "]" * 50_000 + "}", ["GW009 1:65"]),
        ("[" * 500 + "]" * 500, ["GW009 1:61"]),
        ("- " * 500 + "x", ["GW009 1:121"]),
        ("{a: " * 100 + "1" + "}" * 100, ["GW009 1:241"]),
        ('{"a": {"\\u0000drop": 1}}', ["GW017 1:8"]),
        ("? " * 200 + "x", ["GW014 1:3"]),
    ],
    ids=lambda v: repr(v[:30]) if isinstance(v, str | bytes) else None,
)
def test_a_hostile_text_is_refused_at_its_place(source: str | bytes, expected: list[str]) -> None:
    """The findings are exactly these, at exactly these places."""
    found = codes(read_text(source))
    assert expected == found


def test_a_merge_bomb_is_refused_key_by_key() -> None:
    """Merge keys are never merged, so a bomb of them costs no more than its text."""
    found = read_text(MERGE_BOMB)
    assert {d.code for d in found.diagnostics} == {"GW011"}
    assert len(found.diagnostics) == 90


def test_an_alias_bomb_within_the_budget_reads_and_copies_out() -> None:
    """Aliases are legal: the budget counts what they stand for, and the plain value holds copies."""
    text = bomb(3, lambda i: "[" + ", ".join([f"*a{i}"] * 10) + "]")
    document = read_text(text)
    assert document.ok
    assert document.root is not None
    plain = document.root.plain()
    assert len(plain["a3"]) == 10
    assert plain["a3"][0] == plain["a2"]
    assert plain["a3"][0] is not plain["a3"][1]


@pytest.mark.parametrize("values", [9, 10, 11])
def test_the_budget_counts_keys_and_values_once_aliases_are_expanded(values: int) -> None:
    """The text holds 11: a map, three keys, a list of two, the same again for the alias, and a number."""
    text = "a: &x [1, 2]\nb: *x\nc: 1\n"
    assert read_text(text, limits=Limits(max_values=values)).ok is (values >= 11)
    assert read_data({"a": [1, 2], "b": [1, 2], "c": 1}, limits=Limits(max_values=values)).ok is (values >= 11)
    assert read_text('{"a": [1, 2], "b": [1, 2], "c": 1}', limits=Limits(max_values=values)).ok is (values >= 11)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_depth_is_the_same_for_yaml_json_dicts_and_aliases(depth: int) -> None:
    """Three containers, one in another, need a depth of three."""
    limits = Limits(max_depth=depth)
    assert read_text("a: [[]]", limits=limits).ok is (depth >= 3)
    assert read_text('{"a": [[]]}', limits=limits).ok is (depth >= 3)
    assert read_data({"a": [[]]}, limits=limits).ok is (depth >= 3)
    assert read_text("b: &b []\na: [*b]", limits=limits).ok is (depth >= 3)


@pytest.mark.parametrize("size", [9, 10, 11])
def test_the_size_limit_counts_utf8_bytes(size: int) -> None:
    """Ten bytes pass a limit of ten, in text, in bytes and in the strings of a dict."""
    limits = Limits(max_bytes=size)
    text = 'ab: "ä"  '  # nine characters, ten bytes
    assert read_text(text, limits=limits).ok is (size >= 10)
    assert read_text(text.encode(), limits=limits).ok is (size >= 10)
    assert read_data({"ab": "12345678"}, limits=limits).ok is (size >= 10)


def test_what_lies_too_deep_is_left_out_and_the_rest_is_read() -> None:
    """Reading goes on behind a part that is nested too deep, and sees its faults."""
    found = read_text("a: [[[[1, {b: c}]]]]\nd: e\nd: f\n", limits=Limits(max_depth=3))
    assert codes(found) == ["GW009 1:6", "GW007 3:1"]
    assert found.root is not None
    assert found.root.plain() == {"a": [[None]], "d": "e"}


def test_a_flood_of_findings_ends_the_reading() -> None:
    """A source with a fault in every word is given up after a thousand findings."""
    for text in ("a: 1\n" * 5000, '{"a": [' + "01," * 5000 + "]}", "[" + "012, " * 5000 + "]"):
        found = read_text(text)
        assert len(found.diagnostics) <= 1001
        assert not found.complete
        assert not found.ok


def test_binary_rubbish_is_given_up_as_no_text() -> None:
    """Many control characters or bad bytes end the reading after the first few."""
    assert len(read_text(bytes(range(32)) * 100).diagnostics) <= 11
    assert len(read_text(bytes([0xFF, 0x61]) * 1000).diagnostics) <= 11


@pytest.mark.parametrize(
    "text",
    [
        "a:" + " " * 200_000 + "#",
        "- " * 50_000,
        "a" * 200_000 + "\n: b",
        '{"a": "' + "\\" * 200_000,
        "{" * 200_000,
        "a: '" + "'" * 200_000,
        "a: b: " * 30_000,
        "[" + "(," * 100_000,
        '{"a": 1' + "/*" * 100_000,
        '{"a": 1' + " /" * 100_000,
        "&a " * 50_000,
        "{{" * 50_000,
        "a: {{ x }} y\n" * 20_000,
        "*a " * 50_000,
        "x: " + "- " * 50_000,
    ],
    ids=lambda t: repr(t[:10]),
)
def test_long_broken_lines_are_read_in_linear_time(text: str) -> None:
    """No pattern backtracks over a long line: these all end (a quadratic step would take minutes)."""
    assert not read_text(text).ok or text.startswith(("a:  ", "- ", "x: "))


class Hostile:
    """An object whose every shown form raises."""

    def __repr__(self) -> str:
        raise RuntimeError("never ask me")

    __str__ = __repr__


def cyclic() -> dict[str, Any]:
    """A dict that contains itself two levels down."""
    data: dict[str, Any] = {"steps": [{}]}
    data["steps"][0]["self"] = data
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"steps": [{"id": b"x"}]}, "steps[0].id: bytes is no JSON value"),
        ({"a": {1, 2}}, "a: set is no JSON value"),
        ({"a": [Hostile()]}, "a[0]: Hostile is no JSON value"),
        ({"a": float("nan")}, "a: nan is no number that JSON can hold"),
        ({"a": (float("-inf"),)}, "a[0]: -inf is no number that JSON can hold"),
        ({"a": 2**53 + 1}, "a: the integer lies beyond ±2^53, which numbers of JSON hold exactly; give it as text"),
        ({"a": {True: 1}}, "a: key True is no text but bool"),
        ({Hostile(): 1}, "the playbook: key of type Hostile is no text but Hostile"),
        ({"a": "x\ud800"}, "a: the text holds a lone surrogate, which is no character"),
        (cyclic(), "steps[0].self: the dict contains itself"),
        (object(), "the playbook: object is no JSON value"),
        ({"a": "\bSTOP\b"}, "a: text holds the control character U+0008: in double quotes `\\b` means backspace"),
    ],
)
def test_a_dict_that_is_no_json_is_refused_with_its_path(data: Any, message: str) -> None:
    """The message names the path, for a dict has no lines."""
    [found] = read_data(data).diagnostics
    assert message == found.message
    assert str(found.span) == "<dict>:1:1"


def test_a_dict_bomb_of_shared_lists_is_refused() -> None:
    """The same list ten times in ten lists, ten levels: ten billion values that take no memory in Python."""
    data: Any = ["x"]
    for _ in range(10):
        data = [data] * 10
    found = read_data(data, limits=Limits(max_values=10_000))
    assert [d.code for d in found.diagnostics] == ["GW008"]
    assert not found.complete


def test_a_string_of_escapes_takes_no_more_memory_than_its_text() -> None:
    """A matcher that could go back would keep a note for every escape: hundreds of bytes each."""
    text = '{"id": "' + r"\u0041" * 100_000 + '"}'
    for source in (text, text.replace('"', "'")):
        tracemalloc.start()
        try:
            read_text(source, syntax="json")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 10 * len(text)


def test_what_is_too_much_is_not_judged_any_further() -> None:
    """Of a playbook over the limit only that is told: a million unknown keys would be a million faults."""
    document = read_text("id: a\n" + "".join(f"k{i}: 1\n" for i in range(60)), limits=Limits(max_values=100))
    playbook, found = validate(document)
    assert playbook is None
    assert [finding.code for finding in found] == ["GW008"]


def test_deep_dicts_do_not_recurse() -> None:
    """A list nested 50,000 deep is reported once, not walked to its end."""
    data: Any = []
    for _ in range(50_000):
        data = [data]
    assert codes(read_data({"a": data})) == ["GW009 1:1"]


def test_tuples_and_subclasses_of_plain_types_become_plain() -> None:
    """A tuple is a list; a text or number of a subclass loses its class."""

    class Name(str):
        __slots__ = ()

    document = read_data({Name("a"): (Name("b"), True, 1, 1.5, None)})
    assert document.ok
    assert document.root is not None
    plain = document.root.plain()
    assert json.dumps(plain) == '{"a": ["b", true, 1, 1.5, null]}'
    assert type(plain["a"][0]) is str
