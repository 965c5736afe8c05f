"""Example tools of `suspicious-sign-in` and the `enrich-ip` it calls: three people, the same at every start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"manager": "mia", "privileged": False, "country": "DE", "devices": ["laptop-7"]},
    "root-ops": {"manager": "mia", "privileged": True, "country": "DE", "devices": ["jump-1"]},
    "mia": {"manager": "carl", "privileged": False, "country": "DE", "devices": ["laptop-2"]},
}
_ADDRESSES: dict[str, tuple[int, str, str]] = {
    "198.51.100.7": (80, "BR", "an access provider"),
    "203.0.113.5": (3, "DE", "the home of mia"),
}
_HOSTS = {"10.1.2.3": "ws-7"}
_SIGN_INS = {"ann": [("2026-03-02T07:58:00Z", "DE", "laptop-7"), ("2026-03-03T03:12:00Z", "BR", "unknown")]}
_DEVICES = {"laptop-7": "managed", "laptop-2": "managed", "jump-1": "managed"}

_locked: dict[str, int] = {}
"""Who is locked, and how often the sessions were read since: the last one takes a minute to go."""


def reset() -> None:
    """Unlock everybody."""
    _locked.clear()


def ip_reputation(ip: str) -> dict[str, Any]:
    """Ask outsiders how bad an address is, 0 to 100. One that nobody has seen is 50."""
    return {"score": _ADDRESSES.get(ip, (50, "", ""))[0]}


def ip_location(ip: str) -> dict[str, Any]:
    """Ask outsiders where an address is, and whose."""
    _, country, owner = _ADDRESSES.get(ip, (50, "unknown", "unknown"))
    return {"country": country, "owner": owner}


def host_of_address(ip: str) -> dict[str, Any]:
    """Find which of our machines has the address.

    Raises:
        ValueError: none has.
    """
    return {"host": _known(_HOSTS, "machine with the address", ip)}


def directory_lookup(user: str) -> dict[str, Any]:
    """Read a person's manager, and whether the account is privileged.

    Raises:
        ValueError: there is no such user.
    """
    person = _known(_PEOPLE, "user", user)
    return {key: person[key] for key in ("manager", "privileged", "country")}


def search_sign_ins(user: str, hours: int = 24) -> dict[str, Any]:
    """Find the sign-ins of the last hours.

    Raises:
        ValueError: there is no such user.
    """
    _known(_PEOPLE, "user", user)
    names = ("at", "country", "device")
    found = [dict(zip(names, sign_in, strict=True)) for sign_in in _SIGN_INS.get(user, [])]
    return {"hours": hours, "sign_ins": found}


def device_lookup(user: str) -> dict[str, Any]:
    """Find the devices of a user.

    Raises:
        ValueError: there is no such user.
    """
    return {"devices": {name: _DEVICES[name] for name in _known(_PEOPLE, "user", user)["devices"]}}


def list_sessions(user: str) -> dict[str, Any]:
    """Read the sessions a user has open.

    Raises:
        ValueError: there is no such user.
    """
    _known(_PEOPLE, "user", user)
    if user in _locked:
        _locked[user] += 1
    return {"active": [f"s-{user}"] if _locked.get(user, 0) < 2 else []}


def lock_account(user: str) -> dict[str, Any]:
    """Lock the account and end its sessions.

    Raises:
        ValueError: there is no such user.
    """
    _known(_PEOPLE, "user", user)
    _locked[user] = 0
    return {"locked": user}


def comment_on_case(case_id: str, text: str) -> dict[str, Any]:
    """Write into the case."""
    return {"case_id": case_id, "characters": len(text)}


def _known(table: dict[str, Any], kind: str, key: str) -> Any:
    if key not in table:
        message = f"there is no {kind} {key!r}; known are {', '.join(sorted(table))}"
        raise ValueError(message)
    return table[key]


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    tool.__name__: tool
    for tool in (
        ip_reputation,
        ip_location,
        host_of_address,
        directory_lookup,
        search_sign_ins,
        device_lookup,
        list_sessions,
        lock_account,
        comment_on_case,
    )
}
