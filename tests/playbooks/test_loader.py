"""The loader: the seed's names, and nothing but `PlaybookLoadError` for whatever it is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.playbooks.loader import PlaybookLoader, PlaybookLoadError, load_playbook
from guideway.statemachine.errors import PlaybookError

SEED = Path(__file__).parent / "seed"
YAML = "id: triage\nname: Triage\nsteps:\n  - {id: look, description: Look}\n"
DATA = {"id": "triage", "name": "Triage", "steps": [{"id": "look", "description": "Look"}]}


def test_every_kind_of_source_gives_the_same_playbook(tmp_path: Path) -> None:
    """A dict, a Path, a path string, JSON text and YAML text."""
    path = tmp_path / "triage.yaml"
    path.write_text(YAML, encoding="utf-8")
    loader = PlaybookLoader()
    expected = loader.load_dict(DATA)

    found = [load_playbook(source) for source in (DATA, path, str(path), json.dumps(DATA), YAML)]
    found += [loader.load_file(str(path)), loader.load_json_string(json.dumps(DATA)), loader.load_yaml_string(YAML)]

    assert [expected] * 8 == found


def test_the_playbooks_of_the_seed_load_unchanged() -> None:
    """The flat one, with all its words."""
    playbook = load_playbook(SEED / "phishing_triage.yaml")

    assert [step.id for step in playbook.steps] == ["gather", "enrich", "scope", "contain"]
    assert playbook.steps[2].expected_tools == ["fetch_host_timeline", "list_detections"]
    assert (playbook.allow_extra_tools, playbook.steps[3].required) == (True, False)


def test_the_grouped_playbook_of_the_seed_loads_unchanged() -> None:
    """Groups are flattened in order; titles, goals and skills find their keys, the rest goes to metadata."""
    playbook = load_playbook(SEED / "stripe_triage.json")
    first, second = playbook.steps[:2]

    assert playbook.name == "Stripe money-movement triage"
    assert playbook.description.startswith("Find the method, establish the facts")
    assert [s.id for s in playbook.steps] == ["discover", "payments", "billing", "disputes", "balance", "refund"]
    assert (first.uses, first.min_tool_calls, first.max_tool_calls) == (["stripe-api-discovery"], 1, 6)
    assert first.description.startswith("Find the right method before calling anything.")
    assert "Locate the API method." in first.description
    assert second.description.startswith("Establish the facts, across every surface")
    assert second.metadata == {"priority": "critical", "group": "establish"}
    assert playbook.metadata["mode"] == "diagnosis"
    assert f"{SEED / 'stripe_triage.json'}:37:29" == str(playbook.span(("steps", 1, "max_tool_calls")))


def test_the_error_holds_every_fault_as_line_and_as_value(tmp_path: Path) -> None:
    """The message shows them, `errors` lists them, `diagnostics` keeps them as values, `path` is the file."""
    path = tmp_path / "bad.yaml"
    path.write_text("id: a\nnam: A\nsteps:\n  - {id: x, description: X, max_tool_calls: -3}\n", encoding="utf-8")

    with pytest.raises(PlaybookLoadError) as caught:
        load_playbook(path)

    expected = [
        f"{path}:2:1: error: unknown key `nam` at the top of the playbook; did you mean `name`? [GW020]",
        f"{path}:4:45: error: `max_tool_calls` is -3; it must be 0 or more [GW025]",
    ]
    assert expected == caught.value.errors
    assert expected == [str(found) for found in caught.value.diagnostics]
    assert path == caught.value.path
    assert f"2 errors in {path}:\n  {expected[0]}\n  {expected[1]}" == str(caught.value)
    assert isinstance(caught.value, PlaybookError)


def test_the_error_is_made_as_the_seed_makes_it() -> None:
    """Message, path, errors; the last two may be left out."""
    bare = PlaybookLoadError("no")
    full = PlaybookLoadError("no", Path("a.yaml"), ["one"])

    assert (bare.path, bare.errors, bare.diagnostics) == (None, [], ())
    assert (Path("a.yaml"), ["one"]) == (full.path, full.errors)


@pytest.mark.parametrize("source", [None, 3, [1], b"id: a", object(), ("a",), True])
def test_what_is_no_source_is_refused_in_a_sentence(source: Any) -> None:
    """D17: no AttributeError for a value of another type."""
    loader = PlaybookLoader()
    for load in (load_playbook, loader.load_dict, loader.load_json_string, loader.load_yaml_string, loader.load_file):
        with pytest.raises(PlaybookLoadError, match=r"not |must be"):
            load(source)


@pytest.mark.parametrize("text", ["a" * 100_000, "no\0such", "no-such.yaml", "", ".", "triage.txt", "~/x.yaml"])
def test_a_path_that_leads_nowhere_is_refused_in_a_sentence(text: str) -> None:
    """D17: no OSError for a long string, no ValueError for a NUL."""
    with pytest.raises(PlaybookLoadError) as caught:
        load_playbook(text)

    assert [found.code for found in caught.value.diagnostics] == ["GW001"]


def test_max_tool_calls_of_zero_stays_zero() -> None:
    """D17: it is a limit, not the absence of one."""
    playbook = load_playbook("id: a\nname: A\nsteps: [{id: x, description: X, max_tool_calls: 0}]")

    assert playbook.steps[0].max_tool_calls == 0


def test_an_unknown_key_never_opens_the_gate() -> None:
    """D15: a step whose `expected_tools` is misspelt does not load."""
    with pytest.raises(PlaybookLoadError, match="did you mean `expected_tools`"):
        load_playbook({"id": "a", "name": "A", "steps": [{"id": "x", "description": "X", "expected_tool": ["y"]}]})


WORDS = st.sampled_from(
    [
        "id",
        "name",
        "steps",
        "description",
        "expected_tools",
        "tool",
        "where",
        "when",
        "next",
        "goto",
        "retry",
        "at_most",
        "approval",
        "ask",
        "none",
        "timeout",
        "call",
        "args",
        "repeat",
        "until",
        "switch",
        "inputs",
        "type",
        "required",
        "default",
        "properties",
        "tools",
        "effect",
        "termination",
        "all",
        "any",
        "not",
        "outcome",
        "step_groups",
        "title",
        "guidance",
        "skill_refs",
        "goal",
        "metadata",
        "validation",
        "defaults",
        "parallel",
        "~entry",
        "[key]",
        "shape",
        "__x",
        "1h",
        "a",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=6), inner, max_size=6),
    max_leaves=12,
)
SHAPED = st.fixed_dictionaries(
    {"id": WORDS, "name": st.just("N")},
    optional={
        "steps": st.lists(st.dictionaries(WORDS, JSON, max_size=6), max_size=3),
        "tools": st.dictionaries(WORDS, JSON, max_size=3),
        "inputs": st.dictionaries(WORDS, JSON, max_size=3),
        "termination": JSON,
        "step_groups": st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=3),
        "defaults": JSON,
    },
)


@given(SHAPED | st.dictionaries(WORDS, JSON, max_size=6))
@settings(max_examples=300, deadline=None)
def test_any_data_loads_or_is_refused(data: dict[str, Any]) -> None:
    """Whatever JSON it is: a playbook, or a `PlaybookLoadError` that lists its faults with places and codes."""
    try:
        playbook = load_playbook(data)
    except PlaybookLoadError as why:
        assert why.errors
        assert all(line.startswith("<dict>:1:1: error: ") and line.endswith("]") for line in why.errors)
    else:
        assert load_playbook(playbook.model_dump()) == playbook


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_loads_or_is_refused(text: str) -> None:
    """No text raises another exception."""
    for load in (PlaybookLoader().load_yaml_string, PlaybookLoader().load_json_string):
        with pytest.raises(PlaybookLoadError):
            load(text)
