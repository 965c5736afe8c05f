"""Items of `for_each` and rounds of `repeat`: S2, S11, S25, S27, S28, S32."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Failed, PlaybookError, Session, Succeeded

from .building import (
    arrive,
    auto,
    drain,
    each,
    legal_tools,
    open_tools,
    parallel,
    records,
    rounds,
    section,
    show,
    shown,
)
from .helpers import (
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    command,
    denied,
    ok,
    refused,
    running,
    start,
    step,
    waits,
)

WORK = auto("w", args={"i": "{{ i }}"})


def args_of(session: Session) -> list[Any]:
    """The argument `i` of each call the runtime asks for."""
    return [command.args["i"] for command in running(session)]


# --- items ----------------------------------------------------------------------------------------------------------


def test_s32_items_run_in_order_one_at_a_time() -> None:
    """Without `concurrency` the second item begins when the first has ended."""
    session = start(book(each("e", [5, 25, 100], WORK), step("z", "x")))
    for item in (5, 25, 100):
        assert args_of(audit(session)) == [item]
        answer(session)
    assert session.states == ("z",)


def test_s32_at_most_concurrency_items_at_a_time() -> None:
    """The third begins when one of the first two has ended, whichever it is."""
    session = start(book(each("e", ["a", "b", "c", "d"], WORK, concurrency=2)))
    assert args_of(session) == ["a", "b"]
    session.observe(running(session)[1].call_id, Succeeded())
    assert args_of(session) == ["a", "c"]
    assert set(session.states) == {"e[0]/w", "e[2]/w"}
    audit(session)


def test_s32_results_stand_in_the_order_of_the_items() -> None:
    """Whatever order items end in, `facts.STEP` follows the list."""
    session = start(book(each("e", [1, 2, 3], WORK, concurrency=3, collect="facts.w.n"), show(v="facts.e")))
    for left in reversed(running(session)):
        session.observe(left.call_id, Succeeded({"n": left.args["i"] * 10}))
    assert shown(session) == {"v": [10, 20, 30]}


def test_s32_without_collect_the_value_is_the_last_fact_the_item_wrote() -> None:
    """Of two calls the second's result counts; an item that wrote none is null."""
    pick = {"id": "pick", "switch": [{"when": "i == 2", "goto": "done"}, {"goto": "w"}]}
    session = start(book(each("e", [1, 2], pick, WORK, auto("v")), show(v="facts.e")))
    arrive(session, "w", {"n": 1})
    arrive(session, "v", {"n": 2})
    assert shown(session) == {"v": [{"n": 2}, None]}


@pytest.mark.parametrize("items", [[], "{{ inputs.list }}", "inputs.list"], ids=["written", "template", "expression"])
def test_s32_an_empty_list_completes(items: Any) -> None:
    """No item, no call, an empty list of results."""
    machine = book(each("e", items, auto("w")), show(v="facts.e"), inputs={"list": {"type": "array", "default": []}})
    assert shown(start(machine)) == {"v": []}


@pytest.mark.parametrize(
    "data", [{}, {"list": "abc"}, {"list": {"a": 1}}, {"list": None}, {"list": 3}, {"list": list(range(1001))}]
)
def test_s32_what_is_no_list_or_too_long_fails(data: dict[str, Any]) -> None:
    """Unknown, no list, or longer than 1000: the step fails and no item is begun."""
    session = start(book(step("a", "x"), each("e", "facts.x.list", auto("w"), on_failure="escalated")))
    ok(session, "x", data)
    assert session.outcome == "escalated"
    assert records(session, "decided", "tool") == ["x"]


def test_s32_at_most_is_a_limit_not_a_cut() -> None:
    """Three items where two are allowed fail the step; two run; a thousand run without a word."""
    machine = book(step("a", "x"), each("e", "facts.x.list", auto("w"), at_most=2))
    session = start(machine)
    ok(session, "x", {"list": [1, 2, 3]})
    assert session.outcome == "failed:e"
    fits = start(machine)
    ok(fits, "x", {"list": [1, 2]})
    assert open_tools(fits) == ["w"]
    thousand = start(book(step("a", "x"), each("e", "facts.x.list", auto("w"))))
    ok(thousand, "x", {"list": list(range(1000))})
    assert open_tools(thousand) == ["w"]


def test_s32_the_list_is_read_once_at_entry() -> None:
    """What an item writes to the list's source changes nothing of the loop under way."""
    session = start(
        book(auto("x"), each("e", "facts.x.list", auto("w", "x", {"i": "{{ i }}"})), {**auto("x2"), "next": "success"})
    )
    arrive(session, "x", {"list": [1, 2]})
    for item in (1, 2):
        assert args_of(session) == [item]
        answer(session, {"list": [7, 8, 9]})
    assert open_tools(session) == ["x2"]


