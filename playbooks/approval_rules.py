"""Rules of `approval`: on a step, a tool or an entry, as one rule or as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .faults import Fault, Path

_TERMS = ("when", "timeout", "count", "except")
_SAYS_NOTHING = frozenset({"because", "none", *_TERMS})
_ASKING = ("ask", "approvers", *_TERMS)
_ASK = "write `approval: {ask: …, approvers: […]}`"


def approval_faults(owner: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check the `approval` of a step, a tool or an entry: it asks something, or says why nothing is asked."""
    approval = owner.get("approval")
    here: Path = (*path, "approval")
    if isinstance(approval, list):
        yield from _rules(approval, here)
    elif approval == "none" or (isinstance(approval, dict) and approval.get("none") is True):
        yield from _waiver(owner, approval, here)
    elif isinstance(approval, dict):
        yield from _rule(approval, here, _ASK)


def _waiver(owner: Mapping[str, Any], approval: Any, here: Path) -> Iterator[Fault]:
    written = approval if isinstance(approval, dict) else {}
    if not any((owner.get("because"), written.get("because"))):
        yield Fault("GW036", here, "`approval: none` without a `because`", "write `approval: {none: true, because: …}`")
    if _meant(written):
        message = "`none` says that nobody is asked, the other keys of `approval` that somebody is"
        yield Fault("GW040", here, message, "keep one")


def _meant(approval: Mapping[str, Any]) -> bool:
    """Whether the map asks somebody something; an empty list of approvers says nothing."""
    return any(approval.get(key) not in (None, []) for key in _ASKING)


def _rules(rules: list[Any], here: Path) -> Iterator[Fault]:
    if not rules:
        yield Fault("GW036", here, "`approval` lists no rule", "write `- {when: …, ask: …, approvers: […]}`", "key")
    for index, rule in enumerate(rules):
        if not isinstance(rule, dict):
            continue
        if rule.get("none") is True:
            message = "`none` cannot stand in a list of rules: where no rule applies, nobody is asked anyway"
            yield Fault("GW040", (*here, index, "none"), message, "delete the rule", "key")
        else:
            yield from _rule(rule, (*here, index), "write `{when: …, ask: …, approvers: […]}`")
    yield from _shadowed(rules, here)


def _rule(rule: Mapping[str, Any], here: Path, repair: str) -> Iterator[Fault]:
    if not rule.keys() - _SAYS_NOTHING or not any(rule.get(key) for key in rule.keys() - _SAYS_NOTHING):
        what = "a rule of `approval`" if isinstance(here[-1], int) else "`approval`"
        yield Fault("GW036", here, f"{what} asks nothing of nobody", repair)
    elif rule.get("count") == "all" and not rule.get("approvers"):
        message = "`count: all` asks one from each of `approvers`, and none is listed"
        yield Fault("GW036", (*here, "count"), message, "list the groups in `approvers`, or write a number")


def _shadowed(rules: list[Any], here: Path) -> Iterator[Fault]:
    """The first rule that applies decides: behind one without a condition all others are dead."""
    for index, rule in enumerate(rules[:-1]):
        if isinstance(rule, dict) and "when" not in rule:
            message = "a rule without `when` always applies: those behind it never do"
            dead = range(index + 1, min(len(rules), index + 11))
            related = tuple(((*here, at), "never applies") for at in dead)
            repair = "move it to the end of the list, or give it a `when`"
            yield Fault("GW035", (*here, index), message, repair, related=related)
            return
