"""What people in other processes say to a run: signed, so that nobody says it in their place."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

from guideway.statemachine.canonical import canonical, read

from .keys import derived

VERBS = ("approve", "reject", "answer", "happened", "did_not_happen", "signal")
DATA = {
    "approve": ("approval_id", "by", "groups", "note", "args"),
    "reject": ("approval_id", "by", "groups", "note"),
    "answer": ("approval_id", "answer", "by", "fields", "groups", "note"),
    "happened": ("approval_id", "result", "by", "note"),
    "did_not_happen": ("approval_id", "by", "note"),
    "signal": ("name", "data"),
}
"""Verb -> what it may say."""


def written(run: str, verb: str, data: Mapping[str, Any], key: bytes | None) -> str:
    """
    A message as it is posted.

    It names its run and carries an id of its own, so that it counts for no other run, and once.
    """
    message = {"run": run, "id": secrets.token_hex(8), "verb": verb, "data": dict(data)}
    if key is not None:
        message["mac"] = mac(message, key)
    return json.dumps(message, ensure_ascii=False)


def mac(message: Mapping[str, Any], key: bytes) -> str:
    """HMAC-SHA-256 (RFC 2104) over all of the message but itself."""
    content = {name: value for name, value in message.items() if name != "mac"}
    return hmac.new(derived(key, "messages"), canonical(content), hashlib.sha256).hexdigest()


def opened(text: str, run: str, key: bytes | None) -> dict[str, Any] | str:
    """The message, or what is wrong with it."""
    try:
        message = read(text)
        said = {name: message[name] for name in ("run", "id", "verb", "data")}
    except (ValueError, TypeError, KeyError):
        return "it cannot be read"
    if not isinstance(said["data"], dict) or not isinstance(said["verb"], str) or not isinstance(said["id"], str):
        return "it cannot be read"
    given = message.get("mac")
    if key is not None and (not isinstance(given, str) or not hmac.compare_digest(given, mac(message, key))):
        return "it is not signed with the key of this run"
    if said["run"] != run:
        return "it was written to another run"
    if said["verb"] not in VERBS or not said["data"].keys() <= set(DATA[said["verb"]]):
        return "it says nothing that people may say"
    return said
