"""The driver: commands carried out, agents played, people asked, tools failing, interrupts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import guideway
from guideway.runtime.agents import Brief, Reply
from guideway.runtime.approvals import Question
from guideway.runtime.clocks import StillClock
from guideway.runtime.decisions import Decision, Recorded, RejectAll
from guideway.runtime.driver import Driver, Finish, Watcher, Why, denials
from guideway.runtime.records import Record, to_json
from guideway.runtime.scripted import ScriptedAgent
from guideway.runtime.toolbox import call_tool, find_tool, load_tools, missing_tools
from guideway.runtime.verdicts import Deny, Wait

START = datetime(2026, 1, 1, tzinfo=UTC)


def session_of(steps: list[dict[str, Any]], **keys: Any) -> guideway.Session:
    """A run of a small playbook."""
    return guideway.Session(guideway.load({"id": "p", "name": "P", "steps": steps, **keys}), now=START)


def call(tool: str, call_id: str = "", **args: Any) -> guideway.ToolCall:
    """A call of an agent's."""
    return guideway.ToolCall(tool, args, call_id)


class Listening:
    """An agent that plays its replies and remembers its briefs."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.briefs: list[Brief] = []

    def reply(self, brief: Brief) -> Reply | None:
        """The next of the replies."""
        self.briefs.append(brief)
        return self.replies.pop(0) if self.replies else None


class Seen(Watcher):
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.waited: list[float] = []
        self.objections: list[str] = []

    def happened(self, records: Sequence[Record]) -> None:
        """Keep them."""
        self.records.extend(records)

    def waits(self, wait: Wait, seconds: float) -> None:
        """Keep how long."""
        self.waited.append(seconds)

    def objected(self, approval_id: str, why: str) -> None:
        """Keep why."""
        self.objections.append(why)


def test_a_failing_tool_is_a_failed_call_with_its_class_and_message() -> None:
    """The exception does not leave the driver; `on_failure` sees it."""
    steps = [{"id": "a", "call": {"tool": "t"}, "on_failure": "escalated"}]
    seen = Seen()

    def broken() -> None:
        raise LookupError("no such host")

    finish = Driver(session_of(steps), {"t": broken}, watchers=[seen]).run()

    assert finish == Finish(Why.ENDED, "escalated")
    [settled] = [to_json(r) for r in seen.records if r[0] == "settled"]
    assert settled["detail"] == {"type": "LookupError", "message": "no such host"}


class LeavingError(BaseException):
    """What a tool raises that is meant to pass every `except Exception`."""


@pytest.mark.parametrize("fault", [
    SystemExit(3), RecursionError("deep"), TypeError("unexpected keyword"), GeneratorExit("x"), LeavingError("y"),
    asyncio.CancelledError("z"),
])  # fmt: skip
def test_no_exception_of_a_tool_is_the_drivers(fault: BaseException) -> None:
    """Not even the wish to leave the process."""

    def broken() -> None:
        raise fault

    outcome = call_tool(broken, "t", {})

    assert isinstance(outcome, guideway.Failed)
    assert outcome.error == {"type": type(fault).__name__, "message": str(fault)}


@pytest.mark.parametrize("fault", [SystemExit("leaving"), GeneratorExit("leaving"), LeavingError("leaving")])
def test_a_tool_that_wants_to_leave_is_settled_and_recorded(fault: BaseException) -> None:
    """The run goes on, and its record says what became of the call."""
    seen = Seen()

    def leave() -> None:
        raise fault

    steps = [{"id": "a", "call": {"tool": "t"}, "on_failure": "escalated"}]

    assert Driver(session_of(steps), {"t": leave}, watchers=[seen]).run() == Finish(Why.ENDED, "escalated")
    [settled] = [to_json(r) for r in seen.records if r[0] == "settled"]
    assert settled["detail"] == {"type": type(fault).__name__, "message": "leaving"}


def test_what_an_exception_says_is_bounded_and_can_be_written() -> None:
    """A lone surrogate or a megabyte of text does not break the record."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def raising(error: Exception) -> Callable[[], None]:
        def tool() -> None:
            raise error

        return tool

    messages = []
    for error in (ValueError("\ud800"), ValueError("x" * 1_000_000), MuteError()):
        outcome = call_tool(raising(error), "t", {})
        assert isinstance(outcome, guideway.Failed)
        assert isinstance(outcome.error, dict)
        messages.append(outcome.error["message"])

    assert messages[0] == "?"
    assert len(messages[1]) < 3_000
    assert messages[2] == "it does not say why"


def test_a_result_that_is_no_json_is_a_failure_the_engine_names() -> None:
    """A set is no JSON: `result_schema`."""
    seen = Seen()
    steps = [{"id": "a", "call": {"tool": "t"}, "on_failure": "escalated"}]

    assert Driver(session_of(steps), {"t": lambda: {1, 2}}, watchers=[seen]).run().text == "escalated"
    assert any("result_schema" in str(record) for record in seen.records)


