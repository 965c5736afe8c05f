"""The tools of the main job, held against counts derived a second way: words and a state machine, no patterns."""

from __future__ import annotations

import ipaddress
import runpy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SSH = Path(__file__).parents[2] / "examples" / "ssh"
TOOLS: dict[str, Callable[..., Any]] = runpy.run_path(str(SSH / "tools.py"))["TOOLS"]
MAIN, QUIET = SSH / "auth.log", SSH / "quiet.log"
LOGS = pytest.mark.parametrize("log", [MAIN, QUIET], ids=["auth", "quiet"])


class Count:
    """What the second way knows of a source."""

    def __init__(self) -> None:
        self.known = self.unknown = self.names = 0
        self.lines: list[int] = []
        self.accounts: Counter[str] = Counter()
        self.first_key = 10**9


def sshd_lines(log: Path) -> Iterator[tuple[int, str, str, int, str]]:
    """Number, stamp, process id, repetitions and message of each line of sshd, by position and words alone."""
    for number, line in enumerate(log.read_text().split("\n"), 1):
        rest = line[16:].split(" ", 1)[-1]
        if not rest.startswith("sshd["):
            continue
        pid, message = rest[5:].split("]: ", 1)
        times = 1
        if message.startswith("message repeated "):
            times = int(message.split()[2])
            message = message[message.index("[ ") + 2 : -1]
        yield number, line[:15], pid, times, message


def source_of(message: str) -> str:
    """The word after the last `from`."""
    words = message.split(" ")
    at = len(words) - 1 - words[::-1].index("from")
    return str(ipaddress.ip_address(words[at + 1]))


STARTS = ("Failed password for invalid user ", "Failed password for ", "Invalid user ", "Accepted password for ")


def account_of(message: str) -> str:
    """The words between `for` (or `user`) and the last `from`."""
    head = message[: message.rindex(" from ")]
    for start in STARTS:
        if head.startswith(start):
            return head[len(start) :]
    return head.split(" ")[3]


def second_count(log: Path) -> dict[str, Count]:
    """Count by source. First pass: which connections guess a password; second pass: the names of the others."""
    lines = list(sshd_lines(log))
    guesses = [(n, pid, message) for n, _, pid, _, message in lines if message.startswith("Failed password for ")]
    counts: dict[str, Count] = defaultdict(Count)
    for number, _, pid, times, message in lines:
        if message.startswith("Failed password for "):
            count = counts[source_of(message)]
            if message.startswith("Failed password for invalid user "):
                count.unknown += times
            else:
                count.known += times
        elif message.startswith("Invalid user "):
            source = source_of(message)
            if any(p == pid and number < n < number + 400 and source_of(m) == source for n, p, m in guesses):
                continue
            count = counts[source]
            count.names += 1
        else:
            if message.startswith("Accepted publickey "):
                count = counts[source_of(message)]
                count.first_key = min(count.first_key, number)
            continue
        count.lines.append(number)
        count.accounts[account_of(message)] += times
    return {source: count for source, count in counts.items() if count.lines}


def stamps(log: Path) -> dict[int, str]:
    """Line number to stamp."""
    return {number: line[:15] for number, line in enumerate(log.read_text().split("\n"), 1)}


@LOGS
@pytest.mark.parametrize("minimum", [1, 3, 6, 10, 100])
def test_sources_counts_and_times_agree_with_the_second_way(log: Path, minimum: int) -> None:
    """Every source, kind of attempt, account and time is what a word count of the log gives."""
    expected = second_count(log)
    at = stamps(log)

    found = TOOLS["find_sources"](str(log), minimum)

    totals = {source: c.known + c.unknown + c.names for source, c in expected.items()}
    over = {source for source, total in totals.items() if total >= minimum}
    assert {s["address"]: s["attempts"] for s in found["sources"]} == {source: totals[source] for source in over}
    assert found["attempts"] == sum(totals.values())
    assert found["sources_seen"] == len(totals)
    assert found["below"] == {
        "sources": len(totals) - len(over),
        "attempts": sum(total for total in totals.values() if total < minimum),
    }
    assert [s["attempts"] for s in found["sources"]] == sorted((totals[s] for s in over), reverse=True)
    for source in found["sources"]:
        count = expected[source["address"]]
        kinds = {"known_user": count.known, "unknown_user": count.unknown, "name_only": count.names}
        assert source["kinds"] == kinds
        assert (source["first"], source["last"]) == (at[min(count.lines)], at[max(count.lines)])
        assert source["accounts_tried"] == len(count.accounts)
        assert all(count.accounts[a["account"]] == a["attempts"] for a in source["accounts"])
        assert source["known"] == (count.first_key < min(count.lines))
    assert set(found["known"]) | set(found["hostile"]) == over
    assert not set(found["known"]) & set(found["hostile"])


