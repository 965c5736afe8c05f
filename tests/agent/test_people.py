"""Decisions of people, and conversations: in the run, between segments, and in another process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, Decision, Edited
from guideway.runtime.models.fake import FakeModel

from .kit import ASKING, ISOLATE, SIEM, TRIAGE, Moved, Tools, agent, answers, free, words

DEADLINE: dict[str, Any] = {
    **ASKING,
    "tools": {"query_siem": {"effect": "read"},
              "isolate_host": {"effect": "irreversible",
                               "approval": {"ask": "Isolate?", "approvers": ["lead"], "timeout": "1m"}}},
}  # fmt: skip


def test_a_callback_decides_in_the_run() -> None:
    """
    The question shows the exact call, and the run goes on at once.
    """
    asked: list[Any] = []

    def lead(question: Any) -> Decision:
        asked.append((question.tool, question.args))
        return Decision("approve", "lead")

    assert agent([SIEM, ISOLATE], playbook=ASKING, decisions=lead).run_sync("go").success
    assert asked == [("isolate_host", {"host": "ws-7"})]


def test_an_asynchronous_callback_decides_as_well() -> None:
    """
    The loop waits for it as for a tool.
    """

    async def lead(question: Any) -> Decision:
        await asyncio.sleep(0.001)
        return Decision("approve", "lead")

    assert agent([SIEM, ISOLATE], playbook=ASKING, decisions=lead).run_sync("go").success


def test_a_rejection_is_told_to_the_model() -> None:
    """
    The call does not run, and the model reads who said no.
    """
    tools = Tools()
    made = agent([SIEM, ISOLATE] + ["x"] * 4, tools, playbook=ASKING,
                 decisions=lambda question: Decision("reject", "lead", "it is the boss's"))  # fmt: skip
    result = made.run_sync("go")

    assert tools.ran == [("query_siem", 24)]
    assert "rejected by lead: it is the boss's" in answers(result)[1]


def test_edited_arguments_go_through_the_gate_and_are_what_runs() -> None:
    """
    A person may allow the call with other arguments (row 33).
    """
    tools = Tools()
    made = agent([SIEM, ISOLATE], tools, playbook=ASKING,
                 decisions=lambda question: Edited("lead", {"host": "ws-9"}))  # fmt: skip
    result = made.run_sync("go")

    assert result.success
    assert tools.ran[1] == ("isolate_host", "ws-9")


def test_a_person_who_may_not_decide_leaves_the_run_waiting() -> None:
    """
    The decision does not count, and the question stays open.
    """
    made = agent([SIEM, ISOLATE], playbook=ASKING, decisions=lambda question: Decision("approve", "intern"))

    assert words(made.run_sync("go")) == ("waiting", None, False)


def test_a_run_waits_and_goes_on_with_a_decision() -> None:
    """
    Two segments of one run: the decision comes between them.
    """
    tools = Tools()
    made = agent([SIEM, ISOLATE], tools, playbook=ASKING)
    waits = made.run_sync("go")
    done = made.send_sync({waits.pending[0].approval_id: Decision("approve", "lead")}, to=waits)

    assert (waits.status, done.status, done.run_id) == ("suspended", "completed", waits.run_id)
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]


def test_a_decision_that_does_not_count_is_refused() -> None:
    """
    `send` says why, and nothing has changed.
    """
    made = agent([SIEM, ISOLATE], playbook=ASKING)
    waits = made.run_sync("go")

    with pytest.raises(gw.HostError, match="intern may not decide this"):
        made.send_sync(Decision("approve", "intern"))
    assert made.send_sync(Decision("approve", "lead"), to=waits).success


def test_another_process_goes_on_from_the_saved_state() -> None:
    """
    All there is to save is JSON: a new agent object takes it up (row 51).
    """
    tools = Tools()
    saved = json.dumps(agent([SIEM, ISOLATE], tools, playbook=ASKING).run_sync("go").state)
    later = agent([], tools, playbook=ASKING)
    result = later.resume_sync(json.loads(saved), Decision("approve", "lead"))

    assert words(result) == ("complete", "success", True)
    assert answers(result) == [{"hits": 3}, {"ticket": "C-1"}]


def test_a_state_of_another_playbook_is_refused() -> None:
    """
    A run goes on only under the playbook it began under.
    """
    saved = agent([SIEM, ISOLATE], playbook=ASKING).run_sync("go").state

    with pytest.raises(gw.HostError, match="another playbook"):
        agent([]).resume_sync(saved)


@pytest.mark.parametrize("saved", [{}, {"agent": {}, "session": {}}, {"agent": {"version": 99}, "session": {}}])
def test_what_is_no_state_is_refused(saved: Any) -> None:
    """
    A damaged state says so.
    """
    with pytest.raises(gw.HostError, match="state"):
        agent([]).resume_sync(saved)


def racing(clock: Moved, first: str) -> Any:
    """A lead who says yes before the deadline, or at it."""

    async def lead(question: Any) -> Decision:
        clock.on(59 if first == "decision" else 60)
        return Decision("approve", "lead")

    return lead


@pytest.mark.parametrize("first", ["decision", "deadline"])
def test_an_approval_racing_its_deadline_has_one_result(first: str) -> None:
    """
    In both orders exactly one of the two counts (S7): a deadline beats what arrives at it.
    """
    clock, tools = Moved(), Tools()
    made = agent([SIEM, ISOLATE] + ["x"] * 4, tools, playbook=DEADLINE, clock=clock, decisions=racing(clock, first))
    result = made.run_sync("go")

    ran = [name for name, _ in tools.ran].count("isolate_host")
    decided = [record for record in result.session.records if record[0] == "answered"] if result.session else []
    assert (ran, result.success) == ((1, True) if first == "decision" else (0, False))
    assert len(decided) == 1


def test_a_deadline_passes_while_nobody_answers() -> None:
    """
    The callback never comes back: the deadline decides, and the run is not held up.
    """
    clock = Moved()

    async def silent(question: Any) -> None:
        clock.on(61)
        await asyncio.Event().wait()

    result = agent([SIEM, ISOLATE] + ["x"] * 4, playbook=DEADLINE, clock=clock, decisions=silent).run_sync("go")

    assert "nobody approved it in time" in answers(result)[1]
    assert words(result) == ("incomplete", "stopped:nudges", False)


CHAT: dict[str, Any] = {
    "id": "desk", "name": "Desk", "conversation": True,
    "steps": [{"id": "find", "description": "Find the order", "expected_tools": ["query_siem"]}],
}  # fmt: skip


def test_a_conversation_goes_on_segment_by_segment() -> None:
    """
    A reply without calls goes to the user, and the run waits for the answer.
    """
    made = agent(["Which hours?", SIEM], playbook=CHAT)
    asks = made.run_sync("hello")
    done = made.send_sync("The last day.")

    assert (asks.output, words(asks)) == ("Which hours?", ("waiting", None, False))
    assert asks.waiting == ("the user to answer",)
    assert words(done) == ("complete", "success", True)
    assert done.messages[2] == {"role": "user", "content": "The last day."}


def test_a_user_who_is_there_answers_in_the_run() -> None:
    """
    With `user` the conversation is one segment.
    """
    result = agent(["Which hours?", SIEM], playbook=CHAT, user=lambda text: "The last day.").run_sync("hello")

    assert words(result) == ("complete", "success", True)


def test_an_open_agent_talks_on_after_its_answer() -> None:
    """
    Without a playbook the transcript simply goes on.
    """
    made = free(["Hello.", "Fine, and you?"])
    made.run_sync("Hi")
    second = made.send_sync("How are you?")

    assert second.output == "Fine, and you?"
    assert [message["role"] for message in second.messages] == ["user", "assistant"] * 2


def test_a_run_that_is_over_takes_nothing_more() -> None:
    """
    Its playbook has said that it is over.
    """
    made = agent([SIEM, ISOLATE])
    done = made.run_sync("go")

    with pytest.raises(gw.HostError, match="the run is over"):
        made.send_sync("more", to=done)
    with pytest.raises(gw.HostError, match="the run is over"):
        made.send_sync(to=done)


def test_a_text_is_no_decision() -> None:
    """
    A run that waits for a person is not gone on with by words.
    """
    made = agent([SIEM, ISOLATE], playbook=ASKING)
    made.run_sync("go")

    with pytest.raises(gw.HostError, match="send a decision"):
        made.send_sync("yes, go on")


def test_a_question_to_a_person_is_answered() -> None:
    """
    An `ask` step is put to the same callback.
    """
    step = {"id": "own", "ask": {"question": "Was it you?", "assignees": ["ann"], "choices": ["yes", "no"]}}
    playbook = {"id": "t", "name": "T", "steps": [step]}
    made = agent([], playbook=playbook, decisions=lambda question: Decision("answer", "ann", answer="yes"))

    assert made.run_sync("go").success


def test_what_is_no_decision_is_the_hosts_mistake() -> None:
    """
    A bare True names nobody.
    """
    made = agent([SIEM, ISOLATE], playbook=ASKING, decisions=lambda question: True)

    with pytest.raises(gw.HostError, match="names who made it"):
        made.run_sync("go")


def test_the_model_has_no_way_to_decide() -> None:
    """
    Nothing that the agent is offered reaches the control plane (S51).
    """
    model = FakeModel([SIEM, ISOLATE])
    Agent(model, Tools().both, playbook=ASKING).run_sync("go")

    assert {tool.name for request in model.requests for tool in request.tools} == {"query_siem", "isolate_host"}
    assert TRIAGE["id"] == ASKING["id"]


def test_a_deadline_passes_while_the_user_thinks() -> None:
    """
    The user of a conversation is waited for beside all else.
    """
    clock = Moved()
    steps = [{"id": "find", "description": "Find it", "expected_tools": ["query_siem"], "timeout": "1m",
              "on_timeout": "escalated"}]  # fmt: skip

    async def user(text: str) -> str:
        clock.on(61)
        await asyncio.Event().wait()
        return "never"

    made = agent(["Which hours?"], playbook={**CHAT, "steps": steps}, clock=clock, user=user)

    assert made.run_sync("hello").outcome == "escalated"


def test_a_user_who_takes_time_answers_in_the_run() -> None:
    """
    Asked once, and waited for.
    """
    asked: list[str] = []

    async def user(text: str) -> str:
        asked.append(text)
        await asyncio.sleep(0.001)
        return "The last day."

    result = agent(["Which hours?", SIEM], playbook=CHAT, user=user).run_sync("hello")

    assert (result.success, asked) == (True, ["Which hours?"])
