"""
A compiled machine as a file: `*.machine.json`.

`{"guideway": FORMAT, "digest": SHA-256, "definition": {…}}`.  The digest is what runs, journals and approvals name a
machine by (S50): it covers the format version and everything the machine does, and no place of any source, so moving a
line or a file leaves it alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .canonical import MalformedError, digest, normal, read
from .codec import decode, encode
from .definition import FORMAT_VERSION, Definition
from .errors import JournalError
from .soundness import faults

_REPAIR = "compile the playbook again"


def definition_digest(definition: Definition) -> str:
    """
    Name a machine: SHA-256, in hex, of its canonical JSON without spans, format version included (S50).

    Raises `ValueError` where the definition holds something that is not JSON.
    """
    return _digest(definition.format_version, _encoded(definition, spans=False))


def to_json(definition: Definition) -> dict[str, Any]:
    """
    Write a machine as plain JSON.

    Raises `ValueError` where the definition holds something that is not JSON.
    """
    return {
        "guideway": definition.format_version,
        "digest": definition_digest(definition),
        "definition": _encoded(definition, spans=True),
    }


def dump(definition: Definition) -> str:
    """Write a machine as the text of an artifact, one state, step or tool a line."""
    artifact = to_json(definition)
    parts = (f"{_text(name)}: {_lines(part)}" for name, part in artifact["definition"].items())
    head = f'"guideway": {artifact["guideway"]},\n"digest": "{artifact["digest"]}",\n'
    return "{" + head + '"definition": {\n' + ",\n".join(parts) + "\n}}\n"


def load(source: str | Mapping[str, Any]) -> Definition:
    """
    Read a machine from the text of an artifact, or from what `to_json` made.

    Raises `JournalError`, in one sentence, for a text that is torn or altered, or that a newer Guideway wrote.
    """
    artifact = _artifact(source)
    try:
        definition = _decoded(artifact["definition"])
        found = _digest(artifact["guideway"], _encoded(definition, spans=False))
    except ValueError as fault:
        raise JournalError(f"the artifact does not hold a machine ({fault}); {_REPAIR}") from None
    if found != artifact["digest"]:
        raise JournalError(f"the artifact was altered after it was written: its digest does not match; {_REPAIR}")
    if fault_found := next(faults(definition), None):
        raise JournalError(f"the artifact's machine does not hold together ({fault_found}); {_REPAIR}")
    return definition


def _artifact(source: str | Mapping[str, Any]) -> dict[str, Any]:
    """Read the envelope, which every version shares."""
    try:
        artifact = read(source) if isinstance(source, str | bytes) else normal(source)
    except ValueError as fault:
        raise JournalError(f"the artifact is not whole JSON ({fault}); {_REPAIR}") from None
    version = artifact.get("guideway") if isinstance(artifact, dict) else None
    if type(version) is not int or version < 1:
        raise JournalError("this is no compiled machine: it does not begin with the version of its format")
    if version > FORMAT_VERSION:
        raise JournalError(
            f"the artifact has format {version} and this Guideway reads up to {FORMAT_VERSION}: "
            "use a newer Guideway, or compile the playbook with this one"
        )
    if set(artifact) != {"guideway", "digest", "definition"}:
        raise JournalError(f"the artifact must hold guideway, digest and definition, and nothing else; {_REPAIR}")
    return dict(artifact)


def _encoded(definition: Definition, *, spans: bool) -> dict[str, Any]:
    """Encode a definition; its states name their steps, which `steps` holds once."""
    bare = {name: replace(state, step=None) for name, state in definition.states.items()}
    encoded = encode(replace(definition, states=bare, callees={}), spans=spans)
    if definition.callees:
        encoded["callees"] = {name: _encoded(callee, spans=spans) for name, callee in definition.callees.items()}
    for name, state in definition.states.items():
        if state.step is not None:
            if definition.steps.get(state.step.id) != state.step:
                raise ValueError(f"states.{name}: its step is not the one of the table of steps")
            encoded["states"][name]["step"] = state.step.id
    return encoded


def _decoded(encoded: Any) -> Definition:
    states = encoded.get("states") if isinstance(encoded, dict) else None
    if not isinstance(states, dict) or not all(isinstance(state, dict) for state in states.values()):
        return decode(Definition, encoded, checked=True)  # says what is wrong
    callees = encoded.get("callees", {})
    bare = {name: {key: value for key, value in state.items() if key != "step"} for name, state in states.items()}
    rest = {key: value for key, value in encoded.items() if key != "callees"}
    definition = decode(Definition, rest | {"states": bare}, checked=True)
    whole = {
        name: replace(state, step=_step(definition, name, states[name])) if "step" in states[name] else state
        for name, state in definition.states.items()
    }
    return replace(definition, states=whole, callees=_callees(callees))


def _callees(encoded: Any) -> dict[str, Definition]:
    """Read the playbooks that are called; they hold none of their own, so this goes no deeper."""
    if not isinstance(encoded, dict):
        raise MalformedError("expected an object of definitions").inside("callees")
    found = {}
    for name, callee in encoded.items():
        if isinstance(callee, dict) and "callees" in callee:
            raise MalformedError("a playbook that is called holds none itself").inside(name).inside("callees")
        try:
            found[name] = _decoded(callee)
        except MalformedError as fault:
            raise fault.inside(name).inside("callees") from None
    return found


def _step(definition: Definition, name: str, state: Mapping[str, Any]) -> Any:
    step = definition.steps.get(state["step"]) if isinstance(state["step"], str) else None
    if step is None:
        raise MalformedError("there is no such step").inside("step").inside(name).inside("states")
    return step


def _digest(version: int, encoded: Mapping[str, Any]) -> str:
    return digest({"guideway": version, "definition": encoded})


def _lines(part: Any) -> str:
    """Write one part of the definition, each member of a map or a list on a line of its own."""
    match part:
        case dict() if part:
            return "{\n" + ",\n".join(f" {_text(name)}: {_text(value)}" for name, value in part.items()) + "\n}"
        case list() if part:
            return "[\n" + ",\n".join(f" {_text(value)}" for value in part) + "\n]"
    return _text(part)


_text = json.JSONEncoder(ensure_ascii=False).encode
