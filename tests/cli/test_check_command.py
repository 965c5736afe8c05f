"""`guideway check`: what it prints, and its exit status."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

BAD = "id: a\nname: A\nsteps:\n  - id: look\n    description: Look\n    expected_tool: [x]\n"
FALLS = (
    "id: a\nname: A\nsteps:\n"
    "  - {id: look, description: L, expected_tools: [t], on_failure: mend}\n"
    "  - {id: mend, description: M, expected_tools: [u]}\n"
)


@pytest.fixture(name="bad")
def _bad(tmp_path: Path) -> Path:
    """A playbook with one misspelt key."""
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    return path


def test_a_clean_playbook_is_status_0(guideway: Run, triage: Path) -> None:
    """Nothing found is said in one line."""
    result = guideway("check", triage)

    assert (result.status, result.out, result.err) == (0, "nothing found in 1 file\n", "")


def test_the_shipped_examples_of_help_check_clean(guideway: Run, root: Path) -> None:
    """The starter that `init` writes has nothing to be found, warnings included."""
    assert guideway("check", "--strict", root / "src/guideway/cli/starter.yaml").status == 0


def test_an_error_shows_its_line_with_a_mark_under_the_place(guideway: Run, bad: Path) -> None:
    """The human form holds place, line, mark, help and a count."""
    result = guideway("check", bad)
    lines = result.out.splitlines()

    assert result.status == 1
    assert lines[0].startswith("error[GW020]: unknown key `expected_tool`")
    assert f" --> {bad}:6:5" in lines
    shown = next(line for line in lines if line.startswith("6 | "))
    assert lines[lines.index(shown) + 1].index("^") == shown.index("expected_tool")
    assert lines[-1] == "1 error in 1 file"


def test_the_mark_stands_under_the_place_after_wide_characters_and_tabs(guideway: Run, tmp_path: Path) -> None:
    """Two cells for a wide character, none for a combining one."""
    path = tmp_path / "wide.yaml"
    path.write_text('id: a\nname: "調査"\nsteps: [{id: b, description: "調査é́", expected_tools: [t], nxt: c}]\n')
    lines = guideway("check", path).out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("3 | "))
    before = lines[at][: lines[at].index("nxt")]
    cells = sum(2 if c == "調" or c == "査" else 0 if c == "\u0301" else 1 for c in before)

    assert cells == lines[at + 1].index("^")


def test_a_second_place_is_shown_too(guideway: Run, tmp_path: Path) -> None:
    """A step id used twice shows both lines."""
    path = tmp_path / "twice.yaml"
    step = "  - {id: a, description: A, expected_tools: [t]}\n"
    path.write_text(f"id: p\nname: P\nsteps:\n{step}{step}")
    out = guideway("check", path).out

    assert f"{path}:5:10" in out
    assert f"{path}:4:10" in out
    assert "first used here" in out


def test_concise_is_one_line_a_finding(guideway: Run, bad: Path) -> None:
    """Editors and grep read `FILE:LINE:COL: level: message [CODE]`."""
    [line] = guideway("check", bad, "--format", "concise").out.splitlines()

    assert re.fullmatch(re.escape(str(bad)) + r":6:5: error: unknown key `expected_tool`.* \[GW020\]", line)


def test_json_counts_and_lists_the_findings(guideway: Run, bad: Path, triage: Path) -> None:
    """Programs read the same findings."""
    result = guideway("check", bad, triage, "--format", "json")
    data = json.loads(result.out)

    assert (result.status, data["files"], data["error"], data["warning"]) == (1, 2, 1, 0)
    assert tuple(data["findings"][0][key] for key in ("code", "line", "column")) == ("GW020", 6, 5)


def test_strict_makes_a_warning_fail(guideway: Run, tmp_path: Path) -> None:
    """A warning alone is status 0, and 1 with --strict."""
    path = tmp_path / "falls.yaml"
    path.write_text(FALLS)

    assert guideway("check", path).status == 0
    result = guideway("check", path, "--strict")
    assert result.status == 1
    assert "warning[GW203]" in result.out


def test_a_playbook_from_standard_input_is_named_so(guideway: Run) -> None:
    """`-` reads standard input, and its lines are shown."""
    result = guideway("check", "-", stdin=BAD)

    assert result.status == 1
    assert "--> <stdin>:6:5" in result.out
    assert "6 |     expected_tool: [x]" in result.out


def test_a_folder_is_searched_without_hidden_ones_and_machines(guideway: Run, tmp_path: Path, triage: Path) -> None:
    """Every playbook under a folder is checked."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "bad.yml").write_text(BAD)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "bad.yaml").write_text(BAD)
    (tmp_path / "x.machine.json").write_text("{}")
    data = json.loads(guideway("check", tmp_path, "--format", "json").out)

    assert (data["files"], data["error"]) == (2, 1)


def test_skills_are_resolved_from_a_file(guideway: Run, tmp_path: Path) -> None:
    """A skill nobody resolves is a warning; the map takes it away."""
    path, skills = tmp_path / "skilled.yaml", tmp_path / "skills.yaml"
    path.write_text("id: a\nname: A\nsteps: [{id: look, description: L, uses: [siem]}]\n")
    skills.write_text("siem: [query_siem]\n")

    assert "GW121" in guideway("check", path).out
    assert "GW121" not in guideway("check", path, "--skills", skills).out


@pytest.mark.parametrize(("option", "code"), [("bytes", "GW002"), ("values", "GW"), ("depth", "GW")])
def test_each_limit_is_an_option(guideway: Run, triage: Path, option: str, code: str) -> None:
    """A source past a limit is an error that names it."""
    result = guideway("check", triage, f"--max-{option}", "2", "--format", "concise")

    assert result.status == 1
    assert code in result.out
    assert f"--max-{option}" in result.out or "limit" in result.out or "2" in result.out


def test_colour_is_for_terminals_only(guideway: Run, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Escapes go to a terminal, unless NO_COLOR is set."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    assert "\x1b[" not in guideway("check", bad).out
    assert "\x1b[1;31merror[GW020]\x1b[0m" in guideway("check", bad, terminal=True).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in guideway("check", bad, terminal=True).out


def test_what_a_playbook_holds_cannot_move_the_cursor(guideway: Run, tmp_path: Path) -> None:
    """Control characters of a source do not reach the terminal."""
    path = tmp_path / "esc.yaml"
    path.write_bytes(b'id: a\nname: A\n"ke\\x1b[2Jy": 1\nother\x7f: 2\n')

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", guideway("check", path).out)


def test_check_does_not_import_what_it_does_not_need(root: Path, triage: Path) -> None:
    """No rich, jsonschema, transitions, graphviz or runtime for a playbook without schemas to check."""
    script = (
        "import sys; from guideway.cli import main; main(['check', sys.argv[1]]);"
        "print([m for m in ('rich', 'transitions', 'graphviz', 'guideway.runtime.session') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(triage)], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"
