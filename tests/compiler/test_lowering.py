"""How each construct lowers: states, edges, and where a step goes when its author says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.statemachine.definition import EndKind, OutcomeClass, StateKind

from .helpers import agent, edges, lower, plain


def end_of(definition: Any, name: str) -> tuple[EndKind, str, OutcomeClass]:
    """An accepting state, in short."""
    end = definition.states[name].end
    return end.kind, end.outcome, end.outcome_class


def test_a_linear_page_is_a_chain() -> None:
    """Without `next` a step goes to the following one; the last to `success`."""
    definition = lower(agent("a"), agent("b"))

    assert definition.initial == "a"
    assert plain(definition, "a") == {"completed": "b", "failed": "failed:a"}
    assert plain(definition, "b") == {"completed": "success", "failed": "failed:b"}
    assert end_of(definition, "success") == (EndKind.GOAL, "success", OutcomeClass.SUCCESS)
    assert end_of(definition, "failed:a") == (EndKind.FAULT, "failed:a", OutcomeClass.FAILED)


def test_no_steps_is_success_at_once() -> None:
    """`steps: []` begins in the end `success`."""
    definition = lower()

    assert definition.initial == "success"
    assert definition.states["success"].kind is StateKind.END


def test_when_and_max_visits_stand_in_a_router_before_the_step() -> None:
    """The router decides; false passes over to `next`, unknown fails, the last visit goes to `on_max_visits`."""
    definition = lower(
        agent("a", when="run.calls > 0", max_visits=2, on_max_visits="escalated", on_failure="b", next="failed"),
        agent("b"),
    )

    assert definition.initial == "a.entry"
    assert definition.states["a.entry"].kind is StateKind.ROUTER
    assert plain(definition, "a.entry") == {
        "entered": "a", "passed": "failed", "failed": "b", "max_visits": "escalated",
    }  # fmt: skip
    assert plain(definition, "a")["completed"] == "failed"


def test_a_spent_target_is_never_passed_over() -> None:
    """S11: without `on_max_visits` the run ends `stopped:max_visits:STEP`; without `when` there is nothing to pass."""
    definition = lower(agent("a", max_visits=1))

    assert plain(definition, "a.entry") == {"entered": "a", "max_visits": "stopped:max_visits:a"}
    assert end_of(definition, "stopped:max_visits:a")[0] is EndKind.STOP


def test_a_jump_enters_by_the_head_of_the_chain() -> None:
    """A target that is a step means its router, else its approval, else the step itself."""
    branches = [{"when": "run.calls > 1", "goto": "a"}, {"when": "run.calls > 2", "goto": "b"}, {"goto": "c"}]
    definition = lower(
        agent("a", when="run.calls > 0", approval={"ask": "Go?"}), agent("b", approval={"ask": "Go?"}),
        {"id": "c", "switch": branches},
    )  # fmt: skip

    assert edges(definition, "c")["completed"] == [
        ("a.entry", "run.calls > 1"), ("b.approval", "run.calls > 2"), ("c", None),
    ]  # fmt: skip
    assert plain(definition, "a.entry")["entered"] == "a.approval"


def test_s29_an_approval_beside_work_comes_first() -> None:
    """A person decides before anything else; a refusal ends `stopped:rejected` where nothing else is said."""
    definition = lower(agent("a", approval={"ask": "Go?", "approvers": ["lead"]}, timeout="5m"))

    assert definition.initial == "a.approval"
    assert definition.states["a.approval"].kind is StateKind.APPROVAL
    assert plain(definition, "a.approval") == {
        "approved": "a", "rejected": "stopped:rejected", "timeout": "stopped:timeout:a", "failed": "failed:a",
    }  # fmt: skip
    assert definition.steps["a"].approval is not None
    assert definition.steps["a"].approval.approvers == ("lead",)


def test_s29_an_approval_alone_is_the_step() -> None:
    """Its one way on is `completed`; refusal and deadline take what is written."""
    definition = lower(
        {"id": "a", "approval": {"ask": "Go?"}, "on_reject": "failed", "timeout": "1h", "on_timeout": "escalated"}
    )

    assert definition.states["a"].kind is StateKind.APPROVAL
    assert definition.states.keys() >= {"a", "success"}
    assert plain(definition, "a") == {
        "completed": "success", "rejected": "failed", "timeout": "escalated", "failed": "failed:a",
    }  # fmt: skip


def test_an_approval_that_is_waived_is_none() -> None:
    """`approval: none` with a reason leaves no trace in the machine."""
    definition = lower(agent("a", {"tool": "t", "approval": {"none": True, "because": "reads only"}}))

    work = definition.steps["a"].work
    assert work is not None
    assert work.entries[0].approval is None


def test_an_optional_step_may_be_skipped_to_its_next() -> None:
    """`required: false` adds `skipped` to each of the step's waiting states."""
    definition = lower(agent("a", required=False, approval={"ask": "Go?"}), agent("b"))

    assert plain(definition, "a")["skipped"] == "b"
    assert plain(definition, "a.approval")["skipped"] == "b"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, {}),
        ({"max_tool_calls": 3}, {"exhausted": "failed:exhausted:a", "advanced": "success"}),
        ({"max_tool_calls": 3, "on_failure": "escalated"}, {"exhausted": "escalated"}),
        ({"max_tool_calls": 3, "on_failure": "escalated", "on_exhausted": "stopped"}, {"exhausted": "stopped"}),
    ],
)
def test_s22_a_spent_step(keys: dict[str, Any], expected: dict[str, str]) -> None:
    """`on_exhausted`, else `on_failure`, else the run goes on incomplete after a success and fails without one."""
    found = plain(lower(agent("a", **keys)), "a")

    assert {event: found[event] for event in ("exhausted", "advanced") if event in found} == expected


