"""
The rules about blocks (GW125 to GW127): where a jump may lead, what branches may write, what can be undone.

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable

from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.span import Span

from .suggest import hint


def target_inside(word: str, block: str, span: Span, step: Span, *, beside: bool = False) -> Diagnostic:
    """
    ## What it finds
    A `next`, `goto`, `on_…` or choice that names a step inside another block, or that leads out of what runs side by
    side.

    ## Why it matters
    A block is entered at its beginning and left at its end.  A jump into its middle would skip what stands before; a
    jump out of one branch would leave the others running with nothing to wait for them.

    ## Example
    ```yaml
    steps:
      - id: enrich
        parallel:
          address: {call: {tool: look_up}, on_failure: report}
          account: {call: {tool: find_user}}
      - {id: report, expected_tools: [comment_on_case]}
    ```

    ## Repair
    Name the block itself.  Out of a branch, or of an item of a `for_each` with `concurrency`, lead to `done` or
    `failed`, and say on the block where a failure goes: `on_failure: report`.
    """
    what = f"another branch of `{block}`" if beside else f"`{block}`: no way leads into the middle of a block"
    repair = f"write `done`, and let `{word}` follow `{block}`" if beside else f"lead to `{block}`"
    return Diagnostic(
        "GW125", Level.ERROR, f"`{word}` is a step inside {what}", span, help=f"{repair}, or move `{word}` out of it",
        related=(Related(step, f"`{word}` stands here, inside `{block}`"),),
    )  # fmt: skip


def target_outside(word: str, block: str, span: Span, *, end: bool) -> Diagnostic:
    """Report a way out of a branch or of an item that runs beside others: the other half of `target_inside`."""
    what = f"`{word}` would end the run out of" if end else f"`{word}` lies outside"
    lead = "" if word == "success" else f", or `failed`, and lead on from `{block}` itself: `on_failure: {word}`"
    return Diagnostic("GW125", Level.ERROR, f"{what} `{block}`, whose lists run side by side", span,
                      help=f"write `done` to go on{lead}")  # fmt: skip


def target_in_any_order(word: str, span: Span) -> Diagnostic:
    """Report a way from step to step, or to an end, where the steps have no order."""
    return Diagnostic(
        "GW125", Level.ERROR, f"no step leads to `{word}`: with `strict_sequence: false` the steps run in any order",
        span, help="write `done` or `failed`, or leave the key out; for an order, delete `strict_sequence: false`",
    )  # fmt: skip


def two_writers(name: str, block: str, branches: tuple[str, str], span: Span, first: Span) -> Diagnostic:
    """
    ## What it finds
    Two branches of a `parallel` that keep a result under the same name.

    ## Why it matters
    Which of the two is read afterwards depends on which came last: the same playbook would decide differently from one
    run to the next.

    ## Example
    ```yaml
    - id: enrich
      parallel:
        sender: {expected_tools: [look_up]}
        recipient: {expected_tools: [look_up]}
    ```

    ## Repair
    Keep one of them under a name of its own: `{tool: look_up, as: recipient_record}`.
    """
    one, other = branches
    return Diagnostic(
        "GW126", Level.ERROR, f"`facts.{name}` is written by two branches of `{block}`: `{one}` and `{other}`", span,
        help="keep one of them under a name of its own: `as: …` beside `tool`",
        related=(Related(first, f"`{one}` writes it here"),),
    )  # fmt: skip


def nothing_to_undo(tool: str | None, span: Span, undoable: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An `undo` step that names a tool for which `tools` declares no `undo`; or one that takes back all, where no tool
    can be.

    ## Why it matters
    The step would do nothing, and the page reads as if all were put back.

    ## Example
    ```yaml
    tools: {reserve: {}, release: {}}
    steps:
      - {id: book, call: {tool: reserve}, on_failure: back}
      - {id: back, undo: [reserve]}
    ```

    ## Repair
    Say how: `tools: {reserve: {undo: release}}`.
    """
    what = "no tool has a declared `undo`" if tool is None else f"`{tool}` has no declared `undo`"
    say = f"say how under `tools`: `{tool or 'T'}: {{undo: …}}`"
    return Diagnostic("GW127", Level.ERROR, what, span, help=hint(tool, undoable, say) if tool else say)
