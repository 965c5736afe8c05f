"""The rules of steps and calls, where the step lies in a block or a frame: S5, S10, S18 to S29, S36 to S40, S52."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Failed, HostError, Session, Succeeded, ToolCall, Unknown

from .building import (
    arrive,
    auto,
    drain,
    each,
    family,
    kinds,
    legal_tools,
    open_tools,
    parallel,
    records,
    rounds,
    section,
    show,
    shown,
    sub,
)
from .helpers import (
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    call,
    command,
    denied,
    error,
    ok,
    propose,
    refused,
    running,
    start,
    step,
    unchanged,
    waits,
)

AFTER = step("z", "zz")
READS = {"a": {"effect": "read"}, "b": {}, "x": {"effect": "read"}, "y": {}, "zz": {}}


def branch(*tools: Any, **more: Any) -> dict[str, Any]:
    """A branch that is one agent's step."""
    return {"description": "Work.", "expected_tools": list(tools)} | more


# --- branch lists and failures --------------------------------------------------------------------------------------


def test_s10_an_unknown_guard_in_a_branch_fails_that_branch() -> None:
    """No branch of the list is taken, not the last one either; the block bears it if it can."""
    pick = {"id": "p", "switch": [{"when": "facts.b1.n == 1", "goto": "done"}, {"goto": "done"}]}
    session = start(book(parallel("s", {"a": auto("a"), "b": [auto("b1"), pick]}, join=1), AFTER))
    arrive(session, "b1", {})
    assert list(session.states) == ["a"]
    arrive(session, "a")
    assert list(session.states) == ["z"]
    strict = start(book(parallel("s", {"a": auto("a"), "b": [auto("b1"), pick]}, on_failure="escalated"), AFTER))
    arrive(strict, "b1", {})
    drain(strict)
    assert strict.outcome == "escalated"


def test_s10_no_branch_left_is_a_failure() -> None:
    """A list whose guards are all false fails its step, in an item the loop."""
    pick = {"id": "p", "switch": [{"when": "i == 9", "goto": "done"}]}
    machine = book(each("e", "inputs.list", pick), inputs={"list": "array"})
    assert start(machine, inputs={"list": [9, 1]}).outcome == "failed:e"
    assert start(machine, inputs={"list": [9, 9]}).outcome == "success"


def test_s44_an_unknown_when_fails_a_block() -> None:
    """A `when` that cannot be known takes neither way: the block's `on_failure`."""
    for block in (section("s", auto("a")), parallel("s", {"a": auto("a"), "b": auto("b")}), each("s", [1], auto("a"))):
        more = {"when": "facts.x.n == 1", "on_failure": "escalated"}
        session = start(book(step("f", "x"), block | more, AFTER))
        assert ok(session, "x", {}).outcome == "escalated"


def test_s22_exhausted_in_a_branch_advances_or_fails_the_branch() -> None:
    """With a success the branch goes on, incomplete; without one it has failed, and not the run at once."""
    machine = book(parallel("s", {"a": branch("x", "w", max_tool_calls=1), "b": branch("y")}, join=1), AFTER)
    went_on = start(machine)
    ok(went_on, "x")
    assert list(went_on.states) == ["z"]
    ok(went_on, "zz")
    assert went_on.outcome_class == "incomplete"
    failed = start(machine)
    error(failed, "x")
    assert list(failed.states) == ["b"] and failed.outcome is None


def test_s23_an_agents_call_may_be_tried_again_in_a_branch() -> None:
    """The tool is barred for its own branch until the wait is over; the other branch works on."""
    entry = branch("x", retry={"at_most": 1, "wait": "1m"})
    session = start(book(parallel("s", {"a": entry, "b": branch("y")}), AFTER, tools=READS), timed=True)
    error(session, "x")
    assert legal_tools(session) == {"y"}
    ok(session, "y")
    session.tick(at(60))
    assert legal_tools(audit(session)) == {"x"}
    ok(session, "x")
    assert list(session.states) == ["z"]


def test_s23_an_automatic_call_is_issued_again_in_an_item() -> None:
    """With the same arguments, after the wait, without touching the other items."""
    work = auto("a", args={"i": "{{ i }}"}, retry={"at_most": 1, "wait": "1m"})
    session = start(book(each("e", [1, 2], work, concurrency=2), tools=READS), timed=True)
    first, second = running(session)
    session.observe(first.call_id, Failed(), now=at(5))
    assert [w.due for w in waits(session)] == [at(65)]
    session.observe(second.call_id, Succeeded(), now=at(6))
    session.tick(at(65))
    assert command(session).args == {"i": 1} and command(session).call_id != first.call_id
    assert answer(session).outcome == "success"


