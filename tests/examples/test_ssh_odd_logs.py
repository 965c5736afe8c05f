"""Logs as they come: other spellings, broken lines, nothing at all."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SSH = Path(__file__).parents[2] / "examples" / "ssh"
TOOLS: dict[str, Callable[..., Any]] = runpy.run_path(str(SSH / "tools.py"))["TOOLS"]


def failed(name: str, source: str, pid: int = 7) -> str:
    """A line as sshd writes it."""
    return f"Jan  2 03:04:05 host sshd[{pid}]: Failed password for invalid user {name} from {source} port 4 ssh2"


def test_ipv6_mapped_addresses_and_iso_stamps_are_read(tmp_path: Path) -> None:
    """One source under several spellings is counted once; newer stamps and program names are read."""
    head = "2026-03-27T13:06:56.123456+01:00 host sshd-session[9]: "
    lines = [
        head + "Failed password for root from 2001:DB8:0:0::1 port 1 ssh2",
        head + "Failed password for root from 2001:db8::1 port 2 ssh2",
        head + "Failed keyboard-interactive/pam for root from 198.18.0.3 port 2 ssh2",
        head + "Failed none for root from 198.18.0.3 port 2 ssh2 [preauth]",
        head + "Failed publickey for root from ::ffff:198.18.0.3 port 2 ssh2: ED25519 SHA256:abc",
    ]
    (tmp_path / "auth.log").write_text("\r\n".join(lines) + "\r\n")

    found = TOOLS["find_sources"](str(tmp_path / "auth.log"), 1)

    assert {s["address"]: s["attempts"] for s in found["sources"]} == {"2001:db8::1": 2, "198.18.0.3": 1}
    assert found["first"] == "2026-03-27T13:06:56.123456+01:00"


def test_malformed_lines_are_counted_not_dropped(tmp_path: Path) -> None:
    """Garbage, bytes that are no UTF-8 and overlong lines are unread; the lines around them are read."""
    good = failed("x", "198.18.0.7").encode()
    garbage = b"\x00\xff\xfe garbage\n\nMar 99\n" + failed("y" * 9000, "198.18.0.7").encode()
    (tmp_path / "auth.log").write_bytes(good + b"\n" + garbage + b"\n" + good)

    found = TOOLS["find_sources"](str(tmp_path / "auth.log"), 1)

    assert (found["lines"], found["unread"], found["attempts"]) == (6, 3, 2)


def test_an_empty_log_says_nothing(tmp_path: Path) -> None:
    """An empty log gives no source and no line, so that the playbook can refuse to call it quiet."""
    (tmp_path / "auth.log").touch()

    found = TOOLS["find_sources"](str(tmp_path / "auth.log"), 1)

    assert (found["lines"], found["unread"], found["sources"], found["attempts"]) == (0, 0, [], 0)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("find_sources", [1]), ("find_logins", [[], 1]), ("find_new_accounts", [])]
)
def test_a_missing_log_is_one_clear_sentence(tmp_path: Path, tool: str, arguments: list[Any]) -> None:
    """A log that is not there, or is a folder, is an error that names the path."""
    for path in (tmp_path / "nowhere.log", tmp_path):
        with pytest.raises(ValueError, match="cannot read the log") as caught:
            TOOLS[tool](str(path), *arguments)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_spraying_many_accounts_before_a_login_counts(tmp_path: Path) -> None:
    """Ten names with one guess each, then a login as an eleventh: guessed all the same; a key login never is."""
    lines = [failed(f"user{n}", "198.18.0.7", n) for n in range(10)]
    accepted = "Jan  2 03:05:05 host sshd[77]: Accepted {} for amy from 198.18.0.7 port 4 ssh2"
    log = tmp_path / "auth.log"
    log.write_text("\n".join([*lines, accepted.format("password")]))
    by_password = TOOLS["find_logins"](str(log), ["198.18.0.7"], 10)
    log.write_text("\n".join([*lines, accepted.format("publickey")]))
    by_key = TOOLS["find_logins"](str(log), ["198.18.0.7"], 10)

    assert [(b["account"], b["guesses"]) for b in by_password["breaches"]] == [("amy", 10)]
    assert by_key["breaches"] == []


def test_a_case_starts_without_the_files_of_the_last_one(tmp_path: Path) -> None:
    """A second run cannot take the commands of the first for its own; other files stay."""
    paths = TOOLS["open_case"](str(tmp_path / "out"))
    TOOLS["disable_account"]("amy", paths["commands"])
    (tmp_path / "out" / "notes.txt").touch()

    TOOLS["open_case"](str(tmp_path / "out"))

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]
    assert TOOLS["verify_disabled"](["amy"], ["bob"], paths["commands"])["remaining"] == ["amy", "bob"]
