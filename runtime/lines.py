"""Files of JSON lines, or of one JSON list, with the line of every entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from guideway.statemachine.canonical import read
from guideway.statemachine.errors import HostError

LARGEST = 256_000_000
"""Bytes of a file past which it is not read."""


def read_text(path: str | Path) -> str:
    """
    Read a file in UTF-8.

    Raises:
        HostError: it is not there, is no plain file, may not be read, is too large, or is in another encoding.
    """
    file = Path(path)
    try:
        if file.is_dir():
            raise HostError(f"{path} is a folder, not a file")
        if file.exists() and not file.is_file():
            raise HostError(f"{path} is a pipe or a device, not a file")
        with file.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise HostError(f"{path} is larger than {LARGEST:,} bytes")
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise HostError(f"{path} does not exist") from None
    except UnicodeDecodeError:
        raise HostError(f"{path} is not UTF-8 text") from None
    except (OSError, ValueError) as fault:
        raise HostError(f"{path} cannot be read: {getattr(fault, 'strerror', None) or fault}") from None


def entries(path: str | Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """
    Yield each entry of the file with its place (`FILE:LINE`, in a list `FILE: entry N`); empty lines are passed over.

    Raises:
        HostError: a line is no JSON object, naming it.
    """
    text = read_text(path)
    if text.lstrip().startswith("["):
        listed = parsed(text, str(path))
        for number, value in enumerate(listed, 1):
            place = f"{path}: entry {number}"
            yield place, entry(value, place)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            yield place, entry(parsed(line, place), place)


def parsed(text: str, place: str) -> Any:
    """JSON, or a `HostError` that names the place."""
    try:
        return read(text)
    except ValueError as fault:
        raise HostError(f"{place}: this is no JSON: {fault}") from None


def entry(value: Any, place: str) -> Mapping[str, Any]:
    """An object, or a `HostError` that names the place."""
    if not isinstance(value, dict):
        raise HostError(f"{place}: expected an object of the form {{…}}")
    return value


Kinds = Mapping[str, tuple[type, ...]]


def take(found: Mapping[str, Any], place: str, kinds: Kinds, needed: tuple[str, ...] = ()) -> None:
    """
    Hold an entry against its keys and their types.

    Raises:
        HostError: a key is unknown, missing or of another type.
    """
    for key, value in found.items():
        if key not in kinds:
            raise HostError(f"{place}: unknown key `{key}`; known are {', '.join(f'`{k}`' for k in kinds)}")
        wanted = kinds[key]
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise HostError(f"{place}: `{key}` must be {NAMES[wanted[0]]}, not {read_back(value)}")
    for key in needed:
        if key not in found:
            raise HostError(f"{place}: `{key}` is missing")


def read_back(value: Any) -> str:
    """How a wrong value is shown."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"


NAMES: Mapping[type, str] = {
    str: "text", list: "a list", dict: "an object", int: "a whole number", float: "a number", bool: "true or false",
}  # fmt: skip