def test_s24_on_unknown_in_a_branch() -> None:
    """A write nobody can account for takes `on_unknown` where it is written, within the branch."""
    session = start(book(parallel("s", {"a": auto("a", "y", on_unknown="done"), "b": auto("b")}), AFTER))
    session.observe(running(session)[0].call_id, Unknown())
    assert list(session.states) == ["b"] and asks(session) == []


def test_s24_an_unknown_read_in_an_item_is_an_error() -> None:
    """It is no question for a person; without a retry the item fails."""
    session = start(book(each("e", [1, 2], auto("a")), tools=READS))
    assert session.observe(command(session).call_id, Unknown()).outcome == "failed:e"


def test_s28_a_call_that_did_not_happen_is_issued_again() -> None:
    """A person's word: not happened; the automatic call in the branch is made anew under a new id."""
    session = start(book(parallel("s", {"a": auto("a", "y"), "b": auto("b")}), AFTER))
    lost = running(session)[0].call_id
    session.observe(lost, Unknown())
    Approvals(session).did_not_happen(asked(session), by="kim")
    [again] = [c for c in running(session) if c.tool == "y"]
    assert again.call_id != lost


def test_s28_a_cancelled_automatic_call_fails_its_branch() -> None:
    """Settled without running."""
    session = start(book(parallel("s", {"a": auto("a"), "b": auto("b")}, join="any"), AFTER))
    session.observe(running(session)[0].call_id, Cancelled())
    assert list(session.states) == ["b"]


def test_s28_automatic_irreversible_calls_of_two_branches_run_one_after_the_other() -> None:
    """The second is decided again after the first has come, and neither is lost."""
    tools = {"a": {"effect": "irreversible"}, "b": {"effect": "irreversible"}, "zz": {}}
    session = start(book(parallel("s", {"a": auto("a"), "b": auto("b")}), AFTER, tools=tools))
    assert open_tools(session) == ["a"]
    arrive(audit(session), "a")
    arrive(session, "a")
    assert open_tools(session) == ["b"]
    arrive(session, "b")
    assert list(session.states) == ["z"]


def test_s28_an_irreversible_call_waits_for_a_reading_branch() -> None:
    """The other way round: the read is under way, so the irreversible one is not issued yet."""
    tools = {"a": {"effect": "read"}, "b": {"effect": "irreversible"}, "zz": {}}
    session = start(book(parallel("s", {"a": auto("a"), "b": auto("b")}), AFTER, tools=tools))
    assert open_tools(session) == ["a"]
    session.observe(command(session).call_id, Failed())
    drain(session)
    assert session.outcome == "failed:s"


def test_s28_a_deferred_call_of_a_removed_branch_is_never_made() -> None:
    """Its branch was removed while it waited for its turn."""
    tools = {"a": {}, "b": {"effect": "irreversible"}, "zz": {}}
    session = start(book(parallel("s", {"a": auto("a"), "b": auto("b")}, join="any"), AFTER, tools=tools))
    arrive(session, "a")
    assert list(session.states) == ["z"] and open_tools(session) == []


# --- entries, quotas and control ------------------------------------------------------------------------------------


def test_s18_quotas_are_of_the_visit_in_its_branch() -> None:
    """`times: 2` of one branch is not filled by the other's call of the same tool."""
    a, b = ({"tool": "x", "times": 2, "as": "xa"}, {"tool": "x", "as": "xb"})
    session = start(book(parallel("s", {"a": branch(a), "b": branch(b)}), AFTER))
    for expected in ("a", "a", "b"):
        verdict = propose(session, "x")
        assert isinstance(verdict, Allow) and verdict.step == expected
        session.observe(verdict.call_id, Succeeded())
    assert list(session.states) == ["z"]


def test_s20_validation_holds_a_branch_open() -> None:
    """A step in a branch whose validation is not true stays, the other branch goes on."""
    session = start(book(parallel("s", {"a": branch("x", validation=["facts.x.n == 1"]), "b": branch("y")}), AFTER))
    ok(session, "x", {"n": 0})
    ok(session, "y")
    assert list(session.states) == ["a"]
    ok(session, "x", {"n": 1})
    assert list(session.states) == ["z"]


