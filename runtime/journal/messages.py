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
    message: dict[str, Any] = {"run": run, "id": secrets.token_hex(16), "verb": verb, "data": dict(data)}
    if key is not None:
        message["data"] = sealed(canonical(message["data"]), message["id"], key).hex()
        message["mac"] = mac(message, key)
    return json.dumps(message, ensure_ascii=False)


def sealed(text: bytes, name: str, key: bytes) -> bytes:
    """
    Bytes that only who has the key can read; sealed twice they are as before.

    What people say may hold what is sensitive (edited arguments, fields of an answer), and lies in the journal until it
    is taken.  HMAC-SHA-256 in counter mode makes the key stream, a fresh one for each message by its random id; the MAC
    over the sealed message is taken after (encrypt, then MAC).
    """
    own = hmac.new(derived(key, "sealing"), name.encode(), hashlib.sha256).digest()
    blocks = range(-(-len(text) // hashlib.sha256().digest_size))
    stream = b"".join(hmac.new(own, block.to_bytes(8, "big"), hashlib.sha256).digest() for block in blocks)
    return bytes(one ^ other for one, other in zip(text, stream, strict=False))


def mac(message: Mapping[str, Any], key: bytes) -> str:
    """HMAC-SHA-256 (RFC 2104) over all of the message but itself."""
    content = {name: value for name, value in message.items() if name != "mac"}
    return hmac.new(derived(key, "messages"), canonical(content), hashlib.sha256).hexdigest()


def signed(message: Mapping[str, Any], key: bytes | None) -> bool:
    """The message was written by who has the key; without a key nobody can tell."""
    given = message.get("mac")
    return key is None or (isinstance(given, str) and hmac.compare_digest(given, mac(message, key)))


def opened(text: str, run: str, key: bytes | None) -> dict[str, Any] | str:
    """The message, or what is wrong with it."""
    try:
        message = read(text)
        said = {name: message[name] for name in ("run", "id", "verb", "data")}
    except (ValueError, TypeError, KeyError):
        return "it cannot be read"
    if not signed(message, key):
        return "it is not signed with the key of this run"
    if key is not None:
        try:
            said["data"] = read(sealed(bytes.fromhex(said["data"]), str(said["id"]), key))
        except (ValueError, TypeError):
            return "it cannot be read"
    if not isinstance(said["data"], dict) or not isinstance(said["verb"], str) or not isinstance(said["id"], str):
        return "it cannot be read"
    if said["run"] != run:
        return "it was written to another run"
    if said["verb"] not in VERBS or not said["data"].keys() <= set(DATA[said["verb"]]):
        return "it says nothing that people may say"
    return said
