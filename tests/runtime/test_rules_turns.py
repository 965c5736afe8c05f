"""Macro-steps, turns, waves, deciding, control tools: S9 to S17."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from guideway import (
    Allow,
    Approvals,
    Cancelled,
    Defer,
    Deny,
    Failed,
    NeedsApproval,
    Session,
    Succeeded,
    ToolCall,
    Unknown,
)

from .helpers import (
    allowed,
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    call,
    command,
    denied,
    ends,
    error,
    ok,
    propose,
    running,
    say,
    start,
    step,
    trace,
)


def kinds(verdicts: Any) -> list[str]:
    """The verdicts, a word each; a denial by its code."""
    return [v.code if isinstance(v, Deny) else type(v).__name__ for v in verdicts]


def test_s9_1_the_event_is_journaled_first() -> None:
    """The record of an outcome precedes that of the move it causes, and the end comes last."""
    session = start(book(step("a", "x"), step("b", "y")))
    ok(session, "x")
    ok(session, "y")
    assert [r["kind"] for r in trace(session)] == [
        "started", "turn", "decided", "settled", "moved", "turn_ended",
        "turn", "decided", "settled", "moved", "ending", "turn_ended", "ended",
    ]  # fmt: skip


def test_s9_3_a_call_whose_visit_is_over_moves_nothing() -> None:
    """The late success of a timed-out visit does not complete the step when it is visited again."""
    machine = book(step("a", "x", timeout="10s", on_timeout="a", max_visits=5))
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    assert session.observe(late, Succeeded()).outcome is None
    assert session.state == "a"
    assert session.observe(allowed(session, "x"), Succeeded()).outcome == "success"


def test_s9_4_automatic_moves_run_until_none_is_enabled() -> None:
    """A chain of as many routers as there are steps is no livelock."""
    routers = [step(f"r{i}", switch=[{"goto": f"r{i + 1}" if i < 199 else "work"}]) for i in range(200)]
    session = start(book(*routers, step("work", "x")))
    assert session.state == "work"
    assert ok(session, "x").outcome == "success"


def test_s9_4_passed_steps_are_no_livelock() -> None:
    """A run whose steps are all passed over succeeds."""
    session = start(
        book(*(step(f"s{i}", "x", when="inputs.go") for i in range(200)), inputs={"go": "boolean"}),
        inputs={"go": False},
    )
    assert session.outcome == "success"


CIRCLES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "routers": (
        [
            step("a", switch=[{"when": "inputs.out", "goto": "success"}, {"goto": "b"}]),
            step("b", switch=[{"goto": "a"}]),
        ], {},
    ),
    "an unknown `when` whose failure leads back": (
        [
            step("a", "x", when="inputs.gone > 1", on_failure="b", next_="success"),
            step("b", "y", when="inputs.gone > 1", on_failure="a", next_="success"),
        ], {},
    ),
    "passed over for ever": (
        [step("a", "x", when="inputs.out", next_="b"), step("b", "y", when="inputs.out", next_=[{"when": "inputs.out", "goto": "success"}, {"goto": "a"}])],
        {},
    ),
    "an automatic call whose refusal leads back": (
        [step("a", call={"tool": "x"}, on_failure="b", next_="success"), step("b", call={"tool": "x"}, on_failure="a")],
        {"tools": {"x": {"where": "inputs.out"}}},
    ),
    "arguments that cannot be written": (
        [step("a", call={"tool": "x", "args": {"n": "{{ inputs.gone }}"}}, on_failure="a", next_="success")], {},
    ),
    "a question that cannot be written": (
        [step("a", "x", approval={"ask": "{{ inputs.gone }}?"}, on_failure="a", next_="success")], {},
    ),
    "no call allowed": (
        [step("a", "x", max_tool_calls=0, on_exhausted="b", next_="success"), step("b", "x", max_tool_calls=0, on_exhausted="a")], {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCLES)
def test_s9_4_a_circle_of_automatic_moves_is_a_livelock(name: str) -> None:
    """However the steps lead round without an event, the run ends as `failed:livelock` and does not hang."""
    steps, more = CIRCLES[name]
    machine = book(*steps, inputs={"out": "boolean", "gone": {"type": "number", "required": False}}, **more)
    with ends():
        session = start(machine, inputs={"out": False})
    assert session.outcome == "failed:livelock"
    assert audit(session).outcome_class == "failed"


def test_s9_4_spent_visits_that_lead_round_are_a_livelock() -> None:
    """`on_max_visits` of two spent steps pointing at each other ends the run."""
    machine = book(
        step("a", "x", max_visits=1, on_max_visits="b", next_="b"),
        step(
            "b",
            "y",
            max_visits=1,
            on_max_visits="a",
            next_=[{"when": "facts.y.done", "goto": "success"}, {"goto": "a"}],
        ),
    )
    session = start(machine)
    ok(session, "x")
    with ends():
        ok(session, "y", {"done": False})
    assert session.outcome == "failed:livelock"


def test_s9_5_a_declared_end_beats_a_termination_branch() -> None:
    """The call that completes the last step ends the run in its declared end, whatever termination says of it."""
    session = start(book(step("a", "x"), termination=[{"tool_called": "x", "outcome": "stopped"}]))
    assert ok(session, "x").outcome == "success"


def test_s9_5_the_first_true_branch_ends_the_run() -> None:
    """Termination branches are evaluated in listed order."""
    branches = [{"tool_called": "x", "outcome": "escalated"}, {"tool_called": "x", "outcome": "failed"}]
    assert ok(start(book(step("a", "x", "y"), termination=branches)), "x").outcome == "escalated"
    assert ok(start(book(step("a", "x", "y"), termination=branches[::-1])), "x").outcome == "failed"


def test_s9_6_commands_of_a_new_state_are_issued_at_once() -> None:
    """When a step completes, the next one's automatic call is there to be run."""
    session = start(book(step("a", "x"), step("b", call={"tool": "y", "args": {"n": "{{ facts.x.n }}"}})))
    assert running(session) == []
    ok(session, "x", {"n": 3})
    assert (command(session).tool, command(session).args, command(session).step) == ("y", {"n": 3}, "b")


