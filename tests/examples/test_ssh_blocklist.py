"""The block list, read back by a parser written for the test."""

from __future__ import annotations

import ipaddress
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SSH = Path(__file__).parents[2] / "examples" / "ssh"
TOOLS: dict[str, Callable[..., Any]] = runpy.run_path(str(SSH / "tools.py"))["TOOLS"]
MAIN = SSH / "auth.log"


def parse_nft(text: str) -> dict[str, tuple[str, list[str]]]:
    """Read an nftables file by hand: balanced braces, one table, sets with a type and elements; raises otherwise."""
    tokens = "\n".join(line.split("#")[0] for line in text.split("\n"))
    for mark in "{},;=":
        tokens = tokens.replace(mark, f" {mark} ")
    words = iter(tokens.split())
    sets: dict[str, tuple[str, list[str]]] = {}
    depth = 0
    for word in words:
        depth += (word == "{") - (word == "}")
        assert depth >= 0
        if word == "set":
            name = next(words)
            assert [next(words), next(words)] == ["{", "type"]
            kind, elements = next(words), []
            if (word := next(words)) == "elements":
                assert [next(words), next(words)] == ["=", "{"]
                while (word := next(words)) != "}":
                    elements += [word] if word != "," else []
                word = next(words)
            assert word == "}"
            sets[name] = (kind, elements)
    assert depth == 0
    return sets


def block(tmp_path: Path, sources: list[str], never: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Propose a block list and read it by hand."""
    path = tmp_path / "block.nft"
    return TOOLS["propose_blocklist"](sources, str(path), never), parse_nft(path.read_text())


def test_the_block_list_of_the_main_log_holds_its_unknown_sources(tmp_path: Path) -> None:
    """Every unknown source over the threshold is an element, and nothing else is."""
    hostile = TOOLS["find_sources"](str(MAIN), 10)["hostile"]

    result, sets = block(tmp_path, hostile, [])

    assert sets["blocked_v4"] == ("ipv4_addr", sorted(hostile, key=ipaddress.IPv4Address))
    assert sets["blocked_v6"] == ("ipv6_addr", [])
    assert result["left_out"] == []


def test_own_networks_and_strange_words_stay_out(tmp_path: Path) -> None:
    """Loopback, private, link-local, multicast, listed networks and what is no address are left out with a reason."""
    good = ["198.18.0.9", "2001:db8::7"]
    bad = [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.0.4",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "224.0.0.1",
    ]
    words = ["mail.example", "1.2.3.4 }; flush ruleset", "", "203.0.113.77"]

    result, sets = block(tmp_path, [*good, *bad, *words, "2001:DB8:0::7", "::ffff:198.18.0.9"], ["203.0.113.0/24"])

    assert sets == {"blocked_v4": ("ipv4_addr", ["198.18.0.9"]), "blocked_v6": ("ipv6_addr", ["2001:db8::7"])}
    assert {entry["source"] for entry in result["left_out"]} == {*bad, *words}
    assert all(entry["reason"] for entry in result["left_out"])


@given(sources=st.lists(st.one_of(st.ip_addresses().map(str), st.text(max_size=20)), max_size=12))
def test_any_sources_give_a_file_that_reads_back(tmp_path_factory: pytest.TempPathFactory, sources: list[str]) -> None:
    """Whatever the sources, the file parses, holds what the result says, and the verifier agrees."""
    folder = tmp_path_factory.mktemp("nft")

    result, sets = block(folder, sources, [])

    assert [*sets["blocked_v4"][1], *sets["blocked_v6"][1]] == result["blocked"]
    assert all(ipaddress.ip_address(a).version == 4 for a in sets["blocked_v4"][1])
    assert TOOLS["verify_blocklist"](result["path"], result["blocked"])["ok"]


def test_the_verifier_sees_what_is_missing_and_what_is_too_much(tmp_path: Path) -> None:
    """A changed file is not ok, and the difference is named."""
    result, _ = block(tmp_path, ["198.18.0.9", "198.18.0.10"], [])

    seen = TOOLS["verify_blocklist"](result["path"], ["198.18.0.9", "198.18.0.11"])

    assert not seen["ok"]
    assert (seen["missing"], seen["unexpected"]) == (["198.18.0.11"], ["198.18.0.10"])
