"""
What an agent's run is beside its session, in the journal: written with every turn, read again after a crash.

Each note holds what has changed: all the small things, and the messages and executions that are new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from guideway.runtime.hooks.layers import name_of
from guideway.runtime.run import Status
from guideway.runtime.session import Session
from guideway.statemachine.errors import HostError

from .deals import Deal
from .limits import AgentLimits
from .memory import Memory

if TYPE_CHECKING:
    from .live import Live
    from .settings import Settings

NOTE = "agent"
LISTS = ("messages", "executions")


def save(live: Live) -> None:
    """
    Note what has changed since the last note; without a journal, nothing.

    Raises:
        JournalError: it could not be kept.
    """
    if live.settings.journal is None:
        return
    whole = live.memory.to_json() | {"guarded": guards(live.settings)}
    note: dict[str, Any] = {"from": {}}
    for name in LISTS:
        there = whole.pop(name)
        since = live.kept.get(name, 0)
        since = since if since <= len(there) else 0
        note[name], note["from"][name] = there[since:], since
        live.kept[name] = len(there)
    live.session.note(NOTE, {**note, "rest": whole}, live.clock.now())


def guards(settings: Settings) -> list[str]:
    """What holds the run beside its playbook, in words: whoever goes on with it without these lets it go."""
    found = [f"the hook {name_of(hook)}" for hook in settings.hooks]
    found += ["a termination condition"] if settings.termination is not None else []
    return found + (["limits"] if settings.limits != AgentLimits() else [])


def memory_of(settings: Settings, run_id: str, session: Session | None = None) -> Memory | None:
    """
    The run as its notes have it; None where there are none: it was cut off before its first, or was no agent's.

    Raises:
        JournalError: the entries are not those that were written.
    """
    from guideway.runtime.journal.entries import verified

    whole: dict[str, Any] = {name: [] for name in LISTS}
    texts = (stored.text for stored in settings.journal.read(run_id))
    for entry in verified(texts, run_id, settings.journal_key):
        if entry.kind == "event" and entry.body.get("verb") == "note":
            fold(whole, entry.body["data"])
    recorder: Any = session._recorder if session is not None else None
    if recorder is not None:  # the model reads what it read before, as far as its secrets are to be had
        whole = recorder.shown(whole)
    return Memory.of_json(whole) if "version" in whole else None


def guarded(notes: Iterable[Any]) -> list[str]:
    """What held a run beside its playbook when it was noted last; nothing of one that was no agent's."""
    latest = next(reversed(list(notes)), None)
    return list(latest["rest"].get("guarded", ())) if latest else []


def fold(whole: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Put one note on top of those before."""
    if data.get("name") != NOTE:
        return
    note = data["data"]
    whole.update(note["rest"])
    for name in LISTS:
        whole[name] = [*whole[name][: note["from"][name]], *note[name]]


def recovered(settings: Settings, run_id: str, inputs: Mapping[str, Any] | None, now: Any) -> tuple[Session, Memory]:
    """
    The run after a crash: what was under way then is unknown (S54), and the model is told so.

    Raises:
        HostError: the agent has no journal, the run is of another playbook, or a sensitive input is missing.
        JournalError: there is no such run, or its entries are not those that were written.
    """
    if settings.journal is None:
        raise HostError("this agent keeps no journal; give it the one that the run is in: journal=…")
    from guideway.runtime.journal import resume

    session = resume(
        settings.journal, run_id, settings.machine, inputs=inputs, now=now, predicates=settings.predicates,
        key=settings.journal_key, vault=settings.vault,
    )  # fmt: skip
    memory = memory_of(settings, run_id, session)
    memory = memory or Memory(run_id, instructions=settings.instructions, started=session.now)
    for deal in memory.deals:
        if not deal.over:
            look_up(session, deal)
    return session, memory


def look_up(session: Session, deal: Deal) -> None:
    """What the session knows of a call that was under way when the program stopped."""
    with session._inside() as run:
        bound, settled = run.outstanding.get(deal.call_id), run.settled.get(deal.call_id)
    if bound is not None and bound.status is Status.PENDING:
        return
    if bound is not None:
        deal.ran = True
        deal.show(
            "the program stopped while it ran; nobody knows whether it happened, and a person looks into it", True
        )
    elif settled is None or settled[0] == "denied":
        deal.show("the program stopped before it ran; call it again if it is still wanted", True)
    elif settled[0] == "ok":
        deal.ran = True
        deal.show(settled[1], False)
    else:
        deal.ran = settled[0] != "cancelled"
        deal.show("the program stopped while it ran, and nobody knows what came of it", True)


def pending(session: Session, deal: Deal) -> bool:
    """A person, or a tool, is still to say what becomes of the call, and its step is still open."""
    with session._inside() as run:
        bound = run.outstanding.get(deal.call_id)
        return bound is not None and not bound.orphan and bound.status is not Status.DOUBT
