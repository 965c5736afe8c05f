"""`guideway run`: the playbooks of the library that have example tools, approvals, agents, traces, interrupts."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import guideway as package
from guideway.cli import main
from guideway.cli.loading import definition_of
from guideway.runtime import records
from guideway.statemachine.machine import Machine

Run = Callable[..., Any]

APPROVE = "--approve file:examples/{}/approvals.json"
REFUND = (
    "refund-desk refund --input customer_id=c-17 --agent scripted:examples/refund/{}.jsonl"
    " --user scripted:examples/refund/user.jsonl"
)
PHISHING = (
    "phishing-triage phishing --input message_id={} --input reporter=ines --agent scripted:examples/phishing/{}.jsonl"
)
CANARY = "canary-deploy canary --input service=checkout --input version={} --at {}T09:00:00Z"
TUESDAY, FRIDAY = "2026-03-03", "2026-03-06"
SIGN_IN = (
    "suspicious-sign-in signin --input case_id=c-9 --input user={} --input source_ip={}"
    " --agent scripted:examples/signin/{}.jsonl"
)
SSH = "ssh-brute-force ssh --input log=examples/ssh/{}.log --input out={{out}}"

WALKS = {
    # command line: outcome, exit status, denials
    f"{SSH.format('auth')} {APPROVE.format('ssh')}": ("contained", 0, 0),
    f"{SSH.format('auth')} --approve deny": ("not_disabled", 1, 0),
    f"{SSH.format('quiet')} --approve deny": ("quiet", 0, 0),
    f"{SSH.format('quiet')} --approve deny --input minimum=3": ("blocked", 0, 0),
    f"{REFUND.format('agent')} {APPROVE.format('refund')}": ("success", 0, 0),
    f"{REFUND.format('agent-wrong')} {APPROVE.format('refund')}": ("success", 0, 3),
    f"{REFUND.format('agent-late')} {APPROVE.format('refund')}": ("handed_over", 1, 1),
    f"{REFUND.format('agent-large')} {APPROVE.format('refund')}": ("success", 0, 1),
    f"{PHISHING.format('m-501', 'agent')} {APPROVE.format('phishing')}": ("contained", 0, 0),
    f"{PHISHING.format('m-501', 'agent-wrong')} {APPROVE.format('phishing')}": ("contained", 0, 5),
    f"{PHISHING.format('m-502', 'agent-harmless')} --approve deny": ("harmless", 0, 0),
    f"{CANARY.format('1.5.0', TUESDAY)} {APPROVE.format('canary')}": ("success", 0, 0),
    f"{CANARY.format('1.5.1', TUESDAY)} {APPROVE.format('canary')}": ("rolled_back", 1, 0),
    f"{CANARY.format('1.5.0', TUESDAY)} --approve deny": ("frozen", 1, 0),
    f"{CANARY.format('1.5.0', FRIDAY)} {APPROVE.format('canary')}": ("frozen", 1, 0),
    f"{SIGN_IN.format('ann', '198.51.100.7', 'agent')} {APPROVE.format('signin')}": ("locked", 0, 0),
    f"{SIGN_IN.format('ann', '198.51.100.7', 'agent-wrong')} {APPROVE.format('signin')}": ("locked", 0, 3),
    f"{SIGN_IN.format('ann', '198.51.100.7', 'agent-own')} --approve file:examples/signin/approvals-own.json": (
        "own_sign_in",
        0,
        0,
    ),
    f"{SIGN_IN.format('mia', '203.0.113.5', 'agent-home')} --approve deny": ("own_sign_in", 0, 0),
}


def shipped(line: str, out: Path) -> list[str]:
    """The arguments of a run of a shipped playbook with its example tools."""
    playbook, folder, *options = shlex.split(line.format(out=out))
    tools = f"examples/{folder}/tools.py"
    return ["run", f"playbooks/library/{playbook}.yaml", "--tools", tools, "--fast-forward", *options]


@pytest.fixture(name="at_root")
def _at_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the repository is the current folder, as examples/README.md says."""
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("line", WALKS)
def test_a_shipped_playbook_runs_to_its_end(guideway: Run, at_root: Path, tmp_path: Path, line: str) -> None:
    """Outcome, exit status and number of refused calls; the trace verifies, and replays to the same records."""
    outcome, status, denials = WALKS[line]
    trace = tmp_path / "trace.jsonl"
    result = guideway(*shipped(line, tmp_path), "--trace", trace)
    told = result.out.splitlines()
    entries = records.verify(trace.read_text())

    assert (status, f"end {outcome}") == (result.status, told[-1])
    assert denials == sum(entry.get("verdict") == "deny" for entry in entries)
    assert denials == sum(text.startswith("  deny ") for text in told)
    assert outcome == entries[-1]["outcome"]
    machine = Machine.of(definition_of(shipped(line, tmp_path)[1], {}))
    assert entries == list(records.verify("".join(records.lines(replayed(machine, entries).records))))


