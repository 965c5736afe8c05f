"""Hooks of seed three's dialect at the points of the loop."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from guideway.runtime.calls import ToolCall
from guideway.runtime.verdicts import Defer, Deny, NeedsApproval

from .layers import Layer, asked, name_of
from .points import AfterModel, AfterTool, AtEnd, BeforeModel, BeforeTool, Facts, HookFailedError
from .verdict import AgentHooks, AgentOutcome, Block, Continue, Modify, RunInfo, ToolContext, ToolOutput

log = logging.getLogger("guideway.hooks")


class VerdictLayer(Layer):
    """Registration order, before and after."""

    def __init__(self, hooks: list[AgentHooks]) -> None:
        self._hooks = hooks
        self.names = tuple(map(name_of, hooks))
        self._seen: WeakKeyDictionary[BeforeTool, ToolCall] = WeakKeyDictionary()
        """calls that were asked about, as they were left"""

    async def before_model(self, point: BeforeModel) -> None:
        """Each edits the request in place."""
        for hook in self._hooks:
            await careful(hook, "before_model", point, info_of(point.facts))

    async def after_model(self, point: AfterModel) -> None:
        """Each sees the raw response."""
        for hook in self._hooks:
            await careful(hook, "after_model", copy.deepcopy(point.reply), info_of(point.facts))

    async def before_tool(self, point: BeforeTool) -> None:
        """
        Asked now where the policy allows the call, and where it refuses it not at all.

        A call that waits for others, or for a person, is asked about when it has been allowed (`admitted`).
        """
        verdict = point.policy(point.call) if point.policy is not None else None
        if not isinstance(verdict, Defer | NeedsApproval | Deny):
            await self._ask(point)

    async def admitted(self, point: BeforeTool) -> None:
        """
        The policy has allowed it late, or a person has: a change now is another call, decided on anew (row 33).

        One that was asked about and has been changed further in is asked about once more: it may still be blocked, and
        is not modified a second time.
        """
        left = self._seen.get(point)
        if left is None or (left.name, left.args) != (point.call.name, point.call.args):
            await self._ask(point, modify=left is None)

    async def _ask(self, point: BeforeTool, modify: bool = True) -> None:
        context = ToolContext(info_of(point.facts))
        for hook in self._hooks:
            try:
                action = await asked(hook.before_tool, own(point.call), context)
            except Exception as error:
                log.exception("the hook %s failed before a call of %s", name_of(hook), point.call.name)
                action = Block(f"the hook {name_of(hook)} failed: {type(error).__name__}: {error}")
            if isinstance(action, Modify) and not modify:
                continue
            if not heed(point, action, hook):
                break
        self._seen[point] = own(point.call)

    async def after_tool(self, point: AfterTool) -> None:
        """For every call, blocked and denied ones too (row 30)."""
        output = ToolOutput(copy.deepcopy(point.shown), point.is_error)
        for hook in self._hooks:
            try:
                await asked(hook.after_tool, own(point.call), output, ToolContext(info_of(point.facts)))
            except Exception:
                log.exception("the hook %s failed after a call of %s", name_of(hook), point.call.name)

    async def end(self, point: AtEnd) -> None:
        """Once per outcome, a pause included; not where the model failed (row 31)."""
        if point.error is not None:
            return
        outcome = AgentOutcome(point.outcome, str(point.stop_reason), point.output)
        for hook in self._hooks:
            try:
                await asked(hook.on_outcome, outcome, info_of(point.facts))
            except Exception:
                log.exception("the hook %s failed at the end of run %s", name_of(hook), point.facts.run_id)


def heed(point: BeforeTool, action: Any, hook: AgentHooks) -> bool:
    """Do what a hook says; False: nobody else is asked.  What is no action blocks: a guard is never taken for a yes."""
    match action:
        case None | Continue():
            return True
        case Modify(args) if isinstance(args, Mapping):
            if dict(args) != point.call.args:
                point.change(args=copy.deepcopy(dict(args)))
            return True
        case Block(reason):
            point.block(str(reason))
        case _:
            point.block(f"the hook {name_of(hook)} answered with a {type(action).__name__}, and no verdict")
    return False


def own(call: ToolCall) -> ToolCall:
    """The call, with arguments that a hook may change as it likes: nothing comes of it."""
    return ToolCall(call.name, copy.deepcopy(call.args), call.call_id)


def info_of(facts: Facts) -> RunInfo:
    """Facts of the run."""
    return RunInfo(facts.run_id, facts.session_id, facts.iteration, facts.max_iterations, facts.usage)


async def careful(hook: AgentHooks, method: str, *values: Any) -> None:
    """
    Call a method.

    Raises:
        HookFailedError: it raised; the cause is kept.
    """
    try:
        await asked(getattr(hook, method), *values)
    except Exception as error:
        raise HookFailedError(f"the hook {name_of(hook)} failed in {method}: {error}") from error