def test_a_coroutine_function_is_a_tool_too() -> None:
    """It is run to its end."""

    async def look(host: str) -> dict[str, str]:
        return {"host": host}

    assert call_tool(look, "look", {"host": "a"}) == guideway.Succeeded({"host": "a"})


def test_a_tool_cannot_change_the_recorded_arguments() -> None:
    """It works on a copy."""
    seen = Seen()
    steps = [{"id": "a", "call": {"tool": "t", "args": {"hosts": ["a"]}}}]

    def meddle(hosts: list[str]) -> None:
        hosts.append("b")

    Driver(session_of(steps), {"t": meddle}, watchers=[seen]).run()

    assert [record["args"] for r in seen.records if (record := to_json(r))["kind"] == "decided"] == [{"hosts": ["a"]}]


def test_an_agent_cannot_change_a_call_after_it_was_approved() -> None:
    """What runs is what was decided on."""
    args = {"host": "ws-7"}
    ran: list[str] = []

    class Swaps:
        def decide(self, question: Question, objection: str = "") -> Decision:
            args["host"] = "everything"
            return Decision("approve", "lead")

    steps = [{"id": "a", "description": "A", "expected_tools": [{"tool": "cut", "approval": {"ask": "Cut?"}}]}]
    agent = Listening(Reply(calls=[guideway.ToolCall("cut", args)]))
    Driver(session_of(steps), {"cut": lambda host: ran.append(host)}, agent=agent, decisions=Swaps()).run()

    assert ran == ["ws-7"]


def test_of_two_calls_with_one_id_only_the_first_runs() -> None:
    """The second is refused, and its arguments are not those that run."""
    ran: list[int] = []
    steps = [{"id": "a", "description": "A", "expected_tools": [{"tool": "t", "times": 1}]}]
    agent = Listening(Reply(calls=[call("t", "x", n=1), call("t", "x", n=2)]))
    finish = Driver(session_of(steps), {"t": lambda n: ran.append(n)}, agent=agent).run()

    assert (ran, finish.text) == ([1], "success")


def test_an_agent_hears_what_became_of_each_call() -> None:
    """Outcomes of those that ran, reasons of those that did not, and what is legal now."""
    steps = [
        {"id": "look", "description": "Look", "expected_tools": ["query"]},
        {"id": "cut", "description": "Cut", "expected_tools": ["isolate"]},
    ]
    agent = Listening(
        Reply(calls=[call("isolate")]), Reply(calls=[call("query", hours=24)]), Reply(calls=[call("isolate")])
    )
    Driver(session_of(steps), {"query": lambda hours: hours, "isolate": lambda: 1}, agent=agent).run()
    first, second, third = agent.briefs

    assert (first.step.id, [c.tool for c in first.legal], first.heard) == ("look", ["query"], ())
    [refused] = second.heard
    assert isinstance(refused.verdict, Deny)
    assert denials(second) == [refused.verdict.message]
    assert "`query`" in refused.verdict.message
    assert (third.step.id, third.heard[0].outcome) == ("cut", guideway.Succeeded(24))


def test_a_rejected_call_is_told_to_the_agent() -> None:
    """The person's reason reaches it."""
    steps = [{"id": "a", "description": "A", "expected_tools": [{"tool": "cut", "approval": {"ask": "Cut?"}}]}]
    agent = Listening(Reply(calls=[call("cut")]))
    finish = Driver(session_of(steps), {"cut": lambda: 1}, agent=agent, decisions=RejectAll()).run()

    assert finish.why is Why.SILENT
    assert any("rejected" in text for text in denials(agent.briefs[1]))


def test_calls_that_the_end_of_the_run_overtakes_do_not_run() -> None:
    """A turn of three calls whose first ends the run: the others are observed as cancelled."""
    ran: list[str] = []
    steps = [{"id": "a", "description": "A", "expected_tools": ["stop", "t"]}]
    session = session_of(
        steps, termination=[{"tool_called": "stop", "outcome": "enough"}], outcomes={"enough": "stopped"}
    )
    agent = Listening(Reply(calls=[call("stop"), call("t", n=1), call("t", n=2)]))
    tools: dict[str, Callable[..., Any]] = {"stop": lambda: ran.append("stop"), "t": lambda n: ran.append(f"t{n}")}

    assert (Driver(session, tools, agent=agent).run().text, ran) == ("enough", ["stop"])


def test_a_silent_agent_stops_the_drive_and_not_the_run() -> None:
    """No outcome is made up; the step is named."""
    session = session_of([{"id": "look", "description": "Look", "expected_tools": ["t"]}])
    finish = Driver(session, {"t": lambda: 1}, agent=ScriptedAgent([])).run()

    assert (finish.why, session.outcome) == (Why.SILENT, None)
    assert "`look`" in finish.text


