"""The incident report: what the log holds, what was done, and what it cannot say."""

from __future__ import annotations

from typing import Any

from .blocklist import write_text
from .markdown import code, fenced, table

JSON = dict[str, Any]


def write_report(
    path: str,
    sources: JSON,
    logins: JSON | None = None,
    accounts: JSON | None = None,
    block: JSON | None = None,
    locks: JSON | None = None,
) -> JSON:
    """Write the report as Markdown to `path` from the results of the tools before; parts not looked at are left out.

    Raises:
        ValueError: the file cannot be written.
    """
    lines = ["# SSH brute force: incident report", "", verdict(sources, logins, locks), "", *about_log(sources)]
    lines += about_sources(sources, block)
    lines += about_logins(logins, sources["minimum"]) if logins else []
    lines += about_accounts(accounts) if accounts else []
    lines += actions(block, locks)
    lines += limits(sources["minimum"])
    lines += all_evidence(sources)
    text = "\n".join(lines).rstrip("\n") + "\n"
    write_text(path, text)
    return {"path": path, "lines": text.count("\n")}


def verdict(sources: JSON, logins: JSON | None, locks: JSON | None) -> str:
    """The whole case in a few sentences."""
    hostile, minimum = len(sources["hostile"]), sources["minimum"]
    if not hostile:
        return f"**Quiet.** No unknown source made {minimum} attempts or more. Nothing was blocked or disabled."
    text = f"**{hostile} unknown source{'s' * (hostile != 1)} made {minimum} attempts or more"
    breaches = logins["breaches"] if logins else []
    if not breaches:
        return f"{text}; none of them guessed its way in.**"
    who = "; ".join(
        f"{code(b['source'])} as {code(b['account'])} at {b['time']} after {b['guesses']} failed passwords in a row"
        for b in breaches
    )
    left = ", ".join(map(code, locks["remaining"])) if locks else ""
    done = f"Not disabled, left to people: {left}." if left else "Disabling was approved."
    return f"{text}; guessing ended in a login:** {who}. {done}"


def about_log(sources: JSON) -> list[str]:
    """What was read, and the counts over all of it."""
    below = sources["below"]
    rows = [
        ("log", code(sources["log"])),
        ("lines", f"{sources['lines']:,}"),
        ("lines that could not be read", f"{sources['unread']:,}"),
        ("first and last line", f"{sources['first']} to {sources['last']}"),
        ("failed attempts in all", f"{sources['attempts']:,}"),
        ("sources with a failed attempt", f"{sources['sources_seen']:,}"),
        ("threshold", f"{sources['minimum']:,} attempts"),
        ("sources at or over it", f"{len(sources['addresses']):,}"),
        ("sources below it", f"{below['sources']:,} with {below['attempts']:,} attempts"),
    ]
    note = "Times are the log's own stamps. Syslog writes no year and no zone; what came first is told by line order."
    return ["## The log", "", *table(["what", "value"], rows), note, ""]


def about_sources(sources: JSON, block: JSON | None) -> list[str]:
    """One row for each source over the threshold."""
    if not sources["sources"]:
        return []
    blocked = set(block["blocked"]) if block else set()
    left_out = {entry["source"]: entry["reason"] for entry in block["left_out"]} if block else {}
    rows = [source_row(source, blocked, left_out) for source in sources["sources"]]
    counts = ["attempts", "known users", "unknown users", "name only"]
    note = (
        "An attempt is a guessed password (`message repeated N times` counts N), or a connection that named an unknown "
        "user and left without a guess (*name only*). Refused public keys are no attempts. A source is *known* when it "
        "had logged in by public key before its first failed attempt: a key cannot be guessed at the door."
    )
    head = ["source", *counts, "accounts tried", "first", "last", "decision"]
    return ["## Sources at or over the threshold", "", *table(head, rows), note, ""]


def source_row(source: JSON, blocked: set[str], left_out: dict[str, str]) -> list[object]:
    """The counts of one source and what was decided about it."""
    address, kinds = source["address"], source["kinds"]
    decision = "known, left alone" if source["known"] else "none"
    if address in blocked:
        decision = "block"
    elif address in left_out:
        decision = f"not blocked: {left_out[address]}"
    tried = ", ".join(code(entry["account"]) for entry in source["accounts"][:3])
    more = f" and {source['accounts_tried'] - 3} more" if source["accounts_tried"] > 3 else ""
    counts = [source["attempts"], kinds["known_user"], kinds["unknown_user"], kinds["name_only"]]
    return [code(address), *counts, tried + more, source["first"], source["last"], decision]


