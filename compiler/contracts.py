"""
The rules about what a playbook promises of its tools and inputs (GW13x, GW401, GW701 …).

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span
from guideway.statemachine.tools import CONTROL

from .suggest import hint


def name_taken(name: str, owner: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A tool whose `name` is that of another tool, or of a control tool (`complete_step`, `skip_step`).

    ## Why it matters
    An agent calls tools by the name its framework has for them. If one name means two tools, a harmless entry could
    let a dangerous call through.

    ## Example
    ```yaml
    tools:
      look: {effect: read, name: pay}
      pay: {effect: irreversible}
    ```

    ## Repair
    Give each tool the name that only it has.
    """
    whose = "a control tool of Guideway" if name in CONTROL else f"the tool `{owner}`"
    return Diagnostic("GW703", Level.ERROR, f"the name `{name}` is that of {whose}", span, help="use another name")


def bad_schema(what: str, why: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A schema of an input, of `parameters` or of a `result` that is no JSON Schema.

    ## Why it matters
    A value can be checked against it only by guessing, and a gate does not guess.

    ## Example
    ```yaml
    inputs: {rate: {type: number, minimum: low}}
    ```

    ## Repair
    Follow JSON Schema (draft 2020-12): `{type: number, minimum: 0}`.
    """
    return Diagnostic("GW130", Level.ERROR, f"the schema of {what} is no JSON Schema: {why}", span,
                      help="follow JSON Schema, draft 2020-12")  # fmt: skip


def default_against_schema(name: str, why: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    An input whose `default` does not fit its own schema.

    ## Why it matters
    Every run that relies on the default would be refused.

    ## Example
    ```yaml
    inputs: {rate: {type: number, default: high}}
    ```

    ## Repair
    Correct the default, or widen the schema.
    """
    return Diagnostic("GW131", Level.ERROR, f"the default of the input `{name}` does not fit its schema: {why}", span,
                      help="correct the default, or widen the schema")  # fmt: skip


def retry_of_a_write(tool: str, declared: bool, span: Span) -> Diagnostic:
    """
    ## What it finds
    A step with a `retry` of its own and a tool that is neither a read nor idempotent.

    ## Why it matters
    A call that reported an error may have done its work all the same; doing it twice is what nobody wants.

    ## Example
    ```yaml
    tools: {issue_refund: {effect: irreversible}}
    steps: [{id: refund, call: {tool: issue_refund}, retry: 2}]
    ```

    ## Repair
    Say of the tool that it only reads (`effect: read`) or that a second call does no harm (`idempotent: true`); or drop
    the `retry` and give the step an `on_failure`.  A `retry` under `defaults` leaves such tools out by itself.
    """
    say = "say `effect: read` or `idempotent: true` under `tools` if that is so" if declared else (
        f"declare it if it only reads: `tools: {{{tool}: {{effect: read}}}}`"
    )  # fmt: skip
    return Diagnostic("GW132", Level.ERROR, f"`{tool}` is neither a read nor idempotent, so it is not retried", span,
                      help=f"{say}; else drop `retry` and write `on_failure`")  # fmt: skip


def too_few_calls(step: str, needed: int, allowed: int, span: Span) -> Diagnostic:
    """
    ## What it finds
    A step whose `max_tool_calls` is less than the calls that its expected tools, their `times` and its
    `min_tool_calls` need.

    ## Why it matters
    The step can never be completed.  It goes on as incomplete, or fails, on every run, and no run ends in success.

    ## Example
    ```yaml
    - {id: look, expected_tools: [query_siem, enrich_indicator], max_tool_calls: 1}
    ```

    ## Repair
    Raise `max_tool_calls`, or move tools that may be left out to `optional_tools`.
    """
    return Diagnostic(
        "GW401", Level.WARNING,
        f"step `{step}` allows {allowed} call{'' if allowed == 1 else 's'} and needs {needed} to be completed", span,
        help=f"raise `max_tool_calls` to {needed} or more, or move tools to `optional_tools`",
    )  # fmt: skip


def unknown_argument(tool: str, name: str, span: Span, parameters: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An argument of a `call` step that the tool's `parameters` do not have.

    ## Why it matters
    The tool would refuse the call, or ignore what was meant to limit it.

    ## Example
    ```yaml
    tools: {lookup: {parameters: {type: object, properties: {ip: {type: string}}, additionalProperties: false}}}
    steps: [{id: look, call: {tool: lookup, args: {adress: 10.0.0.1}}}]
    ```

    ## Repair
    Write the name that `parameters` has.
    """
    return Diagnostic("GW701", Level.ERROR, f"`{tool}` has no parameter `{name}`", span, help=hint(name, parameters))


def missing_argument(tool: str, name: str, span: Span) -> Diagnostic:
    """
    ## What it finds
    A `call` step that leaves out an argument its tool requires.

    ## Why it matters
    The gate would refuse the call on every run, and the step would fail.

    ## Example
    ```yaml
    tools: {lookup: {parameters: {type: object, properties: {ip: {type: string}}, required: [ip]}}}
    steps: [{id: look, call: {tool: lookup}}]
    ```

    ## Repair
    Add it: `args: {ip: "{{ inputs.ip }}"}`.
    """
    return Diagnostic("GW702", Level.ERROR, f"`{tool}` needs the argument `{name}`", span,
                      help=f"add `{name}` to `args`")  # fmt: skip
