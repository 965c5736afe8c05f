"""A hook whose playbook the agent itself holds its calls to: there is nothing to decide any more, only to see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guideway.runtime.calls import Outcome
from guideway.runtime.session import Session

from .desk import Desk
from .enforcer import PlaybookEnforcer
from .plan import PlaybookPlan


class Onlooker(Desk):
    """Keeps an enforcer up to date with a session that is driven elsewhere; it gates nothing, since that one does."""

    async def ask(self, tool: str, args: Mapping[str, Any], given: str) -> str | None:
        """Say nothing: the agent's own gate comes after all hooks, and decides on the whole reply."""
        return None

    def report(self, tool: str, args: Mapping[str, Any], given: str, outcome: Outcome) -> None:
        """See what has happened."""
        self.enforcer._refresh()

    def turn(self) -> None:
        """See what has happened; the session counts the turns."""
        self.enforcer._refresh()

    def said(self, text: str) -> None:
        """See what has happened; the session hears the text."""
        self.enforcer._refresh()


def onlooker(session: Session, enforcer: PlaybookEnforcer) -> Onlooker:
    """An enforcer like this one that shows the run of the session, from its first record on."""
    view = PlaybookEnforcer(
        plan=PlaybookPlan(playbook=enforcer.plan.playbook),
        block_violations=enforcer.block_violations,
        record_violations=enforcer.record_violations,
        advances=True,
        skills=enforcer.skills,
        inputs=enforcer.inputs,
    )
    view._watch(session)
    return Onlooker(view)
