"""A run as lines of the standard library's `logging`: one for each decision, refusal, question and end."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from guideway.runtime.hooks.points import AtEnd
from guideway.runtime.records import Record
from guideway.runtime.session import Session
from guideway.runtime.wording import printable

from .follower import Follower
from .quiet import Quiet, quietly

logging.getLogger("guideway").addHandler(logging.NullHandler())

WORDS: Mapping[str, tuple[str, ...]] = {
    # kind of record -> which of its values a line shows, in order
    "started": ("playbook", "digest", "started_by"),
    "decided": ("verdict", "tool", "call_id", "step", "code", "frame"),
    "settled": ("outcome", "tool", "call_id", "step", "frame"),
    "moved": ("source", "event", "target", "frame"),
    "asked": ("of", "approval_id", "tool", "step", "frame"),
    "allowed": ("approval_id", "by", "step", "frame"),
    "edited": ("approval_id", "by", "tool", "step", "frame"),
    "answered": ("decision", "approval_id", "by", "step", "frame"),
    "due": ("timer", "step", "frame"),
    "signalled": ("signal",),
    "claimed": ("confidence",),
    "host": ("verb", "step", "frame"),
    "noted": ("name",),
    "called": ("playbook", "step", "frame"),
    "returned": ("playbook", "outcome", "frame"),
    "closed": ("step", "event", "frame"),
    "policy": ("policy", "standing", "frame"),
    "ended": ("outcome",),
}
QUIETER = frozenset({"moved", "claimed", "noted", "closed", "signalled", "due"})
CONTENT = ("args", "detail", "text", "ask", "answer", "data", "inputs", "note")
LONGEST = 400
"""Characters of one value."""


class LogLines(Quiet):
    """
    A hook that writes a line for each thing that matters in a run; for a session without an agent, `watch` it.

    The run, and every value shown, also stand in the `LogRecord` by itself: `guideway_run`, `guideway_kind`,
    `guideway_tool` …  Levels: what goes as it should is INFO, its details DEBUG; a refusal, a failed call, an end
    without success are WARNING; an outcome that nobody knows, and a run that failed, ERROR.

    Args:
        logger: where lines go; by default the logger `guideway`, which shows nothing until the program says so.
        content: also arguments, results and texts, without what is sensitive.

    >>> import guideway, sys
    >>> shown = logging.Logger("mine"); shown.addHandler(logging.StreamHandler(sys.stdout))
    >>> session = guideway.Session(guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]}))
    >>> lines = LogLines(shown).watch(session)
    >>> [verdict] = session.propose([guideway.ToolCall("format_disk", {}, "c1")])
    >>> lines.catch_up()  # doctest: +ELLIPSIS
    run=run started playbook=t digest=...
    run=run decided verdict=deny tool=format_disk call_id=c1 step=look code=...
    """

    name = "log_lines"
    priority = 150

    def __init__(self, logger: logging.Logger | None = None, *, content: bool = False) -> None:
        self._logger = logger or logging.getLogger("guideway")
        self._content = content

    def watch(self, session: Session) -> RunLines:
        """A watcher for a session that no agent drives: give it to a `Driver`, or let it `catch_up` by yourself."""
        return RunLines(session, self._logger, content=self._content)

    def watch_run(self, session: Session, run_id: str) -> RunLines | None:
        """For an agent: the watcher of a run that this is a hook of."""
        try:
            return self.watch(session)
        except Exception as error:
            self.fault(error)
            return None

    @quietly
    def on_end(self, point: AtEnd) -> None:
        """A segment is over."""
        level = logging.ERROR if point.error is not None else logging.INFO
        about = {"status": point.outcome, "stop_reason": str(point.stop_reason), "success": point.success}
        if point.error is not None:
            about["error"] = type(point.error).__name__
        write(self._logger, level, point.facts.run_id, "segment_ended", about)


class RunLines(Follower):
    """The lines of one session."""

    def __init__(self, session: Session, logger: logging.Logger, *, content: bool = False) -> None:
        super().__init__(session)
        self._logger, self._content = logger, content

    def tell(self, shown: Mapping[str, Any], record: Record) -> None:
        """Write the line of one record, if it is worth one."""
        kind = shown["kind"]
        if kind not in WORDS:
            return
        keys = (*WORDS[kind], *CONTENT) if self._content else WORDS[kind]
        about = {key: shown[key] for key in keys if shown.get(key) not in (None, "", {}, [])}
        if kind == "ended":
            about["class"] = self.session.outcome_class
        write(self._logger, weight(kind, shown, str(about.get("class", ""))), self.run_id, kind, about)


def weight(kind: str, shown: Mapping[str, Any], outcome_class: str = "") -> int:
    """
    How much a record weighs, as a level of `logging`.

    >>> weight("decided", {"verdict": "deny"}) == logging.WARNING
    True
    """
    word = shown.get("outcome") or shown.get("verdict") or shown.get("decision") or shown.get("standing")
    if kind == "ended":
        return {"success": logging.INFO, "failed": logging.ERROR}.get(outcome_class, logging.WARNING)
    if kind == "settled" and word == "unknown":
        return logging.ERROR
    if word in ("deny", "illegal", "error", "cancelled", "rejected", "reject", "expired", "violated"):
        return logging.WARNING
    return logging.DEBUG if kind in QUIETER or word == "defer" else logging.INFO


def write(logger: logging.Logger, level: int, run: str, kind: str, about: Mapping[str, Any]) -> None:
    """One line; nothing in it can move a cursor, colour a terminal, or begin another line."""
    if not logger.isEnabledFor(level):
        return
    clean = {key: value if isinstance(value, bool | int | float) else word(value) for key, value in about.items()}
    said = " ".join(f"{key}={value}" for key, value in clean.items())
    extra = {"guideway_run": word(run), "guideway_kind": kind} | {f"guideway_{k}": v for k, v in clean.items()}
    logger.log(level, "run=%s %s%s", word(run), kind, f" {said}" if said else "", extra=extra)


def word(value: Any) -> str:
    """
    A value within a line; one that could be read as several words is quoted.

    >>> word("c1"), word("a b"), word("x verdict=allow"), word({"a": 1})
    ('c1', '"a b"', '"x verdict=allow"', '"{\\'a\\': 1}"')
    """
    text = printable(value, LONGEST)
    simple = text and not any(c.isspace() or c in '="' for c in text)
    return text if simple else '"' + text.replace('"', "'") + '"'
