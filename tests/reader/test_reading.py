"""Files, the choice of the syntax, spans, and what a word means."""

from __future__ import annotations

from pathlib import Path

import pytest

from guideway.playbooks.reader import read_data, read_file, read_text


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    """`.json` is JSON even when YAML would take it, whatever the case of the ending."""
    (tmp_path / "a.JSON").write_text("{id: x}")
    (tmp_path / "a.yml").write_text("{id: x}")
    assert [d.code for d in read_file(tmp_path / "a.JSON").diagnostics] == ["GW006", "GW006"]
    assert read_file(tmp_path / "a.yml").ok


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.yaml", "cannot read the file: it does not exist"),
        ("folder.yaml", "cannot read a folder as a playbook"),
        ("notes.txt", "a playbook file ends in .yaml, .yml or .json; this one has `.txt`"),
        ("plain", "a playbook file ends in .yaml, .yml or .json; this one has no ending"),
        ("missing.txt", "cannot read the file: it does not exist"),
        ("a\0b.yaml", "cannot read the file: embedded null byte"),
        ("plain/a.yaml", "cannot read the file: not a directory"),
        ("x" * 300 + ".yaml", "cannot read the file: file name too long"),
        ("empty.yaml", "the playbook is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, name: str, message: str) -> None:
    """Whatever keeps a file from being read comes as GW001, never as an exception."""
    (tmp_path / "folder.yaml").mkdir()
    for other in ("notes.txt", "plain", "empty.yaml"):
        (tmp_path / other).touch()
    document = read_file(tmp_path / name)
    [found] = document.diagnostics
    assert (found.code, found.message) == ("GW001", message)
    assert not document.ok


def test_a_large_file_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    """The size limit holds for files."""
    from guideway.playbooks.limits import Limits

    path = tmp_path / "a.yaml"
    path.write_text("id: x\n")
    assert [d.code for d in read_file(path, limits=Limits(max_bytes=5)).diagnostics] == ["GW002"]
    assert read_file(path, limits=Limits(max_bytes=6)).ok


@pytest.mark.parametrize(
    ("text", "is_json"), [('{"a": 1, }', True), (" \n{ }x", True), ("{a: 1, }", False), ("[1, ]", False)]
)
def test_text_without_a_name_is_json_when_it_begins_like_json(text: str, is_json: bool) -> None:
    """A brace and then a double quote or a closing brace means JSON, where a trailing comma is a fault."""
    assert ("GW006" in [d.code for d in read_text(text).diagnostics]) is is_json


def test_words_that_yaml_1_1_takes_for_booleans_and_numbers_are_ids() -> None:
    """Steps named on, off, yes, no, 1e3, null keep their names when quoted, and as keys also unquoted."""
    document = read_text("steps: [{id: on}, {id: no}, {id: '1e3'}, {id: \"null\"}]\non: 1\nno: 2\n1e3: 3\nnull: 4\n")
    assert document.ok
    assert document.root is not None
    plain = document.root.plain()
    assert [step["id"] for step in plain.pop("steps")] == ["on", "no", "1e3", "null"]
    assert plain == {"on": 1, "no": 2, "1e3": 3, "null": 4}


def test_a_scalar_remembers_how_it_was_written() -> None:
    """Messages that repair can show the author's own word, though the value is a number."""
    root = read_text("a: 1.10\nb: 0x1F\nc: ~\nd: True\ne:\n").root
    assert root is not None
    assert [root.at([key]).text for key in "abcde"] == ["1.10", "0x1F", "~", "True", ""]


def test_spans_of_values_keys_and_of_paths_that_end_nowhere() -> None:
    """A path that goes on behind the tree gives the deepest place that exists."""
    document = read_text("id: x\nsteps:\n  - id: a\n    hints: [b, c]\n", "t.yaml")
    assert str(document.span(["steps", 0, "hints", 1])) == "t.yaml:4:16"
    assert str(document.key_span(["steps", 0, "hints"])) == "t.yaml:4:5"
    assert str(document.key_span(["steps", 0])) == "t.yaml:3:5"
    assert str(document.span(["steps", 7, "id"])) == "t.yaml:3:3"
    assert str(document.key_span(["steps", 0, "missing"])) == "t.yaml:3:5"
    assert str(document.span()) == "t.yaml:1:1"


def test_an_alias_has_the_place_of_its_words() -> None:
    """A finding about aliased text points at where the text stands."""
    document = read_text("a: &x {k: text}\nb: *x\n")
    assert str(document.span(["b", "k"])) == "<text>:1:11"


def test_a_dict_has_no_places() -> None:
    """All spans of a dict are line 1 column 1, and the document says so."""
    document = read_data({"a": ["b"]}, "<mine>")
    assert not document.has_places
    assert str(document.span(["a", 0])) == str(document.key_span(["a"])) == "<mine>:1:1"
    assert document.root is not None
    assert document.root.at(["a", 0]).text_offset(1) == (1, 1)


@pytest.mark.parametrize(
    ("text", "help_text"),
    [
        ("when: !facts.x && y\n", 'quote the whole value: "!facts.x && y"'),
        ("a: {b: {{ c.d }}}\n", 'quote it: "{{ c.d }}"'),
        ("when: x ? 'a' : \"b\"\n", "quote the whole value: 'x ? ''a'' : \"b\"'"),
        ("- {when: size(x, y) > 1, goto: z}\n", 'quote the whole value: "size(x, y) > 1"'),
        ("- {when: x in [1, 2], goto: z}\n", 'quote the whole value: "x in [1, 2]"'),
        ("a: {d: the list, the rest, e: f}\n", 'quote the whole value: "the list, the rest"'),
        ("when: x == 'a #b'  \n", "quote the whole value: \"x == 'a #b'\""),
        ('a: "\\d+"\n', "single quotes leave the backslash alone: '\\d+'"),
        ("a: 012\n", 'quote it if it is a name: "012"'),
        ("id:x\nname: y\n", "write `id: x`"),
    ],
)
def test_the_repair_is_shown_ready_to_paste(text: str, help_text: str) -> None:
    """The help of a finding holds the author's own words, repaired; pasted in, they read without a finding."""
    [found] = read_text(text).diagnostics
    assert help_text == found.help


def test_two_places_of_a_duplicate_key_are_linked() -> None:
    """The finding stands at the second key and relates the first."""
    [found] = read_text("a: 1\nb: 2\na: 3\n").diagnostics
    assert str(found.span) == "<text>:3:1"
    assert [str(r.span) for r in found.related] == ["<text>:1:1"]


def test_the_cycle_collector_runs_again_after_a_large_text() -> None:
    """Reading holds the collector for large texts only while it reads, also when it stops early."""
    import gc

    for text in ("a: " + "x" * 200_000, "a: [" + "x" * 200_000, '{"a": "' + "x" * 200_000):
        read_text(text)
        assert gc.isenabled()


def test_a_pyyaml_without_libyaml_is_the_hosts_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pure Python parser reads some texts differently, so it is refused with the repair, not used in silence."""
    import yaml

    from guideway.statemachine.errors import HostError

    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    with pytest.raises(HostError, match="libyaml"):
        read_text("id: x")
    assert read_text('{"id": "x"}').ok
