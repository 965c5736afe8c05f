"""From the records of a run to spans: a span for each call that was admitted, an event for everything else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from guideway.runtime.records import Record
from guideway.runtime.session import Session
from guideway.runtime.wording import printable
from guideway.statemachine.tools import CONTROL

from . import names as n
from .follower import Follower
from .quiet import quietly
from .spans import Spans

if TYPE_CHECKING:
    from .spans import Span

FAILED = frozenset({"error", "unknown"})
"""Outcomes of a call that are failures of its span; one that was cancelled did not run."""
LONGEST = 400
"""Characters of what a model made up: the name of a tool, the id of a call."""
EVENTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    # kind of record -> name of the event, and which of the record's values it carries
    "moved": ("guideway.moved", ("source", "event", "target", "step", "frame")),
    "asked": ("guideway.asked", ("approval_id", "of", "step", "tool", "frame")),
    "allowed": ("guideway.approved", ("approval_id", "step", "frame")),
    "edited": ("guideway.edited", ("approval_id", "step", "tool", "frame")),
    "answered": ("guideway.answered", ("approval_id", "decision", "step", "frame")),
    "due": ("guideway.due", ("timer", "step", "frame")),
    "signalled": ("guideway.signalled", ("signal",)),
    "claimed": ("guideway.claimed", ("confidence",)),
    "host": ("guideway.host", ("verb", "step", "frame")),
    "noted": ("guideway.noted", ("name",)),
    "called": ("guideway.called", ("playbook", "step", "frame")),
    "returned": ("guideway.returned", ("playbook", "outcome", "frame")),
    "closed": ("guideway.closed", ("step", "event", "frame")),
    "policy": ("guideway.policy", ("policy", "standing", "frame")),
}


class RunSpans(Follower):
    """
    Spans of one session: below a span that an agent has begun, or below one of its own (`invoke_workflow`).

    A span of a call begins when the gate admitted it and ends when what came of it was reported, by the clock of the
    session; without one, when this was told.
    """

    def __init__(self, session: Session, spans: Spans, *, content: bool = False) -> None:
        super().__init__(session)
        self._spans, self._content = spans, content
        self.root: Span | None = None
        """set by an agent's hook; else begun here"""
        self._own = False
        self._open: dict[str, Span] = {}

    @property
    def about(self) -> dict[str, Any]:
        """What every outermost span says of the run."""
        return {
            n.RUN: self.run_id, n.PLAYBOOK: self.definition.id, n.DIGEST: self.definition.digest,
            n.MODE: self.mode, n.CONVERSATION: self.run_id,
        }  # fmt: skip

    def tell(self, shown: Mapping[str, Any], record: Record) -> None:
        """Begin, end, or note."""
        kind, at = record[0], record[1]
        tellers: Mapping[str, Callable[[Mapping[str, Any], datetime | None], None]] = {
            "decided": self._decided, "settled": self._settled, "ended": self._ended,
        }  # fmt: skip
        if kind in tellers:
            tellers[kind](shown, at)
        elif kind == "noted" and shown["name"] == "hook_blocked":
            data = shown["data"]
            about = {
                n.TOOL_NAME: printable(data["tool"], LONGEST),
                n.TOOL_CALL_ID: data["call_id"],
                n.VERDICT: "blocked_by_hook",
            }
            self._spans.event(self._outermost(at), "guideway.decided", about, at)
        elif kind in EVENTS:
            name, carried = EVENTS[kind]
            about = {f"{name}.{key}": plain(shown.get(key)) for key in carried}
            self._spans.event(self._outermost(at), name, about, at)
        elif kind == "started":
            self._outermost(at)

    @quietly
    def close(self) -> None:
        """End what is still open: calls whose end nobody reported, and the run's own span."""
        for call_id in list(self._open):
            self._end(call_id, {n.CALL_OUTCOME: "unreported"}, "unreported", None, None)
        if self._own and self.root is not None:
            self._spans.end(self.root, {n.STATUS: "suspended"})
            self.root = None

    def _outermost(self, at: datetime | None) -> Span:
        if self.root is None:
            self._own = True
            name = self.definition.name
            about = {n.OPERATION: n.INVOKE_WORKFLOW, n.WORKFLOW_NAME: name, **self.about}
            self.root = self._spans.begin(f"{n.INVOKE_WORKFLOW} {name}", about, at=at)
        return self.root

    def _decided(self, shown: Mapping[str, Any], at: datetime | None) -> None:
        root, verdict, tool, call_id = self._outermost(at), shown["verdict"], shown["tool"], shown["call_id"]
        about = {
            n.TOOL_NAME: tool, n.TOOL_CALL_ID: call_id, n.STEP: shown.get("step"), n.FRAME: shown.get("frame"),
            n.VERDICT: verdict, n.CODE: shown.get("code"),
        }  # fmt: skip
        if verdict not in ("allow", "illegal") or tool in CONTROL:
            about |= made_up(tool, call_id)
            self._spans.event(root, "guideway.decided", about, at)
            return
        self._end(call_id, {}, "unreported", None, at)
        about |= {n.OPERATION: n.EXECUTE_TOOL, n.TOOL_TYPE: "function", n.RUN: self.run_id}
        about[n.AUTOMATIC] = "@" in call_id or None
        if self._content:
            about[n.TOOL_ARGUMENTS] = text(shown.get("args"))
        self._open[call_id] = self._spans.begin(f"{n.EXECUTE_TOOL} {tool}", about, parent=root, at=at)

    def _settled(self, shown: Mapping[str, Any], at: datetime | None) -> None:
        word, detail = shown["outcome"], shown.get("detail")
        about: dict[str, Any] = {n.CALL_OUTCOME: word}
        told = detail if isinstance(detail, Mapping) else {}
        if self._content and "result" in told:
            about[n.TOOL_RESULT] = text(told["result"])
        why = str(told["message"]) if self._content and told.get("message") else None
        self._end(shown["call_id"], about, kind_of(word, told), why, at)

    def _end(
        self, call_id: str, about: Mapping[str, Any], error: str | None, why: str | None, at: datetime | None
    ) -> None:
        span = self._open.pop(call_id, None)
        if span is not None:
            self._spans.end(span, about, error=error, why=why, at=at)

    def _ended(self, shown: Mapping[str, Any], at: datetime | None) -> None:
        outcome = str(shown["outcome"])
        root = self._outermost(at)
        if not self._own:
            self._spans.event(root, "guideway.ended", {n.OUTCOME: outcome}, at)
            return
        about = {n.OUTCOME: outcome, n.SUCCESS: self.session.outcome_class == "success", n.STATUS: "completed"}
        failed = outcome if outcome.startswith("failed") else None
        self._spans.end(root, about, error=failed, at=at)
        self.root, self._own = None, False


def kind_of(word: str, detail: Mapping[str, Any]) -> str | None:
    """
    The kind of a failure, for `error.type`: the type of the error where it looks like one, never its message.

    >>> kind_of("error", {"type": "Timeout", "message": "…"}), kind_of("unknown", {}), kind_of("ok", {})
    ('Timeout', 'unknown', None)
    """
    if word not in FAILED:
        return None
    kind = detail.get("type")
    fitting = isinstance(kind, str) and kind.isidentifier() and len(kind) <= 64
    return str(kind) if fitting and kind != "error" else ("tool_error" if word == "error" else word)


def made_up(tool: str, call_id: str) -> dict[str, Any]:
    """Name and id of a call that did not run, as far as a reader needs them."""
    return {n.TOOL_NAME: printable(tool, LONGEST), n.TOOL_CALL_ID: printable(call_id, LONGEST)}


def text(value: Any) -> str:
    """JSON, as the conventions want content."""
    return json.dumps(value, ensure_ascii=False, default=str)


def plain(value: Any) -> Any:
    """A value that an attribute can hold."""
    return value if value is None or isinstance(value, str | bool | int | float) else text(value)