@LOGS
def test_evidence_is_the_line_at_its_number(log: Path) -> None:
    """Each piece of evidence is the text of the log at the number it carries."""
    lines = log.read_text().split("\n")

    found = TOOLS["find_sources"](str(log), 1)
    logins = TOOLS["find_logins"](str(log), found["addresses"], 1)
    entries = [e for s in found["sources"] for e in s["evidence"] + s["known_by"]]
    entries += [e for b in logins["breaches"] for e in b["evidence"]]

    assert entries
    assert all(lines[entry["line"] - 1] == entry["text"] for entry in entries)


def second_breaches(log: Path, sources: set[str], minimum: int) -> list[tuple[str, str, int, int]]:
    """Logins by password after `minimum` guesses in a row: source, account, line, guesses."""
    history: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    found = []
    for number, _, _, times, message in sshd_lines(log):
        if message.startswith("Failed password for "):
            history[source_of(message)].append(("guess", account_of(message), times))
        elif message.startswith(("Accepted password for ", "Accepted publickey for ")):
            source, account = source_of(message), account_of(message)
            past = history[source]
            row = spray = 0
            for kind, _, times_then in reversed(past):
                if kind == "login":
                    break
                spray += times_then
            for kind, name, times_then in reversed(past):
                if name == account and kind == "login":
                    break
                row += times_then if name == account else 0
            if message.startswith("Accepted password") and source in sources and max(row, spray) >= minimum:
                found.append((source, account, number, max(row, spray)))
            past.append(("login", account, 0))
    return found


@LOGS
@pytest.mark.parametrize("minimum", [1, 2, 3, 10])
def test_guessed_logins_agree_with_the_second_way(log: Path, minimum: int) -> None:
    """The logins that followed on guessing are those found by looking back from each login."""
    sources = set(second_count(log))

    found = TOOLS["find_logins"](str(log), sorted(sources), minimum)

    expected = second_breaches(log, sources, minimum)
    assert [(b["source"], b["account"], b["line"], b["guesses"]) for b in found["breaches"]] == expected
    assert found["first_line"] == (expected[0][2] if expected else None)
    assert set(found["accounts"]) == {account for _, account, _, _ in expected}


def test_logins_by_source_agree_with_a_word_count() -> None:
    """How often each source logged in, and as whom, is what counting `Accepted` gives."""
    accepted = [m for _, _, _, _, m in sshd_lines(MAIN) if m.startswith("Accepted ")]
    by_source = Counter(map(source_of, accepted))

    found = TOOLS["find_logins"](str(MAIN), sorted(by_source), 10)

    assert {s["source"]: s["logins"] for s in found["by_source"]} == by_source
    for entry in found["by_source"]:
        assert set(entry["accounts"]) == {account_of(m) for m in accepted if source_of(m) == entry["source"]}


def test_the_main_log_holds_one_guessed_login() -> None:
    """The facts of the case, read off the log by eye."""
    sources = TOOLS["find_sources"](str(MAIN), 10)
    [breach] = TOOLS["find_logins"](str(MAIN), sources["addresses"], 10)["breaches"]

    assert sources["known"] == ["198.18.0.2"]
    assert (breach["source"], breach["account"], breach["guesses"]) == ("198.18.0.75", "staff_user_0", 147)
    assert (breach["first_guess"], breach["last_guess"]) == ("Mar 30 15:54:19", "Mar 30 16:01:35")
    assert (breach["time"], breach["seconds"], breach["closed"]) == ("Mar 30 16:01:36", 437, "Mar 30 16:01:37")
    assert (breach["earlier_logins"], breach["earlier_logins_of_source"]) == (7, 46)
    assert breach["later_logins"] == [{"source": "198.18.0.2", "logins": 12}]
    assert breach["sudo"] == []


@LOGS
def test_created_accounts_agree_with_the_second_way(log: Path) -> None:
    """Accounts, groups, passwords and failed attempts are what splitting the lines at commas gives."""
    lines = [line for line in log.read_text().split("\n") if line]
    names = [x.split("name=")[1].split(",")[0] for x in lines if " useradd[" in x and ": new user: " in x]
    groups = [x.split("name=")[1].split(",")[0] for x in lines if " groupadd[" in x and ": new group: " in x]
    passwords = [x.rsplit(" ", 1)[1] for x in lines if "password changed for" in x]

    found = TOOLS["find_new_accounts"](str(log))

    assert [a["name"] for a in found["accounts"]] == names
    assert [g["name"] for g in found["groups"]] == groups
    assert [p["name"] for p in found["passwords_set"]] == passwords
    assert found["failed_adds"] == sum("failed adding user" in x for x in lines)
    assert found["passwords_for_missing_users"] == sum(x.endswith("does not exist in /etc/passwd") for x in lines)
    assert {a["by"] for a in found["accounts"]} == {"ubuntu"}
    assert found["after"] == []


def test_only_accounts_created_after_the_line_are_after() -> None:
    """With a line between two of them, exactly the later accounts count as created after it."""
    found = TOOLS["find_new_accounts"](str(MAIN), 1516)

    assert found["after"] == [f"staff_user_{n}" for n in range(5, 10)]
