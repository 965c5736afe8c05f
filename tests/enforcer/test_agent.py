"""The hook in Guideway's own agent, as the seed's document shows it: `hooks=[PlaybookEnforcerHook(playbook)]`."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentConfig
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook
from guideway.runtime.models.fake import FakeModel

TRIAGE = """
id: triage
name: Triage
steps:
  - {id: find, description: Find it, expected_tools: [search], hints: [last 24 hours]}
  - {id: sort, description: Say what it is, expected_tools: [classify]}
  - {id: tell, description: Hand it on, expected_tools: [escalate], max_tool_calls: 1}
"""
RAN: list[str] = []


def search(query: str = "") -> str:
    """Search."""
    RAN.append("search")
    return "found"


def classify() -> str:
    """Classify."""
    RAN.append("classify")
    return "phishing"


def escalate() -> str:
    """Escalate."""
    RAN.append("escalate")
    return "told"


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    RAN.clear()


def calls(*replies: Any) -> FakeModel:
    """A model that calls these tools, a list a reply, or says a text."""
    return FakeModel([r if isinstance(r, str) else [gw.ToolCall(name) for name in r] for r in replies])


def test_the_example_of_the_document(tmp_path: Any) -> None:
    """
    The example of the hook, with our names and a model of our own: the incident is triaged, and the hook has seen it.
    """
    (tmp_path / "triage.yaml").write_text(TRIAGE, encoding="utf-8")

    playbook = gw.load_playbook(tmp_path / "triage.yaml")
    hook = PlaybookEnforcerHook(playbook)
    agent = Agent(
        model=calls(["escalate"], ["search"], ["classify"], ["escalate"], "Done."),
        tools=[search, classify, escalate],
        hooks=[hook],
    )
    result = agent.run_sync("Triage this incident.")

    assert result.success
    assert RAN == ["search", "classify", "escalate"]
    assert hook.enforcer.is_complete
    assert hook.enforcer.plan.completed_steps == ["find", "sort", "tell"]
    assert [(v.violation_type, v.message, v.blocked) for v in hook.enforcer.violations] == [
        ("unexpected_tool", "Tool 'escalate' not expected for step 'find'. Expected: ['search']", True)
    ]


def test_a_batch_in_order_runs() -> None:
    """
    D5: the agent's own gate has the playbook, so calls of three steps in one reply run one after the other.
    """
    hook = PlaybookEnforcerHook(gw.load_playbook(TRIAGE))
    result = Agent(calls(["search", "classify", "escalate"]), [search, classify, escalate], hooks=[hook]).run_sync("x")

    assert result.success
    assert RAN == ["search", "classify", "escalate"]
    assert hook.enforcer.get_step_summary()["completed"] == 3


def test_only_what_is_legal_is_offered() -> None:
    """
    D10: a playbook that comes by a hook is told to the model, too.
    """
    model = calls(["search"], ["classify"], ["escalate"])
    Agent(model, [search, classify, escalate], hooks=[PlaybookEnforcerHook(gw.load_playbook(TRIAGE))]).run_sync("x")

    assert [[tool.name for tool in request.tools] for request in model.requests] == [
        ["search"], ["classify"], ["escalate"],
    ]  # fmt: skip


def test_a_hook_that_only_observes_lets_all_run() -> None:
    """
    S55: with `block_violations=False` the agent records, and the hook shows the violations.
    """
    hook = PlaybookEnforcerHook(gw.load_playbook(TRIAGE), block_violations=False)
    Agent(calls(["escalate"], ["search"], "Done.", "Done.", "Done.", "Done."), [search, classify, escalate],
          hooks=[hook]).run_sync("x")  # fmt: skip

    assert RAN == ["escalate", "search"]
    assert [(v.tool_name, v.blocked) for v in hook.enforcer.violations] == [("escalate", False)]
    assert hook.enforcer.plan.completed_steps == ["find"]


def test_approvals_of_the_hook_decide_in_the_agent() -> None:
    """
    The callback is asked, and the call runs when it names somebody who may allow it.
    """
    book = gw.load_playbook(
        {"id": "p", "name": "P", "steps": [{"id": "tell", "description": "Tell", "expected_tools": [
            {"tool": "escalate", "approval": {"ask": "Tell?", "approvers": ["lead"]}}]}]}
    )  # fmt: skip
    hook = PlaybookEnforcerHook(book, approvals=lambda question: "lead")
    result = Agent(calls(["escalate"]), [escalate], hooks=[hook]).run_sync("x")

    assert result.success
    assert RAN == ["escalate"]


def test_each_run_is_shown_by_itself() -> None:
    """
    Two runs of one agent: each has its enforcer, and the hook shows the latest.
    """
    hook = PlaybookEnforcerHook(gw.load_playbook(TRIAGE))
    agent = Agent(calls(["search", "classify", "escalate"], ["classify"], *["no"] * 9), [search, classify, escalate],
                  hooks=[hook])  # fmt: skip
    first, second = agent.run_sync("one"), agent.run_sync("two")
    one, two = hook.enforcer_for(first.run_id), hook.enforcer_for(second.run_id)

    assert one is not None
    assert two is not None
    assert (one.is_complete, one.violations) == (True, [])
    assert (two.is_complete, len(two.violations)) == (False, 1)
    assert hook.enforcer is two


def test_what_is_shown_is_json_and_belongs_to_the_agent() -> None:
    """
    The view can be kept and read again; it is not started over by itself.
    """
    hook = PlaybookEnforcerHook(gw.load_playbook(TRIAGE + "max_iterations: 9\n"))
    Agent(calls(["search", "classify", "escalate"]), [search, classify, escalate], hooks=[hook]).run_sync("x")
    again = PlaybookEnforcer.model_validate_json(hook.enforcer.model_dump_json())

    assert again.plan == hook.enforcer.plan
    with pytest.raises(gw.HostError, match="agent"):
        hook.enforcer.reset()


def test_the_config_takes_a_playbook() -> None:
    """
    Row 10: `AgentConfig(playbook=…)` holds the agent to it with no hook at all.
    """
    result = Agent(config=AgentConfig(model=calls(["escalate"], ["search"], ["classify"], ["escalate"]),
                                      tools=[search, classify, escalate], playbook=TRIAGE)).run_sync("x")  # fmt: skip

    assert result.success
    assert RAN == ["search", "classify", "escalate"]


def test_a_hook_with_a_selector_stays_a_hook() -> None:
    """
    It chooses by what the run was given: one it leaves alone is free, one it holds is held, one it fails runs nothing.
    """
    books = {"triage": gw.load_playbook(TRIAGE)}

    def choose(run: Any) -> gw.Playbook | None:
        name = run.metadata.get("playbook")
        return books[name] if name else None

    def drive(*replies: Any, **state: Any) -> list[str]:
        RAN.clear()
        hook = PlaybookEnforcerHook(select=choose)
        Agent(calls(*replies, "Done."), [search, classify, escalate], hooks=[hook]).run_sync("x", **state)
        return list(RAN)

    assert drive(["escalate"]) == ["escalate"]
    assert drive(["escalate"], ["search"], ["classify"], ["escalate"], playbook="triage") == [
        "search", "classify", "escalate",
    ]  # fmt: skip
    assert drive(["search"], playbook="no such") == []


def test_a_hook_with_a_selector_counts_turns_and_failures() -> None:
    """
    Failed calls complete nothing, and a batch across steps is sent back to the next reply.
    """

    def broken() -> str:
        """Breaks."""
        raise ValueError("no connection")

    book = gw.load_playbook({"id": "p", "name": "P", "steps": [
        {"id": "try", "description": "Try", "expected_tools": ["broken"], "max_tool_calls": 2},
        {"id": "find", "description": "Find", "expected_tools": ["search"]}]})  # fmt: skip
    hook = PlaybookEnforcerHook(select=lambda run: book)
    model = calls(["broken", "search"], ["search"], "Done.")
    result = Agent(model, [broken, search], hooks=[hook]).run_sync("x")
    answers = [str(m["content"]) for m in result.messages if m["role"] == "tool"]

    assert RAN == []
    assert "must wait for the calls before it" in answers[1]
    assert "not expected for step 'try'" in answers[2]
    assert hook.enforcer.plan.total_tool_calls == 1