def test_s9_6_an_ending_run_issues_nothing() -> None:
    """A termination branch that becomes true by the same outcome keeps the next step's call from being issued."""
    session = start(
        book(step("a", "x"), step("b", call={"tool": "y"}), termination=[{"tool_called": "x", "outcome": "stopped"}])
    )
    ok(session, "x")
    assert (session.outcome, session.commands) == ("stopped", [])


def test_s10_branches_are_read_top_to_bottom() -> None:
    """The first true branch is taken, false ones are passed, none left is a failure of the step, and unknown another."""
    machine = book(
        step(
            "a", "x", on_failure="escalated",
            next_=[{"when": "facts.x.n > 5", "goto": "success"}, {"when": "facts.x.n > 3", "goto": "stopped"}],
        )
    )  # fmt: skip
    for n, end, why in (
        (9, "success", None),
        (4, "stopped", None),
        (1, "escalated", "no_branch"),
        ("t", "escalated", "guard_unknown"),
    ):
        session = start(machine)
        assert ok(session, "x", {"n": n}).outcome == end
        moved = next(r for r in trace(session) if r["kind"] == "moved")
        assert (why or "") in moved.get("why", "")


def test_s10_a_failure_list_without_a_true_branch_ends_the_run_as_failed() -> None:
    """`on_failure` that leads nowhere is the step's default failure."""
    machine = book(
        step("a", call={"tool": "x"}, on_failure=[{"when": "inputs.go", "goto": "escalated"}]), inputs={"go": "boolean"}
    )
    session = start(machine, inputs={"go": False})
    session.observe(command(session).call_id, Failed())
    assert session.outcome == "failed:a"


