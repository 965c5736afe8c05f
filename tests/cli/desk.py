"""A folder with playbooks whose runs people in other processes decide on, and real processes in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guideway.runtime.journal import JsonLinesJournal, SqliteJournal, Standing, read_key, standing
from guideway.runtime.journal.store import Journal
from guideway.statemachine.errors import GuidewayError

CONTAIN = """
id: contain
name: Contain
inputs: {host: string}
outcomes: {kept: failed}
tools:
  look: {effect: read}
  isolate: {effect: irreversible, where: 'args.host == inputs.host || args.host == "ws-8"', approval: APPROVAL}
steps:
  - {id: look, call: {tool: look}}
  - {id: contain, call: {tool: isolate, args: {host: "{{ inputs.host }}"}}, on_reject: kept, on_timeout: kept}
"""
ASK = """
id: shift
name: Shift
outcomes: {ours: success, theirs: success}
steps:
  - id: sure
    ask: {question: Whose is it?, assignees: [desk], choices: {us: ours, them: theirs}, fields: {days: integer}}
"""
SIGNAL = """
id: parcel
name: Parcel
steps: [{id: shipped, wait: {signal: shipped}}]
"""
TOOLS = """
import os, signal, subprocess, sys
from pathlib import Path

DONE = Path("done.txt")

def note(text):
    with DONE.open("a") as file:
        file.write(text + "\\n")

def look():
    if os.environ.get("AGENT_DECIDES"):
        done = subprocess.run(os.environ["AGENT_DECIDES"], shell=True, capture_output=True, text=True)
        note(f"tool: {done.returncode} {done.stderr.strip()}")
    note(f"look, key in sight: {'GUIDEWAY_KEY' in os.environ}")
    return {"hits": 1}

def isolate(host):
    note(f"isolate {host}")
    if os.environ.get("DIE") == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"isolated": host}

TOOLS = {"look": look, "isolate": isolate}
"""
LEAD = '{ask: "Isolate {{ args.host }}?", approvers: [lead, boss]}'
PATIENCE = 30.0
"""Seconds until a test gives a process up."""
GUIDEWAY = Path(sys.executable).with_name("guideway")


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    status: int
    out: str
    err: str


class Desk:
    """A folder, and what is run in it."""

    def __init__(self, folder: Path, journal: str = "runs.db", approval: str = LEAD) -> None:
        self.folder, self.path = folder, journal
        for name, text in {
            "contain.yaml": CONTAIN.replace("APPROVAL", approval), "shift.yaml": ASK, "parcel.yaml": SIGNAL,
            "tools.py": TOOLS,
        }.items():  # fmt: skip
            (folder / name).write_text(text)
        self.started: list[subprocess.Popen[str]] = []

    def begin(self, *more: str, playbook: str = "contain", **env: str) -> subprocess.Popen[str]:
        """Start `guideway run` as run r, and do not wait for it."""
        about = ["--tools", "tools.py", "--input", "host=ws-7"] if playbook == "contain" else []
        line = ["run", f"{playbook}.yaml", *about, "--journal", self.path, "--run-id", "r", *more]
        process = subprocess.Popen(
            [str(GUIDEWAY), *line], cwd=self.folder, env=self._env(env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, *more: str, playbook: str = "contain", **env: str) -> Done:
        """`guideway run` to its end."""
        return self.end(self.begin(*more, playbook=playbook, **env))

    def end(self, process: subprocess.Popen[str]) -> Done:
        """Wait for a process."""
        out, err = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, out, err)

    def guideway(self, *line: str, journal: bool = True, **env: str) -> Done:
        """Any command, on this journal."""
        whole = [str(GUIDEWAY), *line, *(["--journal", self.path] if journal else [])]
        done = subprocess.run(
            whole, cwd=self.folder, env=self._env(env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            encoding="utf-8", timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def resume(self, *more: str, playbook: str = "contain", **env: str) -> Done:
        """Go on with run r."""
        about = ["--tools", "tools.py"] if playbook == "contain" else []
        return self.guideway("resume", "r", f"{playbook}.yaml", *about, *more, journal=True, **env)

    def _env(self, more: dict[str, str]) -> dict[str, str]:
        path = f"{GUIDEWAY.parent}{os.pathsep}{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GUIDEWAY_")}
        return {**clean, "PATH": path, "PYTHONUTF8": "1", "NO_COLOR": "1", **more}

    def journal(self) -> Journal:
        """The journal, opened in this process to look at it."""
        path = self.folder / self.path
        return SqliteJournal(path) if path.suffix == ".db" else JsonLinesJournal(path)

    def standing(self, key: str | None = None) -> Standing:
        """Where run r stands."""
        own = self.folder / f"{self.path}.key" if key is None else self.folder / key
        journal = self.journal()
        try:
            return standing(journal, "r", read_key(own))
        finally:
            journal.close()

    def until(self, holds: Callable[[Standing], Any], key: str | None = None) -> Standing:
        """Wait until something holds of run r."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(GuidewayError):  # it is just being begun
                if (self.folder / self.path).exists() and holds(found := self.standing(key)):
                    return found
            time.sleep(0.05)
        raise AssertionError("the run did not come so far")

    def asked(self, key: str | None = None) -> str:
        """The id of what is asked, once something is."""
        return next(iter(self.until(lambda found: found.questions, key).questions))

    @property
    def done(self) -> list[str]:
        """What the tools did."""
        path = self.folder / "done.txt"
        return path.read_text().splitlines() if path.exists() else []

    def records(self, kind: str) -> list[dict[str, Any]]:
        """Records of run r, as the journal holds them."""
        out = self.guideway("trace", "r", "--json").out
        return [found for line in out.splitlines() if (found := json.loads(line))["kind"] == kind]

    def close(self) -> None:
        """End what still runs."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
