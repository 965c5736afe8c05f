"""What the tools of a run mark as sensitive: parameters, results, and the claims that `complete_step` carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import CONTROL, Tool

from .marks import HIDDEN, Marks

NAMES = ("name", "tool_name", "tool")
ARGS = frozenset({"args", "arguments"})
RESULTS = frozenset({"content", "result", "shown", "value"})
"""How messages, executions and calls name what may be marked in them."""


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

    def noted(self, value: Any) -> Any:
        """
        Something of a host's own, such as a transcript, without what is marked in the calls that stand in it.

        A map that names a tool (`name`, `tool`, `tool_name`) and holds arguments, or what came of them, is a call.
        Arguments that are no map, as a model may write them, are hidden whole where the tool marks any.
        """
        match value:
            case Mapping():
                made = {key: self.noted(item) for key, item in value.items()}
                name = next((value[key] for key in NAMES if isinstance(value.get(key), str)), None)
                return made if name is None else made | dict(self._called(name, value))
            case list() | tuple():
                return [self.noted(item) for item in value]
        return value

    def _called(self, name: str, call: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for key in ARGS & call.keys():
            said, marked = call[key], self._marks_any(name)
            yield key, HIDDEN if marked and not isinstance(said, Mapping) else self.args(name, said)
        for key in RESULTS & call.keys():
            yield key, self.result(name, call[key])

    def _marks_any(self, name: str) -> bool:
        self.args(name, {})
        return bool(self._known.get((name, False)))

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
