"""The driver where several branches are open: who gets a turn, what is waited for, what is not begun any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import guideway
from guideway.runtime.agents import Brief, Reply
from guideway.runtime.clocks import StillClock
from guideway.runtime.decisions import Decision, Recorded, RejectAll
from guideway.runtime.driver import Driver, Finish, Why
from guideway.runtime.records import to_json
from guideway.runtime.scripted import ScriptedAgent
from guideway.runtime.signals import GivenSignals, Signal
from guideway.runtime.toolbox import first_agent_step, missing_tools
from guideway.runtime.users import Answering, ScriptedUser

START = datetime(2026, 1, 1, tzinfo=UTC)
Steps = list[dict[str, Any]]


def session_of(steps: Steps, library: Steps | None = None, **keys: Any) -> guideway.Session:
    """A run of a small playbook."""
    machine = guideway.load({"id": "p", "name": "P", "steps": steps, **keys}, library=library or [])
    return guideway.Session(machine, now=START)


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


def branches(**steps: Any) -> Steps:
    """One parallel step."""
    return [{"id": "both", "parallel": steps}]


def noted(ran: list[str], *names: str) -> Mapping[str, Callable[..., Any]]:
    """Tools that note that they ran."""
    return {name: lambda name=name, **_: ran.append(name) for name in names}


def test_the_calls_of_all_branches_are_made_in_cursor_order() -> None:
    """Every branch makes its own call, and the join ends the run."""
    ran: list[str] = []
    steps = branches(one={"call": {"tool": "a"}}, two={"call": {"tool": "b"}}, three={"call": {"tool": "c"}})

    assert Driver(session_of(steps), noted(ran, "a", "b", "c")).run() == Finish(Why.ENDED, "success")
    assert ran == ["a", "b", "c"]


def test_a_brief_names_every_open_step() -> None:
    """With its hints, the claims it must carry and the calls that are legal in it."""
    steps = branches(
        look={"description": "Look", "expected_tools": ["query"], "hints": ["24 hours are enough"]},
        judge={"description": "Judge", "claims": {"verdict": "string"}},
    )
    agent = Listening()
    Driver(session_of(steps), {"query": lambda: 1}, agent=agent).run()
    [brief] = agent.briefs
    look, judge = brief.steps

    assert brief.step.id == "look"
    assert (look.step.id, look.step.hints, [c.tool for c in look.legal]) == (
        "look",
        ("24 hours are enough",),
        ["query"],
    )
    assert [(c.tool, c.carries) for c in judge.legal] == [("complete_step", ("verdict",))]


def test_a_brief_tells_items_of_one_step_apart() -> None:
    """By the path of their frame."""
    steps = [
        {"id": "each", "for_each": {"as": "host", "in": ["a", "b"], "concurrency": 2},
         "steps": [{"id": "look", "description": "Look", "expected_tools": ["query"]}]},
    ]  # fmt: skip
    agent = Listening()
    Driver(session_of(steps), {"query": lambda: 1}, agent=agent).run()

    assert [(s.path, s.step.id) for s in agent.briefs[0].steps] == [("each[0]/", "look"), ("each[1]/", "look")]


def test_an_agent_works_while_another_branch_waits_for_a_person() -> None:
    """The question stays open; then the run waits for the person it names."""
    steps = branches(
        agree={"approval": {"ask": "Go on?", "approvers": ["lead"]}},
        look={"description": "Look", "expected_tools": ["query"]},
    )
    ran: list[str] = []
    session = session_of(steps)
    finish = Driver(session, noted(ran, "query"), agent=Listening(Reply(calls=[call("query")]))).run()

    assert ran == ["query"]
    assert finish == Finish(Why.WAITING, "lead to decide on `agree`: Go on?")
    recorded = Recorded([{"step": "agree", "decision": "approve", "by": "lead"}])
    assert Driver(session, noted(ran, "query"), agent=Listening(), decisions=recorded).run().text == "success"


def test_time_passes_for_one_branch_while_another_waits_for_a_person() -> None:
    """The call behind the wait is made, ten minutes later."""
    ran: list[str] = []
    steps = branches(
        agree={"approval": {"ask": "Go on?"}},
        later=[{"id": "bake", "wait": "10m"}, {"id": "cut", "call": {"tool": "t"}}],
    )
    clock = StillClock(START)
    finish = Driver(session_of(steps), noted(ran, "t"), clock=clock).run()

    assert (ran, finish.why, clock.now() - START) == (["t"], Why.WAITING, timedelta(minutes=10))


def test_time_passes_for_one_branch_while_the_agent_of_another_is_silent() -> None:
    """The agent is asked again after it."""
    steps = branches(look={"description": "Look", "expected_tools": ["query"]}, bake={"wait": "10m"})
    clock, agent = StillClock(START), Listening()
    finish = Driver(session_of(steps), {"query": lambda: 1}, agent=agent, clock=clock).run()

    assert (finish.why, clock.now() - START, len(agent.briefs)) == (Why.SILENT, timedelta(minutes=10), 2)


def test_a_question_is_put_once_and_again_after_a_reminder() -> None:
    """Whoever put it off is not asked at every step of another branch."""
    asked: list[str] = []

    class Later:
        def decide(self, question: Any, objection: str = "") -> None:
            asked.append(question.approval_id)

    steps = branches(
        ask={"ask": {"question": "Was it you?", "remind": "4m"}},
        calls=[{"id": f"c{n}", "call": {"tool": "t"}} for n in range(5)] + [{"id": "bake", "wait": "10m"}],
    )
    clock = StillClock(START)
    Driver(session_of(steps), noted([], "t"), clock=clock, decisions=Later()).run()

    assert asked == ["ask ask@1", "ask ask@1"]


def test_a_call_of_a_branch_that_the_join_removed_is_not_made() -> None:
    """`join: any`: the first arrival ends the others, and their calls are observed as cancelled."""
    ran: list[str] = []
    steps = branches(one={"call": {"tool": "a"}}, two={"call": {"tool": "b"}})
    steps[0]["join"] = "any"
    session = session_of([*steps, {"id": "after", "call": {"tool": "c"}}])

    assert Driver(session, noted(ran, "a", "b", "c")).run().text == "success"
    assert ran == ["a", "c"]
    settled = [record for r in session.records if (record := to_json(r))["kind"] == "settled"]
    assert {record["tool"]: record["outcome"] for record in settled} == {"a": "ok", "b": "cancelled", "c": "ok"}


def test_a_call_that_the_end_of_the_run_overtakes_is_not_made() -> None:
    """A branch of the runtime's own calls, when the other one ends the run."""
    ran: list[str] = []
    steps = branches(one={"call": {"tool": "stop"}}, two={"call": {"tool": "b"}})
    session = session_of(steps, termination=[{"tool_called": "stop", "outcome": "over"}], outcomes={"over": "stopped"})

    assert (Driver(session, noted(ran, "stop", "b")).run().text, ran) == ("over", ["stop"])


