"""Files that are none: pipes, devices, sockets; and names that would write on the terminal themselves."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guideway.playbooks.reader import read_file
from guideway.runtime.lines import read_text
from guideway.statemachine.errors import HostError

Run = Callable[..., Any]

READING = [
    # command line, what the sentence names; ODD is the file
    ("check ODD", "PATHS"),
    ("check ok.yaml ODD --format json", "PATHS"),
    ("check ok.yaml --skills ODD", "--skills"),
    ("compile ODD", "PLAYBOOK"),
    ("draw ODD", "PLAYBOOK"),
    ("draw ok.yaml --trace ODD", "--trace"),
    ("run ODD", "PLAYBOOK"),
    ("run ok.yaml --tools ODD", "--tools"),
    ("run ok.yaml --tools tools.py --inputs ODD", "--inputs"),
    ("run ok.yaml --tools tools.py --input host=a --approve file:ODD", "--approve"),
    ("run ok.yaml --tools tools.py --agent scripted:ODD", "--agent"),
]
WRITING = [
    ("run ok.yaml --tools tools.py --input host=a --trace ODD", "--trace"),
    ("run ok.yaml --tools tools.py --input host=a --draw ODD.svg", "--draw"),
    ("compile ok.yaml -o ODD.machine.json", "--output"),
    ("draw ok.yaml -o ODD --format dot", "--output"),
    ("schema -o ODD", "--output"),
    ("init ODD.yaml", "PATH"),
]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, triage: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good playbook and, under several endings, a pipe that nobody writes to or reads from."""
    triage.rename(tmp_path / "ok.yaml")
    for ending in ("", ".yaml", ".svg", ".machine.json"):
        os.mkfifo(tmp_path / f"pipe{ending}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "named"), READING, ids=[line for line, _ in READING])
@pytest.mark.parametrize("odd", ["./pipe", "./pipe.yaml", "/dev/zero"])
def test_what_has_no_end_is_not_read(guideway: Run, folder: Path, line: str, named: str, odd: str) -> None:
    """One sentence, status 2, and no waiting."""
    result = guideway(*line.replace("ODD", odd).split())

    assert (result.status, result.out) == (2, "")
    assert f"{named}: {odd.removeprefix('./') if named == '--tools' else odd} is a pipe or a device" in result.err


@pytest.mark.parametrize(("line", "named"), WRITING, ids=[line for line, _ in WRITING])
def test_nothing_is_written_to_a_pipe_that_nobody_reads(guideway: Run, folder: Path, line: str, named: str) -> None:
    """Opening it would wait for ever."""
    result = guideway(*line.replace("ODD", "pipe").split())

    assert result.status == 2
    assert f"{named}: pipe" in result.err


def test_a_socket_is_no_file(guideway: Run, folder: Path) -> None:
    """Neither to read nor to write."""
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("s")
        for line in ("check s", "run s", "schema -o s"):
            assert guideway(*line.split()).status == 2


def test_the_null_device_takes_what_is_written(guideway: Run, folder: Path) -> None:
    """As a trace, and as a picture."""
    line = "run ok.yaml --tools tools.py --input host=a --trace /dev/null"

    assert guideway(*line.split()).status == 0
    assert guideway("draw", "ok.yaml", "-o", "/dev/null", "--format", "dot").status == 0


def test_a_folder_with_a_pipe_in_it_is_checked_without_it(guideway: Run, folder: Path) -> None:
    """Only files are."""
    assert guideway("check", folder).out == "nothing found in 1 file\n"


def test_the_library_does_not_wait_for_a_pipe_either(folder: Path) -> None:
    """A finding, and an error."""
    [finding] = read_file("pipe.yaml").diagnostics
    assert (finding.code, "pipe" in finding.message) == ("GW001", True)
    for path in ("pipe", "/dev/zero"):
        with pytest.raises(HostError, match="a pipe or a device"):
            read_text(path)


FORGED = "ok.yaml:1:1: error: forged [GW020]\nz\x1b[31m\u202e.yaml"
ESCAPED = r"ok.yaml:1:1: error: forged [GW020]\nz\x1b[31m\u202e.yaml"


@pytest.mark.parametrize("line", ["check --format concise", "check", "compile", "draw", "run"])
def test_the_name_of_a_file_stays_on_its_line(guideway: Run, folder: Path, line: str) -> None:
    """What cannot be seen is written as an escape, so that no place can be forged."""
    (folder / FORGED).write_text("id: a\nnmae: A\n")
    result = guideway(*line.split(), FORGED)
    said = result.out + result.err

    assert ESCAPED + ":2:1" in said
    assert all(c.isprintable() or c == "\n" for c in said)
    assert not any(text == "ok.yaml:1:1: error: forged [GW020]" for text in said.splitlines())


@pytest.mark.parametrize(
    "line",
    ["check {}", "run {}", "init {}", "draw ok.yaml -o {}", "run ok.yaml --tools {}", "schema -o {}/a", "compile {}"],
)
def test_no_message_sends_the_name_of_a_file_as_it_is(guideway: Run, folder: Path, line: str) -> None:
    """Nor does what is said of one that was written."""
    name = "a\nb\x1b[2J\r"
    for ending in (".yaml", ".svg", ".none", "/x.py"):
        result = guideway(*(part.replace("{}", name + ending) for part in line.split()))
        said = result.out + result.err
        assert all(c.isprintable() or c == "\n" for c in said)
        assert "\nb" not in said
