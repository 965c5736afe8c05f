"""What the names of a playbook stand for, gathered before any expression is read: a page may be read in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.playbooks.tools_spec import ToolSpec
from guideway.statemachine.tools import best_match, is_pattern

Schema = Mapping[str, Any]


class Scope:
    """
    The alphabet and the facts of one playbook.

    `facts` maps each name that some call is kept under to the tools whose results it may hold.

    >>> step = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"])
    >>> scope = Scope(Playbook(id="triage", name="Triage", steps=[step]), {})
    >>> scope.facts, scope.knows_fact("query_siem"), scope.knows_fact("look")
    ({'query_siem': ['query_siem']}, True, False)
    """

    def __init__(self, playbook: Playbook, skills: Mapping[str, Sequence[str]]) -> None:
        self.playbook = playbook
        self.skills = skills
        self.tools: Mapping[str, ToolSpec] = playbook.tools or {}
        self.closed = playbook.tools is not None
        self.facts: dict[str, list[str]] = {}
        self._loose: set[str] = set(playbook.optional_tools)
        repeated = ((step.id, step.repeat) for step in playbook.steps)
        self._collected = {name for name, repeat in repeated if repeat is not None and repeat.collect is not None}
        self._dark = any(skill not in skills for step in playbook.steps for skill in step.uses)
        self._specs: dict[str, ToolSpec | None] = {}
        for step in playbook.steps:
            for name, tool in self._written_by(step):
                self.facts.setdefault(name, []).append(tool)

    def _written_by(self, step: PlaybookStep) -> Iterator[tuple[str, str]]:
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

    def knows_fact(self, name: str) -> bool:
        """Tell whether a call of some step may be kept under the name; an unresolved skill may hold any."""
        if name in self.facts or self._dark or best_match(name, self._loose) is not None:
            return True
        return self.playbook.allow_extra_tools and (not self.closed or self.spec(name) is not None)

    def knows_tool(self, name: str) -> bool:
        """Tell whether the alphabet holds the tool; without `tools`, what is named.  A pattern may match none."""
        return not self.closed or is_pattern(name) or self.spec(name) is not None

    def calls_tool(self, name: str) -> bool:
        """Tell whether a tool can be called: `tools` lists it; without `tools`, a step or an optional tool names it."""
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

    def fact_schema(self, name: str) -> Schema | None:
        """The schema of a fact, where all that may be kept under its name has the same declared one."""
        if name in self._collected or best_match(name, self._loose) is not None:
            return None
        schemas = [spec.result for tool in dict.fromkeys(self.facts.get(name, ())) if (spec := self.spec(tool))]
        same = len(schemas) == len(dict.fromkeys(self.facts.get(name, ()))) and all(s == schemas[0] for s in schemas)
        return schemas[0] if schemas and same else None
