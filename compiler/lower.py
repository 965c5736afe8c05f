"""
A playbook lowered to a definition.

The page is read in any order: first what the names stand for, then every step, then where each leads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from guideway.playbooks.models import Playbook
from guideway.playbooks.quiet import no_collection
from guideway.playbooks.reader import read_data
from guideway.playbooks.validate import validate
from guideway.statemachine.definition import ANYWHERE, Definition, Edge, OutcomeClass, State
from guideway.statemachine.diagnostic import Diagnostic, Level, in_order
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import CONTROL

from .contracts import name_taken
from .ends import Ends
from .findings import WITHOUT_PLACES, Findings, Path
from .inputs import lower_inputs
from .lists import ANY_ORDER, closing, lay_out
from .names import unknown_tool
from .page import clashing_id, clashing_outcome
from .policies import lower_policies
from .reading import Reader
from .scope import Scope
from .states import StateBuilder, closing_state
from .steps import StepLowering
from .termination import lower_termination
from .tools import lower_tools
from .writers import check_writers, keep_results

LEAST_ITERATIONS = 1000
ITERATIONS_PER_STEP = 20


@dataclass(frozen=True, slots=True)
class Compiled:
    """What lowering gives: a machine, or none where a finding is an error."""

    definition: Definition | None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def compile_playbook(
    playbook: Playbook,
    *,
    skills: Mapping[str, Sequence[str]] | None = None,
    callees: Mapping[str, Playbook] | None = None,
) -> Compiled:
    """
    Lower one playbook to the machine it means, and report every name and expression that means nothing.

    `skills` maps the skills that steps `uses` to their tools; a skill it lacks is a warning, and a session refuses to
    start.  `callees` are the playbooks that its steps call, by the names the steps use; they are only looked at for
    what they give back.  The flow is not looked at: `check_definition` does that.

    >>> from guideway.playbooks.steps import PlaybookStep
    >>> step = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"])
    >>> made = compile_playbook(Playbook(id="triage", name="Triage", steps=[step]))
    >>> [(edge.event, edge.target) for edge in made.definition.edges() if edge.source == "look"]
    [('completed', 'success'), ('failed', 'failed:look')]
    """
    with no_collection():
        faults = _shape_faults(playbook)
        if any(fault.level is Level.ERROR for fault in faults):
            return Compiled(None, faults)
        return _Lowering(playbook, Scope(playbook, skills or {}, callees)).run()


def _shape_faults(playbook: Playbook) -> list[Diagnostic]:
    """A playbook built in Python has not passed the reader, which alone knows the rules between keys."""
    if playbook.file != WITHOUT_PLACES:
        return []
    return validate(read_data(playbook.model_dump(exclude_unset=True, warnings=False)))[1]


class _Lowering:
    def __init__(self, playbook: Playbook, scope: Scope) -> None:
        self.playbook = playbook
        self.findings = Findings(playbook)
        self.reader = Reader(scope, self.findings)
        self.ends = Ends({word: OutcomeClass(of) for word, of in playbook.outcomes.items()})
        self.lowering = StepLowering(self.reader)
        self.own = lay_out(playbook)
        self.closing = closing(playbook)

    def run(self) -> Compiled:
        playbook, reader = self.playbook, self.reader
        reader.read_terms(playbook.terms)
        inputs = lower_inputs(reader)
        tools = lower_tools(reader)
        self._check_optional_tools()
        keys = [*self.own.walk(), *self.closing.walk()]
        steps = {each.step.id: self.lowering.step(each) for each in keys}
        states = StateBuilder(self.own, steps, self.ends, reader).states()
        last = [steps[each.step.id] for each in self.closing.steps]
        termination = lower_termination(playbook.termination, reader, self.ends)
        anywhere = self._anywhere([(branch.target, branch.span) for branch in termination])
        outputs = self._outputs()
        written = {name: step for name, step in steps.items() if name != ANY_ORDER}
        policies = lower_policies(playbook.policies, reader, written)
        made = [*states, *map(closing_state, last)]
        self._check_ids({each.step.id: each.path for each in keys}, made)
        self._check_outcomes(made, [branch.target for branch in termination if branch.outcome is None])
        check_writers(self.own, reader)
        keep_results(reader)
        if self.findings.refused:
            return Compiled(None, in_order(self.findings.found))
        kept = {**reader.scope.facts, **reader.scope.results}
        definition = Definition(
            **self._said(),
            initial=states[0].name if states else "success",
            states={state.name: state for state in chain(made, self.ends.states())},
            steps=steps,
            inputs=inputs,
            tools=tools,
            terms=reader.terms,
            termination=termination,
            anywhere=anywhere,
            max_iterations=playbook.max_iterations or max(LEAST_ITERATIONS, ITERATIONS_PER_STEP * len(written)),
            facts=reader.projections.facts(kept),
            history=reader.projections.history(kept),
            reads_now=reader.reads_now,
            unresolved_skills=tuple(self.lowering.unresolved),
            outputs=outputs,
            policies=policies,
            closing=tuple(step.id for step in last),
        )
        return Compiled(definition, in_order(self.findings.found))

    def _said(self) -> dict[str, Any]:
        """What the machine takes from the page as it stands there."""
        playbook = self.playbook
        return {
            "id": playbook.id,
            "name": playbook.name,
            "description": playbook.description,
            "version": playbook.version,
            "outcomes": {word: OutcomeClass(of) for word, of in playbook.outcomes.items()},
            "closed_alphabet": self.reader.scope.closed,
            "optional_tools": tuple(playbook.optional_tools),
            "extra_tools": playbook.allow_extra_tools,
            "max_refusals": playbook.max_refusals,
            "max_nudges": playbook.max_nudges,
            "conversation": playbook.conversation,
            "predicates": tuple(playbook.predicates),
            "metadata": playbook.metadata,
            "span": playbook.span(()),
        }

    def _outputs(self) -> dict[str, Expression]:
        """What a caller reads once the playbook has ended."""
        written = self.playbook.outputs.items()
        read = {name: self.reader.expression(source, "output", ("outputs", name), wants="") for name, source in written}
        return {name: expression for name, expression in read.items() if expression is not None}

    def _anywhere(self, branches: Sequence[tuple[str, Span | None]]) -> tuple[Edge, ...]:
        """What may happen in every state: a termination branch, a limit, a fault of the engine."""
        spans: dict[str, Span | None] = {}
        for target, span in (*branches, *((end, None) for end in self.ends.everywhere())):
            spans.setdefault(target, span)
        return tuple(Edge(ANYWHERE, "terminated", target, None, span) for target, span in spans.items())

    # --- checks that need the whole page -------------------------------------------------------------------------

    def _check_optional_tools(self) -> None:
        scope = self.reader.scope
        for index, tool in enumerate(self.playbook.optional_tools):
            path: Path = ("optional_tools", index)
            if tool in CONTROL:
                self.findings.add(path, name_taken(tool, tool, self.findings.at(path)))
            elif not scope.knows_tool(tool):
                self.findings.add(path, unknown_tool(tool, self.findings.at(path), scope.tools))

    def _check_ids(self, steps: Mapping[str, Path], states: Sequence[State]) -> None:
        """No step may be called as an end, or as a state made for another step."""
        made = {s.name: s.step for s in states if s.step is not None and s.name != s.step.id}
        ends = {state.name for state in self.ends.states()}
        for name, place in steps.items():
            what, other = self._clash(name, place, ends, made)
            if what:
                path: Path = (*place, "id")
                self.findings.add(path, clashing_id(name, self.findings.at(path), what, other))

    def _check_outcomes(self, states: Sequence[State], reasons: Collection[str]) -> None:
        made = {state.name: f"a state of the step `{state.step.id}`" for state in states if state.step is not None}
        made |= dict.fromkeys(reasons, "the end of a termination branch")
        for word in self.playbook.outcomes:
            if word in made:
                path: Path = ("outcomes", word)
                self.findings.add(path, clashing_outcome(word, self.findings.key_at(path), made[word]))

    def _clash(
        self, name: str, place: Path, ends: Collection[str], made: Mapping[str, Step]
    ) -> tuple[str, Span | None]:
        if name == ANY_ORDER and place[0] == "steps":
            return "the step around all others, where they have no order", None
        if name in ends:
            return "an end of the run", None
        if name in made:
            return f"a state of the step `{made[name].id}`", made[name].span
        return ("every state at once" if name == ANYWHERE else ""), None
