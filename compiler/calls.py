"""
The rules about playbooks that call others (GW140 to GW144, GW704 to GW706).

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span

from .suggest import hint


def unknown_playbook(name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A `playbook:` step whose playbook is neither under `imports`, nor among those given, nor beside this one.

    ## Why it matters
    The step has nothing to run.

    ## Example
    ```yaml
    steps: [{id: address, playbook: enrich-pi}]
    ```

    ## Repair
    Write the `id` of the playbook as its file has it, or say where the file is:
    `imports: {enrich-ip: ./enrich-ip.yaml}`.
    """
    return Diagnostic(
        "GW140", Level.ERROR, f"there is no playbook `{name}`", span,
        help=hint(name, known, f"say where its file is: `imports: {{{name}: ./{name}.yaml}}`"),
    )  # fmt: skip


def playbook_out_of_reach(name: str, why: str, span: Span, repair: str) -> Diagnostic:
    """
    ## What it finds
    A playbook under `imports` that cannot be read: its path leads nowhere, out of the folder in which playbooks are
    looked for, or there is no file from which the path could lead.

    ## Why it matters
    A playbook that somebody sends you must not make you read any file you have.  So nothing outside the folder of the
    first playbook is read, unless whoever loads it names a wider one.

    ## Example
    ```yaml
    imports: {enrich-ip: ../../enrich-ip.yaml}
    steps: [{id: address, playbook: enrich-ip}]
    ```

    ## Repair
    Correct the path, or load with the folder that holds both: `guideway.load(path, root="playbooks")`.
    """
    return Diagnostic("GW141", Level.ERROR, f"the playbook `{name}` cannot be read: {why}", span, help=repair)


def playbook_named_twice(name: str, why: str, span: Span, repair: str) -> Diagnostic:
    """
    ## What it finds
    Two playbooks with one `id` where a step calls it.

    ## Why it matters
    A playbook is known by its id in traces, approvals and budgets; nobody could tell which of the two has run.

    ## Example
    `a.yaml` and `b.yaml` in one folder both say `id: enrich-ip`.

    ## Repair
    Give one of them another id, or, where only one is meant, say which: `imports: {enrich-ip: ./a.yaml}`.
    """
    return Diagnostic("GW142", Level.ERROR, f"`{name}` is not one playbook: {why}", span, help=repair)


def playbooks_in_a_ring(ring: Sequence[str], span: Span) -> Diagnostic:
    """
    ## What it finds
    Playbooks that call one another in a ring, or one that calls itself.

    ## Why it matters
    No run of it would have a bound that anybody could know beforehand.

    ## Example
    ```yaml
    id: triage
    steps: [{id: again, playbook: triage}]
    ```

    ## Repair
    Write the loop as one: `repeat: {until: …, at_most: …}` or `for_each` over the steps.
    """
    way = " → ".join(f"`{name}`" for name in ring)
    return Diagnostic(
        "GW143", Level.ERROR, f"playbooks that call one another in a ring: {way}", span,
        help="leave one of the calls out; a loop is written with `repeat` or `for_each`",
    )  # fmt: skip


def unusable_playbook(name: str, file: str, errors: int, span: Span) -> Diagnostic:
    """
    ## What it finds
    A step that calls a playbook which has errors itself.  They are findings of their own, in that playbook's file.

    ## Why it matters
    What cannot be run alone cannot be run as a part.

    ## Example
    ```yaml
    steps: [{id: address, playbook: enrich-ip}]   # and enrich-ip.yaml has an unknown key
    ```

    ## Repair
    Repair the playbook that is called.
    """
    return Diagnostic(
        "GW144", Level.ERROR, f"the playbook `{name}` ({file}) has {errors} error{'' if errors == 1 else 's'}", span,
        help="repair it first; its findings say what is wrong",
    )  # fmt: skip


def unknown_given(playbook: str, name: str, span: Span, inputs: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A name in the `with` of a step that is no input of the playbook it calls.

    ## Why it matters
    The value goes nowhere, and the input that was meant keeps its default or stays empty.

    ## Example
    ```yaml
    steps: [{id: address, playbook: enrich-ip, with: {adress: "{{ inputs.source_ip }}"}}]
    ```

    ## Repair
    Write the name under which the other playbook declares it.
    """
    return Diagnostic("GW704", Level.ERROR, f"the playbook `{playbook}` has no input `{name}`", span,
                      help=hint(name, inputs, f"declare it there: `inputs: {{{name}: string}}`"))  # fmt: skip


def missing_given(playbook: str, name: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A step that calls a playbook without an input it requires.

    ## Why it matters
    The playbook cannot start, so the step would fail on every run.

    ## Example
    ```yaml
    steps: [{id: address, playbook: enrich-ip}]   # which says `inputs: {ip: string}`
    ```

    ## Repair
    Give it: `with: {ip: "{{ inputs.source_ip }}"}`; or give the input a `default` where it is declared.
    """
    return Diagnostic("GW705", Level.ERROR, f"the playbook `{playbook}` needs the input `{name}`", span,
                      help=f"add `{name}` to `with`")  # fmt: skip


def unfit_given(playbook: str, name: str, why: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A value in the `with` of a step that does not fit what the other playbook says of the input.

    ## Why it matters
    The playbook cannot start with it, so the step would fail on every run.

    ## Example
    ```yaml
    steps: [{id: address, playbook: enrich-ip, with: {hours: many}}]   # which says `inputs: {hours: integer}`
    ```

    ## Repair
    Write a value of the right type; a text that is one `{{ EXPR }}` keeps the type of its value.
    """
    return Diagnostic(
        "GW706", Level.ERROR, f"`{name}` does not fit the input of the playbook `{playbook}`: {why}", span,
        help="write a value of the type that its `inputs` says",
    )  # fmt: skip
