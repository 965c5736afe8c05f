"""`termination`: conditions as values, each branch with the accepting state it leads to (S36, S37)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from guideway.playbooks.terminations import TerminationItem
from guideway.playbooks.values import seconds
from guideway.statemachine.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConfidenceMet,
    Custom,
    MaxIterations,
    Not,
    NoToolCalls,
    Signalled,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
    describe,
    is_stop,
    leaves,
)
from guideway.statemachine.definition import EndKind, Termination
from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span

from .ends import Ends
from .findings import Path
from .names import unknown_outcome, unknown_source, unknown_tool
from .reading import Reader


def lower_termination(items: Sequence[TerminationItem], reader: Reader, ends: Ends) -> tuple[Termination, ...]:
    """Lower the branches, in listed order; the first true one ends a run."""
    found = []
    for index, item in enumerate(items):
        path: Path = ("termination", index)
        condition = _condition(item, path, reader)
        if condition is None:
            continue
        target = _target(condition, item.outcome, path, reader, ends)
        span = reader.findings.at(path)
        found.append(Termination(condition, target, describe(condition), item.outcome, span))
    return tuple(found)


def _target(condition: Condition, outcome: str | None, path: Path, reader: Reader, ends: Ends) -> str:
    reason = describe(condition)
    stop = is_stop(condition)
    if outcome is not None and ends.is_word(outcome):
        return ends.word(outcome, EndKind.STOP if stop else EndKind.GOAL)
    if outcome is not None:
        finding = unknown_outcome(outcome, reader.findings.at((*path, "outcome")), ends.classes)
        reader.findings.add((*path, "outcome"), finding)
    if stop or all(isinstance(leaf, TextMention) for leaf in leaves(condition)):
        return ends.stop(reason, EndKind.STOP if stop else EndKind.GOAL)
    return ends.reason(reason)


def _condition(item: TerminationItem, path: Path, reader: Reader) -> Condition | None:
    for key, lower in _SIMPLE.items():
        if getattr(item, key) is not None:
            return lower(item, path, reader)
    if item.text_mention is not None:
        check_pattern(item.text_mention, (*path, "text_mention"), reader)
        return TextMention(item.text_mention)
    if item.all is not None:
        return AllOf(_parts(item.all, (*path, "all"), reader))
    if item.any is not None:
        return AnyOf(_parts(item.any, (*path, "any"), reader))
    if item.not_ is not None:
        part = _condition(item.not_, (*path, "not"), reader)
        return None if part is None else Not(part)
    return None


def _parts(items: Sequence[TerminationItem], path: Path, reader: Reader) -> tuple[Condition, ...]:
    parts = (_condition(item, (*path, index), reader) for index, item in enumerate(items))
    return tuple(part for part in parts if part is not None)


def _tool_called(item: TerminationItem, path: Path, reader: Reader) -> Condition:
    tool = item.tool_called or ""
    scope = reader.scope
    if not scope.calls_tool(tool):
        span = reader.findings.at((*path, "tool_called"))
        known = scope.called_tools() if scope.knows_tool(tool) else scope.tools
        reader.findings.add(path, unknown_tool(tool, span, known))
    return ToolCalled(
        tool,
        reader.expression(item.where, "where", (*path, "where"), tool),
        reader.expression(item.expect, "expect", (*path, "expect"), tool),
    )


def _custom(item: TerminationItem, path: Path, reader: Reader) -> Condition:
    name, predicates = item.custom or "", reader.scope.playbook.predicates
    if name not in predicates:
        here = (*path, "custom")
        reader.findings.add(here, unknown_source("predicate", name, reader.findings.at(here), predicates))
    return Custom(name)


_SIMPLE: dict[str, Callable[[TerminationItem, Path, Reader], Condition]] = {
    "max_iterations": lambda item, path, reader: MaxIterations(item.max_iterations or 0),
    "token_limit": lambda item, path, reader: TokenLimit(item.token_limit or 0),
    "time_limit": lambda item, path, reader: TimeLimit(seconds(item.time_limit or "")),
    "no_tool_calls": lambda item, path, reader: NoToolCalls(),
    "tool_called": _tool_called,
    "confidence_met": lambda item, path, reader: ConfidenceMet(item.confidence_met or 0.0),
    "signal": lambda item, path, reader: Signalled(item.signal or ""),
    "custom": _custom,
}


def check_pattern(pattern: str, path: Path, reader: Reader) -> None:
    """Report a text that is no RE2 pattern."""
    from guideway.statemachine.patterns import PatternError
    from guideway.statemachine.patterns import pattern as compiled

    try:
        compiled(pattern)
    except PatternError as fault:
        reader.findings.add(path, bad_pattern(str(fault), reader.findings.at(path)))


def bad_pattern(why: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A `text_mention`, or the `match` of a required probe, that is no RE2 pattern.

    ## Why it matters
    It can match nothing: the run would never end by it, the step never be completed.

    ## Example
    ```yaml
    termination: [{text_mention: "(done"}]
    ```

    ## Repair
    Close what is open; RE2 has no look-around and no back-references.  A sign that is meant as itself takes a `\\\\`.
    """
    return Diagnostic("GW303", Level.ERROR, f"the pattern is none: {why}", span, help="follow the syntax of RE2")