def test_s26_a_deadline_without_handler_stops_the_run() -> None:
    """`timeout` in either spelling; a router has none."""
    definition = lower(agent("a", timeout="1h30m"), agent("b", timeout_seconds=2.5, on_timeout="done"))

    assert definition.steps["a"].timeout == 5400.0
    assert definition.steps["b"].timeout == 2.5
    assert plain(definition, "a")["timeout"] == "stopped:timeout:a"
    assert plain(definition, "b")["timeout"] == "success"


def test_s24_a_cut_off_call_goes_where_the_step_or_its_tool_says() -> None:
    """The step's own `on_unknown` goes before that of the tool; a default comes after it."""
    tools = {"t": {"on_unknown": "failed"}, "u": {}}
    definition = lower(
        agent("a", "t", "u"), agent("b", "t", on_unknown="stopped"), {"id": "c", "call": {"tool": "t"}},
        tools=tools, defaults={"on_unknown": "escalated"},
    )  # fmt: skip

    unknown = {n: {e: t for e, t in plain(definition, n).items() if e.startswith("unknown")} for n in "abc"}
    assert unknown == {
        "a": {"unknown": "escalated", "unknown t": "failed"},
        "b": {"unknown": "stopped"},
        "c": {"unknown": "escalated", "unknown t": "failed"},
    }


def test_s24_an_optional_pattern_takes_what_each_matching_tool_says() -> None:
    """A pattern of a step meets the tools that `tools` declares under it."""
    definition = lower(
        agent("a", "t", optional_tools=["m_*"]),
        tools={"t": {}, "m_get": {"on_unknown": "failed"}, "n_get": {"on_unknown": "done"}},
    )

    assert plain(definition, "a")["unknown m_get"] == "failed"
    assert "unknown n_get" not in definition.states["a"].edges


def test_s28_a_refused_call_stops_the_run_only_where_somebody_is_asked() -> None:
    """A call whose tool needs an approval has a way for the refusal, another has none."""
    tools = {"t": {"approval": {"ask": "Go?"}}, "u": {}}
    definition = lower({"id": "a", "call": {"tool": "t"}}, {"id": "b", "call": {"tool": "u"}}, tools=tools)

    assert plain(definition, "a") == {"completed": "b", "failed": "failed:a", "rejected": "stopped:rejected"}
    assert plain(definition, "b") == {"completed": "success", "failed": "failed:b"}


def test_s29_a_refused_agents_call_has_a_way_only_if_one_is_written() -> None:
    """Without `on_reject` the model is told and the cursor stays."""
    definition = lower(agent("a"), agent("b", on_reject="escalated"))

    assert "rejected" not in definition.states["a"].edges
    assert plain(definition, "b")["rejected"] == "escalated"


def test_s10_branches_keep_the_order_of_the_page() -> None:
    """Guards and targets of `next` and of every `on_…` list stay as written."""
    branches = [{"when": "run.calls > 2", "goto": "b"}, {"when": "run.calls > 1", "goto": "done"}, {"goto": "a"}]
    definition = lower(agent("a", next=branches, on_failure=branches), agent("b"))

    expected = [("b", "run.calls > 2"), ("success", "run.calls > 1"), ("a", None)]
    assert edges(definition, "a") == {"completed": expected, "failed": expected}


def test_s18_an_irreversible_tool_is_called_once() -> None:
    """`times` defaults to 1 for it, and only where it is expected."""
    definition = lower(
        agent("a", "pay", "look", {"tool": "pay", "times": 2, "as": "paid"}, optional_tools=["pay"]),
        tools={"pay": {"effect": "irreversible"}, "look": {"effect": "read"}},
    )

    work = definition.steps["a"].work
    assert work is not None
    assert [(entry.tool, entry.optional, entry.times, entry.fact) for entry in work.entries] == [
        ("pay", False, 1, "pay"), ("look", False, None, "look"), ("pay", False, 2, "paid"), ("pay", True, None, "pay"),
    ]  # fmt: skip


def test_s27_a_step_that_fails_ends_the_run_under_its_name() -> None:
    """The default failure of a step is a fault named by the step."""
    assert end_of(lower(agent("a")), "failed:a") == (EndKind.FAULT, "failed:a", OutcomeClass.FAILED)


