"""What a provider may do other than reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.openai_server.wire import Says


@dataclass(frozen=True)
class Status:
    """An HTTP error."""

    code: int
    message: str = "the server says no"
    error_code: str | None = None


@dataclass(frozen=True)
class Garbage:
    """A 200 whose body is no JSON, or no reply."""

    body: str = "<html>It works!</html>"
    media: str = "application/json"


@dataclass(frozen=True)
class Slow:
    """Silence, until the server is closed."""


@dataclass(frozen=True)
class CutOff:
    """
    A stream that ends before the reply is whole.

    `rude` drops the connection; otherwise the body ends as if nothing were missing.
    """

    says: Says = field(default_factory=lambda: Says("one two three four"))
    after: int = 3
    """events that are still sent"""
    rude: bool = True