def replayed(machine: Machine, entries: list[dict[str, Any]]) -> package.Session:
    """
    Put a trace's events to a fresh session: turns, outcomes, decisions and times, each when it came.

    Verdicts, moves, asks and ends are not read: the session has to come to them by itself.
    """
    first = entries[0]
    session = package.Session(
        machine, inputs=first["inputs"], now=at(first), run_id=first["run"], started_by=first.get("started_by", "")
    )
    control = package.Approvals(session)
    mine: set[str] = {
        str(e["call_id"]) for e in entries if e["kind"] == "decided" and re.search(r"@\d+\.\d+", e["call_id"])
    }
    for index, entry in enumerate(entries):
        match entry["kind"]:
            case "turn":
                calls = turn_calls(entries[index + 1 :], mine)
                usage = package.Usage(entry["tokens"])
                session.propose(calls, text=entry["text"], usage=usage, now=at(entry))
            case "settled" if entry["tool"] not in ("complete_step", "skip_step"):
                session.observe(entry["call_id"], outcome(entry), now=at(entry))
            case "allowed":
                control.approve(entry["approval_id"], by=entry["by"], note=entry.get("note", ""), now=at(entry))
            case "answered" if entry["decision"] == "answered":
                control.answer(
                    entry["approval_id"], entry["answer"], by=entry["by"], note=entry.get("note", ""), now=at(entry)
                )
            case "answered" if "by" in entry:
                verb = control.approve if entry["decision"] == "approved" else control.reject
                verb(entry["approval_id"], by=entry["by"], note=entry.get("note", ""), now=at(entry))
            case "answered" if entry["decision"] == "rejected":
                control.withdraw(entry["approval_id"], note=entry.get("note", ""), now=at(entry))
            case "due":
                session.tick(at(entry))
            case "claimed":
                session.claim(confidence=entry["confidence"], now=at(entry))
    return session


def at(entry: dict[str, Any]) -> datetime:
    """When it happened."""
    return datetime.fromisoformat(entry["at"].replace("Z", "+00:00"))


def turn_calls(later: list[dict[str, Any]], automatic: set[str]) -> list[package.ToolCall]:
    """The calls of the turn that has just begun: each as it was first decided."""
    calls: dict[str, package.ToolCall] = {}
    for entry in later:
        if entry["kind"] == "turn":
            break
        if entry["kind"] == "decided" and entry["call_id"] not in automatic:
            call = package.ToolCall(entry["tool"], entry["args"], entry["call_id"])
            calls.setdefault(entry["call_id"], call)
    return list(calls.values())


def outcome(entry: dict[str, Any]) -> Any:
    """What came of a call."""
    match entry["outcome"]:
        case "ok":
            return package.Succeeded(entry["detail"]["result"])
        case "error":
            return package.Failed(entry["detail"])
        case "cancelled":
            return package.Cancelled()
    return package.Unknown()