def about_logins(logins: JSON, minimum: int) -> list[str]:
    """Logins from the sources over the threshold, and those that guessing led to."""
    head = ["source", "logins", "how", "as", "first", "last"]
    rows = [
        [code(s["source"]), s["logins"], listed(s["methods"]), listed(s["accounts"]), s["first"], s["last"]]
        for s in logins["by_source"]
        if s["logins"]
    ]
    lines = ["## Logins from these sources", "", *(table(head, rows) if rows else ["None.", ""])]
    lines += ["## Logins that followed on guessing", ""]
    lines += [f"The rule: a login by password after {minimum} or more failed passwords in a row of the source.", ""]
    for breach in logins["breaches"]:
        lines += one_breach(breach)
    return lines if logins["breaches"] else [*lines, "None.", ""]


def one_breach(breach: JSON) -> list[str]:
    """A guessed login: the facts, both readings of them, the lines."""
    took = f", {breach['seconds']} seconds after the first of them" if breach["seconds"] is not None else ""
    end = f"The session closed at {breach['closed']}." if breach["closed"] else "The log shows no end of the session."
    later = ", ".join(f"{entry['logins']} from {code(entry['source'])}" for entry in breach["later_logins"]) or "none"
    return [
        f"### {code(breach['account'])} from {code(breach['source'])}",
        "",
        f"- {breach['guesses']} failed passwords in a row, {breach['first_guess']} to {breach['last_guess']}; then"
        f" {code(breach['method'])} was accepted at {breach['time']}{took}.",
        f"- {end} Commands by sudo as this account afterwards: {len(breach['sudo'])}.",
        "- What speaks for the owner (a test, a wrong password in a script): before these failures the source had"
        f" logged in {breach['earlier_logins_of_source']} times, {breach['earlier_logins']} of them as this account."
        " The log cannot settle it; that is why a person decides.",
        f"- Later logins as this account, which a lock will stop: {later}.",
        "",
        *evidence_block([*breach["evidence"], *breach["sudo"]]),
    ]


def about_accounts(accounts: JSON) -> list[str]:
    """Accounts and groups that were created, and passwords that were set."""
    kinds = {"account": "accounts", "group": "groups", "password set": "passwords_set"}
    rows = [account_row(kind, entry) for kind, key in kinds.items() for entry in accounts[key]]
    head = ["what", "name", "time", "line", "by", "command", "after the first guessed login"]
    failed = (
        f"Attempts to add an account that failed: {accounts['failed_adds']}. "
        f"Passwords set for users that do not exist: {accounts['passwords_for_missing_users']}."
    )
    return ["## Accounts created", "", *(table(head, rows) if rows else ["None.", ""]), failed, ""]


def account_row(kind: str, entry: JSON) -> list[object]:
    """One account, group or password."""
    hand = [code(entry["by"]), code(entry["command"])] if entry["by"] else ["not shown", ""]
    return [kind, code(entry["name"]), entry["time"], str(entry["line"]), *hand, "yes" if entry["after"] else "no"]


def actions(block: JSON | None, locks: JSON | None) -> list[str]:
    """What was written, for people to run."""
    if block is None:
        return ["## Actions", "", "None proposed.", ""]
    count = len(block["blocked"])
    lines = [f"- Block list of {count} address{'es' * (count != 1)} proposed: {code(block['path'])}. It is not loaded."]
    lines += [f"- Not blocked: {code(entry['source'])}, {entry['reason']}." for entry in block["left_out"]]
    if locks is None or not locks["wanted"]:
        return ["## Actions", "", *lines, "- No account had to be disabled.", ""]
    lines += [f"- Not disabled, left to people: {code(user)}." for user in locks["remaining"]]
    if locks["commands"]:
        lines += [f"- Approved by a person and written to {code(locks['path'])}, not run:", ""]
        lines += fenced(locks["commands"], "sh")
    return ["## Actions", "", *lines, *([] if locks["commands"] else [""])]


def limits(minimum: int) -> list[str]:
    """What this triage does not see."""
    return [
        "## What this does not show",
        "",
        f"- Guessing spread over many sources, each below {minimum} attempts.",
        "- A password guessed elsewhere, or a stolen key: such a login fails nowhere here first.",
        "- What was done inside a session, save by sudo.",
        "- Whether several people share one address.",
        "",
    ]


def all_evidence(sources: JSON) -> list[str]:
    """For every source the first two and the last two lines with an attempt, and the key login that vouches for it."""
    if not sources["sources"]:
        return []
    lines = ["## Evidence", "", "Lines of the log behind their numbers; control characters are shown as escapes.", ""]
    for source in sources["sources"]:
        lines += [f"### {code(source['address'])}", "", *evidence_block([*source["known_by"], *source["evidence"]])]
    return lines


def evidence_block(found: list[JSON]) -> list[str]:
    """Lines of the log as they stand, each behind its number."""
    return fenced(f"{entry['line']:>6}  {entry['text']}" for entry in found)


def listed(words: list[str]) -> str:
    """Words as inline code, in a row."""
    return ", ".join(map(code, words))
