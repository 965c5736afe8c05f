"""The one place that speaks to OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from guideway.statemachine.errors import HostError

from .names import ERROR_TYPE, SCHEMA_URL

if TYPE_CHECKING:
    from opentelemetry.trace import Span as Span
    from opentelemetry.trace import Tracer
    from opentelemetry.trace import TracerProvider as TracerProvider

LONGEST_INT = 63
"""Bits of a whole number that the protocol of exporters can hold, its sign left out."""


class Spans:
    """
    Begins and ends spans; times are those given, or now.

    Raises:
        HostError: OpenTelemetry is not installed.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry import trace
        except ModuleNotFoundError:
            raise HostError("spans need OpenTelemetry, an extra of Guideway: pip install 'guideway[otel]'") from None
        self._trace = trace
        self._provider = provider

    @property
    def _tracer(self) -> Tracer:
        """Asked for anew, so that a provider which the program sets later is heard."""
        provider = self._provider or self._trace.get_tracer_provider()
        return provider.get_tracer("guideway", schema_url=SCHEMA_URL)

    def begin(
        self, name: str, attributes: Mapping[str, Any], *, parent: Span | None = None,
        at: datetime | None = None, remote: bool = False,
    ) -> Span:  # fmt: skip
        """A span below `parent`, or below whatever the program has current; `remote`: it asks another service."""
        trace = self._trace
        return self._tracer.start_span(
            sendable(name),
            context=None if parent is None else trace.set_span_in_context(parent),
            kind=trace.SpanKind.CLIENT if remote else trace.SpanKind.INTERNAL,
            attributes=known(attributes),
            start_time=nanoseconds(at),
        )

    def event(self, span: Span, name: str, attributes: Mapping[str, Any], at: datetime | None = None) -> None:
        """Something that happened while the span was open."""
        span.add_event(name, known(attributes), timestamp=nanoseconds(at))

    def end(
        self, span: Span, attributes: Mapping[str, Any], *, error: str | None = None, why: str | None = None,
        at: datetime | None = None,
    ) -> None:  # fmt: skip
        """End it; `error` is the kind of a failure, in one word, `why` says more and may hold content."""
        span.set_attributes(known(attributes))
        if error is not None:
            span.set_attribute(ERROR_TYPE, error)
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, sendable(why)))
        span.end(end_time=nanoseconds(at))


def known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """
    Those that have a value.

    >>> known({"a": None, "b": 0, "c": ""})
    {'b': 0}
    """
    return {name: sendable(value) for name, value in attributes.items() if value is not None and value != ""}


def sendable(value: Any) -> Any:
    """
    A value that exporters can send: half a character, which a model can write, would cost them the whole batch.

    >>> sendable("a\\ud800b"), sendable(["x"]), sendable(10**30)
    ('a?b', ['x'], '1000000000000000000000000000000')
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [sendable(one) for one in value]
    return str(value) if isinstance(value, int) and value.bit_length() > LONGEST_INT else value


def nanoseconds(at: datetime | None) -> int | None:
    """
    A time as OpenTelemetry counts it.

    >>> from datetime import UTC
    >>> nanoseconds(datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC))
    1500000000
    """
    if at is None:
        return None
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1_000
