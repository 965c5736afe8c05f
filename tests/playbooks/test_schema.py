"""The JSON Schema for editors says of every playbook what the models say of its keys, types and limits."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from guideway.playbooks.levels import LABELS, keys
from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.playbooks.reader import read_file, read_text
from guideway.playbooks.schema import json_schema

HERE = Path(__file__).parent
LIBRARY = Path(read_text.__code__.co_filename).parent / "library"
RIGHT = [
    *(p for p in sorted((HERE / "corpus" / "ok").iterdir())),
    *sorted(HERE.glob("seed/*.yaml")),
    *sorted(HERE.glob("seed/*.json")),
    *sorted(LIBRARY.glob("*.yaml")),
]
WRONG = [
    f"corpus/err/{name}.yaml"
    for name in [
        "every_level",
        "types",
        "limits",
        "durations",
        "ids",
        "blocks",
        "people",
        "policies",
        "guesses_of_blocks",
        "wrong_level",
        "guesses",
        "empty_values",
        "groups",
        "schemas",
    ]
]


def errors(path: Path) -> list[str]:
    """What the schema has against a file."""
    document = read_file(path)
    assert document.root is not None
    validator = jsonschema.Draft202012Validator(json_schema())
    return [error.message for error in validator.iter_errors(document.root.plain())]


def test_the_schema_is_one_itself() -> None:
    """It keeps the metaschema of its draft, and closes every map of the format."""
    schema = json_schema()

    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$id" not in schema
    assert [name for name, part in schema["$defs"].items() if part["additionalProperties"] is not False] == []
    assert schema["additionalProperties"] is False


def test_every_key_has_a_sentence_for_authors() -> None:
    """Editors show it; so no key may lack one."""
    lacking = [
        (model.__name__, key)
        for model in LABELS
        for key, field in keys(model).items()
        if not (field.description or "").endswith(".")
    ]
    schema = json_schema()
    shown = {**schema["properties"], **schema["$defs"]["PlaybookStep"]["properties"]}

    assert lacking == []
    assert [key for key, part in shown.items() if "description" not in part] == []
    assert {*keys(Playbook), *keys(PlaybookStep)} <= set(shown)


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: p.name)
def test_a_right_playbook_keeps_the_schema(path: Path) -> None:
    """What loads is not underlined in an editor."""
    assert errors(path) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_playbook_breaks_the_schema(name: str) -> None:
    """Misspelt keys, wrong types and limits are underlined while they are written."""
    assert errors(HERE / name)


@pytest.mark.parametrize("path", RIGHT[:3], ids=lambda p: p.name)
def test_one_misspelt_key_breaks_the_schema(path: Path) -> None:
    """A single slip is enough."""
    text = path.read_text(encoding="utf-8")
    misspelt = text.replace("description:", "descripton:", 1) if "description:" in text else text + "\nnmae: A\n"
    document = read_text(misspelt)
    assert document.root is not None

    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document.root.plain())
