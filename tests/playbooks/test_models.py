"""The models: frozen, closed, equal by what they say, and at home in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from guideway.playbooks.models import Playbook, PlaybookStep, StepStatus
from guideway.playbooks.reader import read_text
from guideway.playbooks.terminations import TerminationItem
from guideway.playbooks.tools_spec import ToolEntry
from guideway.playbooks.validate import recheck, validate
from guideway.playbooks.values import duration_text, seconds

CORPUS = Path(__file__).parent / "corpus" / "ok"

TEXT = """\
id: triage
name: Triage
termination: {max_iterations: 4}
steps:
  - id: look
    description: Look
    expected_tools:
      - {tool: a, where: args.x == 1}
    retry: 2
    next:
      - {when: facts.a.y, goto: done}
      - {goto: look}
"""


def loaded(text: str = TEXT) -> Playbook:
    """The playbook of a text that is right."""
    playbook, found = validate(read_text(text, "t.yaml"))
    assert found == []
    assert playbook is not None
    return playbook


def test_the_seed_fields_have_the_seed_defaults() -> None:
    """A step and a playbook of the seed are built by the same names and read the same."""
    step = PlaybookStep(id="a", description="A")
    playbook = Playbook(id="p", name="P", steps=[step])

    assert (
        step.expected_tools,
        step.hints,
        step.uses,
        step.required,
        step.validation,
        step.min_tool_calls,
        step.max_tool_calls,
        step.timeout_seconds,
        step.metadata,
    ) == ([], [], [], True, {}, None, None, None, {})
    assert (
        playbook.description,
        playbook.version,
        playbook.metadata,
        playbook.tags,
        playbook.strict_sequence,
        playbook.allow_extra_tools,
        playbook.max_iterations,
    ) == ("", "1.0.0", {}, [], True, False, None)


def test_step_status_has_the_words_of_the_seed() -> None:
    """The five words, as plain text."""
    assert [str(status) for status in StepStatus] == ["pending", "in_progress", "completed", "skipped", "failed"]


def test_steps_are_found_by_id() -> None:
    """The step and its position, or None for a name that is none."""
    playbook = Playbook(id="p", name="P", steps=[PlaybookStep(id=f"s{n}", description="S") for n in range(5)])

    assert (playbook.get_step_index("s3"), playbook.get_step_index("gone")) == (3, None)
    assert playbook.get_step("s3") is playbook.steps[3]
    assert playbook.get_step("gone") is None


def test_a_model_cannot_be_changed() -> None:
    """What was checked stays as it was checked."""
    with pytest.raises(ValidationError, match="frozen"):
        loaded().steps[0].id = "other"


def test_an_unknown_key_in_python_is_pydantics_own_error() -> None:
    """A misspelt argument does not open the gate either."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        PlaybookStep(id="a", description="A", expected_tool=["x"])  # type: ignore[call-arg]


def test_the_shorthand_forms_give_the_same_models_as_the_long_ones() -> None:
    """`retry: 2`, a single condition and a bare expression are the maps and texts they stand for."""
    text = TEXT.replace("retry: 2", "retry: {at_most: 2}").replace("{max_iterations: 4}", "[{max_iterations: 4}]")

    assert loaded(text) == loaded()
    assert [TerminationItem(max_iterations=4)] == loaded().termination


def test_a_bare_value_is_the_source_of_an_expression() -> None:
    """`when: true` and `when: 1.5` are expressions."""
    text = "id: a\nname: A\nterms: {yes: true, half: 0.5, one: 1}"

    assert loaded(text).terms == {"yes": "true", "half": "0.5", "one": "1"}


