"""The accepting states of a machine: made when something first leads to them, named by their reason (S37)."""

from __future__ import annotations

from collections.abc import Mapping

from guideway.statemachine.definition import End, EndKind, OutcomeClass, State, StateKind

WORDS: Mapping[str, OutcomeClass] = {
    "success": OutcomeClass.SUCCESS,
    "failed": OutcomeClass.FAILED,
    "stopped": OutcomeClass.STOPPED,
    "escalated": OutcomeClass.ESCALATED,
}
"""The outcome words that every playbook has; `outcomes` adds the author's."""

DONE = "done"
"""The target that leaves the list it stands in; at the top, success."""

EVERYWHERE = ("stopped:max_iterations", "stopped:nudges", "stopped:refusals", "failed:livelock", "failed:host")
"""Ends that any run may come to, whatever its playbook says."""


class Ends:
    """
    Collects the ends of one machine.

    >>> ends = Ends({"locked": OutcomeClass.SUCCESS})
    >>> ends.word("done"), ends.word("locked"), ends.stop("timeout:ask"), ends.fault("contain")
    ('success', 'locked', 'stopped:timeout:ask', 'failed:contain')
    >>> [state.end.outcome for state in ends.states()]
    ['success', 'locked', 'stopped:timeout:ask', 'failed:contain']
    """

    def __init__(self, outcomes: Mapping[str, OutcomeClass]) -> None:
        self.classes: dict[str, OutcomeClass] = {**WORDS, **outcomes}
        self._made: dict[str, End] = {}

    def is_word(self, target: str) -> bool:
        """Tell whether a target is an outcome."""
        return target == DONE or target in self.classes

    def named(self, word: str) -> str:
        """Name the end of an outcome word, without making it."""
        return "success" if word == DONE else word

    def word(self, word: str, kind: EndKind = EndKind.GOAL) -> str:
        """Make the end of an outcome word.  It is a goal as soon as one goal leads to it."""
        name = self.named(word)
        made = self._made.get(name)
        if made is None or kind is EndKind.GOAL:
            self._made[name] = End(kind, name, self.classes[name])
        return name

    def reason(self, reason: str) -> str:
        """Make the end of a goal branch of `termination` that says no outcome: success, named by its reason."""
        self._made.setdefault(reason, End(EndKind.GOAL, "success", OutcomeClass.SUCCESS))
        return reason

    def stop(self, reason: str, kind: EndKind = EndKind.STOP) -> str:
        """Make the end `stopped:REASON`."""
        name = f"stopped:{reason}"
        self._made.setdefault(name, End(kind, name, OutcomeClass.STOPPED))
        return name

    def fault(self, reason: str) -> str:
        """Make the end `failed:REASON`."""
        name = f"failed:{reason}"
        self._made.setdefault(name, End(EndKind.FAULT, name, OutcomeClass.FAILED))
        return name

    def everywhere(self) -> tuple[str, ...]:
        """Make the ends that the engine itself may choose."""
        for name in EVERYWHERE:
            make = self.stop if name.startswith("stopped:") else self.fault
            make(name.partition(":")[2])
        return EVERYWHERE

    def states(self) -> list[State]:
        """Every end made so far, as an accepting state, in the order of its making."""
        return [State(name, StateKind.END, end=end) for name, end in self._made.items()]
