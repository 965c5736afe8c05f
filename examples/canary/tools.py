"""Example tools of the playbook `canary-deploy`: a load balancer with one service, the same at every start.

Version 1.5.0 is sound. Version 1.5.1 looks sound at 5 % and fails one request in twenty from 25 % on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_START = "1.4.2"
_BAD_FROM = {"1.5.1": 25}

_traffic: dict[str, int] = {}
"""Percent of traffic for each version of `checkout`."""


def reset() -> None:
    """All traffic to the first version."""
    _traffic.clear()
    _traffic[_START] = 100


def current_version(service: str) -> dict[str, Any]:
    """Read which version serves most of the traffic.

    Raises:
        ValueError: there is no such service.
    """
    _known(service)
    return {"version": max(_traffic, key=lambda name: _traffic[name])}


def shift_traffic(service: str, version: str, percent: int) -> dict[str, Any]:
    """Send `percent` of the traffic to `version`, the rest to the version that served most of it.

    Raises:
        ValueError: there is no such service, or `percent` is no percentage.
    """
    _known(service)
    if not 0 <= percent <= 100:
        message = f"percent is {percent}; give 0 to 100"
        raise ValueError(message)
    rest = max((name for name in _traffic if name != version), key=lambda name: _traffic[name], default=version)
    _traffic.clear()
    _traffic.update({rest: 100 - percent, version: percent} if rest != version else {version: 100})
    return {"version": version, "percent": _traffic[version]}


def error_rate(service: str, minutes: int) -> dict[str, Any]:
    """Read errors per request of the service in the last minutes.

    Raises:
        ValueError: there is no such service.
    """
    _known(service)
    bad = any(percent >= _BAD_FROM.get(version, 101) for version, percent in _traffic.items())
    return {"rate": 0.05 if bad else 0.002, "minutes": minutes}


def _known(service: str) -> None:
    if service != "checkout":
        message = f"there is no service {service!r}; known is checkout"
        raise ValueError(message)


reset()

TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    tool.__name__: tool for tool in (current_version, shift_traffic, error_rate)
}