def test_spans_follow_the_path_of_the_model() -> None:
    """Every value has its place; a missing one that of the nearest value around it."""
    playbook = loaded()

    assert str(playbook.span(("steps", 0, "expected_tools", 0, "where"))) == "t.yaml:8:26"
    assert str(playbook.text_span(("steps", 0, "expected_tools", 0, "where"), 6)) == "t.yaml:8:32"
    assert str(playbook.span(("steps", 0, "next", 0, "goto"))) == "t.yaml:11:33"
    assert str(playbook.span(("steps", 0, "retry", "at_most"))) == "t.yaml:9:12"
    assert str(playbook.span(("termination", 0, "max_iterations"))) == "t.yaml:3:31"
    assert str(playbook.key_span(("steps", 0, "retry"))) == "t.yaml:9:5"
    assert str(playbook.span(("policies", 3))) == "t.yaml:1:1"


def test_a_playbook_built_in_python_stands_nowhere() -> None:
    """Its spans say so instead of failing."""
    playbook = Playbook(id="p", name="P")

    assert (playbook.file, str(playbook.span(("steps", 0)))) == ("<dict>", "<dict>:1:1")
    assert str(playbook.text_span(("id",), 0)) == "<dict>:1:1"


def test_where_the_words_stand_is_no_part_of_what_they_say() -> None:
    """The same playbook from another file, or from Python, is equal."""
    playbook, _ = validate(read_text(TEXT + "\n# more\n", "other.yaml"))

    assert playbook == loaded()


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda p: p.name)
def test_a_dump_loads_again(path: Path) -> None:
    """What `model_dump` gives, and JSON of it, is the same playbook again."""
    playbook = loaded(path.read_text(encoding="utf-8"))

    assert Playbook.model_validate(playbook.model_dump()) == playbook
    assert Playbook.model_validate_json(playbook.model_dump_json()) == playbook


def test_rules_between_keys_hold_for_playbooks_built_in_python_too() -> None:
    """`recheck` finds what single keys cannot know."""
    step = PlaybookStep(id="a", description="A")
    playbook = Playbook(id="p", name="P", steps=[step, step])

    assert [found.code for found in recheck(playbook)] == ["GW029"]


def test_the_kind_of_a_step_is_the_key_it_carries() -> None:
    """An approval beside other work comes first and is not the kind."""
    text = """\
id: a
name: A
steps:
  - {id: a, description: A}
  - {id: b, call: {tool: x}, approval: {ask: Really?}}
  - {id: c, approval: {ask: Really?}}
  - {id: d, switch: [{goto: a}]}
  - {id: e, approval: {ask: Really?}, expected_tools: [x]}
  - {id: f, approval: {none: true, because: asked before}, description: F}
"""
    assert [step.kind for step in loaded(text).steps] == ["agent", "call", "approval", "switch", "agent", "agent"]


def test_entries_are_bare_names_written_out() -> None:
    """A name and a map with that tool are the same entry."""
    step = PlaybookStep(id="a", expected_tools=["x", ToolEntry(tool="x", as_="y")], optional_tools=["z*"])

    assert (ToolEntry(tool="x"), ToolEntry(tool="x", as_="y")) == step.expected_entries
    assert (ToolEntry(tool="z*"),) == step.optional_entries


def test_only_what_was_said_is_shown() -> None:
    """The repr of a step is short enough to read."""
    assert (
        repr(PlaybookStep(id="a", description="A", max_tool_calls=2))
        == "PlaybookStep(id='a', description='A', max_tool_calls=2)"
    )


@pytest.mark.parametrize("text", ["", "1h 30m", "30", "1.5h", "-1s", "30m1h", "1h1h", "1H", "٣s", "1s\n"])
def test_what_is_no_duration_has_no_seconds(text: str) -> None:
    """Only days, hours, minutes, seconds in this order, in plain digits."""
    with pytest.raises(ValueError, match="is no duration"):
        seconds(text)


@pytest.mark.parametrize("count", [0, 1, 59, 60, 3599, 86_400, 90_061])
def test_durations_and_seconds_are_one_thing(count: int) -> None:
    """Writing a count as a duration and counting it again gives the count."""
    assert count == seconds(duration_text(count))
