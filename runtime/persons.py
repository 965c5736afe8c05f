"""Who may decide, and when enough have (S29, S30)."""

from __future__ import annotations

from collections.abc import Collection

from .run import Pending


def objection_to(pending: Pending, by: str, groups: Collection[str]) -> str | None:
    """Why this person has no say here."""
    if by in pending.excluded or any(group in pending.excluded for group in groups):
        return f"{by} may not decide this: {', '.join(pending.excluded)} may not"
    if pending.approvers and not roles(pending, by, groups):
        return f"{by} may not decide this; {', '.join(pending.approvers)} may"
    return None


def no_more(pending: Pending, by: str, groups: Collection[str]) -> str | None:
    """Why this person's yes adds nothing."""
    if any(by == said for said, _ in pending.said):
        return f"{by} has allowed it already; another person must, too"
    if not useful(pending, by, groups):
        missing = [name for name in pending.approvers if name not in matched(pending)]
        return f"{by} stands for nobody who is still needed: {', '.join(missing)}"
    return None


def roles(pending: Pending, by: str, groups: Collection[str]) -> tuple[str, ...]:
    """Those of the approvers that the person is, or belongs to."""
    return tuple(name for name in pending.approvers if name == by or name in groups)


def needed(pending: Pending) -> int:
    """How many different persons must allow it."""
    return max(1, len(pending.approvers)) if pending.everyone else pending.count


def settled(pending: Pending) -> bool:
    """Enough persons have allowed it; of `count: all`, one for each of the approvers."""
    if not pending.everyone or not pending.approvers:
        return len(pending.said) >= needed(pending)
    return len(matched(pending)) == len(pending.approvers)


def useful(pending: Pending, by: str, groups: Collection[str]) -> bool:
    """The person stands for one of the approvers that nobody else who has spoken must stand for."""
    if not pending.everyone or not pending.approvers:
        return True
    more = [*pending.said, (by, roles(pending, by, groups))]
    return len(seated(more)) > len(matched(pending))


def matched(pending: Pending) -> dict[str, str]:
    """Which of the approvers have somebody who stands for them."""
    return seated(pending.said)


def seated(said: list[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """
    Give as many approvers as possible a person of their own: a greatest matching, by augmenting paths.

    Source of the algorithm: H. W. Kuhn, The Hungarian Method for the Assignment Problem (1955).
    """
    holder: dict[str, str] = {}
    can = dict(said)

    def seat(person: str, tried: set[str]) -> bool:
        for name in can[person]:
            if name in tried:
                continue
            tried.add(name)
            if name not in holder or seat(holder[name], tried):
                holder[name] = person
                return True
        return False

    for person in can:
        seat(person, set())
    return holder
