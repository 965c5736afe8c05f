"""Steps inside steps: their order, their names, their places, and what is left of broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from guideway.playbooks.approvals import rules_of, waived
from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.playbooks.nesting import lists_of, walk
from guideway.playbooks.policies import POLICY_KINDS
from guideway.playbooks.reader import read_text
from guideway.playbooks.salvage import salvage
from guideway.playbooks.validate import recheck, validate

CORPUS = Path(__file__).parent / "corpus" / "ok"
SECOND_HALF = (CORPUS / "second_half.yaml").read_text(encoding="utf-8")


def loaded(text: str = SECOND_HALF) -> Playbook:
    """The playbook of a text that is right."""
    playbook, found = validate(read_text(text, "t.yaml"))
    assert found == []
    assert playbook is not None
    return playbook


def test_a_walk_goes_down_the_page() -> None:
    """Every step once, nested ones after the one they lie in, `finally` last: in the order of their lines."""
    playbook = loaded()
    ids = [step.id for step, _ in playbook.walk()]
    lines = [playbook.key_span(path).line for _, path in playbook.walk()]

    assert ids[:8] == ["look", "owner", "address", "page", "agree", "pause", "rounds", "isolated"]
    assert ids[-2:] == ["log_out", "close_ticket"]
    assert sorted(lines) == lines
    assert len(ids) == len(set(ids))


def test_the_path_of_a_walk_leads_to_the_step() -> None:
    """Each path is that of the model, branches by name and lists by position."""
    playbook = loaded()
    paths = {step.id: path for step, path in playbook.walk()}

    assert paths["address"] == ("steps", 0, "parallel", "address")
    assert paths["agree"] == ("steps", 0, "parallel", "people", 1)
    assert paths["probe"] == ("steps", 1, "steps", 0, "steps", 1, "steps", 0)
    assert paths["close_ticket"] == ("finally", 1)


def test_a_step_is_found_at_any_depth() -> None:
    """By its id wherever it stands; its position only in the playbook's own list."""
    playbook = loaded()

    found = playbook.get_step("probe")
    assert found is not None and found.kind == "call"
    assert (playbook.get_step_index("probe"), playbook.get_step_index("rounds")) == (None, 1)


def test_every_kind_is_told_by_its_key() -> None:
    """The kinds of the second half, each from the step that carries its key."""
    expected = {
        "look": "parallel",
        "address": "playbook",
        "page": "ask",
        "agree": "approval",
        "pause": "wait",
        "rounds": "for_each",
        "isolated": "section",
        "pages": "repeat",
        "judge": "agent",
        "take_back": "undo",
        "log_out": "call",
    }
    kinds = {step.id: step.kind for step, _ in loaded().walk() if step.id in expected}

    assert expected == kinds


def test_the_short_forms_are_the_long_ones() -> None:
    """`wait: 10m`, a question as text, type words and a branch of one step are what they stand for."""
    short = PlaybookStep.model_validate({"id": "a", "parallel": {"b": {"wait": "10m"}, "c": {"ask": "Q"}}})
    long = PlaybookStep.model_validate(
        {"id": "a", "parallel": {"b": {"id": "b", "wait": {"duration": "10m"}}, "c": {"ask": {"question": "Q"}}}}
    )

    assert long == short
    assert PlaybookStep.model_validate({"id": "a", "claims": {"x": "string"}}).claims == {"x": {"type": "string"}}


def test_the_lists_of_a_step_are_those_directly_in_it() -> None:
    """Branches by name; the one list of a block under no name; nothing in any other step."""
    look, rounds = loaded().steps[:2]

    assert list(lists_of(look)) == ["owner", "address", "people", "pause"]
    assert [step.id for step in lists_of(look)["people"]] == ["page", "agree"]
    assert [(name, [s.id for s in steps]) for name, steps in lists_of(rounds).items()] == [("", ["isolated"])]
    assert lists_of(look.parallel["owner"] if look.parallel else look) == {}  # type: ignore[arg-type]


def test_a_dump_of_blocks_keeps_every_rule() -> None:
    """What was read and dumped is found right again, defaults written out."""
    assert recheck(loaded()) == []


