"""Playbooks, events of a hook, and agents that are nothing but their hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import guideway as gw
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook

TRIAGE: dict[str, Any] = {
    "id": "triage", "name": "Triage",
    "steps": [
        {"id": "look", "description": "Look", "expected_tools": ["query_siem", "get_user"], "hints": ["last 24 hours"]},
        {"id": "note", "description": "Note", "expected_tools": ["comment"], "hints": ["short"], "required": False},
        {"id": "act", "description": "Act", "expected_tools": ["isolate"], "hints": ["once"], "max_tool_calls": 1},
    ],
}  # fmt: skip


def playbook(**more: Any) -> gw.Playbook:
    """The triage playbook, with other keys where they are given."""
    return gw.load_playbook({**TRIAGE, **more})


def steps(*parts: Mapping[str, Any], **more: Any) -> gw.Playbook:
    """A playbook of these steps."""
    return gw.load_playbook(
        {"id": "p", "name": "P", "steps": [{"description": "Do", **part} for part in parts], **more}
    )


def enforcer(**more: Any) -> PlaybookEnforcer:
    """An enforcer of the triage playbook."""
    return PlaybookEnforcer.from_playbook(playbook(), **more)


class Event(SimpleNamespace):
    """What a hook of the seed is shown of a call."""

    cancel: Any
    error: Any


def event(tool: str, given: str = "", run: Any = None, **args: Any) -> Event:
    """A call that is about to be made."""
    return Event(tool_name=tool, tool_call_id=given or tool, arguments=args, cancel=False, error=None, run=run)


async def make(hook: PlaybookEnforcerHook, tool: str, given: str = "", *, error: str | None = None, **args: Any) -> str:
    """Carry out one call as an agent does: ask, run, report.  Returns `ran`, or why it did not."""
    about = event(tool, given, **args)
    await hook.on_before_tool_call(about)
    if about.cancel:
        return str(about.cancel)
    await asyncio.sleep(0)
    about.error, about.result = error, {"by": tool}
    await hook.on_after_tool_call(about)
    return "ran"


def run(hook: PlaybookEnforcerHook, *tools: str, fails: Sequence[str] = ()) -> list[str]:
    """One call after the other."""

    async def all_of_them() -> list[str]:
        return [
            await make(hook, tool, f"{tool}-{n}", error="boom" if tool in fails else None)
            for n, tool in enumerate(tools)
        ]

    return asyncio.run(all_of_them())


def at_once(hook: PlaybookEnforcerHook, *tools: str, fails: Sequence[str] = ()) -> list[str]:
    """The calls of one reply side by side, each in a task of its own."""

    async def all_of_them() -> list[str]:
        calls = (
            make(hook, tool, f"{tool}-{n}", error="boom" if tool in fails else None) for n, tool in enumerate(tools)
        )
        return list(await asyncio.gather(*calls))

    return asyncio.run(all_of_them())
