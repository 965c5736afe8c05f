"""Keeping a redactor up to date while a run goes on: called playbooks have sensitive inputs, too."""

from __future__ import annotations

from collections.abc import Sequence

from .records import Record
from .redact import Redactor
from .session import Session
from .situation import inner_inputs
from .watchers import Watcher


class Learning(Watcher):
    """Teaches the redactor what is secret; it comes before the watchers that use the redactor."""

    def __init__(self, session: Session, redactor: Redactor) -> None:
        self._session = session
        self._redactor = redactor
        self._learn()

    def happened(self, records: Sequence[Record]) -> None:
        """Look at what called playbooks were given."""
        if any(record[0] == "called" for record in records):
            self._learn()

    def _learn(self) -> None:
        for definition, inputs in inner_inputs(self._session):
            self._redactor.learn(definition, inputs)