def test_s17_an_agent_skips_an_optional_step_in_an_item() -> None:
    """Item by item."""
    session = start(book(each("e", [1, 2], step("w", "x", required=False)), AFTER))
    for _ in range(2):
        assert isinstance(propose(session, "skip_step"), Allow)
    assert list(session.states) == ["z"]


def test_s16_an_optional_callee_is_not_skipped_by_text() -> None:
    """Text skips the untouched optional *agent's* step inside; the sub-playbook's own step is the host's to skip."""
    callee = sub("q", step("b", "x"))
    session = start(family({"id": "c", "playbook": "q", "required": False}, AFTER, library=[callee], max_nudges=0))
    session.propose([], text="done")
    assert session.outcome in ("stopped:nudges", None)
    assert list(session.states) != ["z"]


def test_s23_success_in_one_branch_forgives_refusals() -> None:
    """Refusals are counted for the frame, not for a branch."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")}), AFTER, max_refusals=2))
    denied(session, "zz")
    ok(session, "y")
    denied(session, "zz")
    assert session.outcome is None
    denied(session, "zz")
    assert session.outcome == "stopped:refusals"


# --- conditions and ends --------------------------------------------------------------------------------------------


def test_s36_conditions_are_about_the_run_whatever_branch() -> None:
    """A call in a branch satisfies `tool_called`; one that was denied or failed does not."""
    ending = [{"tool_called": "y", "outcome": "stopped"}]
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")}), AFTER, termination=ending))
    denied(session, "zz")
    error(session, "y")
    assert session.outcome is None
    assert ok(session, "y").outcome == "stopped"


def test_s36_an_orphans_success_counts_for_conditions() -> None:
    """It still writes what it writes: a removed branch's call that succeeds late may end the run."""
    machine = book(
        parallel("s", {"a": auto("a"), "b": auto("b")}, join="any"), AFTER,
        termination=[{"tool_called": "a", "outcome": "escalated"}],
    )  # fmt: skip
    session = start(machine)
    late = running(session)[0].call_id
    arrive(session, "b")
    assert session.observe(late, Succeeded()).outcome == "escalated"


def test_s37_a_goal_branch_inside_a_block_is_incomplete() -> None:
    """Required steps are open: `tool_called` without a word is no success, with one it is the author's."""
    words: list[tuple[dict[str, Any], str]] = [({}, "incomplete:tool_called:x"), ({"outcome": "success"}, "success")]
    for more, outcome in words:
        block = parallel("s", {"a": branch("x", "w"), "b": branch("y")})
        session = start(book(block, termination=[{"tool_called": "x"} | more]))
        assert ok(session, "x").outcome == outcome


def test_s38_an_orphan_nobody_can_account_for_is_no_success() -> None:
    """A removed branch's write that is unknown at the end: `failed:unknown:TOOL`."""
    session = start(book(parallel("s", {"a": auto("a", "y"), "b": auto("b")}, join="any"), AFTER))
    late = running(session)[0].call_id
    arrive(session, "b")
    session.observe(late, Unknown())
    ok(session, "zz")
    assert session.outcome == "failed:unknown:y"


def test_s38_the_end_waits_for_an_orphan() -> None:
    """The outcome is published when nothing is outstanding any more."""
    session = start(book(parallel("s", {"a": auto("a", "y"), "b": auto("b")}, join="any")))
    late = running(session)[0].call_id
    arrive(session, "b")
    assert session.outcome is None
    assert audit(session).observe(late, Failed()).outcome == "success"
    assert session.observe(late, Succeeded()).outcome == "success"


def test_s39_the_default_limit_of_turns_counts_nested_steps() -> None:
    """Twenty for each step wherever it lies, and at least a thousand."""
    many = [auto(f"s{n}") for n in range(60)]
    assert book(section("a", *many)).definition.max_iterations == 20 * 61  # type: ignore[union-attr]
    assert book(section("a", *many[:3])).definition.max_iterations == 1000  # type: ignore[union-attr]


