"""Turns, waves and the decision on one call: S12 to S14."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import (
    Allow,
    Cancelled,
    Deny,
    Failed,
    Session,
    Succeeded,
    ToolCall,
)

from .helpers import (
    allowed,
    answer,
    at,
    audit,
    book,
    call,
    denied,
    ok,
    start,
    step,
    trace,
)


def kinds(verdicts: Any) -> list[str]:
    """The verdicts, a word each; a denial by its code."""
    return [v.code if isinstance(v, Deny) else type(v).__name__ for v in verdicts]


def test_s12_a_turn_is_decided_as_a_whole_and_in_order() -> None:
    """Verdicts come in model order, one per call, and `now` is read once."""
    session = start(book(step("a", "x", "y"), step("b", "z")))
    assert kinds(session.propose([call("y", "1"), call("nonsense", "2"), call("x", "3")])) == [
        "Allow",
        "unknown_tool",
        "Allow",
    ]


def test_s13_deferred_calls_are_decided_on_real_facts() -> None:
    """The next wave sees what the first one answered."""
    machine = book(step("a", "x"), step("b", {"tool": "y", "where": "args.id == facts.x.id"}), step("c", "z"))
    for given, codes in ((7, ["Allow"]), (8, ["where"])):
        session = start(machine)
        assert kinds(session.propose([call("x", "1"), call("y", "2", id=given)])) == ["Allow", "Defer"]
        assert kinds(session.observe("1", Succeeded({"id": 7})).verdicts) == codes


def test_s13_waves_follow_each_other() -> None:
    """A batch of three steps' tools in order runs in three waves of one turn."""
    session = start(book(step("a", "x"), step("b", "y"), step("c", "z")))
    assert kinds(session.propose([call("x", "1"), call("y", "2"), call("z", "3")])) == ["Allow", "Defer", "Defer"]
    assert [v.call_id for v in session.observe("1", Succeeded()).verdicts if isinstance(v, Allow)] == ["2"]
    assert [v.call_id for v in session.observe("2", Succeeded()).verdicts if isinstance(v, Allow)] == ["3"]
    assert session.observe("3", Succeeded()).outcome == "success"
    assert [r["number"] for r in trace(session) if r["kind"] == "turn_ended"] == [1]


@pytest.mark.parametrize("outcome", [Failed(), Cancelled()])
def test_s13_deferred_calls_are_denied_after_a_failure(outcome: Failed | Cancelled) -> None:
    """When a call of the turn did not succeed, those behind it are `after_failed`, and count as no refusal."""
    session = start(book(step("a", "x"), step("b", "y"), max_refusals=1))
    session.propose([call("x", "1"), call("y", "2")])
    assert kinds(session.observe("1", outcome).verdicts) == ["after_failed"]
    assert session.outcome is None
    ok(session, "x")


def test_s13_deferred_calls_of_an_ending_run_are_run_over() -> None:
    """The run ends inside the batch: what waited is denied `run_over`."""
    session = start(book(step("a", "x"), step("b", "y"), termination=[{"tool_called": "x", "outcome": "stopped"}]))
    session.propose([call("x", "1"), call("y", "2")])
    progress = session.observe("1", Succeeded())
    assert (kinds(progress.verdicts), progress.outcome) == (["run_over"], "stopped")


def test_s13_a_deferred_call_waits_for_a_call_outside_its_batch() -> None:
    """An orphan of an earlier visit holds an irreversible call until it is observed."""
    machine = book(
        step("a", "x", timeout="10s", on_timeout="b"),
        step("b", "pay"),
        tools={"x": {}, "pay": {"effect": "irreversible"}},
    )
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    assert kinds(session.propose([call("pay", "p")])) == ["Defer"]
    assert [(type(v), v.call_id) for v in session.observe(late, Failed()).verdicts] == [(Allow, "p")]
    assert session.observe("p", Succeeded()).outcome == "success"


def test_s14_1_a_run_that_is_ending_admits_nothing() -> None:
    """After the end every proposal is `run_over`, and changes nothing but the record."""
    session = start(book(step("a", "x")))
    ok(session, "x")
    denial = denied(session, "x")
    assert denial.code == "run_over" and denial.legal == ()
    assert session.outcome == "success" and session.legal() == ()
    assert session.propose([], text="bye") == []
    audit(session)


