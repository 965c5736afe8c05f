"""What ends a run, in words for the model; and what is still missing when it thinks it is done."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.runtime.session import Session
from guideway.runtime.situation import open_steps
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
)
from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import CONTROL


def ends(definition: Definition) -> Iterator[str]:
    """What ends the run, sentence by sentence."""
    if definition.conversation:
        yield "A reply without a call goes to the user; the run is over when the playbook says so."
    else:
        yield "The run is over when the playbook says so. A reply without a call does not end it."
    branches = [words(branch.condition) for branch in definition.termination]
    if branches:
        yield f"It also ends {'; or '.join(branches)}."


def words(condition: Condition) -> str:
    """
    A condition as part of a sentence.

    >>> words(AllOf((ToolCalled("isolate_host"), ConfidenceMet(0.9))))
    'when `isolate_host` has succeeded and your confidence is 0.9 or more'
    """
    return before(f"when {bare(condition)}") if not isinstance(condition, MaxIterations) else bare(condition)


def before(text: str) -> str:
    """Keep `when` once."""
    return text.replace("when after", "after")


def bare(condition: Condition) -> str:
    """The condition without its `when`."""
    match condition:
        case MaxIterations(limit):
            return f"after {limit} turns"
        case TokenLimit(limit):
            return f"{limit} tokens are used"
        case TimeLimit(seconds):
            return f"{seconds:g} seconds have passed"
        case NoToolCalls():
            return "a reply calls nothing"
        case ToolCalled(tool):
            return f"`{tool}` has succeeded"
        case ConfidenceMet(threshold):
            return f"your confidence is {threshold:g} or more"
        case TextMention(pattern):
            return f"a reply mentions `{pattern}`"
        case Signalled(name):
            return f"the signal `{name}` comes"
        case Custom(name):
            return f"`{name}` holds"
        case AllOf(parts):
            return " and ".join(map(bare, parts))
        case AnyOf(parts):
            return " or ".join(map(bare, parts))
        case Not(part):
            return f"not ({bare(part)})"


def missing(session: Session) -> str:
    """What the open steps still need, in a sentence; nothing where no agent's step is open."""
    needs = []
    for open_step in open_steps(session):
        tools = [str(call) for call in open_step.legal if call.needed]
        if not tools:
            tools = [f"`{call.tool}`" for call in open_step.legal if call.tool in CONTROL]
        needs.append(f"step `{open_step.path}{open_step.step.id}` needs {', '.join(tools) or 'a call'}")
    return "; ".join(needs)


def onward(session: Session, *, nudged: bool, empty: bool = False) -> str:
    """
    What the model reads after a reply that called nothing and ended nothing (S16).

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]})
    >>> onward(guideway.Session(machine), nudged=True)
    'The run is not over: step `look` needs `query_siem`. Go on by calling a tool.'
    """
    head = "Your reply was empty. " if empty else ""
    what = missing(session)
    if nudged or empty:
        return f"{head}The run is not over{': ' + what if what else ''}. Go on by calling a tool."
    return f"That is noted, and the run goes on{': ' + what if what else ''}."
