"""Text and JSON values with `{{ EXPR }}` in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from .errors import ExpressionError
from .expression import Expression, parse
from .literals import string_end
from .paths import Path, Read
from .plain import plain, text_of
from .unknown import Unknown

_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Template:
    """
    A text with expressions in it.

    `whole` says that one `{{ … }}` fills the text, which keeps the type of the value.  `offsets` holds where each
    expression begins in `source`; the offsets in `reads` are counted there, too.

    >>> greeting = parse_template("{{ inputs.name }} has {{ inputs.n + 1 }}")
    >>> greeting({"inputs": {"name": "Ann", "n": 2}})
    'Ann has 3'
    >>> parse_template("{{ inputs.list }}")({"inputs": {"list": [1]}})
    [1]
    """

    source: str
    whole: bool = field(compare=False)
    parts: tuple[str | Expression, ...] = field(repr=False, compare=False)
    offsets: tuple[int, ...] = field(repr=False, compare=False)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions among the parts; `offsets` runs beside them."""
        return tuple(part for part in self.parts if isinstance(part, Expression))

    @property
    def reads(self) -> tuple[Read, ...]:
        """Every longest fixed path that some part reads."""
        return tuple(
            read._replace(offset=read.offset + offset)
            for expression, offset in zip(self.expressions, self.offsets, strict=True)
            for read in expression.reads
        )

    def __call__(self, scope: Mapping[str, Any], now: datetime | None = None) -> Any:
        """Give the value or the text; an `Unknown` as soon as one part is unknown.  The value is plain JSON."""
        if self.whole and isinstance(self.parts[0], Expression):
            return plain(self.parts[0](scope, now))
        texts: list[str] = []
        for part in self.parts:
            text = part if isinstance(part, str) else text_of(part(scope, now))
            if isinstance(text, Unknown):
                return text
            texts.append(text)
        return "".join(texts)

    def __str__(self) -> str:
        return self.source

    def __reduce__(self) -> tuple[Callable[[str], Template | None], tuple[str]]:
        return parse_template, (self.source,)


@lru_cache(maxsize=4096)
def parse_template(source: str) -> Template | None:
    """
    Read a text; None when it holds no `{{`, so that it stands for itself.

    Raises `ExpressionError`, its offset counted in `source`.  A literal `{{` is written `{{ "{{" }}`.

    >>> parse_template("plain text") is None
    True
    """
    if "{{" not in source:
        return None
    parts: list[str | Expression] = []
    offsets: list[int] = []
    place = 0
    while (opened := source.find("{{", place)) >= 0:
        closed = _closing(source, opened)
        expression, offset = _inner(source, opened + 2, closed)
        parts += [source[place:opened], expression] if opened > place else [expression]
        offsets.append(offset)
        place = closed + 2
    if place < len(source):
        parts.append(source[place:])
    _refuse_dollar(source, parts)
    return Template(source, len(parts) == 1, tuple(parts), tuple(offsets))


def _closing(source: str, opened: int) -> int:
    """Find the `}}` that ends the expression; one inside a string of the expression does not."""
    place = opened + 2
    while place < len(source):
        if source.startswith("}}", place):
            return place
        if source.startswith("{{", place):
            raise ExpressionError("`{{` inside `{{ … }}`", place, "close the first one with `}}`")
        if source[place] in "\"'":
            raw = source[place - 1] in "rR" and not _in_word(source, place - 2)
            place = string_end(source, place, raw)
        else:
            place += 1
    raise ExpressionError("`{{` without `}}`", opened, 'add `}}`; a `{{` that is meant as text is `{{ "{{" }}`')


def _in_word(source: str, place: int) -> bool:
    return source[place].isalnum() or source[place] == "_"


def _inner(source: str, start: int, end: int) -> tuple[Expression, int]:
    text = source[start:end]
    offset = start + len(text) - len(text.lstrip())
    try:
        return parse(text.strip()), offset
    except ExpressionError as fault:
        raise fault.moved(offset if text.strip() else start) from None


def _refuse_dollar(source: str, parts: list[str | Expression]) -> None:
    if len(parts) == 2 and parts[0] == "$":
        raise ExpressionError("`${{ … }}` is another tool's notation", 0, f"write `{source[1:]}`")


@dataclass(frozen=True, slots=True)
class Form:
    """
    A JSON value whose strings may hold expressions; call it to have them filled in.

    `templates` gives each template with the path to its string inside the value.

    >>> form = compile_value({"ip": "{{ inputs.ip }}", "hours": 24})
    >>> form({"inputs": {"ip": "10.0.0.1"}})
    {'ip': '10.0.0.1', 'hours': 24}
    >>> [(path, template.source) for path, template in form.templates]
    [(('ip',), '{{ inputs.ip }}')]
    """

    value: Any
    templates: tuple[tuple[Path, Template], ...] = field(repr=False, compare=False)

    @property
    def reads(self) -> tuple[Read, ...]:
        """Every longest fixed path that some string reads; each offset is counted in its own string."""
        return tuple(read for _, template in self.templates for read in template.reads)

    def __call__(self, scope: Mapping[str, Any], now: datetime | None = None) -> Any:
        """Give a fresh value with every template filled in, or the first `Unknown`."""
        filled: dict[Path, Any] = {}
        for path, template in self.templates:
            filled[path] = made = template(scope, now)
            if isinstance(made, Unknown):
                return made
        return _rebuild(self.value, (), filled)


def compile_value(value: Any) -> Form:
    """
    Read every string of a JSON value as a template.

    Raises `ExpressionError` as `parse_template` does, the offset counted in the string at fault.
    """
    found: list[tuple[Path, Template]] = []
    _gather(value, (), found)
    return Form(value, tuple(found))


def fill(value: Any, scope: Mapping[str, Any], now: datetime | None = None) -> Any:
    """
    Fill in the templates of a JSON value once; `compile_value` is for doing it often.

    >>> fill(["{{ inputs.a }}", 2], {"inputs": {"a": True}})
    [True, 2]
    """
    return compile_value(value)(scope, now)


def _gather(value: Any, path: Path, found: list[tuple[Path, Template]]) -> None:
    if len(path) > _DEEPEST:
        raise ExpressionError(f"the value is nested more than {_DEEPEST} deep", 0)
    if isinstance(value, str):
        template = parse_template(value)
        if template is not None:
            found.append((path, template))
    elif isinstance(value, Mapping):
        for key, field_value in value.items():
            _gather(field_value, (*path, key), found)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            _gather(item, (*path, place), found)


def _rebuild(value: Any, path: Path, filled: Mapping[Path, Any]) -> Any:
    if path in filled:
        return filled[path]
    if isinstance(value, Mapping):
        return {key: _rebuild(field_value, (*path, key), filled) for key, field_value in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rebuild(item, (*path, place), filled) for place, item in enumerate(value)]
    return value
