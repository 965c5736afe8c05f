"""`policies`: each one a small table over events, which a run keeps beside its steps (S41 to S43)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guideway.playbooks.policies import EventSpec, PolicySpec
from guideway.statemachine.policies import TABLES, Pattern, Policy, PolicyKind
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import Effect, is_pattern

from .contracts import unknown_argument
from .events import (
    agreement_without_arguments,
    ambiguous_event,
    chain_without_call,
    policy_named_twice,
    result_of_a_refusal,
    unasked_approval,
    unknown_event,
)
from .findings import Path
from .reading import Reader

Steps = Mapping[str, Step]


def lower_policies(policies: Sequence[PolicySpec], reader: Reader, steps: Steps) -> tuple[Policy, ...]:
    """
    Lower the policies, in the order of the page.

    `steps` are all steps of the playbook: an event may name any of them, wherever it lies.
    """
    if not policies:
        return ()
    lowering = _Policies(reader, steps)
    # one without a kind is what is left of a policy with a fault of shape
    return tuple(lowering.policy(spec, ("policies", index)) for index, spec in enumerate(policies) if spec.kind)


@dataclass(frozen=True, slots=True)
class _Said:
    """What one policy says, whatever its kind: its events, each with the way to it, and what goes with them."""

    events: tuple[tuple[str | EventSpec, Path], ...]
    same: tuple[str, ...] = ()
    times: int | None = None


class _Policies:
    def __init__(self, reader: Reader, steps: Steps) -> None:
        self.reader = reader
        written = {step.id for step, _ in reader.scope.playbook.walk()}
        self.steps = {name: step for name, step in steps.items() if name in written}  # and none that stands for all
        self._of_kind: Counter[PolicyKind] = Counter()
        self._ids: dict[str, Path] = {}

    def policy(self, spec: PolicySpec, path: Path) -> Policy:
        kind = PolicyKind(spec.kind)
        said = _said(kind, getattr(spec, kind.value), (*path, kind.value))
        events = tuple(self._pattern(event, where) for event, where in said.events)
        self._check_chain(kind, said, events)
        self._check_results(kind, said, events)
        self._check_same(said, events, (*path, kind.value, "same"))
        table, violated, open_ = TABLES.get(kind, ((), None, ()))
        return Policy(
            self._id(spec.id, kind, path),
            kind,
            events,
            table,
            violated,
            open_,
            most=_most(kind, said.times),
            least=said.times if kind in (PolicyKind.AT_LEAST, PolicyKind.EXACTLY) else None,
            same=said.same,
            because=spec.because,
            span=self.reader.findings.at(path),
        )

    def _id(self, written: str | None, kind: PolicyKind, path: Path) -> str:
        """S43: the given one, else the kind and the position among those of the kind."""
        self._of_kind[kind] += 1
        name = written or f"{kind.value}-{self._of_kind[kind]}"
        if name in self._ids:
            findings = self.reader.findings
            place = (*path, "id") if written else path
            findings.add(place, policy_named_twice(name, findings.at(place), findings.at(self._ids[name])))
        self._ids.setdefault(name, path)
        return name

    # --- events --------------------------------------------------------------------------------------------------

    def _pattern(self, event: str | EventSpec, path: Path) -> Pattern:
        if isinstance(event, str):
            return self._word(event, path)
        if not self.reader.scope.calls_tool(event.tool):
            self._report_unknown(event.tool, self._tools(), (*path, "tool"))
        return Pattern(
            tool=event.tool,
            where=self.reader.expression(event.where, "where", (*path, "where"), event.tool),
            expect=self.reader.expression(event.expect, "expect", (*path, "expect"), event.tool),
        )

    def _word(self, word: str, path: Path) -> Pattern:
        meanings = dict(self._meanings(word))
        if not meanings:
            self._report_unknown(word, self._near(word), path)
            return Pattern(tool=word)
        if len(meanings) > 1:
            findings = self.reader.findings
            findings.add(path, ambiguous_event(word, list(meanings), findings.at(path)))
        pattern = next(iter(meanings.values()))
        if pattern.approval is not None:
            self._check_asked(pattern.approval, path)
        return pattern

    def _meanings(self, word: str) -> Iterator[tuple[str, Pattern]]:
        """Everything that a bare word may stand for, by the unmistakable way to write it."""
        if self.reader.scope.calls_tool(word):
            yield f"{{tool: {word}}}", Pattern(tool=word)
        if word in self.steps:
            yield f"step:{word}", Pattern(step=word)
        prefix, _, name = word.partition(":")
        if prefix == "step" and name in self.steps:
            yield f"step:{name}", Pattern(step=name)
        if prefix == "approval" and name in self.steps:
            yield f"approval:{name}", Pattern(approval=name)
        if prefix == "effect" and name in _EFFECTS:
            yield f"effect:{name}", Pattern(effect=Effect(name))

    def _near(self, word: str) -> list[str]:
        """What could have been meant: under a prefix only what goes with it."""
        asking = [name for name, step in self.steps.items() if step.approval is not None]
        named = {
            "step": [f"step:{name}" for name in self.steps],
            "approval": [f"approval:{name}" for name in asking],
            "effect": [f"effect:{effect}" for effect in _EFFECTS],
        }
        prefix, colon, _ = word.partition(":")
        if colon and prefix in named:
            return named[prefix]
        return [*self._tools(), *named["step"], *named["approval"]]

    def _tools(self) -> list[str]:
        """Every tool that may be called, by name."""
        scope = self.reader.scope
        return [tool for tool in dict.fromkeys([*scope.tools, *scope.called_tools()]) if not is_pattern(tool)]

    def _report_unknown(self, word: str, known: Sequence[str], path: Path) -> None:
        findings = self.reader.findings
        findings.add(path, unknown_event(word, findings.at(path), findings.offer(known)))

    def _check_asked(self, step: str, path: Path) -> None:
        if self.steps[step].approval is None:
            findings = self.reader.findings
            findings.add(path, unasked_approval(step, findings.at(path)))

    # --- what goes with events -----------------------------------------------------------------------------------

    def _check_chain(self, kind: PolicyKind, said: _Said, events: Sequence[Pattern]) -> None:
        """`chain_…` speaks of the very next call, and only calls follow one another."""
        if not kind.value.startswith("chain_"):
            return
        findings = self.reader.findings
        for (_, path), event in zip(said.events, events, strict=True):
            if event.step is not None or event.approval is not None:
                findings.add(path, chain_without_call(kind.value, findings.at(path)))

    def _check_results(self, kind: PolicyKind, said: _Said, events: Sequence[Pattern]) -> None:
        """S44: what is forbidden is refused before there is a result, so an `expect` there says nothing."""
        findings = self.reader.findings
        for position in _FORBIDDEN.get(kind, ()):
            if events[position].expect is not None:
                path = (*said.events[position][1], "expect")
                findings.add(path, result_of_a_refusal(kind.value, findings.key_at(path)))

    def _check_same(self, said: _Said, events: Sequence[Pattern], path: Path) -> None:
        findings = self.reader.findings
        if said.same and any(event.tool is None for event in events):
            findings.add(path, agreement_without_arguments(findings.at(path)))
            return
        for index, name in enumerate(said.same):
            for tool in dict.fromkeys(event.tool for event in events if event.tool is not None):
                self._check_argument(tool, name, (*path, index))

    def _check_argument(self, tool: str, name: str, path: Path) -> None:
        spec = self.reader.scope.spec(tool)
        if spec is None or spec.parameters is None:
            return
        from .schemas import argument_faults  # jsonschema is heavy, and most playbooks hold no schema

        unknown, _, known = argument_faults([name], spec.parameters)
        if unknown:
            findings = self.reader.findings
            findings.add(path, unknown_argument(tool, name, findings.at(path), known))


_FORBIDDEN: Mapping[PolicyKind, tuple[int, ...]] = {
    PolicyKind.PRECEDENCE: (1,),
    PolicyKind.SUCCESSION: (1,),
    PolicyKind.NEVER: (0,),
    PolicyKind.AT_MOST: (0,),
    PolicyKind.EXACTLY: (0,),
    PolicyKind.NOT_TOGETHER: (0, 1),
}
"""Which events of a kind may be refused.  `chain_…` counts calls that have succeeded, whose result is known."""

_EFFECTS = tuple(effect.value for effect in Effect)


def _most(kind: PolicyKind, times: int | None) -> int | None:
    if kind is PolicyKind.NEVER:
        return 0
    return times if kind in (PolicyKind.AT_MOST, PolicyKind.EXACTLY) else None


def _said(kind: PolicyKind, written: Any, path: Path) -> _Said:
    """Bring what is written under the name of a kind into one form."""
    match kind:
        case PolicyKind.NEVER:
            return _Said(((written, path),))
        case PolicyKind.NOT_TOGETHER:
            return _Said(tuple((event, (*path, index)) for index, event in enumerate(written)))
        case PolicyKind.AT_MOST | PolicyKind.AT_LEAST | PolicyKind.EXACTLY:
            return _Said(((written.event, (*path, "event")),), tuple(written.same), written.times)
        case PolicyKind.RESPONSE | PolicyKind.CHAIN_RESPONSE:
            keys = ("after", "eventually")
        case _:
            keys = ("first", "then")
    return _Said(tuple((getattr(written, key), (*path, key)) for key in keys), tuple(written.same))
