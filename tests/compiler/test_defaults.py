"""`defaults`: step keys for every step that takes them; a step's own key wins."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.steps import Retry

from .helpers import agent, lower, plain

TOOLS: dict[str, Any] = {
    "read": {"effect": "read"},
    "safe": {"idempotent": True},
    "write": {},
    "m_*": {"effect": "read"},
}


def call(name: str, tool: str, **keys: Any) -> dict[str, Any]:
    """A call step."""
    return {"id": name, "call": {"tool": tool}, **keys}


def test_a_default_retry_reaches_reads_and_idempotent_tools_only() -> None:
    """A step whose tools all write has none; one with a read has it, and the session asks each tool again."""
    definition = lower(
        agent("a", "read", "safe"),
        agent("b", "write"),
        agent("c", "read", "write"),
        call("d", "write"),
        call("e", "m_get"),
        {"id": "f", "approval": {"ask": "Go?"}},
        {"id": "g", "description": "Think"},
        tools=TOOLS,
        defaults={"retry": {"at_most": 2, "wait": "1m", "backoff": 2.0, "when": 'error.type == "Busy"'}},
    )

    retries = {name: step.retry for name, step in definition.steps.items()}
    assert {name for name, retry in retries.items() if retry is not None} == {"a", "c", "e"}
    retry = retries["a"]
    assert isinstance(retry, Retry)
    assert (retry.at_most, retry.wait, retry.backoff, str(retry.when)) == (2, 60.0, 2.0, 'error.type == "Busy"')


def test_a_steps_own_retry_wins_over_the_default() -> None:
    """The default is not merged into it."""
    definition = lower(
        agent("a", "read", retry={"at_most": 1}), tools=TOOLS, defaults={"retry": {"at_most": 5, "wait": "1m"}}
    )

    assert definition.steps["a"].retry == Retry(1)


def test_a_steps_own_retry_of_a_write_names_the_tool() -> None:
    """It is an error where a default is merely left out."""
    page = {"id": "p", "name": "P", "tools": TOOLS, "steps": [agent("a", "read", "write", retry=1)]}
    compiled = compile_playbook(load_playbook(page))

    assert compiled.definition is None
    assert [(f.code, "`write`" in f.message) for f in compiled.diagnostics] == [("GW132", True)]


def test_a_default_target_is_not_given_to_the_target_itself() -> None:
    """`tell` does not handle its own failure by itself; other defaults reach it all the same."""
    definition = lower(
        agent("a"), agent("tell"), defaults={"on_failure": "tell", "timeout": "5m", "on_timeout": "escalated"}
    )

    assert plain(definition, "a") == {"completed": "tell", "failed": "tell", "timeout": "escalated"}
    assert plain(definition, "tell") == {"completed": "success", "failed": "failed:tell", "timeout": "escalated"}


def test_a_default_branch_list_is_not_given_to_a_step_it_names() -> None:
    """The same holds for a list of branches that may lead to the step."""
    branches = [{"when": "run.calls > 5", "goto": "tell"}, {"goto": "escalated"}]
    definition = lower(agent("a"), agent("tell"), defaults={"on_failure": branches})

    assert [edge.target for edge in definition.states["a"].edges["failed"]] == ["tell", "escalated"]
    assert [edge.target for edge in definition.states["tell"].edges["failed"]] == ["failed:tell"]


@pytest.mark.parametrize("own", ["1h", None])
def test_the_two_spellings_of_a_deadline_are_one_key(own: str | None) -> None:
    """A step's `timeout` wins over a default `timeout_seconds`."""
    keys = {} if own is None else {"timeout": own}

    assert lower(agent("a", **keys), defaults={"timeout_seconds": 7}).steps["a"].timeout == (3600.0 if own else 7.0)


def test_limits_reach_the_steps_that_take_them() -> None:
    """Calls are counted where an agent works, visits everywhere, and a router has no deadline."""
    definition = lower(
        agent("a"),
        call("b", "read"),
        {"id": "c", "switch": [{"goto": "done"}]},
        tools={"t_a": {}, **TOOLS},
        defaults={"max_tool_calls": 3, "max_visits": 4, "timeout": "5m"},
    )

    assert [step.max_calls for step in definition.steps.values()] == [3, None, None]
    assert [step.max_visits for step in definition.steps.values()] == [4, 4, 4]
    assert [step.timeout for step in definition.steps.values()] == [300.0, 300.0, None]


def test_a_default_that_no_step_takes_is_still_checked() -> None:
    """A misspelt target under `defaults` is found on an empty page."""
    page = {
        "id": "p",
        "name": "P",
        "steps": [],
        "defaults": {"on_reject": "nobody"},
        "tools": {"t": {"on_unknown": "x"}},
    }

    assert [f.code for f in compile_playbook(load_playbook(page)).diagnostics] == ["GW110", "GW110"]
