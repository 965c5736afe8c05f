"""What the tools of a run mark as sensitive: parameters, results, and the claims that `complete_step` carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import CONTROL, Tool

from .marks import Marks


class MarksOfTools:
    """
    Hides by the schemas of tools, in whichever of the playbooks of a run they are declared.

    A name that two playbooks declare is hidden by both: hiding too much is safe.

    >>> tool = Tool("login", parameters={"properties": {"pin": {"sensitive": True}}})
    >>> MarksOfTools([Definition("p", "P", "a", {}, {}, tools={"login": tool})]).args("login", {"pin": 1, "user": "a"})
    {'pin': '•••', 'user': 'a'}
    """

    def __init__(self, parts: Sequence[Definition]) -> None:
        self._parts = parts
        self._known: dict[tuple[str, bool], list[Marks]] = {}

    def knows(self, name: str) -> bool:
        """The tool is declared somewhere."""
        return any(True for _ in self._tools(name))

    def args(self, name: str | None, value: Any) -> Any:
        """Arguments of a call, without what is marked."""
        return value if name is None else self._hide(name, value, result=False)

    def result(self, name: str, value: Any) -> Any:
        """What a call has returned, without what is marked."""
        return self._hide(name, value, result=True)

    def _hide(self, name: str, value: Any, *, result: bool) -> Any:
        key = (name, result)
        found = self._known.get(key)
        if found is None:
            found = [marks for schema in self._schemas(name, result) if (marks := Marks(schema)).any]
            if found or self.knows(name):  # names that a model makes up are not kept
                self._known[key] = found
        for marks in found:
            value = marks.hide(value)
        return value

    def _schemas(self, name: str, result: bool) -> Iterator[Mapping[str, Any] | None]:
        if name in CONTROL and not result:
            steps = (step for part in self._parts for step in part.steps.values() if step.claims)
            yield from ({"properties": dict(step.claims)} for step in steps)
        for tool in self._tools(name):
            yield tool.result if result else tool.parameters

    def _tools(self, name: str) -> Iterator[Tool]:
        for part in self._parts:
            found = part.tool(name) or next((tool for tool in part.tools.values() if tool.alias == name), None)
            if found is not None:
                yield found
