"""
Playbooks that call one another, put together to one machine (S33).

Each is lowered by itself, once, however many steps call it; the machine of the first holds those of all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.statemachine.definition import Definition
from guideway.statemachine.diagnostic import Diagnostic, Level, in_order

from .calls import (
    playbook_named_twice,
    playbook_out_of_reach,
    playbooks_in_a_ring,
    unknown_playbook,
    unusable_playbook,
)
from .findings import Findings, Path
from .given import check_given
from .library import Found, Library, Missing, as_seen_from, of_playbook
from .lower import Compiled
from .lower import compile_playbook as compile_alone

Skills = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Linked:
    """
    What linking gives: a machine, or none where a finding is an error.

    `parts` are the playbooks that were put together, the first one first, each with its machine by itself.
    """

    definition: Definition | None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    parts: tuple[tuple[Playbook, Definition | None], ...] = ()


def compile_playbook(
    playbook: Playbook, *, skills: Skills | None = None, callees: Mapping[str, Playbook] | None = None
) -> Compiled:
    """
    Lower a playbook, and those it calls, to one machine, and report every name and expression that means nothing.

    `skills` maps the skills that steps `uses` to their tools; a skill it lacks is a warning, and a session refuses to
    start.  `callees` holds the playbooks that are called, by the name the steps use; what it lacks is looked for beside
    the playbook's own file.  The flow is not looked at: `check_definition` does that.

    >>> look = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"])
    >>> enrich = Playbook(id="enrich", name="Enrich", steps=[look])
    >>> triage = Playbook(id="triage", name="Triage", steps=[PlaybookStep(id="first", playbook="enrich")])
    >>> list(compile_playbook(triage, callees={"enrich": enrich}).definition.callees)
    ['enrich']
    """
    linked = link(playbook, Library(callees or {}), skills=skills)
    return Compiled(linked.definition, linked.diagnostics)


def link(playbook: Playbook, library: Library | None = None, *, skills: Skills | None = None) -> Linked:
    """
    Find everything that a playbook calls, by itself or through others, lower it, and put it together.

    What is wrong with a playbook that is called is reported in its own file, and once more, in one line, where it is
    called.
    """
    return _Linking(library or Library(), skills or {}).run(playbook)


class _Part:
    """One playbook, those it calls, and what is wrong with the calls."""

    def __init__(self, found: Found, playbook: Playbook) -> None:
        self.found = found
        self.playbook = playbook
        self.calls = [(step, path) for step, path in playbook.walk() if step.playbook is not None]
        self.called: dict[str, Found] = {}
        self.rings: set[str] = set()
        self.findings = Findings(playbook)
        self.compiled = Compiled(None)

    def callees(self) -> dict[str, Playbook]:
        """Those that can be read, by the names that this one calls them."""
        return {name: found.playbook for name, found in self.called.items() if found.playbook is not None}

    def report(self, path: Path, finding: Diagnostic) -> None:
        self.findings.add((*path, "playbook"), finding)

    @property
    def errors(self) -> int:
        found = [*self.found.findings, *self.compiled.diagnostics, *self.findings.found]
        return sum(finding.level is Level.ERROR for finding in found)


class _Linking:
    def __init__(self, library: Library, skills: Skills) -> None:
        self.library = library
        self.skills = skills
        self.parts: dict[str, _Part] = {}
        self.broken: dict[str, Found] = {}
        self.root: str | None = None

    def run(self, playbook: Playbook) -> Linked:
        self.root = self.library.under(playbook)
        first = self._part(of_playbook(playbook), playbook)
        self._gather(first)
        for part in self.parts.values():
            part.compiled = compile_alone(part.playbook, skills=self.skills, callees=part.callees())
        for part in self.parts.values():
            self._check_calls(part)
        parts = tuple((part.playbook, part.compiled.definition) for part in self.parts.values())
        return Linked(self._together(first), in_order(self._found(first)), parts)

    # --- what is called ------------------------------------------------------------------------------------------

    def _part(self, found: Found, playbook: Playbook) -> _Part:
        part = self.parts[found.id] = _Part(found, playbook)
        return part

    def _gather(self, first: _Part) -> None:
        """Follow the calls, depth first, with the way to the present playbook in hand: a ring closes on that way."""
        way: list[tuple[_Part, Iterator[tuple[PlaybookStep, Path]]]] = [(first, iter(first.calls))]
        while way:
            part, calls = way[-1]
            step, path = next(calls, (None, ()))
            if step is None:
                way.pop()
            elif (new := self._follow(part, step.playbook or "", path, [each.found.id for each, _ in way])) is not None:
                way.append((new, iter(new.calls)))

    def _follow(self, part: _Part, name: str, path: Path, way: list[str]) -> _Part | None:
        """Look up one call; the playbook, where it is met for the first time."""
        findings = part.findings
        found = part.called.get(name) or self.library.find(name, part.playbook, self.root)
        if isinstance(found, Missing):
            part.report(path, _missing(name, found, findings, (*path, "playbook")))
            return None
        part.called[name] = found
        known = self.parts.get(found.id)
        if known is None:
            if found.playbook is None:
                self.broken[found.file] = found
                return None
            return self._part(found, found.playbook)
        span = findings.at((*path, "playbook"))
        if not found.same_as(known.found):
            files = (as_seen_from(part.playbook, each.file) for each in (known.found, found))
            why = f"{' and '.join(files)} have this id"
            part.report(path, playbook_named_twice(found.id, why, span, "give one of them another id"))
        elif found.id in way:
            part.rings.add(name)
            part.report(path, playbooks_in_a_ring([*way[way.index(found.id) :], found.id], span))
        return None

    # --- what is said of it --------------------------------------------------------------------------------------

    def _check_calls(self, part: _Part) -> None:
        for step, path in part.calls:
            found = part.called.get(step.playbook or "")
            if found is None or step.playbook in part.rings:
                continue
            if found.playbook is not None:
                check_given(step, path, found.playbook, part.findings)
            errors = self._errors(found)
            if errors:
                span = part.findings.at((*path, "playbook"))
                file = as_seen_from(part.playbook, found.file)
                part.report(path, unusable_playbook(step.playbook or "", file, errors, span))

    def _errors(self, found: Found) -> int:
        """Count what is wrong with a playbook itself; what is wrong with those it calls is said there."""
        part = self.parts.get(found.id)
        own = list(found.findings) if part is None else [*found.findings, *part.compiled.diagnostics]
        return sum(finding.level is Level.ERROR for finding in own)

    def _found(self, first: _Part) -> list[Diagnostic]:
        """Everything that was found; the first playbook's own reading has been reported by whoever read it."""
        found = [finding for each in self.broken.values() for finding in each.findings]
        for part in self.parts.values():
            found += part.compiled.diagnostics + part.findings.found
            found += part.found.findings if part is not first else ()
        return found

    def _together(self, first: _Part) -> Definition | None:
        """Put the machines together, where all are sound."""
        if self.broken or any(part.errors or part.compiled.definition is None for part in self.parts.values()):
            return None
        made = {name: part.compiled.definition for name, part in self.parts.items() if part.compiled.definition}
        whole = made.pop(first.found.id)
        skills = [skill for each in (whole, *made.values()) for skill in each.unresolved_skills]
        return replace(whole, callees=made, unresolved_skills=tuple(dict.fromkeys(skills)))


def _missing(name: str, missing: Missing, findings: Findings, path: Path) -> Diagnostic:
    span = findings.at(path)
    if not missing.why:
        return unknown_playbook(name, span, missing.known)
    report = playbook_named_twice if missing.twice else playbook_out_of_reach
    return report(name, missing.why, span, missing.repair)