def test_finally_runs_after_the_end() -> None:
    """Its calls are made, and change nothing."""
    ran: list[str] = []
    session = session_of(
        [{"id": "a", "call": {"tool": "t"}}], **{"finally": [{"id": "notify", "call": {"tool": "tell"}}]}
    )

    assert Driver(session, noted(ran, "t", "tell")).run() == Finish(Why.ENDED, "success")
    assert ran == ["t", "tell"]


CALLEE = {
    "id": "look-up", "name": "L", "inputs": {"ip": "string"}, "outputs": {"found": "facts.whois.owner"},
    "tools": {"whois": {"name": "mcp__net__whois"}},
    "steps": [{"id": "whois", "call": {"tool": "whois", "args": {"ip": "{{ inputs.ip }}"}}}],
}  # fmt: skip
CALLS_IT: Steps = [
    {"id": "owner", "playbook": "look-up", "with": {"ip": "198.51.100.7"}},
    {"id": "say", "call": {"tool": "say", "args": {"text": "{{ facts.owner.found }}"}}},
]


@pytest.mark.parametrize("name", ["whois", "mcp__net__whois"])
def test_tools_of_a_called_playbook_are_found_by_its_own_names(name: str) -> None:
    """Under the playbook's word for it, or the framework's."""
    said: list[str] = []
    session = session_of(CALLS_IT, [CALLEE])
    tools: dict[str, Callable[..., Any]] = {name: lambda ip: {"owner": f"of {ip}"}, "say": said.append}
    tools["say"] = lambda text: said.append(text)

    assert (Driver(session, tools).run().text, said) == ("success", ["of 198.51.100.7"])


