"""The JSON Schema of playbooks, for the language servers of editors."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from .grouped import GROUP_KEYS, STEP_EXTRAS, TOP_EXTRAS
from .models import Playbook

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class _Plain(GenerateJsonSchema):
    """Leave out titles made from names (`On failure` says no more than `on_failure`) and defaults of `null`."""

    def default_schema(self, schema: Any) -> dict[str, Any]:
        shown = super().default_schema(schema)
        return {key: value for key, value in shown.items() if key != "default" or value is not None}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """
    Write the format as JSON Schema (draft 2020-12).

    It knows keys, types and limits; names and rules between keys are for `guideway check`.

    >>> sorted(json_schema()["properties"]["steps"]["items"])
    ['$ref']
    """
    schema = Playbook.model_json_schema(schema_generator=_Plain)
    schema["$defs"] |= _branches(schema["$defs"]["PlaybookStep"])
    schema["$defs"] |= _groups(schema["$defs"]["PlaybookStep"])
    schema["properties"] |= {key: _extra(key) for key in TOP_EXTRAS}
    schema["properties"]["step_groups"] = {
        "type": "array",
        "items": {"$ref": "#/$defs/StepGroup"},
        "description": "Steps in groups; only in a file without `steps`.",
    }
    schema["required"].remove("name")
    schema["oneOf"] = [
        {"required": ["name"], "properties": dict.fromkeys(TOP_EXTRAS, False)},
        {
            "required": ["step_groups"],
            "anyOf": [{"required": ["title"]}, {"required": ["name"]}],
            "properties": {"steps": False},
        },
    ]
    return {"$schema": DRAFT, **schema}


def _branches(step: dict[str, Any]) -> dict[str, Any]:
    """A branch that is one step needs no `id`: it is called like the branch."""
    [branch] = step["properties"]["parallel"]["patternProperties"].values()
    one = branch["oneOf"].index({"$ref": "#/$defs/PlaybookStep"})
    branch["oneOf"][one] = {"$ref": "#/$defs/BranchStep"}
    return {"BranchStep": {key: part for key, part in step.items() if key != "required"}}


def _groups(step: dict[str, Any]) -> dict[str, Any]:
    grouped = {**step, "properties": step["properties"] | {key: _extra(key) for key in STEP_EXTRAS}}
    group = {
        "type": "object",
        "description": "Steps that belong together, under one heading.",
        "properties": {key: _extra(key) for key in GROUP_KEYS}
        | {"steps": {"type": "array", "items": {"$ref": "#/$defs/GroupedStep"}}},
        "required": ["steps"],
        "additionalProperties": False,
    }
    return {"GroupedStep": grouped, "StepGroup": group}


_EXTRAS = {
    "id": "The name of the group; it goes before the ids of its steps where they collide.",
    "title": "The heading people read.",
    "description": "What it is for.",
    "summary": "What it is for, in short.",
    "mode": "Kept in `metadata`.",
    "goal": "What is to be reached; becomes part of the description.",
    "priority": "Kept in `metadata`.",
}
_MAPS = {
    "guidance": "`skill_refs` becomes `uses`; the rest is kept in `metadata`.",
    "completion": "Kept in `metadata`.",
    "metadata": "Anything you like; never read by the engine.",
}


def _extra(key: str) -> dict[str, Any]:
    if key == "guidance":
        refs = {"type": "array", "items": {"type": "string"}, "description": "Skills the step uses."}
        return {"type": "object", "properties": {"skill_refs": refs}, "description": _MAPS[key]}
    if key in _MAPS:
        return {"description": _MAPS[key]}
    return {"type": "string", "description": _EXTRAS.get(key, "")}