def test_a_confidence_is_claimed_before_the_calls_of_its_reply() -> None:
    """`confidence_met` ends the run; then nothing more is proposed."""
    steps = [{"id": "a", "description": "A", "expected_tools": ["t"]}]
    session = session_of(steps, termination=[{"confidence_met": 0.9, "outcome": "sure"}], outcomes={"sure": "success"})
    agent = Listening(Reply("I am sure.", confidence=0.95))
    finish = Driver(session, {"t": lambda: 1}, agent=agent).run()

    assert finish.why is Why.ENDED
    assert [r[0] for r in session.records].count("turn") == 0


def test_tokens_reach_the_session() -> None:
    """A token limit ends the run."""
    steps = [{"id": "a", "description": "A", "expected_tools": ["t"]}]
    agent = Listening(Reply("Hm.", usage=guideway.Usage(500)))
    session = session_of(steps, termination=[{"token_limit": 400}])

    assert Driver(session, {"t": lambda: 1}, agent=agent).run().text == "stopped:token_limit"


def test_waits_are_waited_for_and_told() -> None:
    """Three rounds with 30 s between them take a minute of the clock, and none of the test's."""
    rounds = iter([False, False, True])
    steps = [{"id": "a", "call": {"tool": "t"}, "repeat": {"until": "result.ready", "at_most": 5, "wait": "30s"}}]
    seen, clock = Seen(), StillClock(START)
    finish = Driver(session_of(steps), {"t": lambda: {"ready": next(rounds)}}, clock=clock, watchers=[seen]).run()

    assert (finish.text, seen.waited, clock.now() - START) == ("success", [30, 30], timedelta(minutes=1))


def test_a_call_that_outlasts_its_deadline_moves_nothing() -> None:
    """The timeout comes first; the result is still recorded."""
    clock = StillClock(START)
    steps = [{"id": "a", "call": {"tool": "t"}, "timeout": "1m", "on_timeout": "escalated"}]
    session = session_of(steps)

    def slow() -> int:
        clock.wait_until(START + timedelta(hours=1))
        return 1

    assert Driver(session, {"t": slow}, clock=clock).run().text == "escalated"
    assert any(r[0] == "settled" for r in session.records)


def test_a_tool_that_must_rest_is_waited_for() -> None:
    """A refused retry costs one denial, not the run: the driver lets the pause pass."""
    tries = iter([True, False])
    steps = [{"id": "a", "description": "A", "expected_tools": ["t"], "retry": {"at_most": 2, "wait": "5m"}}]
    session = session_of(steps, tools={"t": {"effect": "read"}})

    def flaky() -> int:
        if next(tries):
            raise OSError("busy")
        return 1

    agent = Listening(*(Reply(calls=[call("t")]) for _ in range(3)))
    clock = StillClock(START)

    assert Driver(session, {"t": flaky}, agent=agent, clock=clock).run().text == "success"
    assert clock.now() - START == timedelta(minutes=5)