def test_s14_1_arguments_are_held_to_the_schema_first() -> None:
    """Bad arguments are refused at once, also behind a call that waits, and the message names what is wrong."""
    machine = book(
        step("a", "x"),
        step("b", "y"),
        tools={
            "x": {},
            "y": {"parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        },
    )
    session = start(machine)
    verdicts = session.propose([call("x", "1"), call("y", "2", n="one"), call("y", "3", n=1), call("y", "4")])
    assert kinds(verdicts) == ["Allow", "bad_args", "Defer", "bad_args"]
    assert "'one' is not of type 'integer'" in verdicts[1].message  # type: ignore[union-attr]


def test_s14_2_behind_a_deferred_call_everything_known_waits() -> None:
    """A known tool behind a deferred call is deferred too, an unknown one denied."""
    session = start(book(step("a", "x", optional_tools=["r"]), step("b", "y")))
    verdicts = session.propose([call("x", "1"), call("y", "2"), call("r", "3"), call("nonsense", "4")])
    assert kinds(verdicts) == ["Allow", "Defer", "Defer", "unknown_tool"]


def test_s14_3_an_irreversible_call_runs_alone() -> None:
    """Nothing runs beside an irreversible call, whichever comes first."""
    tools = {"pay": {"effect": "irreversible"}, "x": {}, "y": {}}
    session = start(book(step("a", "pay", "x", "y"), tools=tools))
    assert kinds(session.propose([call("pay", "1"), call("x", "2")])) == ["Allow", "Defer"]
    other = start(book(step("a", "pay", "x", "y"), tools=tools))
    assert kinds(other.propose([call("x", "1"), call("pay", "2"), call("y", "3")])) == ["Allow", "Defer", "Defer"]
    assert kinds(other.observe("1", Succeeded()).verdicts) == ["Allow"]
    assert kinds(other.observe("2", Succeeded()).verdicts) == ["Allow"]


def test_s14_4_a_call_waits_while_the_step_may_complete() -> None:
    """Outstanding calls that would complete the step, or spend its calls, hold what comes behind them."""
    done = start(book(step("a", "x", optional_tools=["r"]), step("b", "y")))
    assert kinds(done.propose([call("r", "1"), call("x", "2"), call("r", "3")])) == ["Allow", "Allow", "Defer"]
    spent = start(book(step("a", "x", "w", optional_tools=["r"], max_tool_calls=2), step("b", "y")))
    assert kinds(spent.propose([call("r", "1"), call("r", "2"), call("x", "3")])) == ["Allow", "Allow", "Defer"]


def test_s14_4_a_call_waits_while_a_guard_may_change() -> None:
    """A `where` that reads the facts of a tool under way is decided when the tool has answered."""
    machine = book(step("a", "x", {"tool": "y", "where": "args.n == facts.x.n"}, "z"))
    session = start(machine)
    assert kinds(session.propose([call("x", "1"), call("y", "2", n=5)])) == ["Allow", "Defer"]
    assert kinds(session.observe("1", Succeeded({"n": 5})).verdicts) == ["Allow"]
    terms = start(book(step("a", "x", {"tool": "y", "where": "terms.fits"}, "z"), terms={"fits": "facts.x.n == 5"}))
    assert kinds(terms.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Defer"]
    renamed = start(book(step("a", {"tool": "x", "as": "seen"}, {"tool": "y", "where": "facts.seen.n == 5"}, "z")))
    assert kinds(renamed.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Defer"]


def test_s14_5_needed_then_repeat_then_optional_then_extra() -> None:
    """A call goes to the entry that needs it most, by listed order among equals; `where` must be true."""
    machine = book(
        step(
            "a",
            {"tool": "x", "where": "args.n >= 1", "as": "first"},
            {"tool": "x", "where": "args.n >= 2", "as": "second"},
            "z",
            optional_tools=[{"tool": "x", "as": "other"}],
            next_=[
                {"when": "facts.first.r == 3 && facts.second.r == 2 && facts.other.r == 9", "goto": "success"},
                {"goto": "failed"},
            ],
        )
    )
    session = start(machine)
    ok(session, "x", {"r": 9}, n=0)
    ok(session, "x", {"r": 1}, n=2)
    ok(session, "x", {"r": 2}, n=2)
    ok(session, "x", {"r": 3}, n=1)
    assert ok(session, "z").outcome == "success"


def test_s14_5_an_unknown_where_admits_nothing() -> None:
    """A missing fact in `where` refuses the call, and the denial shows rule, reason and because."""
    text = (
        "id: p\nname: P\nsteps:\n"
        "  - id: a\n    description: A\n    expected_tools:\n"
        "      - tool: x\n        where: args.id == inputs.id\n        because: only this case\n"
        "inputs:\n  id: {type: string, required: false}\n"
    )
    import guideway

    session = start(guideway.load(text))
    denial = denied(session, "x", id="1")
    assert (denial.code, denial.rule, denial.because, denial.step) == (
        "where",
        "args.id == inputs.id",
        "only this case",
        "a",
    )
    assert denial.span is not None and denial.span.line in (7, 8)
    for words in ("`x` did not run", "args.id == inputs.id", "only this case", "step `a`"):
        assert words in denial.message
    assert [c.tool for c in denial.legal] == ["x"] and denial.legal[0].where == ("args.id == inputs.id",)


def test_s14_6_a_call_out_of_sequence_is_told_the_way() -> None:
    """The denial names the code, what is legal now, and the shortest path, approvals included."""
    machine = book(
        step("a", "x", "w"),
        step("b", "y", approval={"ask": "Go?"}),
        step("think"),
        step("c", "z"),
        step("d", "z2"),
    )
    session = start(machine)
    ok(session, "w")
    denial = denied(session, "z")
    assert denial.code == "out_of_sequence"
    assert [c.tool for c in denial.legal if c.needed] == ["x"]
    assert denial.path == ("x", "(approval of b)", "y", "complete_step", "z")
    assert denied(session, "zz").path is None and denied(session, "zz").code == "unknown_tool"


def test_s14_6_a_call_out_of_order_is_told_the_way_too() -> None:
    """Under `order: listed` the path to the second tool leads through the first."""
    session = start(book(step("a", "x", "y", "z", order="listed")))
    denial = denied(session, "z")
    assert (denial.code, denial.path) == ("order", ("x", "y", "z"))
    ok(session, "x")
    assert denied(session, "z").path == ("y", "z")


def test_s14_6_the_way_says_how_often() -> None:
    """A tool that must succeed twice stands twice on the path."""
    session = start(book(step("a", {"tool": "x", "times": 2}), step("b", "y")))
    assert denied(session, "y").path == ("x", "x", "y")


def test_s14_6_no_candidate_waits_while_a_call_is_outstanding() -> None:
    """A later step's tool beside a call that does not complete the step waits, and is then refused on real facts."""
    session = start(book(step("a", "x", "w"), step("b", "y")))
    assert kinds(session.propose([call("x", "1"), call("y", "2"), call("zz", "3")])) == [
        "Allow",
        "Defer",
        "unknown_tool",
    ]
    progress = session.observe("1", Succeeded())
    assert kinds(progress.verdicts) == ["out_of_sequence"]


def test_s14_8_reservations_count_against_the_budget() -> None:
    """A batch cannot overdraw `max_tool_calls`; the refusal says what is left."""
    session = start(book(step("a", "x", "y", max_tool_calls=2, on_exhausted="escalated")))
    assert kinds(session.propose([call("x", "1"), call("x", "2"), call("y", "3")])) == ["Allow", "Allow", "Defer"]
    session.observe("1", Succeeded())
    progress = session.observe("2", Succeeded())
    assert progress.outcome == "escalated" and kinds(progress.verdicts) == ["run_over"]


def test_s14_9_optional_everywhere_spends_no_step_budget() -> None:
    """Top-level `optional_tools` and extra tools are legal beside a step's few calls, and count for none of them."""
    machine = book(
        step("a", "x", max_tool_calls=1),
        optional_tools=["help", "m_*"],
        allow_extra_tools=True,
        termination=[{"tool_called": "enough", "outcome": "stopped"}],
    )
    session = start(machine)
    for tool in ("help", "m_one", "whatever", "help"):
        ok(session, tool)
    assert session.state == "a"
    assert ok(session, "x").outcome == "success"


def test_an_automatic_call_beside_a_proposal() -> None:
    """What the agent proposes while the runtime calls is deferred, and decided when the call is applied."""
    session = start(book(step("a", call={"tool": "x"}), step("b", "y")))
    assert kinds(session.propose([call("y", "1")])) == ["Defer"]
    audit(session)
    assert kinds(answer(session).verdicts) == ["Allow"]
    assert session.observe("1", Succeeded()).outcome == "success"


def test_a_proposal_of_thousands_of_calls() -> None:
    """A model that floods the gate gets an answer for each, in order."""
    session: Session = start(book(step("a", {"tool": "x", "times": 2}), step("b", "y")))
    verdicts = session.propose([ToolCall("x", {"i": i}, f"{i}") for i in range(2000)])
    assert kinds(verdicts[:2]) == ["Allow", "Allow"] and set(kinds(verdicts[2:])) == {"Defer"}
    session.observe("0", Succeeded())
    assert set(kinds(session.observe("1", Succeeded()).verdicts)) == {"out_of_sequence"}


def test_an_empty_name_is_no_tool() -> None:
    """Where extra tools are legal, a call of nothing is still none."""
    session = start(book(step("a", "x"), allow_extra_tools=True))
    assert denied(session, "").code == "unknown_tool"
    ok(session, "whatever")
