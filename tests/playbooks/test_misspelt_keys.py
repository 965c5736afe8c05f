"""Every key of every model, misspelt by one letter, gives exactly one finding: right place, right suggestion."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from guideway.playbooks.inputs import OWN_KEYS, InputSpec
from guideway.playbooks.levels import LABELS, keys, level_at
from guideway.playbooks.reader import read_text
from guideway.playbooks.validate import validate

Path = tuple[str | int, ...]

EVERY_KEY: dict[str, Any] = {
    "id": "all",
    "name": "Every key",
    "description": "d",
    "version": "1",
    "tags": ["t"],
    "metadata": {"a": 1},
    "inputs": {"host": {"type": "string", "required": False, "default": None, "sensitive": True}},
    "outputs": {"o": "true"},
    "outcomes": {"own": "success"},
    "defaults": {
        "max_tool_calls": 9,
        "max_visits": 9,
        "retry": 1,
        "timeout": "1h",
        "on_failure": "own",
        "on_reject": "own",
        "on_timeout": "own",
        "on_exhausted": "own",
        "on_unknown": "own",
        "on_max_visits": "own",
    },
    "tools": {
        "a": {
            "effect": "read",
            "idempotent": True,
            "parameters": {"type": "object"},
            "result": {"type": "object"},
            "where": "true",
            "because": "b",
            "approval": [
                {"when": "true", "ask": "q", "approvers": ["x"], "count": "all", "because": "b"},
                {"ask": "q", "except": "x", "timeout": "1h", "count": 2},
            ],
            "on_unknown": "own",
            "name": "real",
            "undo": {"tool": "b", "args": {}},
        }
    },
    "conversation": True,
    "imports": {"other": "./other.yaml"},
    "predicates": {"is_vip": {"description": "d"}},
    "policies": [
        {"precedence": {"first": "a", "then": "b", "same": ["x"]}, "id": "p", "because": "b"},
        {"succession": {"first": "a", "then": "b"}},
        {"chain_precedence": {"first": "a", "then": "b"}},
        {"chain_succession": {"first": "a", "then": "b"}},
        {"response": {"after": "a", "eventually": "step:one", "same": ["x"]}},
        {"chain_response": {"after": "a", "eventually": "b"}},
        {"never": {"tool": "a", "where": "true", "expect": "true"}},
        {"at_most": {"event": "a", "times": 1, "same": ["x"]}},
        {"at_least": {"event": "a", "times": 1}},
        {"exactly": {"event": "a", "times": 1}},
        {"not_together": ["a", {"tool": "b"}]},
    ],
    "optional_tools": ["a"],
    "allow_extra_tools": True,
    "strict_sequence": True,
    "terms": {"t": "true"},
    "max_iterations": 3,
    "max_refusals": 3,
    "max_nudges": 3,
    "termination": [
        {"max_iterations": 1, "outcome": "own"},
        {"token_limit": 1},
        {"time_limit": "1h"},
        {"no_tool_calls": True},
        {"tool_called": "a", "where": "true", "expect": "true"},
        {"confidence_met": 0.5},
        {"text_mention": "x"},
        {"signal": "s"},
        {"custom": "is_vip"},
        {"all": [{"max_iterations": 1}]},
        {"any": [{"max_iterations": 1}]},
        {"not": {"max_iterations": 1}},
    ],
    "steps": [
        {
            "id": "one",
            "description": "d",
            "expected_tools": [
                {
                    "tool": "a",
                    "where": "true",
                    "expect": "true",
                    "times": 1,
                    "as": "x",
                    "approval": {"none": True, "because": "b"},
                    "because": "b",
                }
            ],
            "optional_tools": ["b"],
            "order": "listed",
            "approval": {"ask": "q"},
            "hints": ["h"],
            "required": False,
            "validation": ["true"],
            "when": "true",
            "next": [{"when": "true", "goto": "two", "because": "b"}, {"goto": "own"}],
            "uses": ["s"],
            "min_tool_calls": 1,
            "max_tool_calls": 2,
            "max_visits": 2,
            "retry": {"at_most": 1, "wait": "1s", "backoff": 2, "when": "true"},
            "timeout_seconds": 5,
            "metadata": {},
            "claims": {"user": "string"},
            "required_probes": [{"name": "n", "match": "m", "description": "d"}],
            "on_failure": "own",
            "on_reject": "own",
            "on_timeout": "own",
            "on_exhausted": "own",
            "on_unknown": "own",
            "on_max_visits": "own",
        },
        {
            "id": "two",
            "call": {"tool": "a", "args": {}, "expect": "true"},
            "repeat": {"until": "true", "at_most": 2, "wait": "1s", "collect": "result"},
            "timeout": "1h",
        },
        {"id": "three", "switch": [{"goto": "own"}]},
        {
            "id": "four",
            "parallel": {
                "left": {"call": {"tool": "a"}},
                "right": [{"id": "five", "playbook": "other", "with": {"x": 1}}, {"id": "six", "undo": "all"}],
            },
            "join": "any",
        },
        {
            "id": "seven",
            "for_each": {"as": "item", "in": [1], "at_most": 3, "concurrency": 2, "collect": "item"},
            "steps": [
                {"id": "eight", "wait": "10m"},
                {"id": "nine", "wait": {"until": "true"}},
                {"id": "ten", "wait": {"signal": "s"}},
                {"id": "eleven", "wait": {"duration": "10m"}},
            ],
        },
        {
            "id": "twelve",
            "ask": {
                "question": "q",
                "assignees": ["x"],
                "choices": {"yes": "own", "no": [{"when": "true", "goto": "own"}]},
                "fields": {"f": "string"},
                "remind": "1h",
            },
        },
    ],
    "finally": [{"id": "last", "call": {"tool": "a"}}],
}


def maps(value: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every map of the playbook that the format says the keys of."""
    if isinstance(value, dict):
        if level_at(path):
            yield path, value
        for key, part in value.items():
            yield from maps(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from maps(part, (*path, index))


KEYS = [(*path, key) for path, found in maps(EVERY_KEY) for key in found]


def misspellings(key: str) -> Iterator[str]:
    """The key with its last letter doubled; without it; with the two before it changed round."""
    yield key + key[-1]
    if len(key) > 4:
        yield key[:-1]
        if key[-2] != key[-3]:
            yield key[:-3] + key[-2] + key[-3] + key[-1]


def respelt(path: Path, spelling: str) -> str:
    """The text of the playbook with the key at the path spelt otherwise."""
    playbook = copy.deepcopy(EVERY_KEY)
    owner: Any = playbook
    for part in path[:-1]:
        owner = owner[part]
    items = list(owner.items())
    owner.clear()
    owner.update((spelling if key == path[-1] else key, value) for key, value in items)
    return json.dumps(playbook, indent=1)


def place(text: str, spelling: str, depth: int) -> tuple[int, int]:
    """Line and column of a key: json.dumps indents by one blank a level."""
    lines = text.split("\n")
    [line] = [n for n, line in enumerate(lines, 1) if line.startswith(" " * depth + f'"{spelling}":')]
    return line, depth + 1


def test_the_playbook_is_right_and_has_every_key_of_every_model() -> None:
    """The generated tests reach each key that a model has; a new key has to be added to the playbook above."""
    _, found = validate(read_text(json.dumps(EVERY_KEY)))
    reached: dict[Any, set[str]] = {}
    for path, value in maps(EVERY_KEY):
        reached.setdefault(level_at(path), set()).update(value)
    del reached[InputSpec]

    assert found == []
    missing = {model.__name__: set(keys(model)) - reached[model] for model in LABELS if model is not InputSpec}
    assert {name: rest for name, rest in missing.items() if rest} == {"Defaults": {"timeout_seconds"}}


@pytest.mark.parametrize("path", KEYS, ids=lambda p: ".".join(map(str, p)))
def test_a_misspelt_key_is_the_one_finding(path: Path) -> None:
    """One slip of the finger: one finding, at the key, naming the key that was meant."""
    key = str(path[-1])
    for spelling in misspellings(key):
        text = respelt(path, spelling)
        _, found = validate(read_text(text))

        assert [f"did you mean `{key}`?"] == [f.message.partition("; ")[2] for f in found], (spelling, found)
        assert found[0].code == "GW020"
        assert place(text, spelling, len(path)) == (found[0].span.line, found[0].span.column)


def test_the_keys_of_an_input_are_known_beside_those_of_json_schema() -> None:
    """`required`, `default` and `sensitive` of an input are among the generated cases."""
    assert {("inputs", "host", key) for key in OWN_KEYS} <= set(KEYS)
