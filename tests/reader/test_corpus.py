"""The corpus: broken files speak word for word, sound files stay silent and mean the same in YAML and JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from guideway.playbooks.codes import CODES
from guideway.playbooks.reader import read_file

HERE = Path(__file__).parent
BROKEN = sorted(p for p in (HERE / "err").iterdir() if p.suffix in {".yaml", ".json"})
SOUND = sorted((HERE / "ok").glob("*.yaml"))


def report(path: Path) -> str:
    """The findings about a file, one a line in the concise form, with the base name of the file."""
    return "".join(
        f"{path.name}:{d.span.line}:{d.span.column}: {d.level}: {d.message} [{d.code}]\n"
        for d in read_file(path).diagnostics
    )


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.name)
def test_a_broken_file_is_reported_word_for_word(path: Path) -> None:
    """Each file under err yields exactly the lines of the `.out` file beside it."""
    expected = path.with_name(path.name + ".out").read_text(encoding="utf-8")
    assert expected == report(path)
    assert expected, "a file under err must have a finding"


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.name)
def test_every_finding_says_what_to_do(path: Path) -> None:
    """A finding has a help text, a code of the catalogue, and a place inside the file."""
    lines = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    for found in read_file(path).diagnostics:
        assert found.help
        assert found.code in CODES
        assert 1 <= found.span.line <= len(lines)
        assert 1 <= found.span.column <= len(lines[found.span.line - 1]) + 1


@pytest.mark.parametrize("path", SOUND, ids=lambda p: p.name)
def test_a_sound_file_is_silent_and_means_the_same_in_json(path: Path) -> None:
    """A file under ok has no finding, and its JSON twin has the same value with the same types."""
    yaml, json = read_file(path), read_file(path.with_suffix(".json"))
    assert yaml.diagnostics == json.diagnostics == []
    assert yaml.root is not None
    assert json.root is not None
    assert repr(yaml.root.plain()) == repr(json.root.plain())


def test_the_corpus_shows_every_rule_that_a_text_can_break() -> None:
    """A rule without a bad example cannot exist; those that need odd bytes or dicts are shown in other tests."""
    shown = {line.rsplit("[", 1)[1][:-1] for p in BROKEN for line in report(p).splitlines()}
    elsewhere = {"GW002", "GW003", "GW008", "GW009", "GW019"}
    assert set(CODES) - elsewhere == shown - elsewhere


def test_the_catalogue_is_in_order_and_complete() -> None:
    """Codes and names are unique, and every essay has its four parts."""
    assert list(CODES) == sorted(CODES)
    assert len({rule.name for rule in CODES.values()}) == len(CODES)
    for rule in CODES.values():
        assert all(f"## {part}\n" in rule.essay for part in ("What it finds", "Why it matters", "Example", "Repair"))


def test_ten_faults_cost_one_reading() -> None:
    """All faults of one file come at once, also those behind a syntax error that has a known repair."""
    document = read_file(HERE / "err" / "many-faults.yaml")
    assert len(document.diagnostics) >= 10
    assert document.complete
    assert document.root is not None
    step = document.root.plain()["steps"][1]
    assert step["where"] == "args.x in [1, 2] && args.y == 'a #b'"
    assert step["call"] == {"tool": "t", "args": {"q": "{{ inputs.q }}"}}
    assert step["hints"] == ["@me", None]


def test_what_came_before_a_stop_is_kept() -> None:
    """After a syntax error without a known repair the tree so far and the earlier findings stay, marked incomplete."""
    document = read_file(HERE / "err" / "no-colon.yaml")
    assert not document.complete
    assert [d.code for d in document.diagnostics] == ["GW007", "GW005"]
    assert document.root is not None
    assert document.root.plain() == {"id": "x"}
