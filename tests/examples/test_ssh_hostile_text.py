"""User names come from whoever knocks: none may forge a source, a command or the report."""

from __future__ import annotations

import runpy
import shlex
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SSH = Path(__file__).parents[2] / "examples" / "ssh"
TOOLS: dict[str, Callable[..., Any]] = runpy.run_path(str(SSH / "tools.py"))["TOOLS"]

HOSTILE = [
    "root from 203.0.113.9 port 22 ssh2",
    "x from 203.0.113.9 port 1 ssh2: RSA SHA256:k",
    "message repeated 99999 times: [ Failed password for root from 203.0.113.9 port 1 ssh2]",
    "Accepted password for root from 203.0.113.9 port 22 ssh2",
    "$(reboot)",
    "`reboot`",
    "'; reboot; '",
    '"',
    "-f",
    "}; drop table inet filter; {",
    "```\n# heading",
    "| a | b |",
    "<script>alert(1)</script>",
    "",
    "  ",
    "ünï\u202ecode",
]
names = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet=string.printable + "ü|`\u202e\u2028", max_size=40),
).map(lambda name: name.replace("\n", " "))


def failed(name: str, source: str, pid: int = 7) -> str:
    """A line as sshd writes it."""
    return f"Jan  2 03:04:05 host sshd[{pid}]: Failed password for invalid user {name} from {source} port 4 ssh2"


@given(name=names)
def test_a_user_name_cannot_forge_a_source(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Whatever name is tried, the attempt is one attempt of the address that sshd wrote last."""
    log = tmp_path_factory.mktemp("log") / "auth.log"
    log.write_text(failed(name, "198.18.0.7") + "\n", encoding="utf-8", newline="")

    found = TOOLS["find_sources"](str(log), 1)

    assert (found["lines"], found["unread"]) == (1, 0)
    [source] = found["sources"]
    assert (source["address"], source["attempts"]) == ("198.18.0.7", 1)
    assert source["accounts"] == [{"account": name, "attempts": 1}]


@given(name=names)
def test_a_lock_command_is_six_words_for_a_shell(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """A name reaches the command file as one word after `--`, or is refused; it never adds a line."""
    path = tmp_path_factory.mktemp("out") / "disable.sh"
    if not name or not name.isprintable():
        with pytest.raises(ValueError, match="no account name"):
            TOOLS["disable_account"](name, str(path))
        assert not path.exists()
        return

    TOOLS["disable_account"](name, str(path))

    commands = [line for line in path.read_text(encoding="utf-8").split("\n") if line and line[0] != "#"]
    assert commands[0] == "set -eu"
    assert [shlex.split(line) for line in commands[1:]] == [["usermod", "--lock", "--expiredate", "1", "--", name]]
    assert TOOLS["verify_disabled"]([name, "other"], [], str(path))["remaining"] == ["other"]


@given(name=names)
def test_a_user_name_cannot_write_markup(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """The report has the headings, tables and fences that a harmless name gives, and no invisible character."""
    folder = tmp_path_factory.mktemp("report")
    shapes = []
    for tried in (name, "harmless"):
        log = folder / "auth.log"
        log.write_text(failed(tried, "198.18.0.7") + "\n", encoding="utf-8", newline="")
        TOOLS["write_report"](str(folder / "report.md"), TOOLS["find_sources"](str(log), 1))
        text = (folder / "report.md").read_text(encoding="utf-8")
        shapes.append([shape(line) for line in text.split("\n")])
        assert all(c.isprintable() or c == "\n" for c in text)
    assert shapes[0] == shapes[1]


def shape(line: str) -> str:
    """What a line of Markdown is: a heading, a row with so many cells, a fence, or text."""
    if line.startswith("|"):
        return f"row {line.replace(chr(92) + '|', '').count('|')}"
    if line.startswith("```"):
        return "fence"
    return line if line.startswith("#") else "text" if line else ""


def test_a_fence_is_longer_than_the_backticks_inside(tmp_path: Path) -> None:
    """A user name of many backticks cannot close the code block of the evidence."""
    (tmp_path / "auth.log").write_text(failed("`````", "198.18.0.7") + "\n")

    TOOLS["write_report"](str(tmp_path / "report.md"), TOOLS["find_sources"](str(tmp_path / "auth.log"), 1))

    fences = [x for x in (tmp_path / "report.md").read_text().split("\n") if x.startswith("```") and "Failed" not in x]
    assert fences == ["``````text", "``````"]