def test_the_main_job_leaves_its_four_files(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """Report, block list, trace and picture, the walked way marked in it."""
    line = f"{SSH.format('auth')} {APPROVE.format('ssh')} --trace {tmp_path}/trace.jsonl --draw {tmp_path}/run.svg"
    guideway(*shipped(line, tmp_path))

    assert "staff_user_0" in (tmp_path / "report.md").read_text()
    assert "198.18.0.75" in (tmp_path / "block.nft").read_text()
    assert records.verify((tmp_path / "trace.jsonl").read_text())
    svg = (tmp_path / "run.svg").read_text()
    assert svg.count('walked"') > 10
    assert 'class="node success walked"' in svg


def test_every_kind_of_thing_is_told_in_a_line(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """Steps, calls, verdicts, branches, approvals, time and the end."""
    out = guideway(*shipped(f"{PHISHING.format('m-501', 'agent-wrong')} {APPROVE.format('phishing')}", tmp_path)).out

    for line in (
        "→ inspect: Check every link of the mail, and its sender.",
        "  agent  turn 1: Clearly phishing. Deleting it.",
        '  deny   purge_message(message_id="m-501"): out_of_sequence: it is not legal in the step the run is in',
        '  allow  check_sender(sender="payroll@examp1e.com")',
        '  ok     purge_message -> {"message_id": "m-501", "deleted_from": 3}',
        "  answer purge approved by mail-admin: Look-alike domain, malicious link.",
        "  branch skipped -> sum_up",
        "  branch as nothing above it is true -> recipients",
        "end contained",
    ):
        assert line in out.splitlines()
    assert re.search(r"^  ask    mail-admin on purge: .* purge_message\(message_id=\"m-501\"\)$", out, re.M)
    assert re.search(r"^  time   waits 1\.0 s$", out, re.M)
    assert re.search(r"^  deny   quarantine_message.*: where: .*`args\.message_id == .*`, because ", out, re.M)


def test_without_a_terminal_an_approval_waits(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """Status 3, saying for whom; nothing that waits for the person has happened."""
    result = guideway(*shipped(SSH.format("auth"), tmp_path))

    assert result.status == 3
    assert "waiting for soc-lead to decide on `disable`" in result.err
    assert not (tmp_path / "disable.sh").exists()


def test_a_recorded_decision_of_somebody_else_does_not_count(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """The run says so, and goes on waiting."""
    file = tmp_path / "f.json"
    file.write_text('{"step": "disable", "decision": "approve", "by": "mallory"}')
    result = guideway(*shipped(f"{SSH.format('auth')} --approve file:{file}", tmp_path))

    assert result.status == 3
    assert "mallory may not decide this" in result.out
    assert not (tmp_path / "disable.sh").exists()


def test_a_person_at_the_terminal_sees_the_exact_call(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """Arguments whole; an answer that is none, a missing name and a wrong person are asked again."""
    typed = "what\na\n\nmallory\n\nr\nsoc-lead\nnot today\n"
    result = guideway(*shipped(SSH.format("auth"), tmp_path), stdin=typed, terminal=True)

    assert result.status == 1
    assert '    user = "staff_user_0"\n' in result.out
    assert f'    path = "{tmp_path}/disable.sh"\n' in result.out
    assert "a decision needs a name" in result.out
    assert "mallory may not decide this" in result.out
    assert "rejected by soc-lead: not today" in result.out
    assert "not_disabled" in result.out


@pytest.mark.parametrize("typed", ["l\n", "\n", ""])
def test_a_person_who_puts_it_off_leaves_the_run_waiting(
    guideway: Run, at_root: Path, tmp_path: Path, typed: str
) -> None:
    """`later`, an empty line and the end of input decide nothing."""
    assert guideway(*shipped(SSH.format("auth"), tmp_path), stdin=typed, terminal=True).status == 3


def test_a_script_that_runs_out_says_so(guideway: Run, at_root: Path, tmp_path: Path) -> None:
    """Status 1, no outcome, and the trace up to there."""
    script, trace = tmp_path / "a.jsonl", tmp_path / "t.jsonl"
    script.write_text('{"calls": [{"tool": "get_order", "args": {"order_id": "o-1001"}}]}\n')
    line = f"refund-desk refund --input customer_id=c-17 --agent scripted:{script}"
    result = guideway(*shipped(f"{line} --trace {trace}", tmp_path))

    assert result.status == 1
    assert "nothing more to say, and the run stands in step `understand`" in result.err
    assert all(entry["kind"] != "ended" for entry in records.verify(trace.read_text()))


def test_an_interrupted_call_is_unknown_and_the_trace_is_whole(guideway: Run, triage: Path, tmp_path: Path) -> None:
    """Ctrl-C in a tool: status 130, the call recorded as unknown, the chain unbroken, the picture drawn."""
    tools, trace, picture = tmp_path / "t.py", tmp_path / "t.jsonl", tmp_path / "p.dot"
    tools.write_text("def query(host, hours):\n    raise KeyboardInterrupt\n")
    result = guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", trace, "--draw", picture)
    kinds = [entry["kind"] for entry in records.verify(trace.read_text())]

    assert result.status == 130
    assert "interrupted in `look`" in result.err
    assert "asked" in kinds
    assert "Did `query` happen?" in trace.read_text()
    assert picture.read_text().startswith("digraph")


def test_the_intent_is_on_disk_before_the_effect(guideway: Run, triage: Path, tmp_path: Path) -> None:
    """The tool itself finds its own admission in the trace."""
    tools, trace = tmp_path / "t.py", tmp_path / "t.jsonl"
    tools.write_text(
        f"from pathlib import Path\ndef query(host, hours):\n"
        f"    return {{'hits': 0, 'seen': Path({str(trace)!r}).read_text()}}\n"
    )
    guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", trace)
    [settled] = [e for e in records.verify(trace.read_text()) if e["kind"] == "settled"]
    seen = records.verify(settled["detail"]["result"]["seen"])

    assert tuple(seen[-1][key] for key in ("kind", "verdict", "tool")) == ("decided", "allow", "query")


def test_a_full_disk_stops_the_run_before_the_call(guideway: Run, triage: Path, tmp_path: Path) -> None:
    """What cannot be recorded does not happen."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    tools, mark = tmp_path / "t.py", tmp_path / "called"
    tools.write_text(f"def query(host, hours):\n    open({str(mark)!r}, 'w').close()\n")
    result = guideway("run", triage, "--tools", tools, "--input", "host=a", "--trace", "/dev/full")

    assert result.status == 1
    assert "the trace cannot be written" in result.err
    assert not mark.exists()


def test_a_sensitive_input_is_nowhere_to_be_read(guideway: Run, tmp_path: Path) -> None:
    """Neither in what is told nor in the trace, though the tool got it."""
    playbook, tools, trace = tmp_path / "p.yaml", tmp_path / "t.py", tmp_path / "t.jsonl"
    playbook.write_text(
        "id: p\nname: P\ninputs: {token: {type: string, sensitive: true}, pin: {type: integer, sensitive: true}}\n"
        "steps:\n"
        '  - {id: a, call: {tool: log_in, args: {header: "Bearer {{ inputs.token }}", pin: "{{ inputs.pin }}"}}}\n'
    )
    tools.write_text(
        "def log_in(header, pin):\n    return {'ok': (header, pin) == ('Bearer hunter2', 4711), 'echo': header}\n"
    )
    result = guideway(
        "run", playbook, "--tools", tools, "--input", "token=hunter2", "--input", "pin=4711", "--trace", trace
    )

    assert result.status == 0
    assert '"ok": true' in result.out
    for text in (result.out, result.err, trace.read_text()):
        assert "hunter2" not in text
        assert "4711" not in text
    assert "•••" in result.out
    assert records.verify(trace.read_text())


def test_inputs_are_read_by_their_type(guideway: Run, tmp_path: Path) -> None:
    """Text stays text, all else is JSON; a file gives several, and the command line wins."""
    playbook, tools, file = tmp_path / "p.yaml", tmp_path / "t.py", tmp_path / "i.json"
    names = ("s", "i", "n", "b", "a", "o", "u")
    types = ("string", "integer", "number", "boolean", "array", "object", None)
    inputs = ", ".join(
        f"{n}: {{{f'type: {t}' if t else 'description: any'}}}" for n, t in zip(names, types, strict=True)
    )
    args = ", ".join(f'{n}: "{{{{ inputs.{n} }}}}"' for n in names)
    playbook.write_text(
        f"id: p\nname: P\ninputs: {{{inputs}}}\nsteps: [{{id: a, call: {{tool: t, args: {{{args}}}}}}}]\n"
    )
    tools.write_text(f"import json\ndef t(**args):\n    open({str(tmp_path / 'got')!r}, 'w').write(json.dumps(args))\n")
    file.write_text('{"s": "file", "i": 1, "u": null}')
    given = {"s": "42", "i": "42", "n": "0.5", "b": "true", "a": "[1]", "o": '{"k": 1}', "u": "plain words"}
    options = [part for name, text in given.items() for part in ("--input", f"{name}={text}")]
    result = guideway("run", playbook, "--tools", tools, "--inputs", file, *options)

    assert result.status == 0
    expected = {"s": "42", "i": 42, "n": 0.5, "b": True, "a": [1], "o": {"k": 1}, "u": "plain words"}
    assert expected == json.loads((tmp_path / "got").read_text())


def test_what_a_tool_says_cannot_move_the_cursor(guideway: Run, triage: Path, tmp_path: Path) -> None:
    """Control characters are shown, not sent."""
    tools = tmp_path / "t.py"
    tools.write_text("def query(host, hours):\n    raise ValueError('\\x1b[2J\\r gone')\n")
    out = guideway("run", triage, "--tools", tools, "--input", "host=a\x1b[2J").out

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out)
    assert "\\x1b[2J\\r gone" in out


def test_a_dotted_module_gives_its_own_public_functions(
    guideway: Run, triage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found from the current folder; without TOOLS the functions written in it are the tools."""
    (tmp_path / "dotted_tools_of_a_test.py").write_text(
        "from os.path import join\n_private = 1\ndef query(host, hours):\n    return {'hits': 1}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = guideway("run", triage, "--tools", "dotted_tools_of_a_test", "--input", "host=a")

    assert (result.status, result.out.splitlines()[-1]) == (1, "end found")


def test_a_reader_that_leaves_does_not_stop_the_run(guideway: Run, triage: Path, tools: Path, tmp_path: Path) -> None:
    """The telling ends, the run does not: its trace has an end."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    trace = tmp_path / "t.jsonl"
    status = main(
        ["run", str(triage), "--tools", str(tools), "--input", "host=a", "--trace", str(trace)], stdout=Gone()
    )

    assert status == 0
    assert records.verify(trace.read_text())[-1]["kind"] == "ended"
