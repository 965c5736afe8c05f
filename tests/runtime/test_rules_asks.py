"""A person does or answers something: S30's `ask`."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, HostError, Session

from .building import arrive, asked_at, auto, legal_tools, open_tools, parallel, records, show, shown
from .helpers import asked, asks, at, audit, book, denied, ok, refused, start, step, unchanged, waits

AFTER = step("z", "zz")


def ask(id: str = "q", question: str = "Well?", timeout: str | None = None, **more: Any) -> dict[str, Any]:
    """A step that asks; what belongs to the step stands beside the question."""
    on = {key: more.pop(key) for key in list(more) if key.startswith("on_") or key in ("when", "required", "next_")}
    made: dict[str, Any] = {"id": id, "ask": {"question": question} | more}
    made |= {key.removesuffix("_"): value for key, value in on.items()}
    return made | ({"timeout": timeout} if timeout else {})


def test_s30_an_ask_is_a_command_and_a_question() -> None:
    """The host is told to show it; the control plane shows choices and fields."""
    fields = {"n": {"type": "integer"}, "why": "string"}
    session = start(book(ask(question="Is it you?", assignees=["kim"], choices=["yes", "no"], fields=fields), AFTER))
    [command] = asks(session)
    assert (command.ask, command.approvers, command.step) == ("Is it you?", ("kim",), "q")
    assert (command.choices, set(command.fields)) == (("yes", "no"), {"n", "why"})
    [question] = Approvals(audit(session)).pending
    assert (question.of, question.ask, question.choices) == ("ask", "Is it you?", ("yes", "no"))
    assert question.fields == {"n": {"type": "integer"}, "why": {"type": "string"}}


def test_s30_a_plain_question_takes_a_text() -> None:
    """`ask: TEXT` is answered by anybody the host lets answer, with a text that is `answers.STEP`."""
    session = start(book({"id": "q", "ask": "How many?"}, show(a="answers.q")))
    assert Approvals(session).answer(asked(session), "three or so", by="kim").accepted
    assert shown(session) == {"a": "three or so"}


def test_s30_texts_are_filled_in() -> None:
    """Question and assignees are read when the step is entered."""
    session = start(
        book(step("a", "x"), ask(question="Is {{ facts.x.ip }} yours?", assignees=["{{ facts.x.who }}", "lead"]), AFTER)
    )
    ok(session, "x", {"ip": "10.1", "who": "eve"})
    [command] = asks(session)
    assert (command.ask, command.approvers) == ("Is 10.1 yours?", ("eve", "lead"))


def test_s44_a_text_that_cannot_be_filled_in_fails_the_step() -> None:
    """Nobody is asked a question with a hole, and nobody unknown is asked."""
    for more in ({"question": "Is {{ facts.x.ip }} yours?"}, {"assignees": ["{{ facts.x.who }}"]}):
        session = start(book(step("a", "x"), ask(on_failure="escalated", **more), AFTER))
        ok(session, "x", {})
        assert session.outcome == "escalated", more
        assert records(session, "asked") == []


@pytest.mark.parametrize(("label", "state"), [("yes", "z"), ("no", "n")])
def test_s30_a_label_leads_to_its_target(label: str, state: str) -> None:
    """`choices` as a map: the label's target; the label itself is the answer."""
    machine = book(ask(choices={"yes": "z", "no": "n"}), step("n", "nn", next_="success"), AFTER)
    session = start(machine)
    Approvals(session).answer(asked(session), label, by="kim")
    assert audit(session).states == (state,)


def test_s30_a_label_may_lead_to_an_outcome() -> None:
    """A choice may end the run by the author's word."""
    session = start(book(ask(choices={"yes": "z", "no": "declined"}), AFTER, outcomes={"declined": "stopped"}))
    Approvals(session).answer(asked(session), "no", by="kim")
    assert (session.outcome, session.outcome_class) == ("declined", "stopped")


def test_s30_choices_as_a_list_lead_to_next() -> None:
    """Every label goes on to `next`, whose branches read it."""
    branches = [{"when": 'answers.q == "no"', "goto": "escalated"}, {"goto": "z"}]
    for label, end in (("no", "escalated"), ("yes", None)):
        session = start(book(ask(choices=["yes", "no"], next_=branches), AFTER))
        Approvals(session).answer(asked(session), label, by="kim")
        assert session.outcome == end


def test_s30_words_that_other_yamls_read_as_truth_are_labels() -> None:
    """`yes` and `no` are the words they are, from YAML text too."""
    import guideway

    text = "id: p\nname: P\nsteps:\n  - id: q\n    ask: {question: Q?, choices: {yes: success, no: escalated}}\n"
    session = start(guideway.load(text))
    Approvals(session).answer(asked(session), "no", by="kim")
    assert session.outcome == "escalated"


