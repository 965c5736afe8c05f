"""An agent of Guideway's that is held to a playbook by a hook alone takes that playbook into its own gate."""

from __future__ import annotations

from typing import Any

from guideway.door import load
from guideway.runtime.approvals import Question
from guideway.runtime.decisions import Decision

from .asking import Ask
from .hook import PlaybookEnforcerHook


def take_over(hooks: tuple[Any, ...], decisions: Any, mode: str) -> dict[str, Any]:
    """
    The parts of an agent that a hook with a playbook changes; none where there is no such hook.

    A hook hears of calls one by one and can only say no.  A gate decides on a reply as a whole, offers what is legal,
    and accepts an end only where the playbook has one.  A hook with a selector, and any further one, stays a hook.
    """
    hook = next((one for one in hooks if isinstance(one, PlaybookEnforcerHook) and one.playbook is not None), None)
    if hook is None or hook.playbook is None:
        return {}
    parts: dict[str, Any] = {
        "machine": load(hook.playbook, skills=hook.skills),
        "hooks": tuple(one for one in hooks if one is not hook),
        "shown_to": hook,
        "mode": mode if hook.blocks else "record",
    }
    if decisions is None and hook.people is not None:
        parts["decisions"] = deciding(hook.people)
    return parts


def deciding(people: Ask) -> Any:
    """The hook's callback, as a source of decisions; it allows, or rejects."""
    import inspect

    async def decide(question: Question) -> Decision | None:
        if question.of not in ("step", "call"):
            return None
        answer = people(question)
        who = await answer if inspect.isawaitable(answer) else answer
        return Decision("approve", by=who) if who else Decision("withdraw", "", "nobody allowed it")

    return decide
