"""
The secret by which a journal knows its own entries, and the people who may decide.

Who has it can write both.  Keep it where the user that tools and agents run as cannot read it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from guideway.statemachine.errors import HostError

VARIABLE = "GUIDEWAY_KEY"
LENGTH = 32
"""Bytes of a key that is made here."""


def read_key(path: str | Path | None = None) -> bytes | None:
    """
    The key: out of a file, else of the environment (`GUIDEWAY_KEY`); None where neither is given.

    Raises:
        HostError: the file cannot be read, or holds too little.
    """
    if path is None:
        text = os.environ.get(VARIABLE, "")
        return checked(text, VARIABLE) if text else None
    try:
        return checked(Path(path).read_text(encoding="utf-8", errors="replace"), str(path))
    except OSError as fault:
        raise HostError(f"the key {path} cannot be read: {fault.strerror}") from None


def checked(text: str, where: str) -> bytes:
    """A key that nobody guesses."""
    key = text.strip().encode()
    if len(key) < LENGTH:
        raise HostError(f"{where} holds {len(key)} characters, and a key has at least {LENGTH}")
    return key


def make_key(path: str | Path) -> bytes:
    """
    Draw a key into a new file that only its owner can read.

    Raises:
        HostError: the file exists, or cannot be written.
    """
    text = secrets.token_hex(LENGTH)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
    except OSError as fault:
        raise HostError(f"the key {path} cannot be made: {fault.strerror}") from None
    return text.encode()


def derived(key: bytes, purpose: str) -> bytes:
    """
    A key for one purpose, from which the other cannot be found.

    >>> derived(b"k" * 32, "entries") == derived(b"k" * 32, "messages")
    False
    """
    return hmac.new(key, purpose.encode(), hashlib.sha256).digest()
