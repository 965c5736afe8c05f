"""Builders for what lies in blocks and frames, beside those of `helpers`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import guideway
from guideway import Approvals, Cancel, Deny, Failed, Machine, Outcome, Progress, RunCall, Session, Succeeded

from .helpers import asks, running, trace


def plain(more: Mapping[str, Any]) -> dict[str, Any]:
    """Keys as the format writes them: `next_` loses its underscore."""
    return {key.removesuffix("_"): value for key, value in more.items()}


def auto(id: str, tool: str | None = None, args: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A step whose call the runtime makes; `expect` goes to the call, the rest to the step."""
    made: dict[str, Any] = {"tool": tool or id, "args": dict(args or {})}
    if "expect" in more:
        made["expect"] = more.pop("expect")
    return {"id": id, "call": made} | plain(more)


def show(**values: str) -> dict[str, Any]:
    """A last step that shows the values of some expressions as its arguments."""
    return auto("show", args={name: f"{{{{ {source} }}}}" for name, source in values.items()})


def shown(session: Session) -> dict[str, Any]:
    """What `show` shows."""
    [only] = [command for command in running(session) if command.tool == "show"]
    return only.args


def parallel(id: str, branches: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Branches side by side."""
    return {"id": id, "parallel": dict(branches)} | plain(more)


def each(id: str, items: Any, *steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The steps once per item, called `i`; `collect`, `concurrency` and `at_most` belong to the loop."""
    loop = {key: more.pop(key) for key in ("collect", "concurrency", "at_most") if key in more}
    return {"id": id, "for_each": {"as": "i", "in": items} | loop, "steps": list(steps)} | plain(more)


def rounds(id: str, until: str, *steps: Mapping[str, Any], at_most: int = 3, **more: Any) -> dict[str, Any]:
    """The steps round after round."""
    loop = {key: more.pop(key) for key in ("collect", "wait") if key in more}
    return {"id": id, "repeat": {"until": until, "at_most": at_most} | loop, "steps": list(steps)} | plain(more)


def section(id: str, *steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The steps once, in a frame of the picture."""
    return {"id": id, "steps": list(steps)} | plain(more)


def sub(id: str, *steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A playbook that others call."""
    return {"id": id, "name": id.upper(), "steps": list(steps)} | plain(more)


def family(*steps: Mapping[str, Any], library: list[dict[str, Any]], **more: Any) -> Machine:
    """A compiled playbook of these steps, which may call those of the library by their ids."""
    source = {"id": "p", "name": "P", "steps": list(steps)} | more
    return guideway.load(source, flow=False, library=library)


def arrive(session: Session, tool: str, result: Any = None, now: Any = None) -> str:
    """The one open call of a tool that the runtime makes succeeds; gives its id."""
    [only] = [command for command in running(session) if command.tool == tool]
    session.observe(only.call_id, Succeeded(result), now=now)
    return only.call_id


def fails(session: Session, tool: str) -> Progress:
    """The one open call of a tool that the runtime makes fails."""
    [only] = [command for command in running(session) if command.tool == tool]
    return session.observe(only.call_id, Failed("broken"))


def drain(session: Session, outcome: Outcome | None = None) -> None:
    """What is under way, orphans and cancelled ones too, comes to its end."""
    left = [command.call_id for command in session.commands if isinstance(command, RunCall | Cancel)]
    for call_id in left:
        session.observe(call_id, outcome or Succeeded())


def open_tools(session: Session) -> list[str]:
    """The tools of the calls the runtime asks for, in order."""
    return [command.tool for command in running(session)]


def legal_tools(session: Session) -> set[str]:
    """The tools of the calls that are legal now, control tools aside."""
    return {legal.tool for legal in session.legal()} - {"complete_step", "skip_step"}


def asked_at(session: Session, step: str) -> str:
    """The id of the one question of a step that is open."""
    [only] = [ask for ask in asks(session) if ask.step == step]
    assert only.call_id in {question.approval_id for question in Approvals(session).pending}
    return only.call_id


def kinds(verdicts: Any) -> list[str]:
    """The verdicts, a word each; a denial by its code."""
    return [v.code if isinstance(v, Deny) else type(v).__name__ for v in verdicts]


def records(session: Session, kind: str, *fields: str) -> list[Any]:
    """Some fields of the records of one kind, in order; the bare value where only one is wanted."""
    found = [tuple(record.get(field) for field in fields) for record in trace(session) if record["kind"] == kind]
    return [row[0] for row in found] if len(fields) == 1 else found
