"""`compile`, `draw`, `schema`, `init`, `explain`, help, and streams that misbehave."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import guideway as package
from guideway.cli import main
from guideway.cli.running import COMMANDS
from guideway.statemachine.artifact import load

Run = Callable[..., Any]


def test_compile_writes_a_machine_and_prints_its_digest(guideway: Run, triage: Path, tmp_path: Path) -> None:
    """The artifact loads again, and its digest is that of the playbook's machine."""
    out = tmp_path / "deep" / "t.machine.json"
    result = guideway("compile", triage, "-o", out)
    expected = package.load(triage).definition

    assert expected is not None
    assert (0, f"{expected.digest}  {out}\n") == (result.status, result.out)
    assert expected.digest == load(out.read_text()).digest


def test_compile_without_a_name_writes_beside_the_playbook(guideway: Run, triage: Path) -> None:
    """triage.yaml becomes triage.machine.json."""
    guideway("compile", triage)

    assert triage.with_name("triage.machine.json").is_file()


def test_a_machine_runs_and_is_drawn_like_its_playbook(guideway: Run, triage: Path, tools: Path) -> None:
    """An artifact stands for the playbook it was made from."""
    guideway("compile", triage)
    machine = triage.with_name("triage.machine.json")

    assert guideway("draw", triage).out == guideway("draw", machine).out
    assert guideway("run", machine, "--tools", tools, "--input", "host=a").status == 0


def test_an_altered_machine_is_refused(guideway: Run, triage: Path) -> None:
    """A machine whose digest does not fit is misuse, not a run."""
    guideway("compile", triage)
    machine = triage.with_name("triage.machine.json")
    machine.write_text(machine.read_text().replace("query", "quern"))
    result = guideway("draw", machine)

    assert result.status == 2
    assert "altered" in result.err


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".dot", b"digraph"), (".mmd", b"---\ntitle"), (".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")],
)
def test_draw_takes_the_format_of_the_suffix(
    guideway: Run, triage: Path, tmp_path: Path, suffix: str, start: bytes
) -> None:
    """Each suffix is drawn as what it says."""
    out = tmp_path / f"picture{suffix}"

    assert guideway("draw", triage, "-o", out).status == 0
    assert out.read_bytes().startswith(start)


def test_draw_without_a_file_is_dot_on_standard_output(guideway: Run, triage: Path) -> None:
    """DOT by default, another text format where asked."""
    assert guideway("draw", triage).out.startswith("digraph")
    assert "stateDiagram-v2" in guideway("draw", triage, "--format", "mermaid").out


def test_draw_marks_where_a_trace_has_been(guideway: Run, triage: Path, tools: Path, tmp_path: Path) -> None:
    """The walked boxes of the picture are those of the trace."""
    trace = tmp_path / "t.jsonl"
    guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", trace)
    dot = guideway("draw", triage, "--trace", trace).out

    assert 'class="call walked"' in dot
    assert 'class="success walked"' in dot
    assert 'class="failed walked"' not in dot


def test_draw_refuses_the_trace_of_another_playbook(guideway: Run, triage: Path, tools: Path, tmp_path: Path) -> None:
    """A walk is laid over the machine it was walked on, and no other."""
    trace = tmp_path / "t.jsonl"
    guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", trace)
    triage.write_text(triage.read_text().replace("> 0", "> 1"))
    result = guideway("draw", triage, "--trace", trace)

    assert result.status == 2
    assert "`triage`" in result.err


def test_draw_refuses_an_altered_trace(guideway: Run, triage: Path, tools: Path, tmp_path: Path) -> None:
    """A line that was changed is named."""
    trace = tmp_path / "t.jsonl"
    guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", trace)
    trace.write_text(trace.read_text().replace('"host": "a"', '"host": "b"'))
    result = guideway("draw", triage, "--trace", trace)

    assert result.status == 2
    assert "line 1" in result.err


def test_draw_shows_a_playbook_whose_flow_is_wrong(guideway: Run, tmp_path: Path) -> None:
    """An unreachable step is best seen in a picture; `run` refuses it."""
    path = tmp_path / "p.yaml"
    path.write_text(
        "id: p\nname: P\nsteps:\n  - {id: a, description: A, expected_tools: [t], next: success}\n"
        "  - {id: b, description: B, expected_tools: [t]}\n"
    )

    assert guideway("draw", path).status == 0
    assert "GW201" in guideway("run", path).err


def test_schema_is_a_schema_that_holds_the_starter(guideway: Run, root: Path, tmp_path: Path) -> None:
    """It is a JSON Schema, takes the starter playbook, and refuses a misspelt key."""
    out = tmp_path / "s.json"
    assert guideway("schema", "-o", out).status == 0
    assert out.read_text() == guideway("schema").out
    schema = json.loads(out.read_text())
    starter = yaml.safe_load((root / "src/guideway/cli/starter.yaml").read_text())

    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(starter)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**starter, "stepps": []})


def test_init_writes_a_commented_playbook_that_checks_clean(guideway: Run, tmp_path: Path) -> None:
    """What it writes has comments, and nothing to be found."""
    path = tmp_path / "new" / "mine.yaml"

    assert guideway("init", path).status == 0
    assert path.read_text().count("#") >= 8
    assert guideway("check", "--strict", path).out == "nothing found in 1 file\n"


def test_init_leaves_alone_what_is_there(guideway: Run, tmp_path: Path) -> None:
    """An existing file keeps its text."""
    path = tmp_path / "mine.yaml"
    path.write_text("mine")

    assert guideway("init", path).status == 2
    assert path.read_text() == "mine"


def test_explain_prints_the_essay_of_every_code(guideway: Run) -> None:
    """Each listed code, in any case, and by its name, has an essay with the headings of all."""
    listed = [line.split()[:2] for line in guideway("explain").out.splitlines()]

    assert len(listed) > 40
    for code, name in listed:
        out = guideway("explain", code.lower()).out
        assert f"# {code} {name}\n" in out
        assert "## What it finds" in out
        assert "## Why it matters" in out
        assert out in guideway("explain", name).out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(guideway: Run, command: str) -> None:
    """Every command says what it does and shows a line to type."""
    result = guideway(command, "--help")

    assert (result.status, result.err) == (0, "")
    assert f"Example: guideway {command}" in " ".join(result.out.split())


def test_the_help_of_all_lists_every_command(guideway: Run) -> None:
    """Without arguments, and with --help."""
    out = guideway("--help").out

    assert out == guideway().out
    assert all(re.search(rf"^  {command} ", out, re.M) for command in COMMANDS)


def test_the_version_is_that_of_the_package(guideway: Run) -> None:
    """`--version` is for reports."""
    assert f"guideway {package.__version__}\n" == guideway("--version").out


def test_a_reader_that_leaves_is_no_error(root: Path, triage: Path) -> None:
    """`guideway … | head` says nothing on standard error."""
    for command in (["explain"], ["schema"], ["draw", str(triage)]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from guideway.cli import main; sys.exit(main())", *command],
            stdout=write, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        os.close(write)
        assert done.stderr == b""


def test_a_terminal_without_unicode_gets_plain_signs(triage: Path, tools: Path) -> None:
    """No character that an encoding lacks stops a command."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict", write_through=True)
    triage.write_text(triage.read_text().replace("name: Triage", 'name: "Tri→ä"'))
    status = main(["run", str(triage), "--tools", str(tools), "--input", "host=é"], stdout=out)

    assert status == 0
    assert b"Tri->\\xe4" in raw.getvalue()
    assert b'host="\\xe9"' in raw.getvalue()