def test_an_open_question_leaves_the_run_waiting_for_whom_it_names() -> None:
    """Nobody decides: the run stands, and can be driven on by another driver."""
    session = session_of([{"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}])
    first = Driver(session, {}).run()

    assert first == Finish(Why.WAITING, "lead to decide on `agree`: Go on?")
    recorded = Recorded([{"step": "agree", "decision": "approve", "by": "lead"}])
    assert Driver(session, {}, decisions=recorded).run().text == "success"


def test_a_question_before_a_call_shows_the_call() -> None:
    """An approval on a step that calls names the tool and its arguments of now."""
    asked: list[Question] = []

    class Asks:
        def decide(self, question: Question, objection: str = "") -> None:
            asked.append(question)

    steps = [
        {"id": "look", "call": {"tool": "look"}},
        {"id": "cut", "approval": {"ask": "Cut?"}, "call": {"tool": "cut", "args": {"host": "{{ facts.look.host }}"}}},
    ]
    Driver(session_of(steps), {"look": lambda: {"host": "ws-7"}, "cut": lambda host: 1}, decisions=Asks()).run()

    assert [(q.tool, q.args) for q in asked] == [("cut", {"host": "ws-7"})]


def test_a_decision_that_does_not_count_is_told_and_the_next_one_taken() -> None:
    """Of two recorded decisions the first is by the wrong person."""
    seen = Seen()
    session = session_of([{"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}])
    recorded = Recorded([{"step": "agree", "decision": "approve", "by": name} for name in ("mallory", "lead")])

    assert Driver(session, {}, decisions=recorded, watchers=[seen]).run().text == "success"
    assert len(seen.objections) == 1
    assert "mallory" in seen.objections[0]


def test_an_interrupted_call_is_unknown_and_those_behind_it_did_not_happen() -> None:
    """Ctrl-C in the first of two calls of a turn."""
    session = session_of([{"id": "a", "description": "A", "expected_tools": ["t", "u"]}])

    def interrupted() -> None:
        raise KeyboardInterrupt

    ran: list[str] = []
    agent = Listening(Reply(calls=[call("t", "c1"), call("u", "c2")]))
    finish = Driver(session, {"t": interrupted, "u": lambda: ran.append("u")}, agent=agent).run()

    assert (finish.why, ran) == (Why.INTERRUPTED, [])
    assert [q.of for q in guideway.Approvals(session).pending] == ["reconcile"]
    assert agent.replies == []


@pytest.mark.parametrize(("verb", "left"), [("happened", Why.ENDED), ("did_not_happen", Why.SILENT)])
def test_a_person_reconciles_an_unknown_call(verb: str, left: Why) -> None:
    """`happened` counts with its result; `did_not_happen` lets the agent call again."""
    session = session_of([{"id": "a", "description": "A", "expected_tools": ["t"]}])
    session.propose([call("t", "c1")])
    session.observe("c1", guideway.Unknown())
    recorded = Recorded([{"step": "a", "decision": verb, "by": "ines", "result": 1}])

    assert Driver(session, {"t": lambda: 1}, agent=Listening(), decisions=recorded).run().why is left


def test_deny_leaves_an_unknown_call_to_people() -> None:
    """Whether something happened cannot be rejected."""
    session = session_of([{"id": "a", "description": "A", "expected_tools": ["t"]}])
    session.propose([call("t", "c1")])
    session.observe("c1", guideway.Unknown())

    assert Driver(session, {"t": lambda: 1}, agent=Listening(), decisions=RejectAll()).run().why is Why.WAITING


def test_what_is_missing_is_said_before_anything_runs() -> None:
    """Tools by name and step, an agent by its step; optional tools and patterns may be missing."""
    ran: list[str] = []
    steps: list[dict[str, Any]] = [
        {"id": "first", "call": {"tool": "here"}},
        {"id": "ponder", "description": "P", "expected_tools": ["gone"], "optional_tools": ["extra", "mcp__*"]},
    ]
    tools = {"here": lambda: ran.append("here")}

    with pytest.raises(guideway.HostError, match="no tool `gone` was given, and step `ponder` calls it"):
        Driver(session_of(steps), tools, agent=Listening())
    with pytest.raises(guideway.HostError, match="an agent works in step `ponder`"):
        Driver(session_of(steps), {**tools, "gone": lambda: 1})
    assert ran == []


def test_a_tool_is_found_under_either_of_its_names() -> None:
    """`name` in `tools` is what the framework calls it."""
    machine = guideway.load(
        {"id": "p", "name": "P", "tools": {"isolate": {"name": "mcp__edr__isolate"}},
         "steps": [{"id": "a", "call": {"tool": "isolate"}}]}
    )  # fmt: skip
    definition = machine.definition
    assert definition is not None

    def tool() -> int:
        return 1

    for name in ("isolate", "mcp__edr__isolate"):
        assert list(missing_tools(definition, {name: tool})) == []
        assert find_tool({name: tool}, definition, "isolate") is tool
        assert Driver(guideway.Session(machine), {name: tool}).run().text == "success"


def test_an_optional_tool_that_nobody_gave_is_a_failed_call() -> None:
    """The agent is told, and the run goes on."""
    steps = [{"id": "a", "description": "A", "expected_tools": ["t"], "optional_tools": ["extra"]}]
    agent = Listening(Reply(calls=[call("extra")]), Reply(calls=[call("t")]))

    assert Driver(session_of(steps), {"t": lambda: 1}, agent=agent).run().text == "success"
    outcome = agent.briefs[1].heard[0].outcome
    assert isinstance(outcome, guideway.Failed)
    assert "nobody gave a tool `extra`" in str(outcome.error)


def test_a_watcher_that_cannot_record_stops_the_effect() -> None:
    """No intent on disk, no call."""
    ran: list[str] = []

    class Full(Watcher):
        def happened(self, records: Sequence[Record]) -> None:
            raise guideway.JournalError("the disk is full")

    driver = Driver(session_of([{"id": "a", "call": {"tool": "t"}}]), {"t": lambda: ran.append("t")}, watchers=[Full()])
    with pytest.raises(guideway.JournalError):
        driver.run()
    assert ran == []


def test_tools_of_a_module_are_its_own_public_functions() -> None:
    """What it imports, and what begins with an underscore, is no tool."""
    tools = load_tools("guideway.runtime.toolbox")

    assert "load_tools" in tools
    assert "normal" not in tools
    assert not any(name.startswith("_") for name in tools)
