"""
The rules about policies (GW501 to GW505): an event that nothing can be, or that could be two things.

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.span import Span

from .suggest import hint


def unknown_event(word: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An event of a policy that is neither a tool nor a step, or that names a step or an effect there is not.

    ## Why it matters
    Such an event never happens.  A policy that forbids it forbids nothing, and one that asks for it holds up every run.

    ## Example
    ```yaml
    steps: [{id: pay, expected_tools: [issue_refund]}]
    policies: [{at_most: {event: isue_refund, times: 1}}]
    ```

    ## Repair
    Write a tool, `step:S`, `approval:S`, `effect:irreversible`, or `{tool: T, where: …}`.
    """
    return Diagnostic(
        "GW501", Level.ERROR, f"`{word}` is no event of this playbook", span,
        help=hint(word, known, "write a tool, `step:S`, `approval:S`, `effect:irreversible`, or `{tool: T, where: …}`"),
    )  # fmt: skip


def ambiguous_event(word: str, meanings: Sequence[str], span: Span) -> Diagnostic:
    """
    ## What it finds
    An event that is the name of a tool and of a step.

    ## Why it matters
    A call that succeeds and a step that is completed are two events; the policy would watch the wrong one.

    ## Example
    ```yaml
    steps: [{id: isolate, expected_tools: [isolate]}]
    policies: [{never: isolate}]
    ```

    ## Repair
    Say which is meant: `step:isolate`, or `{tool: isolate}`.
    """
    ways = " or ".join(f"`{way}`" for way in meanings)
    return Diagnostic("GW502", Level.ERROR, f"`{word}` names more than one thing", span, help=f"write {ways}")


def policy_named_twice(name: str, span: Span, first: Span) -> Diagnostic:
    """
    ## What it finds
    Two policies with the same id.  A policy without an `id` is called by its kind and its position among those of that
    kind: `at_most-1`.

    ## Why it matters
    A refusal and a failed run name the policy; nobody could tell which of the two it was.

    ## Example
    ```yaml
    policies:
      - {id: pay-once, at_most: {event: issue_refund, times: 1}}
      - {id: pay-once, never: {tool: issue_refund, where: args.amount > 5000}}
    ```

    ## Repair
    Give one of them another `id`.
    """
    return Diagnostic(
        "GW503", Level.ERROR, f"two policies are called `{name}`", span,
        help="give this one another `id`", related=(Related(first, "the first one stands here"),),
    )  # fmt: skip


def unasked_approval(step: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    An event `approval:S` where the step S has no `approval`.

    ## Why it matters
    Nobody is asked, so nobody ever allows it, and the event never happens.

    ## Example
    ```yaml
    steps: [{id: pay, expected_tools: [issue_refund]}]
    policies: [{precedence: {first: "approval:pay", then: issue_refund}}]
    ```

    ## Repair
    Give the step an `approval`, or name the step that has one; `step:S` is the completion of a step.
    """
    return Diagnostic(
        "GW504", Level.ERROR, f"the step `{step}` has no approval", span,
        help=f"give it an `approval`, or write `step:{step}`",
    )  # fmt: skip


def event_without_call(why: str, span: Span, repair: str) -> Diagnostic:
    """
    ## What it finds
    A step, an approval or an effect where a policy needs calls of a tool: under `same`, which compares arguments, and
    in `chain_…`, which speaks of the very next call.

    ## Why it matters
    Only a call has arguments and a next call, so the policy would mean nothing.

    ## Example
    ```yaml
    policies: [{precedence: {first: "step:look", then: pay, same: [order_id]}}]
    ```

    ## Repair
    Name the tools, or leave `same` (or the `chain_`) out.
    """
    return Diagnostic("GW505", Level.ERROR, why, span, help=repair)


def agreement_without_arguments(span: Span) -> Diagnostic:
    """Report a `same` beside an event that is no call of a named tool: a flaw of `event_without_call`."""
    return event_without_call(
        "`same` compares arguments, and an event of this policy is no call of a named tool",
        span,
        "name tools as the events, or delete `same`",
    )


def chain_without_call(kind: str, span: Span) -> Diagnostic:
    """Report an event of `chain_…` that is no call: a flaw of `event_without_call`."""
    return event_without_call(
        f"`{kind}` speaks of calls that follow one another, and this event is no call",
        span,
        f"name a tool, or write `{kind.removeprefix('chain_')}`",
    )


def result_of_a_refusal(kind: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    An `expect` on an event that a policy forbids (`never`, `at_most`, `then` …).

    ## Why it matters
    What is forbidden is refused before it happens, and then there is no result yet.  So the event is taken to match,
    whatever `expect` says: `never` with an `expect` refuses every call.

    ## Example
    ```yaml
    policies: [{never: {tool: search, expect: size(result.hits) > 100}}]
    ```

    ## Repair
    Write a `where`, which reads the arguments, or put the `expect` on the step that makes the call.
    """
    return Diagnostic(
        "GW506", Level.WARNING, f"the `expect` of an event that `{kind}` forbids is never asked", span,
        help="write a `where`, which reads the arguments; a result is judged by the `expect` of a step",
    )  # fmt: skip
