"""One way to run a command in the process of the tests."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from guideway.cli import main


@dataclass(frozen=True, slots=True)
class Result:
    """What a command left."""

    status: int
    out: str
    err: str


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, text: str = "", terminal: bool = False) -> None:
        super().__init__(text)
        self._terminal = terminal

    def isatty(self) -> bool:
        """What the test wants it to be."""
        return self._terminal


Run = Callable[..., Result]


@pytest.fixture(name="guideway")
def _guideway(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `guideway ARGS…`; `terminal` makes every stream one."""
    monkeypatch.delenv("GUIDEWAY_TRACEBACK", raising=False)

    def run(*argv: str | Path, stdin: str = "", terminal: bool = False) -> Result:
        out, err = Screen(terminal=terminal), Screen(terminal=terminal)
        status = main([str(arg) for arg in argv], stdin=Screen(stdin, terminal), stdout=out, stderr=err)
        assert "Traceback" not in out.getvalue() + err.getvalue()
        return Result(status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(name="root")
def _root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[2]


@pytest.fixture(name="triage")
def _triage(tmp_path: Path) -> Path:
    """A playbook of two calls of the runtime's own."""
    path = tmp_path / "triage.yaml"
    path.write_text(
        "id: triage\n"
        "name: Triage\n"
        "inputs: {host: string, hours: {type: integer, default: 24}}\n"
        "outcomes: {nothing: success, found: failed}\n"
        "steps:\n"
        '  - {id: look, call: {tool: query, args: {host: "{{ inputs.host }}", hours: "{{ inputs.hours }}"}}}\n'
        "  - id: judge\n"
        "    switch:\n"
        "      - {when: facts.look.hits > 0, goto: found}\n"
        "      - {goto: nothing}\n"
    )
    return path


@pytest.fixture(name="tools")
def _tools(tmp_path: Path) -> Path:
    """Its tool: as many hits as hours over 24."""
    path = tmp_path / "tools.py"
    path.write_text("def query(host, hours):\n    return {'hits': hours - 24, 'host': host}\n")
    return path
