"""
Frozen dataclasses to plain JSON and back, driven by the types of their fields.

A field that has its default is left out; an expression is its source, an enum its value, a tuple a list.  A union of
dataclasses (a termination condition) is a map of one key, `{"tool_called": {"tool": "x"}}`.  A `Span` is
`[file, line, column]`.  Reading trusts nothing: unknown keys, missing keys and wrong types raise `MalformedError` with
the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from .canonical import MalformedError, normal
from .errors import GuidewayError
from .expressions import Expression, parse
from .span import Span

T = TypeVar("T")


def encode(value: Any, *, spans: bool = True) -> dict[str, Any]:
    """
    Write a dataclass as JSON; without `spans`, no place of any source is in it.

    Raises `ValueError` with the path where a field of type `Any` holds something that is not JSON.

    >>> from .steps import Retry
    >>> encode(Retry(at_most=2, backoff=2.0))
    {'at_most': 2, 'backoff': 2.0}
    """
    written: dict[str, Any] = _record(type(value)).write(value, spans)
    return written


def decode(cls: type[T], value: Any, *, checked: bool = False) -> T:
    """
    Read what `encode` wrote.  A value that came out of `read` or `normal` is `checked`: it need not be copied again.

    Raises `ValueError` (a `MalformedError`) with the path of the first thing that is wrong.

    >>> from .steps import Retry
    >>> decode(Retry, {"at_most": 2, "backof": 2.0})
    Traceback (most recent call last):
    ...
    guideway.statemachine.canonical.MalformedError: unknown key "backof"; a retry has at_most, wait, backoff, when
    """
    read: T = _record(cls).read(value if checked else normal(value))
    return read


class _Form:
    """How values of one type are written and read.  This one is of `Any`: JSON as it is."""

    def write(self, value: Any, spans: bool) -> Any:
        """Turn a value into JSON."""
        return normal(value)

    def read(self, value: Any) -> Any:
        """Turn JSON in its normal form into a value."""
        return value


@dataclass(frozen=True, slots=True)
class _Scalar(_Form):
    """A text, a number or a truth value."""

    type: type

    def write(self, value: Any, spans: bool) -> Any:
        return value

    def read(self, value: Any) -> Any:
        if self.type is float and type(value) is int:
            return float(value)
        if type(value) is not self.type:
            raise MalformedError(f"expected {_WORDS[self.type]}, found {_shown(value)}")
        return value


class _Source(_Form):
    """An expression."""

    def write(self, value: Any, spans: bool) -> Any:
        return value.source

    def read(self, value: Any) -> Any:
        try:
            return parse(_TEXT.read(value))
        except GuidewayError as fault:
            raise MalformedError(f"`{value}` is no expression: {fault}") from None


class _Place(_Form):
    """A span."""

    def write(self, value: Any, spans: bool) -> Any:
        return list(value)

    def read(self, value: Any) -> Any:
        match value:
            case [str(file), int(line), int(column)] if bool not in map(type, value):
                return Span(file, line, column)
        raise MalformedError(f"expected a place, as [file, line, column], found {_shown(value)}")


@dataclass(frozen=True, slots=True)
class _Word(_Form):
    """A member of an enum."""

    type: type[Enum]

    def write(self, value: Any, spans: bool) -> Any:
        return value.value

    def read(self, value: Any) -> Any:
        for member in self.type:
            if member.value == value and type(value) is str:
                return member
        raise MalformedError(f"expected one of {', '.join(m.value for m in self.type)}, found {_shown(value)}")


@dataclass(frozen=True, slots=True)
class _Perhaps(_Form):
    """A value or null."""

    inner: _Form

    def write(self, value: Any, spans: bool) -> Any:
        return None if value is None else self.inner.write(value, spans)

    def read(self, value: Any) -> Any:
        return None if value is None else self.inner.read(value)


@dataclass(frozen=True, slots=True)
class _Row(_Form):
    """A tuple of any length."""

    item: _Form

    def write(self, value: Any, spans: bool) -> Any:
        return _each(self.item.write, enumerate(value), spans)[1]

    def read(self, value: Any) -> Any:
        if type(value) is not list:
            raise MalformedError(f"expected a list, found {_shown(value)}")
        return tuple(_each(self.item.read, enumerate(value))[1])


@dataclass(frozen=True, slots=True)
class _Table(_Form):
    """A mapping from names, in its order."""

    item: _Form

    def write(self, value: Any, spans: bool) -> Any:
        return dict(zip(*_each(self.item.write, value.items(), spans), strict=True))

    def read(self, value: Any) -> Any:
        return dict(zip(*_each(self.item.read, _object(value).items()), strict=True))


@dataclass(frozen=True, slots=True)
class _Choice(_Form):
    """One of several dataclasses, told apart by its tag."""

    classes: Mapping[str, type]

    def write(self, value: Any, spans: bool) -> Any:
        return {_tag(type(value)): _record(type(value)).write(value, spans)}

    def read(self, value: Any) -> Any:
        members = _object(value)
        if len(members) == 1 and (tag := next(iter(members))) in self.classes:
            return _each(_record(self.classes[tag]).read, members.items())[1][0]
        raise MalformedError(f"expected one of {', '.join(self.classes)}, found {_shown(value)}")


class _Record(_Form):
    """A dataclass."""

    def __init__(self, cls: Any) -> None:
        self.cls: Any = cls
        hints = get_type_hints(cls)
        self.fields = [(field.name, _form(hints[field.name]), _default(field)) for field in fields(cls)]
        self.placeless = [field for field in self.fields if field[0] != "span"]
        self.forms = {name: form for name, form, _ in self.fields}
        self.needed = [name for name, _, default in self.fields if default is MISSING]

    def write(self, value: Any, spans: bool) -> Any:
        written: dict[str, Any] = {}
        name = ""
        try:
            for name, form, default in self.fields if spans else self.placeless:
                member = getattr(value, name)
                if member is not default and member != default:
                    written[name] = form.write(member, spans)
        except MalformedError as fault:
            raise fault.inside(name) from None
        return written

    def read(self, value: Any) -> Any:
        members = _object(value)
        if strange := next((name for name in members if name not in self.forms), None):
            raise MalformedError(f'unknown key "{strange}"; a {_tag(self.cls)} has {", ".join(self.forms)}')
        if missing := next((name for name in self.needed if name not in members), None):
            raise MalformedError(f'the key "{missing}" is missing')
        name, found = "", {}
        try:
            for name, member in members.items():
                found[name] = self.forms[name].read(member)
        except MalformedError as fault:
            raise fault.inside(name) from None
        return self.cls(**found)


_TEXT = _Scalar(str)
_WORDS: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


_records: dict[type, _Record] = {}


def _record(cls: type) -> _Record:
    found = _records.get(cls)
    if found is None:
        found = _records[cls] = _Record(cls)
    return found


class _Later(_Form):
    """A dataclass, looked up when it is first needed: types may hold one another."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def write(self, value: Any, spans: bool) -> Any:
        return _record(self.cls).write(value, spans)

    def read(self, value: Any) -> Any:
        return _record(self.cls).read(value)