def test_an_approval_is_its_rules() -> None:
    """Nothing, one rule, a list, and a waiver, which is a rule of its own."""
    tools = loaded().tools or {}

    assert rules_of(None) == ()
    assert [rule.when for rule in rules_of(tools["pay"].approval)] == ["args.amount > 1000", "args.amount > 100", None]
    assert [rule.excluded for rule in rules_of(tools["pay"].approval)] == [
        (),
        ("{{ run.started_by }}",),
        ("intern", "{{ run.started_by }}"),
    ]
    assert (waived(tools["revoke"].approval), waived(tools["pay"].approval)) == (True, False)


def test_every_kind_of_policy_is_known_by_its_key() -> None:
    """`kind` is the key that was written."""
    assert set(POLICY_KINDS) == {policy.kind for policy in loaded().policies}


def test_a_branch_that_is_no_step_is_refused_in_python_too() -> None:
    """The model itself closes the form."""
    with pytest.raises(ValidationError, match="must be a step, or a list of steps"):
        PlaybookStep.model_validate({"id": "a", "parallel": {"b": 3}})


DEEP = """\
id: deep
name: Deep
steps:
  - id: outer
    parallel:
      one:
        - id: loop
          for_each: {as: item, in: [1]}
          steps:
            - {id: inner, call: {tool: x}, %s}
      two: {call: {tool: y}}
"""


@pytest.mark.parametrize(
    ("fault", "place", "code"),
    [
        ("wehn: x", "10:44", "GW020"),
        ("max_visits: 0", "10:56", "GW025"),
        ("next: [{when: x}]", "10:51", "GW023"),
        ("id: inner, id: inner", "10:44", "GW007"),
        ("wait: 10m", "10:44", "GW030"),
    ],
)
def test_a_fault_deep_inside_has_its_place(fault: str, place: str, code: str) -> None:
    """Line and column of the fault itself, however deep."""
    _, found = validate(read_text(DEEP % fault, "deep"))

    assert (f"deep:{place}", code) == (str(found[0].span), found[0].code)


def test_what_is_sound_of_a_broken_block_is_kept() -> None:
    """A fault deep inside costs the key it stands in, and the names of all other steps are still there."""
    rest = salvage(read_text(DEEP % "max_visits: 0"))

    assert rest is not None
    playbook, lost = rest
    assert lost == (("steps", 0, "parallel", "one", 0, "steps", 0, "max_visits"),)
    assert [step.id for step, _ in playbook.walk()] == ["outer", "loop", "inner", "two"]


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("for_each: {as: item, in: [1]}", None),
        ("for_each: {in: [1]}", ("for_each",)),
        ("for_each: {as: item, in: 3}", ("for_each",)),
        ("for_each: {as: item, in: [1], at_most: 0}", ("for_each", "at_most")),
    ],
)
def test_a_key_that_cannot_go_takes_the_one_around_it_along(written: str, lost: tuple[str, ...] | None) -> None:
    """Where a map cannot do without the key that has a fault, the map is left out."""
    text = DEEP.replace("for_each: {as: item, in: [1]}", written) % "timeout: 1h"
    rest = salvage(read_text(text))

    here = ("steps", 0, "parallel", "one", 0)
    assert (lost and ((*here, *lost),)) == (rest and rest[1])


def test_a_nested_step_without_an_id_costs_its_list() -> None:
    """The list goes, the step around it stays."""
    rest = salvage(read_text((DEEP % "timeout: 1h").replace("id: inner, ", "")))

    assert rest is not None
    assert rest[1] == (("steps", 0, "parallel", "one", 0, "steps"),)
    assert [step.id for step, _ in rest[0].walk()] == ["outer", "loop", "two"]


def test_walking_needs_no_playbook() -> None:
    """A list of steps and the path it stands at are enough."""
    step = PlaybookStep(id="a", steps=[PlaybookStep(id="b", description="B")])

    assert [(s.id, path) for s, path in walk([step], ("x",))] == [("a", ("x", 0)), ("b", ("x", 0, "steps", 0))]


def test_depth_is_bounded_by_the_reader_alone() -> None:
    """Sections as deep as the reader lets in are validated, walked and dumped without a crash."""
    text = '{"id": "a", "name": "A", "steps": [' + "".join(f'{{"id": "s{n}", "steps": [' for n in range(28))
    text += '{"id": "end", "wait": "1m"}' + "]}" * 28 + "]}"
    playbook = loaded(text)

    assert len(list(playbook.walk())) == 29
    assert playbook == Playbook.model_validate(playbook.model_dump())