def test_s40_deferred_calls_are_denied_when_another_branch_ends_the_run() -> None:
    """The agent is told `run_over`."""
    tools = {"x": {}, "w": {}, "wire": {"effect": "irreversible"}}
    branches = {"a": branch("x", "wire"), "q": [step("one", approval={"ask": "?"})]}
    session = start(book(parallel("s", branches), tools={k: v for k, v in tools.items() if k != "w"}))
    assert kinds(session.propose([call("x", "1"), call("wire", "2")])) == ["Allow", "Defer"]
    told = Approvals(session).reject(asked(session), by="kim").progress.verdicts
    late = session.observe("1", Succeeded())
    assert kinds([*told, *late.verdicts]) == ["run_over"]
    assert late.outcome == "stopped:rejected"


# --- values ---------------------------------------------------------------------------------------------------------


def test_s5_facts_are_copies() -> None:
    """What the host does to a result, a signal or an answer afterwards changes nothing."""
    data = {"list": [1]}
    block = parallel("s", {"a": auto("a"), "w": {"wait": {"signal": "go"}}})
    session = start(book(block, show(a="facts.a", s="signals.go")))
    session.observe(running(session)[0].call_id, Succeeded(data))
    session.signal("go", data)
    data["list"].append(2)
    assert shown(session) == {"a": {"list": [1]}, "s": {"list": [1]}}


def test_s56_integral_numbers_are_integers_everywhere() -> None:
    """Signals, items, outputs, claims and inputs of a callee."""
    callee = sub("q", auto("a", args={"n": "{{ inputs.n }}"}), inputs={"n": "integer"}, outputs={"n": "inputs.n"})
    steps = [{"id": "w", "wait": {"signal": "go"}}, {"id": "c", "playbook": "q", "with": {"n": "{{ signals.go }}"}}]
    session = start(family(*steps, each("e", [2.0], auto("b", args={"n": "{{ i }}"})), library=[callee]))
    session.signal("go", 7.0)
    assert repr(command(session).args["n"]) == "7"
    arrive(session, "a")
    assert repr(command(session).args["n"]) == "2"


@pytest.mark.parametrize("bad", [float("nan"), "\ud800", {"a": float("inf")}])
def test_s56_a_result_in_an_item_that_is_no_json_did_not_count(bad: Any) -> None:
    """It happened (S25): the item has failed, the value is kept nowhere, and the run stays loadable."""
    session = start(book(each("e", [1, 2], auto("w"))))
    session.observe(command(session).call_id, Succeeded(bad))
    assert audit(session).outcome == "failed:e"


def test_history_is_of_the_frame() -> None:
    """The list of successes in an item reads through; a callee's is its own."""
    body = [step("x1", "q"), auto("w", args={"n": "{{ size(history.q) }}"})]
    callee = sub("k", step("x2", "q"), auto("v", args={"n": "{{ size(history.q) }}"}))
    session = start(family(step("x0", "q"), {"id": "c", "playbook": "k"}, each("e", [1], *body), library=[callee]))
    ok(session, "q")
    ok(session, "q")
    assert command(session).args == {"n": 1}
    arrive(session, "v")
    ok(session, "q")
    assert command(session).args["n"] in (1, 2)


def test_terms_are_read_in_blocks_and_frames() -> None:
    """A named expression reads the facts of the place where it is used; a callee has terms of its own."""
    callee = sub("k", auto("v", when="terms.good"), terms={"good": "inputs.n > 1"}, inputs={"n": "integer"})
    loop = each("e", [1, 2], {"id": "c", "playbook": "k", "with": {"n": "{{ i }}"}, "when": "terms.all"})
    session = start(family(loop, library=[callee], terms={"all": "run.calls < 100"}))
    assert open_tools(session) == ["v"]
    assert answer(session).outcome == "success"


# --- verbs ----------------------------------------------------------------------------------------------------------


def test_s52_decide_answers_what_propose_would_with_several_cursors() -> None:
    """Whatever is asked in whatever state, looking ahead changes nothing and says the same."""
    gated = {"tool": "pay", "approval": {"ask": "?"}}
    branches = {"a": branch("x", gated), "b": branch("y", required=False), "c": [step("c1"), auto("c2")]}
    machine = book(parallel("s", branches), AFTER, max_refusals=99, policies=[{"at_most": {"event": "y", "times": 1}}])
    session = start(machine)
    wanted = [ToolCall(tool, args) for tool in ("x", "y", "pay", "zz", "nope", "c2") for args in ({}, {"n": 1})]
    steps: list[dict[str, Any]] = [{}, {"step": "b"}, {"step": "c1"}]
    wanted += [ToolCall(tool, args) for tool in ("complete_step", "skip_step") for args in steps]

    def compare() -> None:
        for one in wanted:
            with unchanged(session):
                guess = session.decide(one)
            [real] = audit(session).propose([one])
            assert guess == real, one

    compare()
    ok(session, "y")
    compare()
    propose(session, "complete_step", step="c1")
    compare()


