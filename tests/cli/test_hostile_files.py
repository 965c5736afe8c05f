"""Files meant to break a reader, through the command line: a place, a code, status 1, no traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

ROOT = Path(__file__).parents[1]
CORPUS = sorted(
    path
    for folder in ("reader/err", "playbooks/corpus", "compiler/err")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".yaml", ".yml", ".json")
)

STEP = b'id: a\nname: A\nsteps:\n  - {id: b, description: B, expected_tools: [t], when: "%s"}\n'

HOSTILE: dict[str, bytes] = {
    "deep.yaml": b"a: " + b"[" * 50_000,
    "deep.json": b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "bomb.yaml": b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 10)) for c in range(97, 106)),
    "nul.yaml": b"id: a\nname: \x00\n",
    "utf16.yaml": "id: a\nname: ä\n".encode("utf-16"),
    "latin1.yaml": "id: a\nname: ä\n".encode("latin-1"),
    "tabs.yaml": b"id: a\nname: A\nsteps:\n\t- id: b\n",
    "tag.yaml": b"id: !!python/object/apply:os.system [ls]\nname: A\n",
    "merge.yaml": b"id: a\nname: A\n<<: {steps: []}\n",
    "list.yaml": b"- a\n- b\n",
    "scalar.yaml": b"just text\n",
    "empty.yaml": b"",
    "broken.json": b'{"id": "a", "name": ',
    "guard.yaml": STEP % b"().__class__ == 1",
    "parens.yaml": STEP % (b"(" * 5_000 + b"1" + b")" * 5_000),
    "negative.yaml": b"id: a\nname: A\nmax_iterations: -3\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_located_error(guideway: Run, tmp_path: Path, name: str) -> None:
    """`FILE:LINE:COL: error: … [CODE]`, and nothing else happens."""
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    result = guideway("check", path, "--format", "concise")

    assert (result.status, result.err) == (1, "")
    places = [re.fullmatch(re.escape(str(path)) + r":\d+:\d+: \w+: .+ \[GW\d{3}\]", x) for x in result.out.splitlines()]
    assert places
    assert all(places)


@pytest.mark.parametrize("name", ["deep.yaml", "utf16.yaml", "nul.yaml", "parens.yaml", "list.yaml"])
@pytest.mark.parametrize("command", ["run", "draw", "compile"])
def test_no_command_falls_over_a_hostile_file(guideway: Run, tmp_path: Path, command: str, name: str) -> None:
    """Status 2 and the code."""
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    result = guideway(command, path)

    assert (result.status, result.out) == (2, "")
    assert re.search(r"error\[GW\d{3}\]", result.err)


def test_every_bad_playbook_of_the_corpora_is_shown_in_every_format(guideway: Run) -> None:
    """The three formats tell the same findings, and each has its place."""
    assert len(CORPUS) > 50
    for path in CORPUS:
        data = json.loads(guideway("check", path, "--format", "json").out)
        concise = guideway("check", path, "--format", "concise").out.splitlines()
        human = guideway("check", path)
        assert len(data["findings"]) == len(concise)
        assert len(re.findall(r"^(error|warning|information)\[GW\d+\]: ", human.out, re.M)) == len(concise)
        assert human.status == (1 if data["error"] else 0)
