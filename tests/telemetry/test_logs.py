"""Log lines of runs."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, Decision
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.plan import plan_of
from guideway.telemetry import LogLines
from tests.agent.kit import ASKING, ISOLATE, SIEM, TRIAGE, Tools, agent
from tests.telemetry.kit import logger
from tests.telemetry.test_spans import SECRET, login


def test_each_thing_that_matters_is_a_line() -> None:
    """
    Start, refusals, decisions, what came of calls and the end, each with its weight.
    """
    log, lines = logger()

    result = agent([ISOLATE, SIEM, ISOLATE], hooks=[LogLines(log)]).run_sync("An alert.")

    run, digest = f"run={result.run_id}", plan_of(gw.load(TRIAGE)).definition.digest
    assert lines.texts == [
        f"INFO {run} started playbook=triage digest={digest}",
        f"WARNING {run} decided verdict=deny tool=isolate_host call_id=call-1-1 step=enrich code=out_of_sequence",
        f"INFO {run} decided verdict=allow tool=query_siem call_id=call-2-1 step=enrich",
        f"INFO {run} settled outcome=ok tool=query_siem call_id=call-2-1 step=enrich",
        f"DEBUG {run} moved source=enrich event=completed target=contain",
        f"INFO {run} decided verdict=allow tool=isolate_host call_id=call-3-1 step=contain",
        f"INFO {run} settled outcome=ok tool=isolate_host call_id=call-3-1 step=contain",
        f"DEBUG {run} moved source=contain event=completed target=success",
        f"INFO {run} ended outcome=success class=success",
        f"INFO {run} segment_ended status=completed stop_reason=complete success=True",
    ]


def test_the_line_of_a_decision_comes_before_its_effect() -> None:
    """
    When the tool runs, the line that it was allowed is written.
    """
    log, lines = logger()
    seen = list[list[str]]()

    def query_siem(hours: int = 24) -> int:
        """Search."""
        seen.append(lines.texts)
        return 3

    Agent(FakeModel([SIEM, ISOLATE]), [query_siem, Tools().isolate_host], playbook=TRIAGE,
          hooks=[LogLines(log)]).run_sync("An alert.")  # fmt: skip

    assert [line for line in seen[0] if "verdict=allow tool=query_siem" in line]


def test_values_stand_in_the_record_by_themselves() -> None:
    """
    Whoever collects log records needs not take the text apart.
    """
    log, lines = logger()

    agent([ISOLATE, SIEM, ISOLATE], hooks=[LogLines(log)]).run_sync("An alert.", run_id="r7")

    refusal: Any = next(record for record in lines.records if record.levelno == logging.WARNING)
    assert (refusal.guideway_run, refusal.guideway_kind, refusal.guideway_code) == ("r7", "decided", "out_of_sequence")


def test_an_approval_is_a_line() -> None:
    """
    Whom a run waits for, and what became of it.
    """
    log, lines = logger()

    agent([SIEM, ISOLATE], playbook=ASKING, hooks=[LogLines(log)], decisions=lead).run_sync("x")

    texts = [text.split(" ", 2)[2] for text in lines.texts]
    assert "decided verdict=needs_approval tool=isolate_host call_id=call-2-1 step=contain" in texts
    assert [text.split(" ")[0] for text in texts if "approval_id=" in text] == ["asked", "answered"]
    assert any(text.startswith("answered decision=approve") and "by=lead" in text for text in texts)


def lead(question: Any) -> Decision:
    """The lead says yes."""
    return Decision("approve", "lead")


@pytest.mark.parametrize(
    "nasty", ["a\nINFO run=x ended outcome=success", "\x1b[2J", "a\u2028b", "t\r", 'x" y="z', "a=b"]
)
def test_a_model_cannot_write_lines_of_its_own(nasty: str) -> None:
    """
    What a model makes up stays one word of one line, whatever characters are in it.
    """
    log, lines = logger()

    agent([gw.ToolCall(nasty, {}), SIEM, ISOLATE], hooks=[LogLines(log, content=True)]).run_sync("x", run_id="r")

    line = next(text for text in lines.texts if "verdict=deny" in text)
    assert all(text.isprintable() for text in lines.texts)
    assert line.split(" tool=")[1].startswith('"') or not any(c in nasty for c in ' "=')
    assert sum(" ended outcome=" in text and text.startswith("INFO run=r ") for text in lines.texts) == 1


def test_what_is_sensitive_is_in_no_line() -> None:
    """
    Neither by default nor with `content`.
    """
    log, lines = logger()
    call = gw.ToolCall("login", {"user": "ann", "pin": "0815-pin", "via": "hunter2-token"})
    made = Agent(FakeModel([call]), [login], playbook=SECRET, hooks=[LogLines(log, content=True)])

    made.run_sync("Use hunter2-token.", inputs={"token": "hunter2-token"})

    said = "\n".join(str(vars(record)) for record in lines.records)
    assert "ann" in said and "•••" in said
    assert "hunter2" not in said and "0815-pin" not in said


def test_a_handler_that_fails_changes_no_run() -> None:
    """
    The run goes on as if nobody wrote.
    """

    class Full(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("no space left")

    log = logging.Logger("full")
    log.addHandler(Full())

    assert agent([SIEM, ISOLATE], hooks=[LogLines(log)]).run_sync("An alert.").success


def test_a_program_that_asks_for_nothing_is_shown_nothing() -> None:
    """
    Without any set-up of logging nothing is printed, not even warnings.
    """
    program = (
        "import guideway\nfrom guideway.telemetry import LogLines\n"
        "s = guideway.Session(guideway.load({'id': 't', 'name': 'T', 'steps': ["
        "{'id': 'a', 'description': 'A', 'expected_tools': ['x']}]}))\n"
        "w = LogLines().watch(s)\ns.propose([guideway.ToolCall('nope', {}, 'c')])\nw.catch_up()\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout + done.stderr == ""


def test_importing_the_package_does_not_import_opentelemetry() -> None:
    """
    Log lines need no extra, and nobody pays for what they do not use.
    """
    program = "import sys, guideway.telemetry; print(any(name.startswith('opentelemetry') for name in sys.modules))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
