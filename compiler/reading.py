"""Expressions and templates: parsed, their names checked against the place they stand in, their reads remembered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.expressions.errors import ExpressionError
from guideway.statemachine.expressions.expression import Expression, parse
from guideway.statemachine.expressions.names import ROOTS
from guideway.statemachine.expressions.paths import Read
from guideway.statemachine.expressions.templates import Template, parse_template
from guideway.statemachine.expressions.types import TypeProblem
from guideway.statemachine.span import Span

from .findings import Findings, Path
from .names import (
    name_not_readable,
    of_an_item,
    unknown_fact,
    unknown_field,
    unknown_input,
    unknown_name,
    unknown_source,
    unknown_term,
)
from .page import terms_in_a_circle
from .places import CLAIM_FIELDS, EVERYWHERE, PLACES, RUN_FIELDS, Place
from .projections import Projections
from .scope import Scope
from .terms import roots_of
from .typing import Types


def ill_formed(fault: ExpressionError, span: Span) -> Diagnostic:
    """
    ## What it finds
    Text that is no expression.

    ## Why it matters
    A guard that cannot be read cannot guard.

    ## Example
    ```yaml
    when: facts.lookup.score = 5
    ```

    ## Repair
    Follow the message; it points at the word at fault.  Expressions are those of CEL.
    """
    return Diagnostic("GW301", Level.ERROR, fault.message, span, help=fault.help)


class Reader:
    """
    Reads every expression of one playbook.

    `terms` is filled first; whatever reads them later also answers for what they read.  Where a path lies inside a
    `for_each`, the name of its items is a root, too.
    """

    def __init__(self, scope: Scope, findings: Findings) -> None:
        self.scope = scope
        self.findings = findings
        self.terms: dict[str, Expression] = {}
        self.projections = Projections()
        self.reads_now = False
        self._types = Types(scope)
        self._sources: Mapping[str, Collection[str]] = {
            "answers": scope.asks,
            "signals": scope.signals,
            "predicate": scope.playbook.predicates,
        }
        self._once: dict[Path, Expression | None] = {}
        self._roots_of_terms: dict[str, frozenset[str]] = {}

    def expression(
        self, source: str | None, place: str, path: Path, tool: str | None = None, wants: str = "bool"
    ) -> Expression | None:
        """
        Read one expression; None where there is none, or it is ill-formed (then the findings say so).

        `tool` is the tool whose call `args` and `result` mean; `wants` is the type the place needs, "" for any.
        """
        if source is None:
            return None
        try:
            found = parse(source)
        except ExpressionError as fault:
            self.findings.add(path, ill_formed(fault, self.findings.inside(path, fault.offset)))
            return None
        if self._check(found.reads, PLACES[place], path):
            self._type(found, path, 0, tool, wants)
        return found

    def listed(self, step: str, source: str, path: Path) -> Expression | None:
        """
        Read the `in` of the `for_each` `step`, which must give a list, and learn what its items are.

        `{{ EXPR }}` around the whole says the same as the expression alone.
        """
        found, offset = self._alone(source, path)
        if found is not None:
            made = self._types.of_items(step, found, self.items_in_reach(path))
            if made.kind not in ("list", "dynamic"):
                what = f"`{found.source}` is {made}, and `for_each` goes through a list"
                self._report([TypeProblem(what, 0)], path, offset)
        return found

    def _alone(self, source: str, path: Path) -> tuple[Expression | None, int]:
        if "{{" not in source:
            return self.expression(source, "items", path, wants=""), 0
        found = self.template(source, "items", path)
        if found is not None and found.whole:
            return found.expressions[0], found.offsets[0]
        if found is not None:
            self._report([TypeProblem("a text is no list", 0, "write the expression alone")], path, 0)
        return None, 0

    def items(self, step: str, items: list[Any], path: Path) -> None:
        """Read a written list, and learn what its items are."""
        self.templates(items, "items", path)
        self._types.of_constants(step, items)

    def once(self, source: str | None, place: str, path: Path, tool: str | None = None) -> Expression | None:
        """Read an expression that serves many steps, as one under `defaults` does: reported once, typed once."""
        if path not in self._once:
            self._once[path] = self.expression(source, place, path, tool if path[0] in ("steps", "finally") else None)
        return self._once[path]

    def template(self, text: str, place: str, path: Path, tool: str | None = None) -> Template | None:
        """Read a text that may hold `{{ EXPR }}`."""
        try:
            found = parse_template(text)
        except ExpressionError as fault:
            self.findings.add(path, ill_formed(fault, self.findings.inside(path, fault.offset)))
            return None
        if found is not None and self._check(found.reads, PLACES[place], path):
            for expression, offset in zip(found.expressions, found.offsets, strict=True):
                self._type(expression, path, offset, tool, "")
        return found

    def templates(self, value: Any, place: str, path: Path, tool: str | None = None) -> None:
        """Read every text inside a JSON value; `tool` as for `expression`."""
        waiting: list[tuple[Any, Path]] = [(value, path)]
        while waiting:
            part, where = waiting.pop()
            if isinstance(part, str):
                self.template(part, place, where, tool)
            elif isinstance(part, Mapping):
                waiting += [(below, (*where, key)) for key, below in reversed(list(part.items()))]
            elif isinstance(part, list):
                waiting += [(below, (*where, index)) for index, below in reversed(list(enumerate(part)))]

    def read_terms(self, terms: Mapping[str, str]) -> None:
        """Read `terms`: all are parsed before any is checked, as they may read each other in any order."""
        from guideway.statemachine.expressions.terms import term_cycle

        for name, source in terms.items():
            try:
                self.terms[name] = parse(source)
            except ExpressionError as fault:
                path: Path = ("terms", name)
                self.findings.add(path, ill_formed(fault, self.findings.inside(path, fault.offset)))
        ring = term_cycle(self.terms)
        if ring is not None:
            path = ("terms", ring[0])
            self.findings.add(path, terms_in_a_circle(ring, self.findings.key_at(path)))
            return
        self._roots_of_terms = roots_of(self.terms)
        for name, expression in self.terms.items():
            self._check(expression.reads, PLACES["term"], ("terms", name))
        for name, problems in self._types.read_terms(self.terms):
            self._report(problems, ("terms", name), 0)

    # --- names ---------------------------------------------------------------------------------------------------

    def _check(self, reads: Iterable[Read], place: Place, path: Path) -> bool:
        before = len(self.findings.found)
        for read in reads:
            self.projections.note(read.path)
            self.reads_now = self.reads_now or read.path[0] == "now"
            finding = self._fault(read, place, path)
            if finding is not None:
                self.findings.add(path, finding)
        return len(self.findings.found) == before

    def _fault(self, read: Read, place: Place, path: Path) -> Diagnostic | None:
        root, *rest = read.path
        field = rest[0] if rest and isinstance(rest[0], str) else None
        span = self.findings.inside(path, read.offset)
        if root not in ROOTS:
            names = self.items_in_reach(path)
            return None if root in names else unknown_name(str(root), span, {*place.roots, *EVERYWHERE, *names})
        if not place.reads(str(root)):
            return name_not_readable(str(root), place.name, span, None, place.roots)
        return None if field is None else self._field_fault(str(root), field, place, read, path)

    def _field_fault(self, root: str, field: str, place: Place, read: Read, path: Path) -> Diagnostic | None:
        span = self.findings.inside(path, read.offset)
        known: Collection[str]
        match root:
            case "facts" | "history":
                return self._fact_fault(root, field, span, path)
            case "terms":
                return self._term_fault(field, place, span)
            case "inputs":
                known = self.scope.playbook.inputs
                return None if field in known else unknown_input(field, span, self.findings.offer(known))
            case "run" | "claims":
                known = RUN_FIELDS if root == "run" else (*CLAIM_FIELDS, *self.scope.claims)
                if field not in known:
                    return unknown_field(root, field, span, self.findings.offer(known))
                return self._item_fault(root, field, span, path)
            case "answers" | "signals" | "predicate":
                known = self._sources[root]
                if field not in known:
                    return unknown_source(root, field, span, self.findings.offer(known))
                return self._item_fault(root, field, span, path)
            case _:
                return None

    def _fact_fault(self, root: str, field: str, span: Span, path: Path) -> Diagnostic | None:
        if not self.scope.knows_fact(field):
            return unknown_fact(root, field, span, self.findings.offer([*self.scope.facts, *self.scope.results]))
        return self._item_fault(root, field, span, path)

    def _item_fault(self, root: str, field: str, span: Span, path: Path) -> Diagnostic | None:
        each = self.scope.only_inside("facts" if root == "history" else root, field, path)
        return None if each is None else of_an_item(root, field, each, span)

    def _term_fault(self, field: str, place: Place, span: Span) -> Diagnostic | None:
        if field not in self.scope.playbook.terms:
            return unknown_term(field, span, self.findings.offer(self.scope.playbook.terms))
        hidden = sorted(r for r in self._roots_of_terms.get(field, ()) if r in ROOTS and not place.reads(r))
        return name_not_readable(hidden[0], place.name, span, field, place.roots) if hidden else None

    def items_in_reach(self, path: Path) -> dict[str, str]:
        """Name the items that can be read at a place, each with the `for_each` that gives it."""
        return {body.spec.as_: body.step for body in self.scope.bodies.around(path)}

    # --- types ---------------------------------------------------------------------------------------------------

    def _type(self, expression: Expression, path: Path, offset: int, tool: str | None, wants: str) -> None:
        self._report(self._types.problems(expression, tool, wants, self.items_in_reach(path)), path, offset)

    def _report(self, problems: Iterable[TypeProblem], path: Path, offset: int) -> None:
        for problem in problems:
            self.findings.add(path, ill_typed(problem, self.findings.inside(path, offset + problem.offset)))


def ill_typed(problem: TypeProblem, span: Span) -> Diagnostic:
    """
    ## What it finds
    An expression whose parts cannot go together: text compared by size with a number, a condition that gives no truth
    value, a field of a value that has none.  Types come from the schemas of inputs, parameters and results.

    ## Why it matters
    It is unknown on every run, and unknown is never a pass.

    ## Example
    ```yaml
    inputs: {limit: string}
    steps: [{id: pay, when: inputs.limit > 5, expected_tools: [pay]}]
    ```

    ## Repair
    Compare like with like; there is no truthiness: write `x != null`, `size(x) > 0`, `x == true`.
    """
    return Diagnostic("GW302", Level.ERROR, problem.message, span, help=problem.help)