@pytest.mark.parametrize("label", ["maybe", "Yes", " yes", "", "yes,no"])
def test_s30_a_label_outside_the_choices_is_refused(label: str) -> None:
    """Nothing has changed, and the answer says which there are."""
    session = start(book(ask(choices=["yes", "no"]), AFTER))
    with unchanged(session):
        decided = Approvals(session).answer(asked(session), label, by="kim")
    assert not decided.accepted
    assert "yes" in decided.reason and "no" in decided.reason
    assert Approvals(session).answer(asked(session), "yes", by="kim").accepted


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"n": "7", "why": "x"},
        {"n": 7},
        {"n": 7, "why": "x", "more": 1},
        {"n": True, "why": "x"},
        {"n": 7.5, "why": "x"},
    ],
    ids=["none", "a word", "one missing", "one too many", "a boolean", "a half"],
)
def test_s30_fields_against_their_types_are_refused(fields: dict[str, Any]) -> None:
    """A field missing, unknown or of another type: refused, nothing changed."""
    session = start(book(ask(fields={"n": "integer", "why": "string"}), AFTER))
    with unchanged(session):
        decided = Approvals(session).answer(asked(session), by="kim", fields=fields)
    assert not decided.accepted and decided.reason


def test_s30_fields_are_the_answer() -> None:
    """With `fields` the answer is a map of them; a float with an integral value is the integer it is (S56)."""
    session = start(book(ask(fields={"n": "integer", "why": "string"}), show(n="answers.q.n", why="answers.q.why")))
    assert Approvals(session).answer(asked(session), by="kim", fields={"n": 7.0, "why": "x"}).accepted
    assert shown(session) == {"n": 7, "why": "x"}


