"""Example tools of the playbook `phishing-triage`: a mail system with two messages, the same at every start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MESSAGES: dict[str, dict[str, Any]] = {
    "m-501": {
        "sender": "payroll@examp1e.com",
        "subject": "Your payslip is waiting",
        "urls": ["https://examp1e.com/payslip", "https://example.com/help"],
    },
    "m-502": {
        "sender": "news@example.org",
        "subject": "What is new in May",
        "urls": ["https://example.org/may"],
    },
}
_URLS = {
    "https://examp1e.com/payslip": "malicious",
    "https://example.com/help": "clean",
    "https://example.org/may": "clean",
}
_SENDERS = {"payroll@examp1e.com": (True, 0), "news@example.org": (False, 812)}
_RECIPIENTS = {"m-501": ["ines", "jon", "kofi"], "m-502": ["ines"]}
_CLICKED = {"m-501": ["jon"]}

_left: dict[str, list[list[str]]] = {}
"""What each look at a purged message finds, from now on: deletion reaches the last mailbox a little later."""


def reset() -> None:
    """Put every message back into its mailboxes."""
    _left.clear()


def get_message(message_id: str) -> dict[str, Any]:
    """Fetch a mail: sender, subject, links.

    Raises:
        ValueError: there is no such message.
    """
    return {"message_id": message_id, **_known(_MESSAGES, "message", message_id)}


def check_url(url: str) -> dict[str, Any]:
    """Ask the link scanner: clean, suspicious or malicious. What it never saw is suspicious."""
    return {"url": url, "verdict": _URLS.get(url, "suspicious")}


def check_sender(sender: str) -> dict[str, Any]:
    """Ask whether the sender is spoofed and since how many days it is known. An unknown sender counts as spoofed."""
    spoofed, days = _SENDERS.get(sender, (True, 0))
    return {"sender": sender, "spoofed": spoofed, "first_seen_days": days}


def search_mail(sender: str) -> dict[str, Any]:
    """Find the messages of a sender."""
    return {"messages": sorted(key for key, mail in _MESSAGES.items() if mail["sender"] == sender)}


def find_recipients(message_id: str) -> dict[str, Any]:
    """Find whose mailboxes hold the message, and who clicked a link in it.

    Raises:
        ValueError: there is no such message.
    """
    mailboxes = list(_known(_RECIPIENTS, "message", message_id))
    if looks := _left.get(message_id):
        mailboxes = looks.pop(0) if len(looks) > 1 else looks[0]
    return {"mailboxes": mailboxes, "clicked": _CLICKED.get(message_id, [])}


def quarantine_message(message_id: str) -> dict[str, Any]:
    """Hide the message in every mailbox; it can be brought back.

    Raises:
        ValueError: there is no such message.
    """
    return {"message_id": message_id, "hidden_in": len(_known(_RECIPIENTS, "message", message_id))}


def purge_message(message_id: str) -> dict[str, Any]:
    """Delete the message from every mailbox for good.

    Raises:
        ValueError: there is no such message.
    """
    mailboxes = _known(_RECIPIENTS, "message", message_id)
    _left[message_id] = [mailboxes[-1:], []]
    return {"message_id": message_id, "deleted_from": len(mailboxes)}


def revoke_sessions(users: list[str]) -> dict[str, Any]:
    """End every session of the users; they sign in again with a new password."""
    return {"revoked": list(users)}


def share_indicator(url: str) -> dict[str, Any]:
    """Share a link with other defenders."""
    return {"shared": url}


def reply_to_reporter(user: str, text: str) -> dict[str, Any]:
    """Write to the person who reported the mail."""
    return {"to": user, "characters": len(text)}


def _known(table: dict[str, Any], kind: str, key: str) -> Any:
    if key not in table:
        message = f"there is no {kind} {key!r}; known are {', '.join(sorted(table))}"
        raise ValueError(message)
    return table[key]


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    tool.__name__: tool
    for tool in (
        get_message,
        check_url,
        check_sender,
        search_mail,
        find_recipients,
        quarantine_message,
        purge_message,
        revoke_sessions,
        share_indicator,
        reply_to_reporter,
    )
}