def test_s2_an_item_has_facts_of_its_own_and_reads_through() -> None:
    """It reads what stands outside; what it writes the next item does not see, nor what follows."""
    seen = {"before": "{{ facts.a.n }}", "mine": "{{ default(facts.w.n, 0) }}"}
    session = start(book(auto("a"), each("e", [1, 2], auto("look", args=seen), auto("w"))))
    arrive(session, "a", {"n": 4})
    for _ in (1, 2):
        assert command(session).args == {"before": 4, "mine": 0}
        arrive(session, "look")
        arrive(session, "w", {"n": 9})
    assert session.outcome == "success"
    with pytest.raises(PlaybookError, match=r"facts[.]w"):
        book(each("e", [1, 2], auto("w")), show(left="default(facts.w.n, 0)"))


def test_s2_an_item_reads_its_own_fact_before_the_enclosing_one() -> None:
    """Where item and enclosing frame have a fact of one name, the item's own is read once it is written."""
    inner = [auto("w1", "q", {"n": "{{ facts.q.n }}"}), step("b", "q"), auto("w2", "r", {"n": "{{ facts.q.n }}"})]
    session = start(book(step("a", "q"), each("e", [1], *inner)))
    ok(session, "q", {"n": 1})
    assert command(session).args == {"n": 1}
    answer(session, {"n": 0})
    ok(session, "q", {"n": 2})
    assert command(session).args == {"n": 2}


def test_s32_loop_names_are_roots_inside_the_body() -> None:
    """Nested loops see both names, in arguments, questions and guards."""
    inner = each("in", "o.ports", auto("w", args={"host": "{{ o.host }}", "port": "{{ i }}"}, when="i > 1"))
    outer = {"id": "out", "for_each": {"as": "o", "in": "inputs.hosts"}, "steps": [inner]}
    hosts = [{"host": "h", "ports": [1, 2]}, {"host": "k", "ports": [3]}]
    session = start(book(outer, inputs={"hosts": "array"}), inputs={"hosts": hosts})
    for host, port in (("h", 2), ("k", 3)):
        assert command(audit(session)).args == {"host": host, "port": port}
        answer(session)
    assert session.outcome == "success"


def test_s27_a_failed_item_fails_the_loop() -> None:
    """No further item begins; the loop's `on_failure` is taken, else the run fails by the loop's name."""
    session = start(book(each("e", [1, 2, 3], WORK, on_failure="escalated")))
    session.observe(command(session).call_id, Failed())
    assert session.outcome == "escalated"
    bare = start(book(each("e", [1, 2, 3], WORK, concurrency=2)))
    first, second = running(bare)
    bare.observe(first.call_id, Failed())
    assert bare.outcome is None and args_of(bare) == []
    assert bare.observe(second.call_id, Succeeded()).outcome == "failed:e"


def test_s35_done_and_failed_in_a_concurrent_item() -> None:
    """`done` ends the item, `failed` the loop."""
    branch = [{"when": "i == 1", "goto": "done"}, {"when": "i == 3", "goto": "failed"}, {"goto": "w"}]
    pick = {"id": "pick", "switch": branch}
    session = start(book(each("e", "inputs.l", pick, WORK, concurrency=3), inputs={"l": "array"}), inputs={"l": [1, 2]})
    assert args_of(session) == [2]
    assert answer(session).outcome == "success"
    bad = start(book(each("e", "inputs.l", pick, WORK, concurrency=3), inputs={"l": "array"}), inputs={"l": [2, 3]})
    drain(bad)
    assert bad.outcome == "failed:e"


def test_s35_an_outcome_word_in_a_sequential_item_ends_the_playbook() -> None:
    """An item's frame is none: the word ends the run, and no further item begins."""
    session = start(book(each("e", [1, 2], auto("w", next_="escalated")), step("z", "x")))
    assert answer(session).outcome == "escalated"


def test_s11_visits_are_counted_per_item() -> None:
    """An item's frame has visit counts of its own: the second item may go as often as the first."""
    again = [{"when": "facts.w.more", "goto": "w"}, {"goto": "done"}]
    session = start(book(each("e", [1, 2], auto("w", max_visits=2, next_=again))))
    for more in (True, False, True, False):
        answer(session, {"more": more})
    assert session.outcome == "success"
    spent = start(book(each("e", [1, 2], auto("w", max_visits=2, next_=again))))
    answer(spent, {"more": True})
    assert answer(spent, {"more": True}).outcome == "stopped:max_visits:w"


