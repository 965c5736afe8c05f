"""What an irreversible call may rest on: claims are what the agent says of itself, and no evidence."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.definition import Definition, Edge, State, StateKind
from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.span import Span
from guideway.statemachine.tools import Effect

from .terms import roots_of

EVIDENCE = frozenset({"facts", "history", "answers", "signals", "inputs", "predicate"})


def rests_on_claims(definition: Definition) -> Iterator[Diagnostic]:
    """Look at every branch, and at the `when` of every step."""
    if all(tool.effect is not Effect.IRREVERSIBLE for tool in definition.tools.values()):
        return
    beyond = roots_of(definition.terms)
    for edge in definition.edges():
        tool = _irreversible(definition, edge.target)
        if tool is not None and edge.guard is not None and _claims_alone(edge.guard, beyond):
            yield resting_on_claims(tool, edge.guard.source, _place(edge, definition))
    for state in definition.states.values():
        step = state.step
        if step is None or step.when is None or state.kind is not StateKind.ROUTER or state.name == step.id:
            continue
        tool = _irreversible(definition, state.name)
        if tool is not None and _claims_alone(step.when, beyond):
            yield resting_on_claims(tool, step.when.source, step.span or Span("<dict>", 1, 1))


def _place(edge: Edge, definition: Definition) -> Span:
    step = definition.states[edge.source].step if edge.source in definition.states else None
    return edge.span or (step.span if step is not None else None) or Span("<dict>", 1, 1)


def _claims_alone(guard: Expression, beyond: dict[str, frozenset[str]]) -> bool:
    roots = {str(read.path[0]) for read in guard.reads}
    for read in guard.reads:
        if read.path[0] == "terms" and len(read.path) > 1:
            roots |= beyond.get(str(read.path[1]), frozenset())
    return "claims" in roots and not roots & EVIDENCE


def _irreversible(definition: Definition, name: str) -> str | None:
    """The irreversible tool that the step entered here may call with no person asked before; none if there is none."""
    state: State = definition.states[name]
    step = state.step
    if step is None or state.kind is StateKind.JOIN or step.approval is not None:
        return None
    asked = [(entry.tool, entry.approval) for entry in step.work.entries] if step.work else []
    asked += [(step.call.tool, None)] if step.call else []
    for tool, approval in asked:
        declared = definition.tool(tool)
        if declared and declared.effect is Effect.IRREVERSIBLE and not (approval or declared.approval):
            return tool
    return None


def resting_on_claims(tool: str, guard: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A branch or a `when` that reads claims and no evidence, and leads to an irreversible tool that no person allows.

    ## Why it matters
    Claims are what the agent says of itself.  Were they enough, an agent that is wrong, or that was told what to say,
    would do what nobody can take back.

    ## Example
    ```yaml
    tools: {wire_money: {effect: irreversible}}
    steps:
      - {id: judge, description: Judge the case, claims: {sure: boolean}}
      - {id: pay, when: claims.judge.sure, expected_tools: [wire_money]}
    ```

    ## Repair
    Let the condition read a fact, an answer or an input as well, or let a person approve the step or the call.
    """
    return Diagnostic(
        "GW205", Level.ERROR, f"`{guard}` rests on claims alone and leads to `{tool}`, which is irreversible", span,
        help="read a fact, an answer or an input as well, or add an `approval`",
    )  # fmt: skip
