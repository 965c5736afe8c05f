"""Misuse of every command: one sentence that names the argument, status 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

CASES = [
    # command line, what the sentence names
    ("chek", "chek"),
    ("--nonsense", "--nonsense"),
    ("check", "PATHS"),
    ("check no-such.yaml", "PATHS"),
    ("check empty", "PATHS"),
    ("check x.machine.json", "PATHS"),
    ("check ok.yaml --format xml", "--format"),
    ("check ok.yaml --skills no-such.yaml", "--skills"),
    ("check ok.yaml --skills list.json", "--skills"),
    ("check ok.yaml --skills empty", "--skills"),
    ("check ok.yaml --max-bytes 0", "--max-bytes"),
    ("check ok.yaml --max-values -1", "--max-values"),
    ("check ok.yaml --max-depth deep", "--max-depth"),
    ("check ok.yaml --stric", "--stric"),
    ("compile", "PLAYBOOK"),
    ("compile no-such.yaml", "PLAYBOOK"),
    ("compile empty", "PLAYBOOK"),
    ("compile -", "--output"),
    ("compile x.machine.json", "PLAYBOOK"),
    ("compile ok.yaml -o out.json", "--output"),
    ("compile ok.yaml -o ok.yaml/out.machine.json", "--output"),
    ("compile ok.yaml --skills no-such.yaml", "--skills"),
    ("draw", "PLAYBOOK"),
    ("draw no-such.yaml", "PLAYBOOK"),
    ("draw empty", "PLAYBOOK"),
    ("draw x.machine.json", "PLAYBOOK"),
    ("draw ok.yaml -o picture.gif", "--output"),
    ("draw ok.yaml -o empty --format svg", "--output"),
    ("draw ok.yaml -o ok.yaml/picture.svg", "--output"),
    ("draw ok.yaml --format gif", "--format"),
    ("draw ok.yaml --format png", "--output"),
    ("draw ok.yaml --trace no-such.jsonl", "--trace"),
    ("draw ok.yaml --trace empty", "--trace"),
    ("draw ok.yaml --trace tools.py", "--trace"),
    ("draw ok.yaml --trace nothing.jsonl", "--trace"),
    ("draw ok.yaml --skills list.json", "--skills"),
    ("run", "PLAYBOOK"),
    ("run no-such.yaml", "PLAYBOOK"),
    ("run empty", "PLAYBOOK"),
    ("run x.machine.json", "PLAYBOOK"),
    ("run ok.yaml", "--tools"),
    ("run ok.yaml --tools no_such_module", "--tools"),
    ("run ok.yaml --tools no-such.py", "--tools"),
    ("run ok.yaml --tools ./empty", "--tools"),
    ("run ok.yaml --tools broken.py", "--tools"),
    ("run ok.yaml --tools leaves.py", "--tools"),
    ("run ok.yaml --tools bare.py", "--tools"),
    ("run ok.yaml --tools wrong.py", "--tools"),
    ("run ok.yaml --tools other.py", "--tools"),
    ("run ok.yaml --tools tools.py", "--input"),
    ("run ok.yaml --tools tools.py --input host", "--input"),
    ("run ok.yaml --tools tools.py --input =a", "--input"),
    ("run ok.yaml --tools tools.py --input hst=a", "--input"),
    ("run ok.yaml --tools tools.py --input host=a --input host=b", "--input"),
    ("run ok.yaml --tools tools.py --input host=a --input hours=many", "--input"),
    ("run ok.yaml --tools tools.py --input host=a --input hours=2.5", "--input"),
    ("run ok.yaml --tools tools.py --inputs no-such.json", "--inputs"),
    ("run ok.yaml --tools tools.py --inputs list.json", "--inputs"),
    ("run ok.yaml --tools tools.py --inputs broken.py", "--inputs"),
    ("run ok.yaml --tools tools.py --inputs empty", "--inputs"),
    ("run ok.yaml --tools tools.py --input host=a --approve maybe", "--approve"),
    ("run ok.yaml --tools tools.py --input host=a --approve file:", "--approve"),
    ("run ok.yaml --tools tools.py --input host=a --approve file:no-such.json", "--approve"),
    ("run ok.yaml --tools tools.py --input host=a --approve file:list.json", "--approve"),
    ("run ok.yaml --tools tools.py --input host=a --approve file:empty", "--approve"),
    ("run agent.yaml --tools tools.py", "--agent"),
    ("run agent.yaml --tools tools.py --agent gpt", "--agent"),
    ("run agent.yaml --tools tools.py --agent openai:gpt", "--agent"),
    ("run agent.yaml --tools tools.py --agent scripted:", "--agent"),
    ("run agent.yaml --tools tools.py --agent scripted:no-such.jsonl", "--agent"),
    ("run agent.yaml --tools tools.py --agent scripted:broken.py", "--agent"),
    ("run agent.yaml --tools tools.py --agent scripted:nothing.jsonl", "--agent"),
    ("run agent.yaml --tools tools.py --agent scripted:empty", "--agent"),
    ("run ok.yaml --tools tools.py --input host=a --trace empty", "--trace"),
    ("run ok.yaml --tools tools.py --input host=a --trace ok.yaml/t.jsonl", "--trace"),
    ("run ok.yaml --tools tools.py --input host=a --draw empty", "--draw"),
    ("run ok.yaml --tools tools.py --input host=a --draw run.gif", "--draw"),
    ("run ok.yaml --tools tools.py --input host=a --draw ok.yaml/run.svg", "--draw"),
    ("run skilled.yaml --tools tools.py --agent scripted:turn.jsonl", "--skills"),
    ("run ok.yaml --skills list.json", "--skills"),
    ("run ok.yaml --started-by", "--started-by"),
    ("schema -o empty", "--output"),
    ("schema -o ok.yaml/schema.json", "--output"),
    ("schema here", "here"),
    ("init ok.yaml", "PATH"),
    ("init empty", "PATH"),
    ("init playbook.json", "PATH"),
    ("init ok.yaml/playbook.yaml", "PATH"),
    ("explain GW999", "CODE"),
    ("explain duplicate-kei", "CODE"),
]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, triage: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one good playbook and many bad companions, as the current one."""
    triage.rename(tmp_path / "ok.yaml")
    (tmp_path / "empty").mkdir()
    files = {
        "x.machine.json": "{}",
        "list.json": "[1]",
        "nothing.jsonl": "\n",
        "turn.jsonl": '{"text": "hello"}\n',
        "broken.py": "import no_such_thing_at_all\n",
        "leaves.py": "raise SystemExit(3)\n",
        "bare.py": "_x = 1\n",
        "wrong.py": "TOOLS = [1]\n",
        "other.py": "def other():\n    return 1\n",
        "agent.yaml": "id: a\nname: A\nsteps: [{id: ponder, description: P, expected_tools: [query]}]\n",
        "skilled.yaml": "id: a\nname: A\nsteps: [{id: ponder, description: P, uses: [siem]}]\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "named"), CASES, ids=[line for line, _ in CASES])
def test_misuse_is_one_sentence_that_names_the_argument(guideway: Run, folder: Path, line: str, named: str) -> None:
    """Status 2, nothing on standard output, one line on standard error."""
    result = guideway(*line.split())

    assert result.status == 2
    assert result.out == ""
    [said] = result.err.splitlines()
    assert said.startswith("guideway")
    assert named in said


def test_an_agents_step_without_an_agent_is_named(guideway: Run, folder: Path) -> None:
    """The message says which step it is."""
    assert "`ponder`" in guideway("run", "agent.yaml", "--tools", "tools.py").err


def test_a_missing_tool_is_named_with_its_place(guideway: Run, folder: Path) -> None:
    """The message says which step calls it, and where that stands."""
    err = guideway("run", "ok.yaml", "--tools", "other.py", "--input", "host=a").err

    assert "`query`" in err
    assert "step `look` calls it (ok.yaml:6:" in err


def test_a_bad_line_of_a_script_is_named(guideway: Run, folder: Path) -> None:
    """`FILE:LINE`, and what is wrong there."""
    for bad, said in [
        ('{"text": 1}', "`text` must be text"),
        ('{"calls": [{"args": {}}]}', "calls[0]: `tool` is missing"),
        ('{"calls": [{"tool": "t", "argz": {}}]}', "unknown key `argz`"),
        ('{"calls": [3]}', "calls[0]"),
        ('{"confidence": 2}', "`confidence` lies between 0 and 1"),
        ('{"confidence": true}', "`confidence` must be"),
        ('{"usage": {"tokens": -1}}', "must not be negative"),
        ('{"text": NaN}', "NaN"),
        ("[]x", "no JSON"),
        ('"text"', "an object"),
        ('{"text": "a", "text": "b"}', "stands twice"),
    ]:
        (folder / "bad.jsonl").write_text('{"text": "fine"}\n\n' + bad + "\n")
        result = guideway("run", "agent.yaml", "--tools", "tools.py", "--agent", "scripted:bad.jsonl")
        assert result.status == 2
        assert "bad.jsonl:3" in result.err
        assert said in result.err


def test_a_bad_recorded_decision_is_named(guideway: Run, folder: Path) -> None:
    """The entry, and what is wrong with it."""
    for bad, said in [
        ('[{"step": "a", "decision": "approve"}]', "entry 1: `by` is missing"),
        ('[{"step": "a", "decision": "aprove", "by": "x"}]', "entry 1: `decision` must be one of"),
        ('[{"step": "a", "decision": "approve", "by": ""}]', "must name the person"),
        ('{"step": "a", "decision": "approve", "by": "x"}\n{"step": 1}', "f.json:2: `step` must be text"),
        ('[{"stp": "a"}]', "unknown key `stp`"),
        ("[1,", "no JSON"),
    ]:
        (folder / "f.json").write_text(bad)
        result = guideway("run", "ok.yaml", "--tools", "tools.py", "--input", "host=a", "--approve", "file:f.json")
        assert result.status == 2
        assert said in result.err


@pytest.mark.parametrize("command", ["compile", "draw", "run"])
def test_a_playbook_with_errors_is_refused_with_its_findings(guideway: Run, folder: Path, command: str) -> None:
    """The place and the code are shown, status 2, and nothing is written."""
    (folder / "bad.yaml").write_text("id: a\nname: A\nstepps: []\n")
    before = set(folder.iterdir())
    result = guideway(command, "bad.yaml")

    assert (result.status, result.out) == (2, "")
    assert "error[GW020]" in result.err
    assert "bad.yaml:3:1" in result.err
    assert before == set(folder.iterdir())


def test_a_fault_of_our_own_is_one_sentence_and_status_70(
    guideway: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody foresaw asks to be reported, and shows no traceback unless asked to."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of\nthe blue")

    monkeypatch.setattr("guideway.playbooks.schema.json_schema", broken)
    result = guideway("schema")

    assert result.status == 70
    [said] = result.err.splitlines()
    assert "RuntimeError" in said
    assert "please report it" in said


def test_an_interrupt_is_status_130(guideway: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C anywhere is quiet, and no success."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("guideway.playbooks.schema.json_schema", interrupted)
    result = guideway("schema")

    assert (result.status, result.out) == (130, "")
