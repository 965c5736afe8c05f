"""Snapshots for hosts without a journal: sealed with a key, so that one which somebody has edited is refused."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from guideway.runtime.snapshot import Snapshot
from guideway.statemachine.canonical import MAX_DEPTH, canonical, normal
from guideway.statemachine.errors import JournalError

from .keys import derived

SCHEMA = 1


def seal(snapshot: Snapshot | Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """
    A snapshot, or the `state` of an agent's result, as JSON with an HMAC-SHA-256 (RFC 2104) over its canonical form.

    It is not encrypted: sensitive values stand in it as they are.  An older one that was sealed with the key still
    fits; whoever can put it back takes a run back.  Where that matters, keep a journal, and its head elsewhere.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}]})
    >>> sealed = seal(guideway.Session(machine).snapshot, b"k" * 32)
    >>> guideway.Session.restore(machine, unseal(sealed, b"k" * 32)).waiting
    ('step agree@1: Go on? (lead)',)
    >>> sealed["snapshot"]["pending"].clear()
    >>> unseal(sealed, b"k" * 32)
    Traceback (most recent call last):
    guideway.statemachine.errors.JournalError: the snapshot is not the one that was sealed, or the key is another
    """
    data = snapshot.to_json() if isinstance(snapshot, Snapshot) else normal(snapshot)
    return {"schema": SCHEMA, "snapshot": data, "seal": mac(data, key)}


def unseal(sealed: Mapping[str, Any], key: bytes) -> Snapshot:
    """
    The snapshot, if it is the one that was sealed.

    Raises:
        JournalError: it was changed, was sealed with another key, or is no sealed snapshot.
    """
    if not isinstance(sealed, Mapping) or sealed.get("schema") != SCHEMA or not isinstance(sealed.get("seal"), str):
        raise JournalError("this is no sealed snapshot that this version of guideway can read")
    data = sealed.get("snapshot")
    try:
        fits = hmac.compare_digest(mac(data, key), str(sealed["seal"]))
    except (ValueError, TypeError):  # what is no JSON was never sealed
        fits = False
    if not fits or not isinstance(data, Mapping):
        raise JournalError("the snapshot is not the one that was sealed, or the key is another")
    return Snapshot(data)


def mac(data: Any, key: bytes) -> str:
    """The seal of a snapshot."""
    return hmac.new(derived(key, "snapshots"), canonical(data, MAX_DEPTH + 40), sha256).hexdigest()