def test_s11_a_spent_target_is_replaced_never_passed_over() -> None:
    """After `max_visits` the jump leads to `on_max_visits`, else the run ends; the branch below stays shut."""
    branches = [{"when": "facts.x.again", "goto": "a"}, {"goto": "success"}]
    plain = start(book(step("a", "x", max_visits=2, next_=branches)))
    handled = start(book(step("a", "x", max_visits=2, next_=branches, on_max_visits="escalated")))
    for session, end in ((plain, "stopped:max_visits:a"), (handled, "escalated")):
        assert ok(session, "x", {"again": True}).outcome is None
        assert ok(session, "x", {"again": True}).outcome == end


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
        step("a", "x"), step("b", "y"),
        tools={"x": {}, "y": {"parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}},
    )  # fmt: skip
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
    assert kinds(other.observe("1", Succeeded()).verdicts) == ["Allow", "Defer"][:1]
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
            "a", {"tool": "x", "where": "args.n >= 1", "as": "first"}, {"tool": "x", "where": "args.n >= 2", "as": "second"}, "z",
            optional_tools=[{"tool": "x", "as": "other"}],
            next_=[{"when": "facts.first.r == 3 && facts.second.r == 2 && facts.other.r == 9", "goto": "success"}, {"goto": "failed"}],
        )
    )  # fmt: skip
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
    """Top-level `optional_tools` and extra tools are legal in a step whose calls are few, and count for nothing there."""
    machine = book(
        step("a", "x", max_tool_calls=1), optional_tools=["help", "m_*"], allow_extra_tools=True,
        termination=[{"tool_called": "enough", "outcome": "stopped"}],
    )  # fmt: skip
    session = start(machine)
    for tool in ("help", "m_one", "whatever", "help"):
        ok(session, tool)
    assert session.state == "a"
    assert ok(session, "x").outcome == "success"


def test_s15_outcomes_are_applied_in_model_order() -> None:
    """Whatever order two outcomes arrive in, the record of what they did is the same."""
    machine = book(step("a", "x", "y", "w"), step("b", "z"))

    def run(order: tuple[str, ...]) -> list[dict[str, Any]]:
        session = start(machine)
        session.propose([call("x", "1"), call("y", "2"), call("w", "3"), call("z", "4")])
        for call_id in order:
            session.observe(call_id, Failed() if call_id == "2" else Succeeded({"n": call_id}))
        drop = ("seq", "previous", "hash")
        return [{k: v for k, v in r.items() if k not in drop} for r in trace(session) if r["kind"] != "arrived"]

    first, *others = (run(order) for order in itertools.permutations("123"))
    assert all(other == first for other in others)


def test_s15_timers_are_held_while_an_arrived_outcome_waits() -> None:
    """The second of two outcomes arrived in time; the deadline waits for it, and the step completes."""
    session = start(book(step("a", "x", "y", timeout="10s")), timed=True)
    session.propose([call("x", "1"), call("y", "2")])
    session.observe("2", Succeeded(), now=at(9))
    session.tick(at(20))
    assert session.outcome is None
    assert session.observe("1", Succeeded(), now=at(21)).outcome == "success"


def test_s16_a_turn_ends_and_counts() -> None:
    """Every turn, of calls, of text or of refusals, is one iteration."""
    session = start(book(step("a", "x", "y"), max_iterations=4))
    ok(session, "x")
    say(session)
    denied(session, "zz")
    assert session.outcome is None
    error(session, "y")
    assert session.outcome == "stopped:max_iterations"


def test_s16_text_alone_completes_a_thinking_step_it_began_in() -> None:
    """A text-only turn completes a step without entries, and only the one it began in."""
    session = start(book(step("a"), step("b"), step("c", "x")))
    say(session)
    assert session.state == "b"
    say(session)
    assert session.state == "c"


def test_s16_text_alone_skips_an_untouched_optional_step_and_on() -> None:
    """Untouched optional steps are skipped one after another up to the first required one; a touched one is nudged."""
    session = start(book(step("a", "x", required=False), step("b", "y", required=False), step("c", "z")))
    say(session)
    assert session.state == "c"
    touched = start(book(step("a", "x", "w", required=False), step("c", "z"), max_nudges=0))
    ok(touched, "x")
    say(touched)
    assert touched.outcome == "stopped:nudges"


def test_s16_a_premature_answer_is_nudged_at_most_max_nudges_times() -> None:
    """The (max_nudges + 1)th nudge in a row ends the run; a success in between forgives."""
    session = start(book(step("a", "x", "y"), max_nudges=2))
    say(session)
    say(session)
    ok(session, "x")
    say(session)
    say(session)
    assert session.outcome is None
    say(session)
    assert (session.outcome, session.outcome_class) == ("stopped:nudges", "stopped")


def test_s16_refusals_in_a_row_end_the_run() -> None:
    """The max_refusals-th turn in a row with a denial and no success ends the run; a success forgives."""
    session = start(book(step("a", "x", "y"), max_refusals=2))
    denied(session, "zz")
    ok(session, "x")
    denied(session, "zz")
    session.propose([call("zz", "1"), call("x", "2")])
    session.observe("2", Succeeded())
    denied(session, "zz")
    denial = denied(session, "zz")
    assert dict(denial.budgets)["refusals in a row"] == 1
    assert session.outcome == "stopped:refusals"


