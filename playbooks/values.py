"""The single values of the format: names, expressions, durations."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema

from .base import fault

MAX_NAME = 200
MAX_SECONDS = 3650 * 86_400
"""Ten years: longer is a slip, and would overflow the dates of some hosts."""

# No control characters, line separators or marks that turn the direction of text; blanks only inside.
_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_EDGE = rf"[^\s{_CONTROL}]"
NAME_PATTERN = rf"^(?:_|_?[^\s_{_CONTROL}](?:[^{_CONTROL}]*{_EDGE})?)$"
TOOL_PATTERN = rf"^{_EDGE}(?:[^{_CONTROL}]*{_EDGE})?$"
DURATION_PATTERN = r"^(?=.)(\d{1,9}d)?(\d{1,9}h)?(\d{1,9}m)?(\d{1,9}s)?$"

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern=NAME_PATTERN)]
"""A name that expressions may speak of: of a step, an input, an outcome, a fact, a term."""

ToolName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern=TOOL_PATTERN)]
"""A name as the framework gives it; it may begin with two underscores."""

_DURATION = re.compile(DURATION_PATTERN, re.ASCII)
_UNITS = (86_400, 3600, 60, 1)


def seconds(duration: str) -> float:
    """
    Count the seconds of a duration.

    Raises `ValueError` where the text is none.

    >>> seconds("1h30m"), seconds("90s"), seconds("1d")
    (5400.0, 90.0, 86400.0)
    """
    parts = _DURATION.fullmatch(duration)
    if parts is None:
        raise ValueError(f"`{duration}` is no duration")
    return float(sum(int(part[:-1]) * unit for part, unit in zip(parts.groups(), _UNITS, strict=True) if part))


def duration_text(count: float) -> str:
    """
    Write whole seconds as a duration; the opposite of `seconds`.

    >>> duration_text(5400), duration_text(90), duration_text(0)
    ('1h30m', '1m30s', '0s')
    """
    rest, parts = max(0, round(count)), []
    for letter, unit in zip("dhms", _UNITS, strict=True):
        whole, rest = divmod(rest, unit)
        parts.append(f"{whole}{letter}" if whole else "")
    return "".join(parts) or "0s"


def _delay(value: Any) -> Any:
    """Accept a duration, zero included."""
    if isinstance(value, str) and _DURATION.fullmatch(value):
        if seconds(value) > MAX_SECONDS:
            raise fault("GW028", "is longer than 3650 days", "use a shorter duration, or leave the key out")
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_SECONDS:
        text = duration_text(value)
        said = f"is a bare number: the unit of {value:g} is not said"
        raise fault("GW028", said, f"write `{text}` if seconds are meant")
    if value is None:
        raise fault("GW037", "has no value", "write a duration such as `90s`, or delete the key")
    raise fault("GW028", "must be a duration", "write days, hours, minutes, seconds, in this order: `1h30m`")


def _timeout(value: Any) -> Any:
    """Accept a duration longer than nothing."""
    if not seconds(_delay(value)):
        raise fault("GW028", "must be longer than nothing", "write a duration such as `90s`, or delete the key")
    return value


_AS_TEXT = WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["90s", "15m", "1h30m"]})
Duration = Annotated[str, BeforeValidator(_timeout), _AS_TEXT]
"""A deadline: `90s 15m 4h 1d 1h30m`, longer than nothing; see `seconds`."""
Delay = Annotated[str, BeforeValidator(_delay), _AS_TEXT]
"""A pause: like `Duration`, `0s` included."""


def _source(value: Any) -> Any:
    """Give a bare `true` or number back as the expression it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else value


Expr = Annotated[str, BeforeValidator(_source, json_schema_input_type=str | bool | int | float)]
"""The source of an expression (FORMAT section 4)."""
