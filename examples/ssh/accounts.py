"""Which accounts and groups came into being, and by whose hand."""

from __future__ import annotations

import re
from typing import Any

from .records import Record, evidence, read_log

_NEW_USER = re.compile(r"new user: name=(?P<name>[^,]+), UID=(?P<uid>\d+)\b.*")
_NEW_GROUP = re.compile(r"new group: name=(?P<name>[^,]+), GID=(?P<gid>\d+)\b.*")
_PASSWORD = re.compile(r"pam_unix\((?:chpasswd|passwd):chauthtok\): password changed for (?P<name>.+)")
_COMMAND = re.compile(r"\s*(?P<user>\S+) : .*COMMAND=(?P<command>.*)")
_SUDO_CLOSED = "pam_unix(sudo:session): session closed"


def find_new_accounts(log: str, since_line: int | None = None) -> dict[str, Any]:
    """Find accounts and groups created and passwords set, who ran the command, and which came after `since_line`.

    `by` is the user whose sudo command was running at that line, or empty where the log shows none. `after` names the
    accounts created after `since_line` (the first guessed login); with None there is no such line, so it is empty.

    Raises:
        ValueError: the log cannot be read.
    """
    seen: dict[str, list[dict[str, Any]]] = {"accounts": [], "groups": [], "passwords": []}
    failed_adds = missing_users = 0
    running = ("", "")
    for record in read_log(log).records:
        running = sudo_running(record, running)
        if found := creation(record):
            seen[found[0]].append(entry(record, found[1], running, since_line))
        failed_adds += record.times * (record.program == "useradd" and record.message.startswith("failed adding user "))
        missing_users += record.times * no_such_user(record)
    return {
        "accounts": seen["accounts"],
        "groups": seen["groups"],
        "passwords_set": seen["passwords"],
        "failed_adds": failed_adds,
        "passwords_for_missing_users": missing_users,
        "after": [account["name"] for account in seen["accounts"] if account["after"]],
    }


def creation(record: Record) -> tuple[str, str] | None:
    """What a record says was made, and its name. A group that useradd makes for its user is not told twice."""
    if record.program == "useradd" and (match := _NEW_USER.fullmatch(record.message)):
        return "accounts", match["name"]
    if record.program == "groupadd" and (match := _NEW_GROUP.fullmatch(record.message)):
        return "groups", match["name"]
    if record.program in {"chpasswd", "passwd"} and (match := _PASSWORD.fullmatch(record.message)):
        return "passwords", match["name"]
    return None


def no_such_user(record: Record) -> bool:
    """Whether a password was set for a user that does not exist."""
    return record.program == "chpasswd" and record.message.endswith(" does not exist in /etc/passwd")


def sudo_running(record: Record, running: tuple[str, str]) -> tuple[str, str]:
    """The sudo command (user, command) that runs after this record."""
    if record.program != "sudo":
        return running
    if match := _COMMAND.fullmatch(record.message):
        return match["user"], match["command"]
    return ("", "") if record.message.startswith(_SUDO_CLOSED) else running


def entry(record: Record, name: str, running: tuple[str, str], since_line: int | None) -> dict[str, Any]:
    """One account, group or password as plain JSON."""
    return {
        "name": name,
        "time": record.stamp,
        "by": running[0],
        "command": running[1],
        "after": since_line is not None and record.number > since_line,
        **evidence(record)[0],
    }
