"""Types of expressions, from the schemas that a playbook holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.expressions.inference import condition_problems, type_of
from guideway.statemachine.expressions.schemas import type_from_schema
from guideway.statemachine.expressions.types import DYNAMIC, INT, NUMBER, STRING, Type, TypeProblem, list_of, map_of

from .scope import Schema, Scope
from .terms import order_of

_RUN = map_of({"id": STRING, "started_by": STRING, "iterations": INT, "calls": INT, "tokens": INT, "elapsed": NUMBER})
_CLAIMS = map_of({"confidence": NUMBER, "text": STRING}, optional=("confidence", "text"))


class Types:
    """
    Knows the types of the roots, as far as schemas say.

    An expression is given only the names that it reads, so a page of 100,000 facts costs each of them nothing.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._terms: dict[str, Type] = {}

    def problems(self, expression: Expression, tool: str | None, wants: str) -> list[TypeProblem]:
        """Find what can never work; `wants` is `bool` where a condition stands."""
        types = self._roots(expression, tool)
        return condition_problems(expression, types) if wants == "bool" else type_of(expression, types)[1]

    def read_terms(self, terms: Mapping[str, Expression]) -> Iterator[tuple[str, list[TypeProblem]]]:
        """Learn the types of the terms, each after those it reads, and give their problems."""
        for name in order_of(terms):
            self._terms[name], problems = type_of(terms[name], self._roots(terms[name], None))
            yield name, problems

    def _roots(self, expression: Expression, tool: str | None) -> dict[str, Type]:
        read: dict[str, list[str]] = {}
        for path in (read.path for read in expression.reads):
            read.setdefault(str(path[0]), []).extend(str(part) for part in path[1:2])
        types = {"run": _RUN, "claims": _CLAIMS}
        spec = self._scope.spec(tool) if tool is not None else None
        if spec is not None:
            types |= {"args": _type(spec.parameters), "result": _type(spec.result)}
        facts = {name: _type(self._scope.fact_schema(name)) for name in read.get("facts", ())}
        histories = {name: list_of(_type(self._scope.fact_schema(name))) for name in read.get("history", ())}
        return {
            **types,
            "inputs": self._inputs(read.get("inputs", [])),
            "facts": map_of(facts, optional=facts, open=True),
            "history": map_of(histories, open=True),
            "terms": map_of({name: self._terms.get(name, DYNAMIC) for name in read.get("terms", ())}, open=True),
        }

    def _inputs(self, names: list[str]) -> Type:
        declared = self._scope.playbook.inputs
        known = {name: declared[name] for name in names if name in declared}
        absent = [name for name, spec in known.items() if not spec.required and not spec.has_default]
        return map_of({name: type_from_schema(spec.shape) for name, spec in known.items()}, optional=absent, open=True)


def _type(schema: Schema | None) -> Type:
    return DYNAMIC if schema is None else type_from_schema(schema)
