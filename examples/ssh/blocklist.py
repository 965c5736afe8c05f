"""A block list as an nftables rule file, and a reader that checks it."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

from .records import address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Not `is_private`: that also holds for documentation and benchmark ranges (198.18.0.0/15 stands for public addresses
# in the example log). These are the ranges that are this host, its own networks, or no single sender at all.
_NEVER: dict[str, tuple[str, ...]] = {
    "this host": ("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128"),
    "a private network": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
    "the local link": ("169.254.0.0/16", "fe80::/10"),
    "no single sender": ("224.0.0.0/4", "240.0.0.0/4", "ff00::/8"),
}
_TABLE = "guideway_blocklist"
_HEAD = f"""\
#!/usr/sbin/nft -f
# A proposal: read it, then load it with `nft -f FILE`. Loading it again replaces the list; nothing else is touched.
table inet {_TABLE}
delete table inet {_TABLE}
table inet {_TABLE} {{
"""
_CHAIN = """\
    chain input {
        type filter hook input priority -10; policy accept;
        ip saddr @blocked_v4 counter drop
        ip6 saddr @blocked_v6 counter drop
    }
}
"""


def propose_blocklist(sources: list[str], path: str, never: list[str] | None = None) -> dict[str, Any]:
    """Write an nftables file to `path` that drops what `sources` send; nothing is loaded.

    Loopback, private, link-local and multicast addresses and the networks of `never` are left out, and so is
    anything that is no IP address; each with its reason. Only addresses printed by `ipaddress` reach the file.

    Raises:
        ValueError: an entry of `never` is no network, or the file cannot be written.
    """
    kept: dict[int, list[Address]] = {4: [], 6: []}
    left_out = []
    for source in dict.fromkeys(map(address, sources)):
        reason, ip = judge(source, networks(never or []))
        if ip is None:
            left_out.append({"source": source, "reason": reason})
        else:
            kept[ip.version].append(ip)
    sets = "".join(set_text(version, sorted(kept[version], key=int)) for version in (4, 6))
    write_text(path, _HEAD + sets + _CHAIN)
    blocked = [str(ip) for version in (4, 6) for ip in sorted(kept[version], key=int)]
    return {"path": path, "blocked": blocked, "left_out": left_out}


def networks(texts: list[str]) -> list[Network]:
    """Networks from the words of an operator."""
    try:
        return [ipaddress.ip_network(text, strict=False) for text in texts]
    except ValueError as error:
        message = f"never_block: {error}; write networks such as 203.0.113.0/24 or 2001:db8::/32"
        raise ValueError(message) from error


def judge(source: str, never: list[Network]) -> tuple[str, Address | None]:
    """The address to block, or the reason not to."""
    try:
        ip = ipaddress.ip_address(source)
    except ValueError:
        return "not an IP address", None
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id is not None:
        return "the local link", None
    for reason, ranges in _NEVER.items():
        if any(ip in ipaddress.ip_network(text) for text in ranges):
            return reason, None
    if any(ip in network for network in never):
        return "on the operator's list", None
    return "", ip


def set_text(version: int, addresses: list[Address]) -> str:
    """One nftables set; a set without elements leaves the line out, as the grammar wants."""
    kind = "ipv4_addr" if version == 4 else "ipv6_addr"
    joined = ",\n            ".join(map(str, addresses))
    elements = f"        elements = {{\n            {joined}\n        }}\n" if addresses else ""
    return f"    set blocked_v{version} {{\n        type {kind}\n{elements}    }}\n"


def verify_blocklist(path: str, sources: list[str]) -> dict[str, Any]:
    """Read the file back and compare: `missing` should be in it and are not, `unexpected` are in it and should not be.

    Raises:
        ValueError: the file cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        message = f"cannot read the block list {path!r}: {error.strerror}"
        raise ValueError(message) from error
    found = set(elements(text))
    wanted = set(map(address, sources))
    return {
        "path": path,
        "ok": found == wanted,
        "found": len(found),
        "missing": sorted(wanted - found),
        "unexpected": sorted(found - wanted),
    }


def elements(text: str) -> list[str]:
    """The elements of every set in a rule file.

    >>> elements("set a { type ipv4_addr; elements = { 198.18.0.7, 198.18.0.9 } }")
    ['198.18.0.7', '198.18.0.9']
    """
    code = "\n".join(line.partition("#")[0] for line in text.splitlines())
    bodies = [part.partition("{")[2].partition("}")[0] for part in code.split("elements =")[1:]]
    return [word.strip() for body in bodies for word in body.split(",") if word.strip()]


def write_text(path: str, text: str) -> None:
    """Write a file, or say in one sentence why not."""
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"cannot write {path!r}: {error.strerror}; does its folder exist, and may you write to it?"
        raise ValueError(message) from error