def test_s30_fields_and_choices_together() -> None:
    """The map has the label as `choice`, and the label still leads to its target."""
    machine = book(
        ask(choices={"yes": "show", "no": "escalated"}, fields={"n": "integer"}),
        show(n="answers.q.n", c="answers.q.choice"),
    )
    session = start(machine)
    with unchanged(session):
        assert not Approvals(session).answer(asked(session), by="kim", fields={"n": 1}).accepted
        assert not Approvals(session).answer(asked(session), "yes", by="kim").accepted
    assert Approvals(session).answer(asked(session), "yes", by="kim", fields={"n": 1}).accepted
    assert shown(session) == {"n": 1, "c": "yes"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_s56_an_answer_that_is_no_json_is_refused(value: Any) -> None:
    """What no record can hold is no answer; nothing has changed."""
    session = start(book(ask(fields={"v": {}}), AFTER))
    with unchanged(session):
        try:
            accepted = Approvals(session).answer(asked(session), by="kim", fields={"v": value}).accepted
        except HostError:
            accepted = False
    assert not accepted


def test_s30_only_an_assignee_answers() -> None:
    """Another person is refused; a member of an assigned group is not."""
    session = start(book(ask(assignees=["kim", "soc"], choices=["yes"]), AFTER))
    control = Approvals(session)
    for by, groups in (("eve", ()), ("Kim", ()), ("eve", ("SOC", "sales")), ("*", ())):
        with unchanged(session):
            decided = control.answer(asked(session), "yes", by=by, groups=groups)
        assert not decided.accepted and decided.reason
    with refused(session):
        control.answer(asked(session), "yes", by="")
    assert control.answer(asked(session), "yes", by="eve", groups=("sales", "soc")).accepted


def test_s30_an_ask_is_answered_not_approved() -> None:
    """A decision of another kind is refused and changes nothing; the reverse as well."""
    session = start(book(ask(choices=["yes"]), {"id": "ok", "approval": {"ask": "Go?"}}))
    control = Approvals(session)
    with unchanged(session):
        assert not control.approve(asked(session), by="kim").accepted
        assert not control.happened(asked(session), by="kim").accepted
    control.answer(asked(session), "yes", by="kim")
    with unchanged(session):
        assert not control.answer(asked(session), "yes", by="kim").accepted


def test_s30_an_answer_comes_once() -> None:
    """A second answer comes too late, whatever it says."""
    session = start(book(ask(choices=["yes", "no"]), AFTER))
    first = asked(session)
    Approvals(session).answer(first, "yes", by="kim")
    for label in ("yes", "no"):
        with unchanged(session):
            decided = Approvals(session).answer(first, label, by="eve")
        assert not decided.accepted and "already" in decided.reason


def test_s30_a_step_entered_again_asks_again() -> None:
    """A new visit is a new question, and its answer is the latest."""
    again = [{"when": 'answers.q == "again"', "goto": "q"}, {"goto": "show"}]
    session = start(book(ask(next_=again), show(a="answers.q")))
    first = asked(session)
    Approvals(session).answer(first, "again", by="kim")
    second = asked(session)
    assert second != first
    Approvals(session).answer(second, "well", by="kim")
    assert shown(session) == {"a": "well"}


def test_s30_who_said_what_is_recorded() -> None:
    """The record names the person, the answer and the note."""
    session = start(book(ask(choices=["yes"], fields={"n": "integer"}), AFTER))
    Approvals(session).answer(asked(session), "yes", by="kim", fields={"n": 3}, note="by phone")
    [(by, note, step_id, answer)] = records(session, "answered", "by", "note", "step", "answer")
    assert (by, note, step_id) == ("kim", "by phone", "q")
    assert answer == {"choice": "yes", "n": 3}


def test_s30_no_agent_answers() -> None:
    """While a person is asked no control tool and no other call is legal."""
    session = start(book(ask(choices=["yes"], required=False), AFTER, max_refusals=9))
    assert legal_tools(session) == set() and session.legal() == ()
    assert denied(session, "skip_step").code
    assert denied(session, "complete_step").code
    assert denied(session, "zz").code == "out_of_sequence"


def test_s26_an_ask_has_a_deadline() -> None:
    """At the deadline `on_timeout`, else a stop; an answer that comes at that moment is too late (S7)."""
    machine = book(ask(choices=["yes"], timeout="2h", on_timeout="escalated"), AFTER)
    session = start(machine, timed=True)
    question = asked(session)
    assert not Approvals(session).answer(question, "yes", by="kim", now=at(7200)).accepted
    assert session.outcome == "escalated"
    bare = start(book(ask(timeout="2h"), AFTER), timed=True)
    bare.tick(at(7199))
    assert bare.outcome is None
    assert bare.tick(at(7200)).outcome == "stopped:timeout:q"


def test_s26_an_answer_in_time_stops_the_deadline() -> None:
    """An answered question does not time out later."""
    session = start(book(ask(choices=["yes"], timeout="2h"), AFTER), timed=True)
    assert Approvals(session).answer(asked(session), "yes", by="kim", now=at(7199)).accepted
    session.tick(at(9000))
    assert session.outcome is None


def test_s30_a_person_is_reminded() -> None:
    """Every `remind` the command is issued anew and counts; the question stays the same."""
    session = start(book(ask(remind="1h", assignees=["kim"]), AFTER), timed=True)
    question = asked(session)
    assert [a.reminders for a in asks(session)] == [0]
    for times in (1, 2):
        session.tick(at(3600 * times))
        assert [(a.call_id, a.reminders) for a in asks(audit(session))] == [(question, times)]
    assert Approvals(session).answer(question, "x", by="kim", now=at(7201)).accepted
    session.tick(at(20000))
    assert asks(session) == [] and waits(session) == []


def test_s30_reminders_missed_come_when_time_is_told() -> None:
    """A host that slept over two of them hears of both; a snapshot keeps the count and the next one."""
    session = start(book(ask(remind="1h"), AFTER), timed=True)
    session.tick(at(3 * 3600 + 5))
    assert [a.reminders for a in asks(session)] == [3]
    again = Session.restore(session.machine, session.snapshot.to_json())
    again.tick(at(4 * 3600))
    assert [a.reminders for a in asks(again)] == [4]


def test_s7_reminders_need_a_clock() -> None:
    """A playbook that reminds refuses to start without `now`."""
    with pytest.raises(HostError, match="now"):
        start(book(ask(remind="1h"), AFTER))


def test_s51_the_host_skips_an_optional_ask_and_fails_any() -> None:
    """Both void the question."""
    session = start(book(ask(choices=["yes"], required=False), AFTER))
    question = asked(session)
    session.skip("nobody there")
    assert session.states == ("z",) and asks(session) == []
    assert not Approvals(session).answer(question, "yes", by="kim").accepted
    failed = start(book(ask(choices=["yes"]), AFTER))
    with refused(failed):
        failed.skip("required")
    assert failed.fail("nobody there").outcome == "failed:q"


def test_s30_several_asks_are_open_at_once() -> None:
    """Each answer reaches its own branch, in any order."""
    branches = {"a": {"ask": {"question": "A?", "choices": ["yes"]}}, "b": {"ask": "B?"}, "c": auto("c")}
    session = start(book(parallel("s", branches), show(a="answers.a", b="answers.b")))
    control = Approvals(session)
    assert [question.ask for question in control.pending] == ["A?", "B?"]
    control.answer(asked_at(session, "b"), "second", by="kim")
    arrive(session, "c")
    control.answer(asked_at(session, "a"), "yes", by="kim")
    assert shown(session) == {"a": "yes", "b": "second"}


def test_an_approval_may_stand_before_an_ask() -> None:
    """First a person allows it, then a person answers."""
    machine = book({"id": "q", "approval": {"ask": "May we ask?", "approvers": ["lead"]}, "ask": "Well?"}, auto("n"))
    session = start(machine)
    assert [a.ask for a in asks(session)] == ["May we ask?"]
    Approvals(session).approve(asked(session), by="lead")
    assert [a.ask for a in asks(session)] == ["Well?"]
    Approvals(session).answer(asked(session), "yes", by="kim")
    assert open_tools(session) == ["n"]