def _form(hint: Any) -> _Form:
    """Choose the form of a type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union([part for part in parts if part is not NoneType], NoneType in parts)
    if origin is tuple:
        return _Row(_form(parts[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _Table(_form(parts[1]))
    if hint is Any:
        return _Form()
    if hint is Span:
        return _Place()
    if issubclass(hint, Expression):
        return _Source()
    if issubclass(hint, Enum):
        return _Word(hint)
    return _Later(hint) if is_dataclass(hint) and isinstance(hint, type) else _Scalar(hint)


def _union(parts: list[Any], nullable: bool) -> _Form:
    form = _form(parts[0]) if len(parts) == 1 else _Choice({_tag(part): part for part in parts})
    return _Perhaps(form) if nullable else form


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _tag(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


def _each(work: Callable[..., Any], members: Iterable[tuple[Any, Any]], *args: Any) -> tuple[list[Any], list[Any]]:
    """Do the work on each member and give keys and results; a fault lies under the key of its member."""
    key: Any = None
    keys, results = [], []
    try:
        for key, member in members:
            keys.append(key)
            results.append(work(member, *args))
    except MalformedError as fault:
        raise fault.inside(key) from None
    return keys, results


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise MalformedError(f"expected an object, found {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    match value:
        case list() | dict() if value:
            return "a list" if isinstance(value, list) else f"an object with {', '.join(list(value)[:3])}"
        case str() if len(value) > 40:
            return f"text beginning {value[:40]!r}"
    return repr(value)