def test_what_a_called_playbook_lacks_is_said_before_anything_runs() -> None:
    """Its tools, those of an `undo`, and its agent."""
    thinker = {"id": "think", "name": "T", "steps": [{"id": "ponder", "description": "Think"}]}
    tools = {"move": {"undo": "move_back"}, "move_back": {}, "idle": {"undo": "idle_back"}, "idle_back": {}}
    steps: Steps = [{"id": "a", "call": {"tool": "move"}}, {"id": "b", "playbook": "think"}, {"id": "c", "undo": "all"}]
    undoes = guideway.load({"id": "p", "name": "P", "tools": tools, "steps": steps}, library=[thinker]).definition
    caller = guideway.load({"id": "p", "name": "P", "steps": CALLS_IT}, library=[CALLEE]).definition
    assert undoes is not None
    assert caller is not None
    [back] = missing_tools(undoes, {"move": print})
    [whois] = missing_tools(caller, {"say": print})

    assert back.startswith("no tool `move_back` was given, and step `c` calls it")
    assert whois.startswith("no tool `whois` was given, and step `whois` of `look-up` calls it")
    assert first_agent_step(undoes) == "ponder"


ASK: Steps = [
    {"id": "sure", "ask": {"question": "Which?", "assignees": ["ann"], "choices": ["keep", "drop"],
                           "fields": {"days": "integer"}}},
]  # fmt: skip


def test_an_ask_is_answered_from_a_record() -> None:
    """With its choice and its fields; what does not fit them is told, and the next answer taken."""
    answers = [{"step": "sure", "answer": "keep", "by": "ann", "fields": {"days": days}} for days in ("ten", 10)]
    session = session_of(ASK)
    driver = Driver(session, {}, decisions=Recorded(answers))

    assert driver.run() == Finish(Why.ENDED, "success")
    [answered] = [record for r in session.records if (record := to_json(r))["kind"] == "answered"]
    assert answered["answer"] == {"days": 10, "choice": "keep"}


def test_deny_leaves_an_ask_to_people() -> None:
    """An answer cannot be rejected."""
    assert Driver(session_of(ASK), {}, decisions=RejectAll()).run() == Finish(
        Why.WAITING, "ann to answer in `sure`: Which?"
    )


def test_a_person_of_a_group_decides_for_it() -> None:
    """Two groups, two persons; one person is not enough."""
    steps: Steps = [{"id": "go", "approval": {"ask": "Go?", "approvers": ["release", "on-call"], "count": "all"}}]
    ines = {"step": "go", "decision": "approve", "by": "ines", "groups": ["release", "on-call"]}
    omar = {"step": "go", "decision": "approve", "by": "omar", "groups": ["on-call"]}

    assert Driver(session_of(steps), {}, decisions=Recorded([ines, omar])).run().text == "success"
    assert Driver(session_of(steps), {}, decisions=Recorded([ines])).run().text == (
        "release or on-call to decide on `go`: Go?"
    )


def test_a_recorded_decision_may_name_its_question() -> None:
    """One step that asks once per item."""
    steps: Steps = [
        {"id": "each", "for_each": {"as": "host", "in": ["a", "b"], "concurrency": 2},
         "steps": [{"id": "sure", "ask": {"question": "{{ host }}?", "choices": ["yes", "no"]}}]},
    ]  # fmt: skip
    answers = [
        {"step": "sure", "id": f"ask each[{n}]/sure@1", "answer": answer, "by": "ann"}
        for n, answer in ((1, "no"), (0, "yes"))
    ]
    session = session_of(steps)

    assert Driver(session, {}, decisions=Recorded(answers)).run().text == "success"
    answered = [record for r in session.records if (record := to_json(r))["kind"] == "answered"]
    assert {record["frame"]: record["answer"] for record in answered} == {"each[0]/": "yes", "each[1]/": "no"}


