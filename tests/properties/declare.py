"""
The policies of a playbook, judged anew from the records of a run: no tables, no monitors, only what happened when.

It reads the page as it was written.  A call has happened when it is settled `ok`, or `unknown` (it may have); it
satisfies when it is a success that counts.  Patterns over arguments are those that `mixing.py` draws.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

Record = tuple[Any, ...]
Event = Any
"""As the page writes one: a word, or a map with `tool`, `where`, `expect`."""


EVENTS = ("first", "then", "after", "eventually", "event")
MISSING = "missing"


class Happening(NamedTuple):
    """A call, a completed step or a granted approval, with the places of its beginning and end in the trace."""

    kind: str
    name: str
    began: int
    ended: int
    args: Any = None
    result: Any = None
    counts: bool = True
    irreversible: bool = False


def happenings(records: Iterable[Record], effects: dict[str, Any], prefix: str = "") -> list[Happening]:
    """What happened in the playbook of the frame `prefix` and in those it called, in the order of their ends."""
    began: dict[str, tuple[int, Any]] = {}
    found: list[Happening] = []
    for place, (kind, _, *values) in enumerate(records):
        if kind == "decided" and values[3] == "allow":
            began[values[0]] = place, values[2]
        elif kind == "settled" and values[2] in ("ok", "unknown") and not values[1].endswith("_step"):
            call_id, tool, word, detail, counts, _, path = values
            if (path or "").startswith(prefix):
                start, args = began[call_id]
                result = detail.get("result") if word == "ok" else None
                alone = effects.get(tool, {}).get("effect") == "irreversible"
                found.append(Happening("tool", tool, start, place, args, result, bool(counts), alone))
        elif kind == "moved" and own(values[5], prefix) and closes(values[1]) and values[0] == values[3]:
            found.append(Happening("step", values[0], place, place))
        elif (
            kind == "answered" and values[1] == "approved" and own(values[5], prefix) and values[0].startswith("step ")
        ):
            found.append(Happening("approval", values[4], place, place))
    return found


def own(path: str | None, prefix: str) -> bool:
    """The frame is that of the playbook itself, or of one of its items."""
    rest = (path or "").removeprefix(prefix) if (path or "").startswith(prefix) else None
    return rest is not None and all(part.endswith("]") for part in rest.split("/") if part)


def closes(event: str) -> bool:
    """The event says that the step is completed."""
    return event.split()[0] in ("completed", "joined", "answered")


def is_event(event: Event, one: Happening, sure: bool) -> bool:
    """The happening is such an event; `sure`: no guard of it is unknown, and the call counts."""
    if isinstance(event, str):
        kind, _, name = event.rpartition(":")
        if kind == "effect":
            return one.kind == "tool" and one.irreversible
        named = (one.kind, one.name) == (kind or "tool", name)
        return named and (one.counts or not sure)
    if one.kind != "tool" or one.name != event["tool"] or (sure and not one.counts):
        return False
    answers = [guard(event.get("where"), one), guard(event.get("expect"), one)]
    return all(answer is True for answer in answers) if sure else all(answer is not False for answer in answers)


def guard(text: str | None, one: Happening) -> bool | None:
    """`args.n > N` or `result.ok`: true, false, or none where it is unknown."""
    if text is None:
        return True
    if text == "result.ok":
        value = one.result.get("ok") if isinstance(one.result, dict) else None
        return value if isinstance(value, bool) else None
    found = re.fullmatch(r"args\.n > (\d+)", text)
    assert found is not None, text
    number = one.args.get("n")
    return number > int(found[1]) if isinstance(number, int) and not isinstance(number, bool) else None


class Judge:
    """One policy over one trace."""

    def __init__(self, policy: dict[str, Any], trace: list[Happening]) -> None:
        self.kind = next(key for key in policy if key not in ("id", "because"))
        self.value = policy[self.kind]
        self.trace = trace

    def keys(self) -> list[str]:
        """The values of the arguments that must agree; one for all where none must."""
        same = self.value.get("same") if isinstance(self.value, dict) else None
        events = [self.value[key] for key in EVENTS if key in self.value] if same else []
        meant = [one for one in self.trace if any(is_event(event, one, False) for event in events)]
        return sorted({key_of(one) for one in meant}) if same else [""]

    def seen(self, event: Event, key: str, sure: bool) -> list[Happening]:
        """The happenings that are the event; a call without the argument satisfies nothing."""
        if sure and key == MISSING:
            return []
        mine = (one for one in self.trace if not key or (one.args is not None and key_of(one) == key))
        return [one for one in mine if is_event(event, one, sure)]

    def violated(self) -> bool:
        """The safety part does not hold."""
        return any(getattr(self, f"bad_{self.kind}")(key) for key in self.keys())

    def open(self) -> bool:
        """Something that was promised has not been done."""
        found = getattr(self, f"open_{self.kind}", None)
        counted = self.kind in ("at_least", "exactly")
        keys = [key for key in self.keys() if key != MISSING or not counted]
        return found is not None and any(found(key) for key in keys)

    def bad_never(self, key: str) -> bool:
        """It happened."""
        return bool(self.seen(self.value, key, False))

    def bad_at_most(self, key: str) -> bool:
        """Too often; a call without the argument may be one of any combination."""
        event = self.value["event"]
        mine = len(self.seen(event, key, False)) + (
            len(self.seen(event, MISSING, False)) if key not in ("", MISSING) else 0
        )
        return mine > int(self.value["times"])

    bad_exactly = bad_at_most

    def bad_at_least(self, key: str) -> bool:
        """It can always still happen."""
        return False

    def open_at_least(self, key: str) -> bool:
        """Not often enough."""
        return len(self.seen(self.value["event"], key, True)) < int(self.value["times"])

    open_exactly = open_at_least

    def bad_not_together(self, key: str) -> bool:
        """Both."""
        return all(self.seen(event, key, False) for event in self.value)

    def bad_precedence(self, key: str) -> bool:
        """One was begun before any `first` had succeeded."""
        firsts = self.seen(self.value["first"], key, True)
        return any(
            not any(first.ended < then.began for first in firsts) for then in self.seen(self.value["then"], key, False)
        )

    bad_succession = bad_precedence

    def bad_response(self, key: str) -> bool:
        """It can always still be answered."""
        return False

    def open_response(self, key: str) -> bool:
        """One that may have happened was not answered."""
        asked = self.seen(self.value["after"], key, False)
        return unanswered(asked, self.seen(self.value["eventually"], key, True))

    def open_succession(self, key: str) -> bool:
        """A `first` that no `then` followed; what only may have been one lets no `then` run, and asks for none."""
        return unanswered(self.seen(self.value["first"], key, True), self.seen(self.value["then"], key, True))

    def row(self) -> list[Happening]:
        """The successes, in the order they were committed."""
        return [one for one in self.trace if one.kind == "tool" and one.counts]

    def bad_chain_precedence(self, key: str) -> bool:
        """A `then` right behind something else."""
        row = self.row()
        return any(
            is_event(self.value["then"], one, False)
            and not (place and is_event(self.value["first"], row[place - 1], True))
            for place, one in enumerate(row)
        )

    def bad_chain_response(self, key: str, after: str = "after", eventually: str = "eventually") -> bool:
        """Something else right behind an `after`."""
        row = self.row()
        return any(
            is_event(self.value[after], one, False) and not is_event(self.value[eventually], row[place + 1], True)
            for place, one in enumerate(row[:-1])
        )

    def bad_chain_succession(self, key: str) -> bool:
        """Either."""
        return self.bad_chain_precedence(key) or self.bad_chain_response(key, "first", "then")

    def open_chain_response(self, key: str, after: str = "after") -> bool:
        """The last success is one that calls for another."""
        row = self.row()
        return bool(row) and is_event(self.value[after], row[-1], False)

    def open_chain_succession(self, key: str) -> bool:
        """The same."""
        return self.open_chain_response(key, "first")


def key_of(one: Happening) -> str:
    """The value of the argument that must agree, as a text."""
    return repr(one.args["n"]) if "n" in one.args else MISSING


def unanswered(asked: list[Happening], answers: list[Happening]) -> bool:
    """Behind one of those nothing of the others came."""
    return any(not any(answer.ended > one.ended for answer in answers) for one in asked)
