"""What pydantic found, said in the words of the format and with the path in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from .base import Part
from .faults import AS_WRITTEN, Fault, Path, key_text, short, value_text
from .inputs import InputSpec
from .levels import keys, level_at, limits
from .models import MAX_COUNT, Playbook, PlaybookStep
from .suggest import nearest
from .unknown_keys import listed_keys, unknown_key
from .values import MAX_NAME, MAX_SECONDS

_EXPECTED = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be `true` or `false`",
    "list_type": "must be a list",
    "dict_type": "must be a map",
    "model_type": "must be a map",
}


def explain(errors: list[ErrorDetails], data: Any) -> Iterator[Fault]:
    """Translate every error; one that only follows from another is left out."""
    explained: set[tuple[Path, str]] = set()
    missing: list[Path] = []
    for error in errors:
        path, is_key = written_path(error["loc"], error["type"], data)
        if error["type"] == "missing":
            missing.append(path)
            continue
        if error["type"] == "extra_forbidden":
            fault = unknown_key(path, _beside(path, data))
            explained.add((path[:-1], fault.meant or ""))
            yield fault
            continue
        yield _other(error, path, is_key)
    for path in missing:
        if (path[:-1], str(path[-1])) not in explained:
            yield _missing(path)


def written_path(loc: tuple[str | int, ...], kind: str, data: Any) -> tuple[Path, bool]:
    """Leave out what pydantic adds to the way: names of union members, and the mark of a key."""
    path: list[str | int] = []
    here = data
    last = len(loc) - 1
    is_key = bool(loc) and loc[-1] == "[key]" and kind != "extra_forbidden"
    for index, part in enumerate(loc[:-1] if is_key else loc):
        if isinstance(here, dict) and part in here:  # noqa: SIM114 - the two look-ups are of different types
            here = here[part]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        elif index < last or kind not in {"missing", "extra_forbidden"}:
            continue  # a union member, or the index into a list that was written as its one item
        path.append(part)
    return tuple(path), is_key


def _beside(path: Path, data: Any) -> Mapping[str, Any]:
    for part in path[:-1]:
        data = data[part]
    return data if isinstance(data, dict) else {}


def _missing(path: Path) -> Fault:
    model, key = level_at(path[:-1]), str(path[-1])
    label = {Playbook: "the playbook", PlaybookStep: "the step"}.get(model or Part)
    owner = label or key_text(path[:-1])
    field = keys(model).get(key) if model else None
    return Fault("GW023", path[:-1], f"{owner} has no `{key}`", field.description if field else None)


def _other(error: ErrorDetails, path: Path, is_key: bool) -> Fault:
    kind, value = error["type"], error["input"]
    context = error.get("ctx") or {}
    subject = key_text(path)
    if kind.startswith("GW"):
        at = "key" if kind == "GW037" else "value"
        said = context.get("predicate", error["msg"])
        if "predicate" not in context:
            said += f", not {value_text(value)}"
        return Fault(kind, path, f"{subject} {said}", context.get("repair"), "key" if at == "key" else "value")
    if value is None:
        return Fault("GW037", path, f"{subject} has no value", _value_repair(kind), "key")
    explainer = _EXPLAINERS.get(kind, _wrong_type)
    return explainer(path, subject, value, context | {"kind": kind, "is_key": is_key, "msg": error["msg"]})


def _value_repair(kind: str) -> str:
    empty = {"list_type": "write `[]` for an empty list", "dict_type": "write `{}` for an empty map"}
    return empty.get(kind, "write one, or delete the key")


def _wrong_type(path: Path, subject: str, value: Any, context: Mapping[str, Any]) -> Fault:
    kind = context["kind"]
    expected = _EXPECTED.get(kind, context["msg"])
    repair = _type_repair(kind, value)
    if kind == "model_type" and (model := level_at(path)):
        wanted = f"it has the keys {listed_keys(model)}"
        repair = "write a type word such as `string`, or a JSON Schema" if model is InputSpec else wanted
    return Fault("GW024", path, f"{subject} {expected}, not {value_text(value)}", repair)


def _type_repair(kind: str, value: Any) -> str | None:
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f'quote it: `"{AS_WRITTEN}"`'
    if kind in {"int_type", "float_type"} and isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return f"write it without quotes: `{value.strip()}`"
    if kind == "bool_type" and isinstance(value, str):
        return "only `true` and `false` are booleans; `yes`, `no`, `on`, `off` are words"
    if kind == "list_type":
        return f"write `[{short(value)}]`" if isinstance(value, str) else "write each item behind a `- `"
    return None


def _out_of_range(path: Path, subject: str, value: Any, context: Mapping[str, Any]) -> Fault:
    model = level_at(path[:-1])
    low, high = limits(model, str(path[-1])) if model else (None, None)
    allowed = _range(low, high, context)
    return Fault("GW025", path, f"{subject} is {_number(value)}; it must be {allowed}")


def _number(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 30 else f"a number of {len(text)} digits"


def _range(low: float | None, high: float | None, context: Mapping[str, Any]) -> str:
    """
    Write an allowed range: both bounds, except that a very high one is told only to who exceeds it.

    >>> _range(1, 100, {"ge": 1}), _range(0, MAX_COUNT, {"ge": 0}), _range(0, MAX_COUNT, {"le": MAX_COUNT})
    ('from 1 to 100', '0 or more', 'at most 1,000,000,000')
    """
    if "gt" in context:
        return f"more than {context['gt']:g}"
    if low is None or high is None or high >= MAX_COUNT or high >= MAX_SECONDS:
        return f"{context['ge']} or more" if "ge" in context else f"at most {context.get('le', high):,.12g}"
    return f"from {low} to {high:,}"


def _bad_name(path: Path, subject: str, value: Any, context: Mapping[str, Any]) -> Fault:
    at: Any = "key" if context["is_key"] else "value"
    what = f"the name `{short(str(value))}`" if context["is_key"] else f"{subject} `{short(str(value))}`"
    repair: str | None = None
    if not value:
        what, problem = (subject if not context["is_key"] else f"a name in {key_text(path[:-1])}"), "is empty"
    elif len(value) > MAX_NAME:
        what, problem = f"{subject}", f"is longer than {MAX_NAME} characters"
    elif not value.strip():
        problem = "is blank"
    elif value != value.strip():
        problem, repair = "begins or ends with a blank", f"write `{short(value.strip())}`"
    elif value.startswith("__") and not any(not c.isprintable() for c in value):
        problem, repair = "begins with two underscores, which expressions refuse", f"write `{short(value.lstrip('_'))}`"
    else:
        problem = "holds a line break or another control character"
    return Fault("GW026", path, f"{what} {problem}", repair, at)


def _unknown_word(path: Path, subject: str, value: Any, context: Mapping[str, Any]) -> Fault:
    if path and path[-1] == "no_tool_calls":
        return Fault(
            "GW034", path, f"{subject} must be `true`, not {value_text(value)}", "delete the item if it is not meant"
        )
    words = [word.strip(" '") for word in str(context["expected"]).replace(" or ", ",").split(",")]
    meant = nearest(value, words) if isinstance(value, str) else None
    hint = f"; did you mean `{meant}`?" if meant else ""
    listed = ", ".join(f"`{word}`" for word in words)
    return Fault("GW034", path, f"{subject} must be one of {listed}, not {value_text(value)}{hint}")


_EXPLAINERS: Mapping[str, Callable[[Path, str, Any, Mapping[str, Any]], Fault]] = {
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), _out_of_range),
    **dict.fromkeys(("finite_number", "int_parsing_size"), _out_of_range),
    **dict.fromkeys(("string_too_short", "string_too_long", "string_pattern_mismatch"), _bad_name),
    "literal_error": _unknown_word,
}