def test_s52_observing_twice_in_frames_is_refused_or_the_same() -> None:
    """A settled call of an item with another outcome is the host's mistake; with the same one nothing happens."""
    session = start(book(each("e", [1, 2], auto("w"))))
    first = command(session).call_id
    session.observe(first, Succeeded({"n": 1}))
    with unchanged(session):
        session.observe(first, Succeeded({"n": 1}))
    with refused(session):
        session.observe(first, Succeeded({"n": 2}))
    with refused(session):
        session.observe("e[7]/w@1.1", Succeeded())


def test_s51_records_say_in_which_frame() -> None:
    """Moves, decisions and outcomes inside an item or a callee carry its path; those of the root none."""
    callee = sub("q", auto("a"))
    session = start(family(auto("r"), each("e", [1, 2], {"id": "c", "playbook": "q"}), library=[callee]))
    while running(session):
        answer(session)
    frames = records(session, "settled", "tool", "frame")
    assert frames == [("r", None), ("a", "e[0]/c/"), ("a", "e[1]/c/")]
    assert session.outcome == "success"


def test_s1_a_snapshot_in_every_kind_of_waiting() -> None:
    """Blocks, items, rounds, callees, questions, waits and closing calls: what is saved comes back the same."""
    callee = sub("q", {"id": "k", "ask": {"question": "?", "choices": ["yes"], "remind": "1h"}}, auto("a"))
    gated = {"tool": "pay", "approval": {"ask": "?", "count": 2}}
    branches = {
        "g": branch(gated),
        "i": [each("e", [1, 2], {"id": "c", "playbook": "q"}, concurrency=2)],
        "r": [rounds("l", "facts.w.n == 2", auto("w"), wait="1m")],
        "t": {"wait": "2h"},
        "u": {"wait": {"signal": "go"}},
    }
    machine = family(parallel("s", branches), library=[callee], **{"finally": [auto("f")]})
    session = start(machine, timed=True)
    session.propose([call("pay", "1")])
    Approvals(session).approve("call 1", by="kim")
    for act in (
        lambda s: arrive(s, "w", {"n": 1}, now=at(1)),
        lambda s: s.signal("go"),
        lambda s: s.tick(at(61)),
        lambda s: [Approvals(s).answer(a.call_id, "yes", by="eve") for a in asks(s) if a.choices],
        lambda s: arrive(s, "w", {"n": 2}),
        lambda s: Approvals(s).approve("call 1", by="eve"),
        lambda s: [s.observe(c.call_id, Succeeded()) for c in running(s)],
        lambda s: s.observe("1", Succeeded()),
        lambda s: s.tick(at(7200)),
        lambda s: arrive(s, "f"),
    ):
        again = audit(session)
        act(session)
        act(again)
        assert again.snapshot.to_json() == session.snapshot.to_json()
    assert session.outcome == "success"


def test_a_cursor_that_stands_nowhere_is_no_snapshot() -> None:
    """Of the branches' states as of the first one's: what the machine does not have is refused."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")}), AFTER))
    text = json.dumps(session.snapshot.to_json())
    for name in "ab":
        assert f'"state": "{name}"' in text
        forged = json.loads(text.replace(f'"state": "{name}"', '"state": "nowhere"'))
        with pytest.raises(HostError):
            Session.restore(session.machine, forged)


def test_an_allowed_call_runs_though_its_branch_waits() -> None:
    """An agent's calls for two branches in one batch, one under approval: the other does not wait for the person."""
    gated = {"tool": "pay", "approval": {"ask": "?"}}
    session = start(book(parallel("s", {"a": branch(gated, "w"), "b": branch("y", "v")}), AFTER))
    assert kinds(session.propose([call("pay", "1"), call("y", "2")])) == ["NeedsApproval", "Allow"]
    session.observe("2", Succeeded())
    Approvals(session).approve(asked(session), by="kim")
    session.observe("1", Succeeded())
    assert list(session.states) == ["a", "b"]
