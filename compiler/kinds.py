"""What a step of each kind but `call` and the agent's own holds: people, time, other playbooks, the blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.values import seconds
from guideway.statemachine.blocks import Ask, Each, Parallel, Probe, SubPlaybook, Undo, Wait
from guideway.statemachine.definition import StateKind
from guideway.statemachine.steps import Repeat

from .block_rules import nothing_to_undo
from .defaults import Keys
from .findings import Path
from .lists import ANY_ORDER
from .names import unknown_tool
from .reading import Reader
from .termination import check_pattern
from .tools import check_schema

KINDS = {
    "agent": StateKind.STEP,
    "call": StateKind.CALL,
    "approval": StateKind.APPROVAL,
    "switch": StateKind.ROUTER,
    "ask": StateKind.ASK,
    "wait": StateKind.WAIT,
    "undo": StateKind.UNDO,
    "playbook": StateKind.FRAME,
    "parallel": StateKind.FORK,
    "for_each": StateKind.EACH,
    "repeat": StateKind.LOOP,
    "section": StateKind.SECTION,
}
"""The kind of a step, and that of its state."""


class KindLowering:
    """Lowers what is particular to the kinds of the steps of one playbook."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def lower(self, keys: Keys) -> dict[str, Any]:
        """Give those fields of a `Step` that belong to its kind."""
        written, path = keys.step, keys.path
        match keys.kind:
            case "agent":
                return self._agent(written, path) if written.claims or written.required_probes else {}
            case "ask":
                return {"ask": self._ask(written, (*path, "ask"))}
            case "wait":
                return {"wait": self._wait(written, (*path, "wait"))}
            case "undo":
                return {"undo": self._undo(written, (*path, "undo"))}
            case "playbook":
                return {"playbook": self._playbook(written, path)}
            case "parallel":
                return {"parallel": parallel_of(written, any_order=written.id == ANY_ORDER)}
            case "for_each":
                return {"each": self._each(written, (*path, "for_each"))}
            case "repeat":
                return {"repeat": self._repeat(written, (*path, "repeat"))}
            case _:
                return {}

    # --- the agent's word ----------------------------------------------------------------------------------------

    def _agent(self, written: PlaybookStep, path: Path) -> dict[str, Any]:
        for name, shape in written.claims.items():
            self._shape(shape, f"the claim `{name}`", (*path, "claims", name))
        for index, probe in enumerate(written.required_probes):
            check_pattern(probe.match, (*path, "required_probes", index, "match"), self.reader)
        probes = tuple(Probe(probe.name, probe.match, probe.description) for probe in written.required_probes)
        return {"claims": written.claims, "probes": probes}

    def _shape(self, shape: dict[str, Any], what: str, path: Path) -> None:
        if set(shape) != {"type"} or not isinstance(shape["type"], str):
            check_schema(shape, what, path, self.reader)

    # --- people and time -----------------------------------------------------------------------------------------

    def _ask(self, written: PlaybookStep, path: Path) -> Ask | None:
        spec = written.ask
        if spec is None:
            return None
        self.reader.template(spec.question, "question", (*path, "question"))
        for index, person in enumerate(spec.assignees):
            self.reader.template(person, "assignees", (*path, "assignees", index))
        for name, shape in (spec.fields or {}).items():
            self._shape(shape, f"the field `{name}`", (*path, "fields", name))
        return Ask(
            spec.question,
            tuple(spec.assignees),
            tuple(spec.choices or ()),
            spec.fields or {},
            None if spec.remind is None else seconds(spec.remind),
        )

    def _wait(self, written: PlaybookStep, path: Path) -> Wait | None:
        spec = written.wait
        if spec is None:
            return None
        return Wait(
            None if spec.duration is None else seconds(spec.duration),
            self.reader.expression(spec.until, "wait until", (*path, "until")),
            spec.signal,
        )

    def _undo(self, written: PlaybookStep, path: Path) -> Undo:
        scope, findings = self.reader.scope, self.reader.findings
        undoable = scope.undoable()
        if not isinstance(written.undo, list):
            if not undoable:
                findings.add(path, nothing_to_undo(None, findings.at(path), ()))
            return Undo()
        for index, tool in enumerate(written.undo):
            here: Path = (*path, index)
            spec = scope.spec(tool)
            if not scope.knows_tool(tool):
                findings.add(here, unknown_tool(tool, findings.at(here), findings.offer(scope.tools)))
            elif spec is None or spec.undo is None:
                findings.add(here, nothing_to_undo(tool, findings.at(here), findings.offer(undoable)))
        return Undo(tuple(written.undo))

    # --- blocks --------------------------------------------------------------------------------------------------

    def _playbook(self, written: PlaybookStep, path: Path) -> SubPlaybook:
        """A step may call a playbook by a name of `imports`; the machine knows it by its id."""
        name = written.playbook or ""
        self.reader.templates(written.with_, "with", (*path, "with"))
        callee = self.reader.scope.callees.get(name)
        return SubPlaybook(name if callee is None else callee.id, written.with_)

    def _each(self, written: PlaybookStep, path: Path) -> Each | None:
        spec = written.for_each
        if spec is None:
            return None
        source, items = None, None
        if isinstance(spec.in_, str):
            source = self.reader.listed(written.id, spec.in_, (*path, "in"))
        else:
            self.reader.items(written.id, spec.in_, (*path, "in"))
            items = tuple(spec.in_)
        collect = self.reader.expression(spec.collect, "block collect", (*path, "collect"), wants="")
        return Each(spec.as_, source, items, spec.at_most, spec.concurrency, collect)

    def _repeat(self, written: PlaybookStep, path: Path) -> Repeat | None:
        spec = written.repeat
        until = None if spec is None else self.reader.expression(spec.until, "block until", (*path, "until"))
        if spec is None or until is None:
            return None
        collect = self.reader.expression(spec.collect, "block collect", (*path, "collect"), wants="")
        return Repeat(until, spec.at_most, seconds(spec.wait) if spec.wait is not None else 0.0, collect)


def parallel_of(written: PlaybookStep, *, any_order: bool = False) -> Parallel:
    """
    Say which branches there are and how many are needed; in any order, all the steps that are required (S34).

    >>> look, note = (PlaybookStep(id=name, description="D", required=name == "look") for name in ("look", "note"))
    >>> both = PlaybookStep(id="both", parallel={"look": look, "note": note}, join="any")
    >>> parallel_of(both)
    Parallel(branches=('look', 'note'), needed=1, optional=())
    >>> parallel_of(both, any_order=True)
    Parallel(branches=('look', 'note'), needed=1, optional=('note',))
    """
    branches: Mapping[str, Any] = written.parallel or {}
    if not any_order:
        needed = len(branches) if written.join == "all" else 1 if written.join == "any" else written.join
        return Parallel(tuple(branches), needed)
    optional = tuple(name for name, step in branches.items() if not step.required)
    if len(optional) == len(branches):
        return Parallel(tuple(branches), len(branches))
    return Parallel(tuple(branches), len(branches) - len(optional), optional)
