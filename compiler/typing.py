"""Types of expressions, from the schemas that a playbook holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from guideway.playbooks.steps import PlaybookStep
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.expressions.inference import condition_problems, type_of
from guideway.statemachine.expressions.schemas import type_from_schema
from guideway.statemachine.expressions.types import DYNAMIC, INT, NUMBER, STRING, Type, TypeProblem, list_of, map_of

from .scope import Schema, Scope
from .terms import order_of

_RUN = map_of({"id": STRING, "started_by": STRING, "iterations": INT, "calls": INT, "tokens": INT, "elapsed": NUMBER})
_STATED = {"confidence": NUMBER, "text": STRING}
"""What is read of `claims` besides the steps that have claims."""

_KNOWN = frozenset({"run", "inputs", "terms", "history", "facts", "answers", "claims"})
"""Roots of which the page itself says something."""


class Types:
    """
    Knows the types of the roots, as far as schemas say.

    An expression is given only the names that it reads, so a page of 100,000 facts costs each of them nothing.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._terms: dict[str, Type] = {}
        self._items: dict[str, Type] = {}

    def problems(
        self, expression: Expression, tool: str | None, wants: str, names: Mapping[str, str]
    ) -> list[TypeProblem]:
        """Find what can never work; `wants` is `bool` where a condition stands, `names` are the items in reach."""
        types = self._roots(expression, tool, names)
        return condition_problems(expression, types) if wants == "bool" else type_of(expression, types)[1]

    def read_terms(self, terms: Mapping[str, Expression]) -> Iterator[tuple[str, list[TypeProblem]]]:
        """Learn the types of the terms, each after those it reads, and give their problems."""
        for name in order_of(terms):
            self._terms[name], problems = type_of(terms[name], self._roots(terms[name], None, {}))
            yield name, problems

    def of_items(self, step: str, source: Expression, names: Mapping[str, str]) -> Type:
        """Learn what the items of a `for_each` are, and give the type of what they come from."""
        found = type_of(source, self._roots(source, None, names))[0]
        self._items[step] = found.item or DYNAMIC if found.kind == "list" else DYNAMIC
        return found

    def of_constants(self, step: str, items: list[Any]) -> None:
        """Learn what the items of a written list are; a text that may be filled in is anything."""
        open_ = any(isinstance(item, str) and "{{" in item for item in items)
        self._items[step] = DYNAMIC if open_ or not items else type_from_schema({"enum": items})

    def _roots(self, expression: Expression, tool: str | None, names: Mapping[str, str]) -> dict[str, Type]:
        read: dict[str, list[str]] = {}
        for path in (read.path for read in expression.reads):
            read.setdefault(str(path[0]), []).extend(str(part) for part in path[1:2])
        types = {root: self._root(root, fields) for root, fields in read.items() if root in _KNOWN}
        spec = self._scope.spec(tool) if tool is not None else None
        if spec is not None:
            types |= {"args": _type(spec.parameters), "result": _type(spec.result)}
        for name, step in names.items():
            types[name] = self._items.get(step, DYNAMIC)
        return types

    def _root(self, root: str, names: list[str]) -> Type:
        match root:
            case "run":
                return _RUN
            case "inputs":
                return self._inputs(names)
            case "terms":
                return map_of({name: self._terms.get(name, DYNAMIC) for name in names}, open=True)
            case "history":
                return map_of({name: list_of(self._fact(name)) for name in names}, open=True)
            case "facts":
                return _maybe({name: self._fact(name) for name in names})
            case "answers":
                return _maybe({name: self._answer(name) for name in names})
            case _:
                return _maybe(_STATED | {name: self._claims(name) for name in names})

    def _inputs(self, names: list[str]) -> Type:
        declared = self._scope.playbook.inputs
        known = {name: declared[name] for name in names if name in declared}
        absent = [name for name, spec in known.items() if not spec.required and not spec.has_default]
        return map_of({name: type_from_schema(spec.shape) for name, spec in known.items()}, optional=absent, open=True)

    def _fact(self, name: str) -> Type:
        step = self._scope.results.get(name)
        if step is None or name in self._scope.facts:
            return _type(self._scope.fact_schema(name))
        return list_of(DYNAMIC) if step.playbook is None else self._returned(step.playbook)

    def _returned(self, playbook: str) -> Type:
        """A callee's outputs are what its expressions give; their names are known."""
        callee = self._scope.callees.get(playbook)
        if callee is None:
            return DYNAMIC
        return map_of({**dict.fromkeys(callee.outputs, DYNAMIC), "outcome": STRING})

    def _claims(self, name: str) -> Type:
        step = self._scope.claims.get(name)
        if step is None:
            return _STATED.get(name, DYNAMIC)
        return map_of({claim: type_from_schema(shape) for claim, shape in step.claims.items()})

    def _answer(self, name: str) -> Type:
        step = self._scope.asks.get(name)
        return _answer_of(step) if step is not None else DYNAMIC


def _answer_of(step: PlaybookStep) -> Type:
    """The chosen label, or a text; with fields, a map of them."""
    ask = step.ask
    labels = tuple(ask.choices) if ask is not None and ask.choices else None
    chosen = replace(STRING, values=labels)
    if ask is None or not ask.fields:
        return chosen
    fields = {name: type_from_schema(shape) for name, shape in ask.fields.items()}
    return map_of(fields | ({"choice": chosen} if labels else {}))


def _maybe(fields: dict[str, Type]) -> Type:
    """What is there only once it has been given."""
    return map_of(fields, optional=fields, open=True)


def _type(schema: Schema | None) -> Type:
    return DYNAMIC if schema is None else type_from_schema(schema)
