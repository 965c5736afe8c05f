"""Disable accounts: the commands are written to a file, for a person to run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from .blocklist import write_text

_HEAD = """\
#!/bin/sh
# Account locks that a person approved. Run as root: sh FILE
# To take one back: usermod --unlock --expiredate '' USER
set -eu
"""
_LOCK = ("usermod", "--lock", "--expiredate", "1", "--")


def open_case(out: str) -> dict[str, Any]:
    """Make the folder of the case and take away what an earlier run left under the names used here.

    Raises:
        ValueError: the folder cannot be made or written.
    """
    folder = Path(out)
    paths = {
        "report": str(folder / "report.md"),
        "blocklist": str(folder / "block.nft"),
        "commands": str(folder / "disable.sh"),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths.values():
            Path(path).unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot use {out!r} as the folder of the case: {error.strerror}"
        raise ValueError(message) from error
    return paths


def lock_command(user: str) -> str:
    """The shell command that disables `user`. Locking the password alone leaves key logins open, so it also expires.

    Raises:
        ValueError: the name is empty or holds a control character, which no account name does.

    >>> lock_command("eve; reboot")
    "usermod --lock --expiredate 1 -- 'eve; reboot'"
    """
    if not user or not user.isprintable():
        message = f"refused: {user!r} is no account name"
        raise ValueError(message)
    return shlex.join([*_LOCK, user])


def disable_account(user: str, path: str) -> dict[str, Any]:
    """Write the command that disables `user` to `path`. Irreversible: it ends the user's work at once.

    Raises:
        ValueError: the name is no account name, or the file cannot be written.
    """
    command = lock_command(user)
    before = read_commands(path) or _HEAD
    write_text(path, before + command + "\n")
    return {"user": user, "path": path, "command": command}


def verify_disabled(breached: list[str], created: list[str], path: str) -> dict[str, Any]:
    """Compare the accounts to disable (broken into, or created by an intruder) with the commands written to `path`.

    Raises:
        ValueError: the file exists and cannot be read.
    """
    wanted = list(dict.fromkeys([*breached, *created]))
    done = locked_users(read_commands(path))
    return {
        "wanted": wanted,
        "disabled": [user for user in wanted if user in done],
        "remaining": [user for user in wanted if user not in done],
        "commands": [lock_command(user) for user in wanted if user in done],
        "path": path,
    }


def read_commands(path: str) -> str:
    """The text of the command file; empty if there is none yet."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        message = f"cannot read the command file {path!r}: {error.strerror}"
        raise ValueError(message) from error


def locked_users(text: str) -> set[str]:
    """The users that the command file disables. Only the exact command counts."""
    words = [command_words(line) for line in text.splitlines()]
    return {line[-1] for line in words if tuple(line[:-1]) == _LOCK}


def command_words(line: str) -> list[str]:
    """The words a shell would read; none where a quote is left open."""
    try:
        return shlex.split(line)
    except ValueError:
        return []