def test_s26_deadlines_belong_to_the_item() -> None:
    """Each item's step has its own time, begun when the item begins."""
    session = start(book(each("e", [1, 2], auto("w", timeout="10s", on_timeout="done"))), timed=True)
    answer_late = command(session).call_id
    session.tick(at(10))
    assert session.states == ("e[1]/w",)
    session.observe(answer_late, Succeeded(), now=at(12))
    session.observe(command(session).call_id, Succeeded(), now=at(19))
    assert session.outcome == "success"


def test_s26_the_loops_deadline_removes_its_items() -> None:
    """A loop in time trouble leaves by `on_timeout`; no item goes on."""
    session = start(
        book(each("e", [1, 2, 3], {"id": "w", "wait": "6s"}, timeout="10s", on_timeout="escalated")), timed=True
    )
    session.tick(at(6))
    assert [w.due for w in waits(session)] == [at(12)]
    session.tick(at(10))
    assert session.outcome == "escalated" and waits(session) == []


def test_items_with_agents_steps_are_served_in_order() -> None:
    """A call for a tool that every item needs goes to the first item; then to the next."""
    session = start(book(each("e", ["a", "b"], step("w", {"tool": "x", "where": "args.i == i"}), concurrency=2)))
    assert legal_tools(session) == {"x"}
    ok(session, "x", i="b")
    assert session.states == ("e[0]/w",)
    ok(audit(session), "x", i="a")
    assert ok(session, "x", i="a").outcome == "success"


def test_items_ask_people_of_their_own() -> None:
    """Two items ask two questions, each with its own text, each answer its own."""
    body = [{"id": "q", "ask": {"question": "Is {{ i }} yours?", "choices": ["yes", "no"]}}]
    session = start(book(each("e", ["a", "b"], *body, concurrency=2, collect="answers.q"), show(v="facts.e")))
    first, second = (ask.call_id for ask in asks(session))
    control = Approvals(session)
    assert [question.ask for question in control.pending] == ["Is a yours?", "Is b yours?"]
    assert control.answer(second, "no", by="kim").accepted
    assert Approvals(audit(session)).answer(first, "yes", by="kim").accepted
    assert control.answer(first, "yes", by="kim").accepted
    assert shown(session) == {"v": ["yes", "no"]}


def test_host_verbs_take_the_path_of_an_item() -> None:
    """Where two items stand in the same step, its id alone is ambiguous."""
    session = start(book(each("e", ["a", "b"], step("w", "x"), concurrency=2)))
    with refused(session):
        session.complete("seen", step="w")
    session.complete("seen", step="e[1]/w")
    assert session.states == ("e[0]/w",)
    session.complete("seen", step="w")
    assert session.outcome == "success"


def test_a_block_inside_an_item_and_an_item_inside_a_block() -> None:
    """Frames and forks nest, and a snapshot in the middle of it comes back."""
    body = parallel("s", {"p": auto("p", args={"i": "{{ i }}"}), "q": auto("q")})
    machine = book(parallel("top", {"l": [each("e", [1, 2], body, concurrency=2)], "r": auto("r")}))
    session = start(machine)
    assert session.states == ("e[0]/p", "e[0]/q", "e[1]/p", "e[1]/q", "r")
    assert len({c.call_id for c in running(session)}) == 5
    for left in reversed(running(session)):
        audit(session).observe(left.call_id, Succeeded())
        session.observe(left.call_id, Succeeded())
    assert session.outcome == "success"


# --- rounds ---------------------------------------------------------------------------------------------------------


def test_s28_rounds_go_until_it_holds() -> None:
    """The block is left after the first round in which `until` is true."""
    session = start(book(rounds("r", "facts.w.n >= 2", auto("v"), auto("w")), step("z", "x")))
    for n in (1, 2):
        arrive(audit(session), "v")
        arrive(session, "v")
        arrive(session, "w", {"n": n})
    assert session.states == ("z",)


def test_s28_a_round_runs_in_the_same_frame() -> None:
    """What one round has learned the next reads, and so does what follows."""
    session = start(
        book(
            rounds("r", "facts.w.n >= 2", auto("w", args={"last": "{{ default(facts.w.n, 0) }}"})), show(n="facts.w.n")
        )
    )
    assert command(session).args == {"last": 0}
    answer(session, {"n": 1})
    assert command(session).args == {"last": 1}
    answer(session, {"n": 2})
    assert shown(session) == {"n": 2}


def test_s28_rounds_spent_are_a_failure() -> None:
    """`at_most` rounds without `until`: the step's `on_failure`, else its default failure."""
    machine = book(rounds("r", "facts.w.n >= 9", auto("w"), at_most=2))
    session = start(machine)
    answer(session, {"n": 1})
    assert answer(session, {"n": 2}).outcome == "failed:r"
    assert any("repeat" in (why or "") for why in records(session, "moved", "why"))
    mended = start(book(rounds("r", "false", auto("w"), at_most=1, on_failure="escalated")))
    assert answer(mended).outcome == "escalated"


