"""
The rules about what a page says twice, in vain, or in a circle (GW120 to GW124).

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable

from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.span import Span

from .suggest import hint


def clashing_id(name: str, span: Span, made_for: str, other: Span | None) -> Diagnostic:
    """
    ## What it finds
    A step whose id, or an outcome whose word, is the name of a state that the compiler makes for another step
    (`x.entry`, `x.approval`, `failed:x` …).

    ## Why it matters
    A jump to that name could mean either of the two.

    ## Example
    ```yaml
    steps:
      - {id: contain, when: inputs.sure, expected_tools: [isolate_host]}
      - {id: contain.entry, expected_tools: [notify]}
    ```

    ## Repair
    Give the step another id.
    """
    related = () if other is None else (Related(other, f"{made_for} comes from here"),)
    return Diagnostic(
        "GW120", Level.ERROR, f"the id `{name}` is also the name of {made_for}", span,
        help="give the step another id", related=related,
    )  # fmt: skip


def clashing_outcome(word: str, span: Span, made_for: str) -> Diagnostic:
    """Report an outcome word that is the name of a state made for something else: the same flaw as `clashing_id`."""
    return Diagnostic(
        "GW120", Level.ERROR, f"the outcome `{word}` is also the name of {made_for}", span,
        help="choose another word",
    )  # fmt: skip


def unresolved_skill(name: str, span: Span, skills: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A skill in `uses` that the host's map does not hold.

    ## Why it matters
    The tools of the skill are what the step may call.  A session refuses to start until they are known.

    ## Example
    ```yaml
    steps: [{id: look, description: Find the charge, uses: [stripe-read]}]
    ```

    ## Repair
    Give the map when loading: `guideway.load(source, skills={"stripe-read": ["stripe_read"]})`.
    """
    return Diagnostic(
        "GW121", Level.WARNING, f"the skill `{name}` is not resolved", span,
        help=hint(name, skills, f'give its tools when loading: `skills={{"{name}": [...]}}`'),
    )  # fmt: skip


def validation_not_enforced(text: str, span: Span, why: str) -> Diagnostic:
    """
    ## What it finds
    An entry of `validation` that is no expression.  It is kept as a note.

    ## Why it matters
    Nothing checks it: the step completes whether or not it holds.

    ## Example
    ```yaml
    validation: {result: at least one sender is known}
    ```

    ## Repair
    Write an expression (`size(facts.query_siem.senders) > 0`), or move the text to `description`.
    """
    return Diagnostic(
        "GW122", Level.WARNING, f"the validation `{shorten(text)}` is not enforced: {why}", span,
        help="write an expression, or move the text to `description`",
    )  # fmt: skip


def idle_key(key: str, step: str, why: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A key of a step that has no effect there: a limit on calls where nobody calls, a handler of something that cannot
    happen.

    ## Why it matters
    The page promises what the machine does not do.

    ## Example
    ```yaml
    - {id: look, expected_tools: [query_siem], on_timeout: escalated}
    ```
    There is no `timeout`, so nothing ever times out.

    ## Repair
    Delete the key, or add the one it needs.
    """
    return Diagnostic("GW124", Level.WARNING, f"`{key}` has no effect on step `{step}`: {why}", span,
                      help="delete it, or add what it needs")  # fmt: skip


def terms_in_a_circle(names: tuple[str, ...], span: Span) -> Diagnostic:
    """
    ## What it finds
    Terms that are defined by one another in a circle.

    ## Why it matters
    None of them has a value.

    ## Example
    ```yaml
    terms: {a: "terms.b", b: "terms.a"}
    ```

    ## Repair
    Write one of them without the others.
    """
    circle = " → ".join(f"`{name}`" for name in names)
    return Diagnostic("GW123", Level.ERROR, f"terms in a circle: {circle}", span, help="write one without the others")


def shorten(text: str, most: int = 60) -> str:
    """
    Cut a long text for a message.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
