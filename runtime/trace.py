"""The trace of a run as a file: hash-chained JSON lines, written before the effect whose intent they carry (S57)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TextIO

from guideway.statemachine.errors import JournalError

from .records import FIELDS, Record, lines, to_json
from .redact import Redactor
from .watchers import Watcher


class TraceFile(Watcher):
    """
    Writes records to a stream as they come.

    >>> import io
    >>> from .redact import Redactor
    >>> from guideway.statemachine.definition import Definition
    >>> stream = io.StringIO()
    >>> TraceFile(stream, Redactor(Definition("p", "P", "a", {}, {}), {})).happened([("claimed", None, 0.5)])
    >>> stream.getvalue()[:46]
    '{"seq": 0, "previous": "0000000000000000000000'
    """

    def __init__(self, stream: TextIO, redactor: Redactor) -> None:
        self._stream = stream
        self._redactor = redactor
        self._fed: deque[Record] = deque()
        self._lines = lines(iter(self._fed.popleft, None))

    def happened(self, records: Sequence[Record]) -> None:
        """
        Write the records out.

        Raises:
            JournalError: the disk does not take them.
        """
        self._fed.extend(redacted(record, self._redactor) for record in records)
        try:
            while self._fed:
                self._stream.write(next(self._lines))
            self._stream.flush()
        except OSError as fault:
            raise JournalError(f"the trace cannot be written: {fault.strerror or fault}") from None


def redacted(record: Record, redactor: Redactor) -> Record:
    """The record without what is sensitive."""
    kind, at, *_ = record
    clean = redactor.record(to_json(record))
    return (kind, at, *(clean.get(name) for name in FIELDS[kind]))