SIGNALLED: Steps = [{"id": "go", "wait": {"signal": "go_ahead"}}]


def test_a_wait_that_nothing_here_can_end_is_told() -> None:
    """A signal by its name, a condition by its text."""
    condition: Steps = [{"id": "go", "wait": {"until": "run.tokens > 5"}}]

    assert Driver(session_of(SIGNALLED), {}).run() == Finish(Why.WAITING, "the signal `go_ahead` (step `go`)")
    assert Driver(session_of(condition), {}).run() == Finish(Why.WAITING, "`run.tokens > 5` to hold (step `go`)")


def test_a_given_signal_comes_when_it_is_waited_for() -> None:
    """Not before; the one that no step waits for comes at once, and ends the run."""
    session = session_of([{"id": "a", "call": {"tool": "t"}}, *SIGNALLED])
    definition = session.machine.definition
    assert definition is not None
    signals = GivenSignals([Signal("go_ahead", {"n": 1})], definition)

    assert Driver(session, noted([], "t"), signals=signals).run().text == "success"
    kinds = [record[0] for record in session.records]
    assert kinds.index("signalled") > kinds.index("settled")

    ran: list[str] = []
    stopped = session_of([{"id": "a", "call": {"tool": "t"}}], termination=[{"signal": "stop", "outcome": "stopped"}])
    definition = stopped.machine.definition
    assert definition is not None
    Driver(stopped, noted(ran, "t"), signals=GivenSignals([Signal("stop")], definition)).run()
    assert (stopped.outcome, ran) == ("stopped", [])


TALK: Steps = [{"id": "find", "description": "Find the order", "expected_tools": ["get_order"]}]


def test_a_reply_in_a_conversation_goes_to_the_user() -> None:
    """And the user's answer to the agent, once."""
    heard: list[str] = []

    def user(text: str) -> str:
        heard.append(text)
        return "o-1"

    agent = Listening(Reply("Which order?"), Reply(calls=[call("look")]), Reply(calls=[call("get_order")]))
    session = session_of(TALK, conversation=True)
    finish = Driver(session, noted([], "get_order"), agent=agent, user=Answering(user)).run()

    assert (finish.text, heard) == ("success", ["Which order?"])
    assert [brief.said for brief in agent.briefs] == ["", "o-1", ""]


def test_a_conversation_waits_for_its_user() -> None:
    """The agent does not talk on meanwhile."""
    agent = Listening(Reply("Which order?"), Reply("Hello?"))
    session = session_of(TALK, conversation=True)

    assert Driver(session, noted([], "get_order"), agent=agent, user=ScriptedUser([])).run() == Finish(
        Why.WAITING, "the user to answer"
    )
    assert len(agent.replies) == 1


def test_an_interrupt_names_every_place_the_run_stands_in() -> None:
    """Ctrl-C in one of two branches; the other call has not begun and is left."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    session = session_of(branches(one={"call": {"tool": "a"}}, two={"call": {"tool": "b"}}))
    finish = Driver(session, {"a": interrupted, "b": lambda: 1}).run()

    assert finish == Finish(Why.INTERRUPTED, "interrupted in `one`, `two`")


def test_a_decision_of_the_wrong_kind_changes_nothing() -> None:
    """An approval where an answer is asked for is told as an objection."""

    class Wrong:
        tries = 0

        def decide(self, question: Any, objection: str = "") -> Decision | None:
            self.tries += 1
            return Decision("approve", "ann") if self.tries == 1 else None

    assert Driver(session_of(ASK), {}, decisions=Wrong()).run().why is Why.WAITING


def test_a_scripted_agent_plays_into_whichever_step_takes_the_call() -> None:
    """Two branches of agents' steps, one reply with a call for each."""
    ran: list[str] = []
    steps = branches(
        one={"description": "One", "expected_tools": ["a"]}, two={"description": "Two", "expected_tools": ["b"]}
    )
    agent = ScriptedAgent([Reply(calls=[call("b"), call("a")])])

    assert Driver(session_of(steps), noted(ran, "a", "b"), agent=agent).run().text == "success"
    assert sorted(ran) == ["a", "b"]