def test_s35_done_at_the_top_is_success() -> None:
    """`done` leaves the list, and at the top that is success."""
    assert (
        plain(lower(agent("a", next="done"), agent("b", on_failure="a"), agent("c", next="b")), "a")["completed"]
        == "success"
    )


def test_s37_an_authors_word_has_its_class() -> None:
    """Declared outcomes are goals with the class their author gave."""
    definition = lower(
        agent("a", next="locked", on_failure="undone"),
        outcomes={"locked": "success", "undone": "failed", "x": "stopped"},
    )

    assert end_of(definition, "locked") == (EndKind.GOAL, "locked", OutcomeClass.SUCCESS)
    assert end_of(definition, "undone") == (EndKind.GOAL, "undone", OutcomeClass.FAILED)
    assert "x" not in definition.states


def test_s37_what_may_happen_anywhere_is_drawn() -> None:
    """Limits and faults of the engine are accepting states of every machine, behind edges of `*`."""
    definition = lower(agent("a"))

    assert [(edge.source, edge.event, edge.target) for edge in definition.anywhere] == [
        ("*", "terminated", "stopped:max_iterations"),
        ("*", "terminated", "stopped:nudges"),
        ("*", "terminated", "stopped:refusals"),
        ("*", "terminated", "failed:livelock"),
        ("*", "terminated", "failed:host"),
    ]
    assert all(definition.states[edge.target].kind is StateKind.END for edge in definition.anywhere)


@pytest.mark.parametrize(
    ("steps", "written", "expected"), [(1, None, 1000), (60, None, 1200), (60, 7, 7), (0, None, 1000)]
)
def test_s39_iterations_without_a_limit(steps: int, written: int | None, expected: int) -> None:
    """The key `max_iterations`, else the greater of 1000 and 20 a step."""
    top = {} if written is None else {"max_iterations": written}

    assert lower(*(agent(f"s{i}") for i in range(steps)), **top).max_iterations == expected


def test_a_calls_arguments_repeat_and_result_name() -> None:
    """A call step keeps its templates as they are, and its result under its own id."""
    definition = lower(
        {
            "id": "a",
            "call": {
                "tool": "t",
                "args": {"n": "{{ inputs.n }}", "list": [1, {"deep": "x {{ run.id }}"}]},
                "expect": "result.ok",
            },
            "repeat": {
                "until": "result.n > 1 && facts.a.seen == true",
                "at_most": 4,
                "wait": "10s",
                "collect": "result.n",
            },
        },
        inputs={"n": "integer"},
    )

    call = definition.steps["a"].call
    assert call is not None
    assert call.args == {"n": "{{ inputs.n }}", "list": [1, {"deep": "x {{ run.id }}"}]}
    assert call.repeat is not None
    assert (call.repeat.at_most, call.repeat.wait, str(call.repeat.collect)) == (4, 10.0, "result.n")
    assert definition.facts == {"a": (("seen",),)}


def test_skills_become_optional_tools_of_their_step() -> None:
    """`uses` is resolved by the host's map; what it lacks is kept by name for the session to refuse."""
    from guideway.compiler import compile_playbook
    from guideway.playbooks.loader import load_playbook

    playbook = load_playbook(
        {"id": "p", "name": "P", "steps": [{"id": "a", "description": "A", "uses": ["s", "gone"]}]}
    )
    compiled = compile_playbook(playbook, skills={"s": ["x", "y_*"]})

    assert compiled.definition is not None
    work = compiled.definition.steps["a"].work
    assert work is not None
    assert [(e.tool, e.optional, e.fact) for e in work.entries] == [("x", True, "x"), ("y_*", True, "")]
    assert compiled.definition.unresolved_skills == ("gone",)
    assert [finding.code for finding in compiled.diagnostics] == ["GW121"]


def test_every_step_edge_entry_and_branch_knows_its_place() -> None:
    """Spans lead back to the words of the page."""
    from guideway.playbooks.loader import load_playbook

    text = (
        "id: p\nname: P\nsteps:\n  - id: a\n    expected_tools: [t, {tool: u}]\n"
        "    next: [{when: run.calls > 1, goto: done}, {goto: failed}]\ntermination: [{tool_called: t}]\n"
    )
    from guideway.compiler import compile_playbook

    definition = compile_playbook(load_playbook(text)).definition
    assert definition is not None
    work = definition.steps["a"].work
    assert work is not None
    assert [entry.span and entry.span[1:] for entry in work.entries] == [(5, 22), (5, 25)]
    assert [edge.span and edge.span[1:] for edge in definition.states["a"].edges["completed"]] == [(6, 40), (6, 54)]
    assert definition.termination[0].span is not None
    assert definition.termination[0].span[1:] == (7, 15)
    assert all(
        edge.span is not None for state in definition.states.values() for b in state.edges.values() for edge in b
    )
