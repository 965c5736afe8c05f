"""What the names of a playbook stand for, gathered before any expression is read: a page may be read in any order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from guideway.playbooks.models import Playbook
from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.tools_spec import ToolSpec
from guideway.statemachine.tools import best_match, is_pattern

from .bodies import Bodies
from .findings import Path
from .said import expires, may_call, signals_in, writes

Schema = Mapping[str, Any]


class Scope:
    """
    The alphabet of one playbook, and what its steps give to read.

    `facts` maps each name that some call is kept under to the tools whose results it may hold; `results` each name
    that a step of another kind writes to that step.  `asks`, `claims` and `signals` are the steps that ask, those
    that have claims, and the signals that anything waits for.

    >>> step = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"])
    >>> scope = Scope(Playbook(id="triage", name="Triage", steps=[step]), {})
    >>> scope.facts, scope.knows_fact("query_siem"), scope.knows_fact("look")
    ({'query_siem': ['query_siem']}, True, False)
    """

    def __init__(
        self,
        playbook: Playbook,
        skills: Mapping[str, Sequence[str]],
        callees: Mapping[str, Playbook] | None = None,
    ) -> None:
        self.playbook = playbook
        self.skills = skills
        self.callees = callees or {}
        self.tools: Mapping[str, ToolSpec] = playbook.tools or {}
        self.closed = playbook.tools is not None
        self.facts: dict[str, list[str]] = {}
        self.results: dict[str, PlaybookStep] = {}
        self.asks: dict[str, PlaybookStep] = {}
        self.claims: dict[str, PlaybookStep] = {}
        self.signals: dict[str, None] = dict.fromkeys(signals_in(playbook.termination))
        self._loose: set[str] = set(playbook.optional_tools)
        self._collected: set[str] = set()
        self._dark = False
        self._specs: dict[str, ToolSpec | None] = {}
        self._writers: dict[tuple[str, str], list[Path]] = {}
        """Where each fact, answer, claim and signal is written, on a page with bodies only."""
        steps = list(playbook.walk())
        self.bodies = Bodies(steps)
        for step, path in steps:
            self._gather(step, path)

    def _gather(self, step: PlaybookStep, path: Path) -> None:
        for name, tool in self._kept(step):
            self.facts.setdefault(name, []).append(tool)
            self._wrote("facts", name, path)
        if step.uses and any(skill not in self.skills for skill in step.uses):
            self._dark = True
        if step.claims:
            self.claims[step.id] = step
            self._wrote("claims", step.id, path)
        if step.repeat is not None and step.call is not None and step.repeat.collect is not None:
            self._collected.add(step.id)
        if writes(step):
            self.results[step.id] = step
            self._wrote("facts", step.id, path)
        if step.ask is not None:
            self.asks[step.id] = step
            self._wrote("answers", step.id, path)
        if step.wait is not None and step.wait.signal is not None:
            if step.wait.signal not in self.signals or ("signals", step.wait.signal) in self._writers:
                self._wrote("signals", step.wait.signal, path)  # what ends the run is everybody's
            self.signals[step.wait.signal] = None

    def _kept(self, step: PlaybookStep) -> Iterator[tuple[str, str]]:
        if step.call is not None:
            yield step.id, step.call.tool
        for entry in (*step.expected_tools, *step.optional_tools):
            tool, kept = (entry, None) if isinstance(entry, str) else (entry.tool, entry.as_)
            if kept is not None or not is_pattern(tool):
                yield kept or tool, tool
            else:
                self._loose.add(tool)
        for tool in (tool for skill in step.uses for tool in self.skills.get(skill, ())):
            self._loose.add(tool)

    # --- facts ---------------------------------------------------------------------------------------------------

    def _wrote(self, root: str, name: str, path: Path) -> None:
        if self.bodies:
            self._writers.setdefault((root, name), []).append(path)

    def knows_fact(self, name: str) -> bool:
        """Tell whether some step may keep a result under the name; an unresolved skill may hold any tool."""
        if name in self.facts or name in self.results or self._dark or best_match(name, self._loose) is not None:
            return True
        return self.playbook.allow_extra_tools and (not self.closed or self.spec(name) is not None)

    def only_inside(self, root: str, name: str, path: Path) -> str | None:
        """
        Name the `for_each` that a fact, an answer or a claim belongs to, where it is read outside.

        None where it can be read.
        """
        writers = self._writers.get((root, name), ())
        loose = root == "facts" and best_match(name, self._loose) is not None
        if not writers or path[0] not in _FRAMED or loose:
            return None
        here = self.bodies.around(path)
        outer = [self.bodies.around(writer) for writer in writers]
        if any(there == here[: len(there)] for there in outer):
            return None
        return next(body.step for body in outer[0] if body not in here)

    def item_facts(self) -> dict[str, list[str]]:
        """For each `for_each` without `collect`, in the order of the page, the names that its items write."""
        found: dict[str, list[str]] = {}
        for (root, name), writers in self._writers.items():
            for body in (self.bodies.around(path)[-1:] for path in writers):
                if root == "facts" and body and body[0].spec.collect is None:
                    found.setdefault(body[0].step, []).append(name)
        return {name: found[name] for name in self.results if name in found}

    def fact_schema(self, name: str) -> Schema | None:
        """The schema of a fact, where all that may be kept under its name has the same declared one."""
        if name in self._collected or name in self.results or best_match(name, self._loose) is not None:
            return None
        schemas = [spec.result for tool in dict.fromkeys(self.facts.get(name, ())) if (spec := self.spec(tool))]
        same = len(schemas) == len(dict.fromkeys(self.facts.get(name, ()))) and all(s == schemas[0] for s in schemas)
        return schemas[0] if schemas and same else None

    # --- tools ---------------------------------------------------------------------------------------------------

    def knows_tool(self, name: str) -> bool:
        """Tell whether the alphabet holds the tool; without `tools`, what is named.  A pattern may match none."""
        return not self.closed or is_pattern(name) or self.spec(name) is not None

    def calls_tool(self, name: str) -> bool:
        """
        Tell whether a tool can be called: `tools` lists it; without `tools`, a step or an optional tool names it.

        What a playbook calls that this one calls counts, too (S33).
        """
        if any(may_call(callee, name) for callee in self.callees.values()):
            return True
        if is_pattern(name) or self.closed:
            return not is_pattern(name) and self.knows_tool(name)
        if self._dark or self.playbook.allow_extra_tools or best_match(name, self._loose) is not None:
            return self.knows_tool(name)
        return any(name in tools for tools in self.facts.values())

    def called_tools(self) -> list[str]:
        """Every tool that is named by a step or beside the steps, for suggestions."""
        named = dict.fromkeys(tool for tools in self.facts.values() for tool in tools)
        return list(named | dict.fromkeys(self.playbook.optional_tools))

    def spec(self, tool: str) -> ToolSpec | None:
        """Find what is declared of a tool: under its name, else under the most specific pattern."""
        if not self.tools:
            return None
        if tool not in self._specs:
            match = best_match(tool, self.tools) if tool not in self.tools else tool
            self._specs[tool] = None if match is None else self.tools[match]
        return self._specs[tool]

    def calls_expire(self, step: PlaybookStep) -> bool:
        """Tell whether a question about one of the step's calls may expire by itself."""
        entries = (*step.expected_entries, *step.optional_entries)
        called = [entry.tool for entry in entries] + ([step.call.tool] if step.call else [])
        of_tools = (spec.approval for tool in called if (spec := self.spec(tool)) is not None)
        return any(map(expires, (*(entry.approval for entry in entries), *of_tools)))

    def undoable(self) -> list[str]:
        """The tools, and patterns, that have a declared `undo`."""
        return [name for name, spec in self.tools.items() if spec.undo is not None]

    def reversals(self, tools: Collection[str]) -> list[str]:
        """The tools that take successes of `tools` back; no tools: of any."""
        specs = [self.spec(tool) for tool in tools] if tools else list(self.tools.values())
        found = (spec.undo for spec in specs if spec is not None and spec.undo is not None)
        return [undo if isinstance(undo, str) else undo.tool for undo in found]


_FRAMED = ("steps", "finally", "outputs")
"""Parts of a page that are read in the frame in which they stand; any other serves every step."""
