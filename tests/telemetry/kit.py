"""What the tests of telemetry share: a provider whose spans stay in memory, and a logger whose lines do."""

from __future__ import annotations

import logging
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Kept:
    """A tracer provider, and the spans that came of it."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> list[ReadableSpan]:
        """In the order in which they began."""
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [span.name for span in self.spans]

    def one(self, name: str) -> ReadableSpan:
        """The only span of that name."""
        [found] = [span for span in self.spans if span.name == name]
        return found


def about(span: ReadableSpan) -> dict[str, Any]:
    """Its attributes."""
    return dict(span.attributes or {})


def events(span: ReadableSpan) -> list[tuple[str, dict[str, Any]]]:
    """Its events."""
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def everything(kept: Kept) -> str:
    """All that the spans say, as one text to search."""
    return "\n".join(span.to_json() for span in kept.spans)


class Lines(logging.Handler):
    """Keeps log records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.records.append(record)

    @property
    def texts(self) -> list[str]:
        """Level and text of each."""
        return [f"{record.levelname} {record.getMessage()}" for record in self.records]


def logger() -> tuple[logging.Logger, Lines]:
    """A logger of its own, and what it is told."""
    made, lines = logging.Logger("test"), Lines()
    made.addHandler(lines)
    return made, lines
