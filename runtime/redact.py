"""Keeping what is sensitive out of everything that leaves the process: traces, messages, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guideway.statemachine.definition import Definition

HIDDEN = "•••"
SHORTEST = 3
"""A shorter text is hidden where it is a whole value, and not inside of others: that would leave no text readable."""


class Redactor:
    """
    Knows the sensitive values of one run, from its inputs and from arguments that a tool's `parameters` mark.

    >>> from guideway.statemachine.definition import Input
    >>> definition = Definition("p", "P", "a", {}, {}, inputs={"token": Input("token", sensitive=True)})
    >>> redactor = Redactor(definition, {"token": "hunter2", "host": "ws-7"})
    >>> redactor.hide({"headers": ["Bearer hunter2"], "host": "ws-7"})
    {'headers': ['Bearer •••'], 'host': 'ws-7'}
    """

    def __init__(self, definition: Definition, inputs: Mapping[str, Any]) -> None:
        self._definition = definition
        self._texts: set[str] = set()
        for name, declared in definition.inputs.items():
            if declared.sensitive:
                self.learn(inputs.get(name, declared.default))

    def learn(self, value: Any) -> None:
        """Hide this value, and every text and number in it, from now on."""
        self._texts.update(text for leaf in leaves(value) if (text := str(leaf)))

    def hide(self, value: Any) -> Any:
        """A copy without what is sensitive."""
        if not self._texts:
            return value
        match value:
            case str():
                return self._hide_text(value)
            case dict():
                return {self._hide_text(key): self.hide(item) for key, item in value.items()}
            case list() | tuple():
                return [self.hide(item) for item in value]
            case int() | float() if not isinstance(value, bool) and str(value) in self._texts:
                return HIDDEN
        return value

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record as it may be written; its arguments are looked through for what the tool calls sensitive."""
        args, tool = record.get("args"), self._definition.tool(str(record.get("tool")))
        if isinstance(args, Mapping) and tool is not None and tool.parameters is not None:
            for name, schema in dict(tool.parameters.get("properties", {})).items():
                if isinstance(schema, Mapping) and schema.get("sensitive") is True and name in args:
                    self.learn(args[name])
        kept = {key: record[key] for key in KEPT if key in record}
        return {**{key: self.hide(value) for key, value in record.items()}, **kept}

    def _hide_text(self, text: str) -> str:
        if text in self._texts:
            return HIDDEN
        for secret in sorted(self._texts, key=len, reverse=True):
            if len(secret) >= SHORTEST and secret in text:
                text = text.replace(secret, HIDDEN)
        return text


KEPT = (
    "kind", "at", "playbook", "digest", "verdict", "state", "source", "event", "target", "outcome", "code", "of",
    "step",
)  # fmt: skip
"""Words of the engine and of the playbook: nothing that an input could have put there."""


def leaves(value: Any) -> Iterator[Any]:
    """
    Every text and number in a value; truth values and null say too little to hide.

    >>> list(leaves({"a": ["x", 7, True, None]}))
    ['x', 7]
    """
    match value:
        case bool() | None:
            return
        case Mapping():
            for item in value.values():
                yield from leaves(item)
        case list() | tuple():
            for item in value:
                yield from leaves(item)
        case _:
            yield value
