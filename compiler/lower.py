"""
A playbook lowered to a definition.

The page is read in any order: first what the names stand for, then every step, then where each leads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.playbooks.quiet import no_collection
from guideway.playbooks.reader import read_data
from guideway.playbooks.tools_spec import ToolSpec
from guideway.playbooks.validate import validate
from guideway.statemachine.definition import ANYWHERE, Definition, Edge, OutcomeClass, State
from guideway.statemachine.diagnostic import Diagnostic, Level, in_order
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import CONTROL, best_match, is_pattern

from .chain import Chain, Exits, Way, Ways, head
from .contracts import name_taken
from .defaults import TARGETS, Keys
from .ends import DONE, Ends
from .findings import WITHOUT_PLACES, Findings, Path
from .inputs import lower_inputs
from .names import unknown_tool
from .page import clashing_id, clashing_outcome
from .reading import Reader
from .scope import Scope
from .steps import KINDS, StepLowering
from .targets import Targets
from .termination import lower_termination
from .tools import lower_tools

LEAST_ITERATIONS = 1000
ITERATIONS_PER_STEP = 20


@dataclass(frozen=True, slots=True)
class Compiled:
    """What lowering gives: a machine, or none where a finding is an error."""

    definition: Definition | None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def compile_playbook(playbook: Playbook, *, skills: Mapping[str, Sequence[str]] | None = None) -> Compiled:
    """
    Lower a playbook to the machine it means, and report every name and expression that means nothing.

    `skills` maps the skills that steps `uses` to their tools; a skill it lacks is a warning, and a session refuses to
    start.  The flow is not looked at: `check_definition` does that.

    >>> step = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"])
    >>> made = compile_playbook(Playbook(id="triage", name="Triage", steps=[step]))
    >>> [(edge.event, edge.target) for edge in made.definition.edges() if edge.source == "look"]
    [('completed', 'success'), ('failed', 'failed:look')]
    """
    with no_collection():
        faults = _shape_faults(playbook)
        if any(fault.level is Level.ERROR for fault in faults):
            return Compiled(None, faults)
        return _Lowering(playbook, skills or {}).run()


def _shape_faults(playbook: Playbook) -> list[Diagnostic]:
    """A playbook built in Python has not passed the reader, which alone knows the rules between keys."""
    if playbook.file != WITHOUT_PLACES:
        return []
    return validate(read_data(playbook.model_dump(exclude_unset=True, warnings=False)))[1]


class _Lowering:
    def __init__(self, playbook: Playbook, skills: Mapping[str, Sequence[str]]) -> None:
        self.playbook = playbook
        self.findings = Findings(playbook)
        self.reader = Reader(Scope(playbook, skills), self.findings)
        self.ends = Ends({word: OutcomeClass(of) for word, of in playbook.outcomes.items()})
        self.lowering = StepLowering(self.reader)
        self._cut_off = any(spec.on_unknown is not None for spec in self.reader.scope.tools.values())

    def run(self) -> Compiled:
        playbook, reader = self.playbook, self.reader
        reader.read_terms(playbook.terms)
        inputs = lower_inputs(reader)
        tools = lower_tools(reader)
        self._check_optional_tools()
        keys = [Keys(step, ("steps", i), playbook.defaults) for i, step in enumerate(playbook.steps)]
        steps = [self.lowering.step(each) for each in keys]
        states = self._states(keys, steps)
        termination = lower_termination(playbook.termination, reader, self.ends)
        anywhere = self._anywhere([(branch.target, branch.span) for branch in termination])
        self._check_ids(steps, states)
        self._check_outcomes(states, [branch.target for branch in termination if branch.outcome is None])
        if self.findings.refused:
            return Compiled(None, in_order(self.findings.found))
        table = {state.name: state for state in (*states, *self.ends.states())}
        written = reader.scope.facts
        definition = Definition(
            id=playbook.id,
            name=playbook.name,
            initial=states[0].name if states else "success",
            states=table,
            steps={step.id: step for step in steps},
            description=playbook.description,
            version=playbook.version,
            inputs=inputs,
            outcomes={word: OutcomeClass(of) for word, of in playbook.outcomes.items()},
            tools=tools,
            closed_alphabet=reader.scope.closed,
            optional_tools=tuple(playbook.optional_tools),
            extra_tools=playbook.allow_extra_tools,
            terms=reader.terms,
            termination=termination,
            anywhere=anywhere,
            max_iterations=playbook.max_iterations or max(LEAST_ITERATIONS, ITERATIONS_PER_STEP * len(steps)),
            max_refusals=playbook.max_refusals,
            max_nudges=playbook.max_nudges,
            facts=reader.projections.facts(written),
            history=reader.projections.history(written),
            reads_now=reader.reads_now,
            unresolved_skills=tuple(self.lowering.unresolved),
            metadata=playbook.metadata,
            span=playbook.span(()),
        )
        return Compiled(definition, in_order(self.findings.found))

    # --- states --------------------------------------------------------------------------------------------------

    def _states(self, keys: Sequence[Keys], steps: Sequence[Step]) -> list[State]:
        """Build the states of every step; S39: after the last step the list is done."""
        heads = [head(step, KINDS[each.step.kind]) for each, step in zip(keys, steps, strict=True)]
        targets = Targets({step.id: name for step, name in zip(steps, heads, strict=True)}, self.ends, self.reader)
        self._check_shared(targets)
        states: list[State] = []
        for index, (each, step) in enumerate(zip(keys, steps, strict=True)):
            last = index + 1 == len(steps)
            falls = Way(DONE if last else heads[index + 1], None, step.span, outcome=last)
            exits = self._exits(each, targets, falls)
            states += Chain(step, KINDS[each.step.kind], exits, self.ends).states()
        if not steps:
            self.ends.word(DONE)
        return states

    def _exits(self, keys: Keys, targets: Targets, falls: Way) -> Exits:
        written = keys.step
        next_ = (falls,) if written.next is None else targets.ways(written.next, (*keys.path, "next"))
        if keys.plain and not self._cut_off:
            return Exits(next_)
        to = {key: self._handler(key, keys, targets) for key in TARGETS}
        return Exits(
            next=next_,
            switch=() if written.switch is None else targets.ways(written.switch, (*keys.path, "switch")),
            unknown_of={} if keys.own("on_unknown") else dict(self._unknown_of(written, targets)),
            asks=self._asks(written),
            **to,
        )

    def _handler(self, key: str, keys: Keys, targets: Targets) -> Ways:
        found = keys.target(key)
        return () if found is None else targets.ways(*found)

    def _unknown_of(self, step: PlaybookStep, targets: Targets) -> Iterator[tuple[str, Ways]]:
        """What `tools` says of a cut-off call, for the tools of the step; the step's own word goes before it."""
        written = (*step.expected_entries, *step.optional_entries)
        called = [step.call.tool] if step.call else [entry.tool for entry in written]
        for tool in dict.fromkeys(called):
            for name, spec in self._specs(tool):
                if spec.on_unknown is not None:
                    to = targets.ways(spec.on_unknown, ("tools", name, "on_unknown"))
                    yield (name if is_pattern(tool) else tool), to

    def _specs(self, tool: str) -> Iterator[tuple[str, ToolSpec]]:
        declared = self.reader.scope.tools
        if not is_pattern(tool):
            match = tool if tool in declared else best_match(tool, declared)
            found = [] if match is None else [match]
        else:
            found = [name for name in declared if best_match(name, (tool,))]
        yield from ((name, declared[name]) for name in found)

    def _asks(self, step: PlaybookStep) -> bool:
        spec = self.reader.scope.spec(step.call.tool) if step.call else None
        return spec is not None and spec.approval is not None and not spec.approval.none

    def _anywhere(self, branches: Sequence[tuple[str, Span | None]]) -> tuple[Edge, ...]:
        """What may happen in every state: a termination branch, a limit, a fault of the engine."""
        spans: dict[str, Span | None] = {}
        for target, span in (*branches, *((end, None) for end in self.ends.everywhere())):
            spans.setdefault(target, span)
        return tuple(Edge(ANYWHERE, "terminated", target, None, span) for target, span in spans.items())

    # --- checks that need the whole page -------------------------------------------------------------------------

    def _check_shared(self, targets: Targets) -> None:
        """What `defaults` and `tools` say is checked even where no step makes use of it."""
        defaults = self.playbook.defaults
        for key in TARGETS:
            written = getattr(defaults, key, None)
            if written is not None:
                targets.ways(written, ("defaults", key))
        if defaults is not None and defaults.retry is not None:
            self.reader.once(defaults.retry.when, "retry", ("defaults", "retry", "when"))
        for name, spec in self.reader.scope.tools.items():
            if spec.on_unknown is not None:
                targets.ways(spec.on_unknown, ("tools", name, "on_unknown"))

    def _check_optional_tools(self) -> None:
        scope = self.reader.scope
        for index, tool in enumerate(self.playbook.optional_tools):
            path: Path = ("optional_tools", index)
            if tool in CONTROL:
                self.findings.add(path, name_taken(tool, tool, self.findings.at(path)))
            elif not scope.knows_tool(tool):
                self.findings.add(path, unknown_tool(tool, self.findings.at(path), scope.tools))

    def _check_ids(self, steps: Sequence[Step], states: Sequence[State]) -> None:
        """No step may be called as an end, or as a state made for another step."""
        made = {s.name: s.step for s in states if s.step is not None and s.name != s.step.id}
        ends = {state.name for state in self.ends.states()}
        for index, step in enumerate(steps):
            what, other = self._clash(step.id, ends, made)
            if what:
                path: Path = ("steps", index, "id")
                self.findings.add(path, clashing_id(step.id, self.findings.at(path), what, other))

    def _check_outcomes(self, states: Sequence[State], reasons: Collection[str]) -> None:
        made = {state.name: f"a state of the step `{state.step.id}`" for state in states if state.step is not None}
        made |= dict.fromkeys(reasons, "the end of a termination branch")
        for word in self.playbook.outcomes:
            if word in made:
                path: Path = ("outcomes", word)
                self.findings.add(path, clashing_outcome(word, self.findings.key_at(path), made[word]))

    def _clash(self, name: str, ends: Collection[str], made: Mapping[str, Step]) -> tuple[str, Span | None]:
        if name in ends:
            return "an end of the run", None
        if name in made:
            return f"a state of the step `{made[name].id}`", made[name].span
        return ("every state at once" if name == ANYWHERE else ""), None
