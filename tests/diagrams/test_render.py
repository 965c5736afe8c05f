"""Pictures as files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guideway.diagrams import render as module
from guideway.diagrams.build import picture
from guideway.diagrams.dot import dot
from guideway.diagrams.mermaid import mermaid
from guideway.diagrams.picture import Picture
from guideway.diagrams.render import RenderError, render, save
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import GuidewayError

MAGIC = {"svg": b"<?xml", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}


@pytest.fixture
def drawn(triage: Definition) -> Picture:
    """Build the picture of the triage playbook."""
    return picture(triage)


def fake_dot(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a `dot` of our own on the PATH, before the others."""
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("form", MAGIC)
def test_each_format_is_drawn(drawn: Picture, form: str) -> None:
    """The bytes begin as files of the format do."""
    assert render(drawn, form).startswith(MAGIC[form])


def test_pygraphviz_draws_where_no_dot_is_found(
    drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With an empty PATH the Graphviz of the package is used."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert render(drawn, "svg").startswith(MAGIC["svg"])


def test_the_suffix_of_a_path_chooses_the_format(drawn: Picture, tmp_path: Path) -> None:
    """DOT and Mermaid are text; case does not matter; nothing is written."""
    assert render(drawn, tmp_path / "x.dot").decode() == dot(drawn).source
    assert render(drawn, "a/b.MMD").decode() == mermaid(drawn)
    assert render(drawn, ".dot") == render(drawn, "dot")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_is_saved(drawn: Picture, tmp_path: Path) -> None:
    """The file holds what `render` gives; a folder that is missing is one clear sentence."""
    save(drawn, tmp_path / "x.mmd")

    assert (tmp_path / "x.mmd").read_bytes() == render(drawn, "mmd")
    with pytest.raises(RenderError, match="cannot be written: No such file"):
        save(drawn, tmp_path / "none" / "x.mmd")


@pytest.mark.parametrize("name", ["gif", "x.jpeg", "", "picture", "x."])
def test_an_unknown_format_is_refused_with_the_known_ones(drawn: Picture, name: str) -> None:
    """Before anything is drawn."""
    with pytest.raises(RenderError, match="there are svg, png, pdf, dot, mmd"):
        render(drawn, name)


def test_without_a_renderer_the_error_names_the_ways_out(
    drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both fixes, and the formats that need neither; it is an error of Guideway's own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(module, "find_spec", lambda name: None)

    with pytest.raises(GuidewayError) as caught:
        render(drawn, "svg")

    for words in ("`dot` is on the PATH", "pip install 'guideway[diagrams]'", ".dot and .mmd need neither"):
        assert words in str(caught.value)
    assert render(drawn, "dot")


def test_a_dot_on_the_path_comes_first(drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It gets the format as its argument and the text on its standard input."""
    fake_dot(tmp_path, 'echo "$1"; cat', monkeypatch)

    assert render(drawn, "svg").decode() == f"-Tsvg\n{dot(drawn).source}"


def test_a_renderer_that_takes_too_long_is_ended(
    drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The child is killed, and the message says what to do."""
    fake_dot(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600", monkeypatch)

    with pytest.raises(RenderError, match=r"longer than 2 s.*give it more time"):
        render(drawn, "svg", timeout=2)

    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("script", "message"),
    [("echo noise >&2; echo syntax error >&2; exit 1", "syntax error"), ("exit 3", "status 3"), ("exit 0", "status 0")],
)
def test_a_renderer_that_fails_is_quoted(
    drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, message: str
) -> None:
    """Its last words, or its status; an empty drawing is a failure too."""
    fake_dot(tmp_path, f"cat > /dev/null; {script}", monkeypatch)

    with pytest.raises(RenderError, match=f"could not draw the picture: {message}"):
        render(drawn, "svg")


def test_a_renderer_that_cannot_be_started_is_an_error(
    drawn: Picture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file that is no program is not a traceback."""
    fake_dot(tmp_path, "", monkeypatch)
    (tmp_path / "dot").write_bytes(b"\x00")

    with pytest.raises(RenderError, match="could not be started"):
        render(drawn, "svg")