def test_s16_a_persons_no_is_no_refusal() -> None:
    """A call that a person rejected was not denied: it does not bring the run nearer to `stopped:refusals`."""
    machine = book(step("a", {"tool": "x", "approval": {"ask": "?"}}, "y"), max_refusals=1)
    session = start(machine)
    assert isinstance(propose(session, "x"), NeedsApproval)
    Approvals(session).reject(asked(session), by="kim")
    assert session.outcome is None
    ok(session, "y")


def test_s16_nobody_nudges_a_run_that_waits_for_others() -> None:
    """Text while a person or the runtime is at work is no premature answer."""
    for machine in (
        book(step("a", approval={"ask": "?"}), max_nudges=0),
        book(step("a", call={"tool": "x"}), max_nudges=0),
    ):
        session = start(machine)
        for _ in range(3):
            say(session)
        assert session.outcome is None


def test_s17_complete_step_never_stands_in_for_a_tool() -> None:
    """It is refused in a step that has entries, met or not, and in one whose minimum or validation is not reached."""
    session = start(book(step("a", "x")))
    denial = denied(session, "complete_step")
    assert denial.code == "control" and "`x`" in denial.message
    least = start(book(step("a", optional_tools=["r"], min_tool_calls=1), max_refusals=9))
    assert denied(least, "complete_step").code == "control"
    assert "complete_step" not in [c.tool for c in least.legal()]
    ok(least, "r")
    assert "complete_step" in [c.tool for c in least.legal()]
    assert isinstance(propose(least, "complete_step"), Allow) and least.outcome == "success"
    valid = start(book(step("a", optional_tools=["r"], validation=["facts.r.n == 1"])))
    ok(valid, "r", {"n": 0})
    assert "facts.r.n == 1" in denied(valid, "complete_step").message


def test_s17_control_tools_are_for_an_agents_step() -> None:
    """While a person decides or the runtime calls, neither control tool does anything."""
    for more in ({"approval": {"ask": "?"}}, {"call": {"tool": "x"}}):
        session = start(book(step("a", required=False, **more)))
        for tool in ("complete_step", "skip_step"):
            verdict = propose(session, tool)
            assert isinstance(verdict, Defer | Deny), (more, tool)
            assert session.state.startswith("a")
            if isinstance(verdict, Defer):
                break


def test_s17_skip_step_is_for_optional_steps_without_approval() -> None:
    """A required step is not skipped by the agent, nor is one that a person had to allow."""
    assert denied(start(book(step("a", "x"))), "skip_step").code == "control"
    session = start(book(step("a", "x", required=False), step("b", "y")))
    assert "skip_step" in [c.tool for c in session.legal()]
    assert isinstance(propose(session, "skip_step"), Allow)
    assert session.state == "b"
    gated = start(book(step("a", "x", required=False, approval={"ask": "?"}), step("b", "y")))
    Approvals(gated).approve(asked(gated), by="kim")
    assert "skip_step" not in [c.tool for c in gated.legal()]
    assert denied(gated, "skip_step").code == "control"


def test_s17_with_something_outstanding_control_waits() -> None:
    """`[work, complete_step]` in one reply is one turn; the control call spends nothing."""
    session = start(book(step("a", optional_tools=["r"], max_tool_calls=1), step("b", "y")))
    assert kinds(session.propose([call("r", "1"), call("complete_step", "2")])) == ["Allow", "Defer"]
    progress = session.observe("1", Succeeded())
    assert progress.state == "b"
    behind = start(book(step("a"), step("b", "y")))
    assert kinds(behind.propose([call("complete_step", "1"), call("y", "2")])) == ["Allow", "Allow"]
    assert behind.observe("2", Succeeded()).outcome == "success"


def test_unknown_outcomes_hold_the_turn() -> None:
    """A write that nobody can account for keeps the turn open until a person looked (S24)."""
    session = start(book(step("a", "x"), step("b", "y")))
    session.propose([call("x", "1"), call("y", "2")])
    session.observe("1", Unknown())
    assert [a.call_id for a in asks(session)] == [asked(session)]
    progress = Approvals(session).happened(asked(session), {"n": 1}, by="kim").progress
    assert kinds(progress.verdicts) == ["Allow"]
    audit(session)


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