def test_s44_an_unknown_until_is_not_true() -> None:
    """A fact that is missing is a round that did not hold."""
    session = start(book(rounds("r", "facts.w.n >= 2", auto("w"), at_most=2)))
    answer(session, {})
    assert answer(session, {"n": 2}).outcome == "success"


def test_s28_between_two_rounds_lies_the_wait() -> None:
    """The next round begins when the time has come, not before, also from a snapshot."""
    session = start(book(rounds("r", "facts.w.n == 2", auto("w"), wait="1m")), timed=True)
    session.observe(command(session).call_id, Succeeded({"n": 1}), now=at(5))
    assert [w.due for w in waits(session)] == [at(65)] and running(session) == []
    session.tick(at(64))
    again = audit(session)
    for run in (session, again):
        assert running(run) == []
        run.tick(at(65))
        assert answer(run, {"n": 2}).outcome == "success"


def test_s28_visits_begin_anew_with_each_round() -> None:
    """A step that may be entered once is entered once in every round."""
    session = start(book(rounds("r", "facts.w.n == 3", auto("w", max_visits=1))))
    for n in (1, 2, 3):
        answer(session, {"n": n})
    assert session.outcome == "success"


def test_s28_collect_keeps_a_value_of_each_round() -> None:
    """`facts.STEP` is the list of what the rounds gave, in order."""
    session = start(book(rounds("r", "facts.w.n == 3", auto("w"), collect="facts.w.n * 10"), show(v="facts.r")))
    for n in (1, 2, 3):
        answer(session, {"n": n})
    assert shown(session) == {"v": [10, 20, 30]}


def test_s27_a_failed_round_fails_the_loop() -> None:
    """A step's failure in a round is the block's, not one more round."""
    session = start(book(rounds("r", "facts.w.n == 3", auto("w"), on_failure="escalated")))
    assert session.observe(command(session).call_id, Failed()).outcome == "escalated"


def test_done_in_a_round_ends_the_round() -> None:
    """`until` is asked after it, and the steps behind are passed over."""
    branch = [{"when": "facts.a.skip", "goto": "done"}, {"goto": "b"}]
    session = start(book(rounds("r", "has(facts.b.n)", auto("a", next_=branch), auto("b"))))
    answer(session, {"skip": True})
    assert open_tools(session) == ["a"]
    answer(session, {"skip": False})
    assert answer(session, {"n": 1}).outcome == "success"


def test_rounds_may_be_an_agents_work() -> None:
    """Each round's step needs its tool again."""
    session = start(book(rounds("r", "facts.x.good", step("a", "x"), step("b", "y"))))
    for good in (False, True):
        ok(session, "x", {"good": good})
        assert audit(session).states == ("b",)
        ok(session, "y")
    assert session.outcome == "success"


def test_s29_an_approval_inside_a_round_is_asked_in_every_round() -> None:
    """A yes of the first round is no yes for the second."""
    session = start(book(rounds("r", "facts.w.n == 2", auto("w", approval={"ask": "Again?"}))))
    for n in (1, 2):
        assert running(session) == []
        Approvals(session).approve(asked(session), by="kim")
        answer(session, {"n": n})
    assert session.outcome == "success"


def test_s28_an_error_in_a_repeated_call_is_no_round() -> None:
    """`repeat` of a call: an error follows the retry rules, and does not use up a round."""
    poll = auto("w", repeat={"until": "facts.w.n == 2", "at_most": 2}, retry=1)
    session = start(book(poll, tools={"w": {"effect": "read"}}))
    answer(session, {"n": 1})
    session.observe(command(session).call_id, Failed())
    assert answer(session, {"n": 2}).outcome == "success"


def test_s11_a_loop_may_be_entered_again() -> None:
    """Rounds and items are counted per visit of the block."""
    again = [{"when": "facts.x.more", "goto": "s"}, {"goto": "success"}]
    inside = section("s", rounds("r", "facts.w.n == 2", auto("w"), at_most=2), each("e", [1, 2], auto("v")))
    session = start(book(inside, step("z", "x", next_=again)))
    ids = []
    for more in (True, False):
        ids += [
            arrive(session, "w", {"n": 1}),
            arrive(session, "w", {"n": 2}),
            arrive(session, "v"),
            arrive(session, "v"),
        ]
        ok(session, "x", {"more": more})
    assert session.outcome == "success"
    assert len(set(ids)) == 8


def test_s14_a_denied_call_does_not_go_to_another_item() -> None:
    """An argument that fits no item is refused."""
    session = start(book(each("e", ["a", "b"], step("w", {"tool": "x", "where": "args.i == i"}), concurrency=2)))
    assert denied(session, "x", i="c").code == "where"
    assert session.states == ("e[0]/w", "e[1]/w")
