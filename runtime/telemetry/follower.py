"""Whoever is told what one session records, as it may be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guideway.runtime.learning import Learning
from guideway.runtime.plan import plan_of
from guideway.runtime.records import Record, spread, to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.session import Session
from guideway.runtime.watchers import Watcher

from .quiet import Quiet, quietly


class Follower(Quiet, Watcher):
    """
    Follows one session; a driver or an agent hands it the records, or `catch_up` fetches those that are new.

    Everything reaches `tell` without the values of sensitive inputs and parameters.
    """

    def __init__(self, session: Session) -> None:
        run = session._run
        self.session, self.run_id, self.mode = session, run.run_id, run.mode
        self.definition = plan_of(session.machine).definition
        self._redactor = Redactor(self.definition, run.frame.inputs)
        self._learning = Learning(session, self._redactor)
        self._told = 0

    @quietly
    def happened(self, records: Sequence[Record]) -> None:
        """Take new records, in order."""
        self._learning.happened(records)
        for record in spread(records):
            self._one(record)

    @quietly
    def _one(self, record: Record) -> None:
        self.tell(self._redactor.record(to_json(record)), record)

    @quietly
    def catch_up(self) -> None:
        """Take what the session has recorded since the last time; for a host that drives a session itself."""
        new = self.session.since(self._told)
        self._told += len(new)
        self.happened(new)

    def shown(self, value: Any) -> Any:
        """A value, such as a transcript, as it may be shown: calls that stand in it are hidden as calls are."""
        return self._redactor.record({"kind": "noted", "at": None, "name": "", "data": value})["data"]

    def tell(self, shown: Mapping[str, Any], record: Record) -> None:
        """Tell of one record: `shown` is what may be shown of it, by name; of `record` take kind and time alone."""
        raise NotImplementedError
