"""The states of every step of a playbook, list by list: where each step leads, and where its list does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from guideway.playbooks.approvals import waived
from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.tools_spec import ToolSpec
from guideway.statemachine.definition import State, StateKind
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import best_match, is_pattern

from .chain import Chain, Exits, Way, Ways, head
from .defaults import TARGETS, Keys, Listing
from .ends import DONE, Ends
from .kinds import KINDS
from .reading import Reader
from .targets import Spot, Targets


class StateBuilder:
    """Builds the states of one playbook; `steps` are its lowered steps, by id."""

    def __init__(self, own: Listing, steps: Mapping[str, Step], ends: Ends, reader: Reader) -> None:
        self._own = own
        self._steps = steps
        self._ends = ends
        self._reader = reader
        self._spots = {keys.step.id: Spot(self._head(keys), keys.home, keys.path) for keys in own.walk()}
        self._targets = Targets(self._spots, ends, reader)
        self._cut_off = any(spec.on_unknown is not None for spec in reader.scope.tools.values())

    def states(self) -> list[State]:
        """Give the states in the order of the page; a run begins in the first."""
        self._check_shared()
        if not self._own.steps:
            self._ends.word(DONE)
        return list(self._listed(self._own))

    def _listed(self, listing: Listing) -> Iterator[State]:
        last = len(listing.steps) - 1
        for index, keys in enumerate(listing.steps):
            step = self._steps[keys.step.id]
            if index < last:
                falls = Way(self._spots[listing.steps[index + 1].step.id].head, None, step.span)
            else:
                falls = _end_of(listing, step)
            yield from Chain(step, KINDS[keys.kind], self._exits(keys, step, falls), self._ends).states()
            for inner in keys.lists:
                yield from self._listed(inner)

    def _head(self, keys: Keys) -> str:
        return head(self._steps[keys.step.id], KINDS[keys.kind])

    def _exits(self, keys: Keys, step: Step, falls: Way) -> Exits:
        written, home = keys.step, keys.home
        next_ = (falls,) if written.next is None else self._targets.ways(written.next, (*keys.path, "next"), home)
        if keys.plain and not self._cut_off:
            return Exits(next_, failed=home.failed)
        to = {key: self._handler(key, keys) for key in TARGETS}
        return Exits(
            next=next_,
            switch=() if written.switch is None else self._targets.ways(written.switch, (*keys.path, "switch"), home),
            unknown_of={} if keys.own("on_unknown") or home.fence else dict(self._unknown_of(written)),
            asks=self._asks(step),
            expires=bool(to["on_timeout"]) and self._reader.scope.calls_expire(written),
            heads=tuple([self._head_of(inner, step) for inner in keys.lists]),
            answers=dict(self._answers(keys)) if written.ask is not None else {},
            failed=home.failed,
            **to,
        )

    def _head_of(self, listing: Listing, step: Step) -> Way:
        """A list begins with its first step, and an empty one is done at once."""
        if not listing.steps:
            return _end_of(listing, step)
        first = listing.steps[0]
        return Way(self._spots[first.step.id].head, None, self._reader.findings.at(first.path))

    def _handler(self, key: str, keys: Keys) -> Ways:
        found = keys.target(key)
        return () if found is None else self._targets.ways(*found, keys.home)

    def _answers(self, keys: Keys) -> Iterator[tuple[str, Ways]]:
        choices = keys.step.ask.choices if keys.step.ask is not None else None
        for label, target in choices.items() if isinstance(choices, Mapping) else ():
            yield label, self._targets.ways(target, (*keys.path, "ask", "choices", label), keys.home)

    # --- what `tools` says ---------------------------------------------------------------------------------------

    def _unknown_of(self, step: PlaybookStep) -> Iterator[tuple[str, Ways]]:
        """
        What `tools` says of a cut-off call, for the tools of the step; the step's own word goes before it.

        It leads out of no list that runs beside others: there a person says what has happened (S24).
        """
        written = (*step.expected_entries, *step.optional_entries)
        called = [step.call.tool] if step.call else [entry.tool for entry in written]
        for tool in dict.fromkeys(called):
            for name, spec in self._specs(tool):
                if spec.on_unknown is not None:
                    to = self._targets.ways(spec.on_unknown, ("tools", name, "on_unknown"), self._own)
                    yield (name if is_pattern(tool) else tool), to

    def _specs(self, tool: str) -> Iterator[tuple[str, ToolSpec]]:
        declared = self._reader.scope.tools
        if not is_pattern(tool):
            match = tool if tool in declared else best_match(tool, declared)
            found = [] if match is None else [match]
        else:
            found = [name for name in declared if best_match(name, (tool,))]
        yield from ((name, declared[name]) for name in found)

    def _asks(self, step: Step) -> bool:
        """Some call that the runtime makes in the step may wait for a person."""
        called = [step.call.tool] if step.call else []
        if step.undo is not None:
            called = self._reader.scope.reversals(step.undo.tools)
        specs = (self._reader.scope.spec(tool) for tool in called)
        return any(spec is not None and spec.approval is not None and not waived(spec.approval) for spec in specs)

    def _check_shared(self) -> None:
        """What `defaults` and `tools` say is checked even where no step makes use of it."""
        playbook, reader = self._reader.scope.playbook, self._reader
        defaults = playbook.defaults
        for key in TARGETS:
            written = getattr(defaults, key, None)
            if written is not None:
                self._targets.ways(written, ("defaults", key), self._own)
        if defaults is not None and defaults.retry is not None:
            reader.once(defaults.retry.when, "retry", ("defaults", "retry", "when"))
        for name, spec in reader.scope.tools.items():
            if spec.on_unknown is not None:
                self._targets.ways(spec.on_unknown, ("tools", name, "on_unknown"), self._own)


def closing_state(step: Step) -> State:
    """Make the state of a step of `finally`: a call at the end of a run, which leads nowhere."""
    return State(step.id, StateKind.CALL, {}, step)


def _end_of(listing: Listing, step: Step) -> Way:
    """S39: after its last step a list is done; the run, or the block it lies in."""
    if listing.block:
        return Way(listing.join, None, step.span)
    return Way(DONE, None, step.span, outcome=True)
