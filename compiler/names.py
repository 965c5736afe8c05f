"""
The rules about names (GW110 to GW119): a word of the playbook that stands for nothing.

One function per rule.  Its docstring is the essay that `guideway explain CODE` prints.
"""

from __future__ import annotations

from collections.abc import Iterable

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span

from .suggest import hint, nearest


def unknown_target(word: str, span: Span, steps: Iterable[str], outcomes: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A `next`, `goto` or `on_…` that names neither a step nor an outcome.

    ## Why it matters
    The run would have nowhere to go.  A misspelt handler shows only on the day it is needed.

    ## Example
    ```yaml
    steps:
      - {id: look, expected_tools: [query_siem], on_failure: escalted}
    ```

    ## Repair
    Write the id of a step, `success`, `failed`, `stopped`, `escalated`, `done`, or a word of `outcomes`.
    """
    meant = _MEANT.get(word.lower())
    return Diagnostic(
        "GW110", Level.ERROR, f"`{word}` is neither a step nor an outcome", span,
        help=f"write `{meant}`" if meant else hint(word, [*steps, *outcomes], "write the id of a step, or an outcome"),
    )  # fmt: skip


_MEANT = {"end": "done", "exit": "done", "finish": "done", "complete": "success", "stop": "stopped", "error": "failed"}
"""How other formats say it."""


def unknown_outcome(word: str, span: Span, outcomes: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An `outcome` of a termination branch that no line of `outcomes` declares.

    ## Why it matters
    Nothing says whether such an end is a success or a failure, so nobody could act on it.

    ## Example
    ```yaml
    outcomes: {handed_over: stopped}
    termination: [{tool_called: hand_over, outcome: handed_ovr}]
    ```

    ## Repair
    Correct the word, or declare it with its class: `outcomes: {handed_over: stopped}`.
    """
    return Diagnostic(
        "GW111", Level.ERROR, f"`{word}` is no outcome", span,
        help=hint(word, outcomes, f"declare it with its class: `outcomes: {{{word}: stopped}}`"),
    )  # fmt: skip


def unknown_tool(name: str, span: Span, tools: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A tool that a step or a condition names and `tools` does not list.  Without `tools` the alphabet is what the steps
    and `optional_tools` name, so that only a condition can name an unknown one.

    ## Why it matters
    A step that waits for a misspelt tool can never complete, and a misspelt stop condition never stops.

    ## Example
    ```yaml
    tools: {query_siem: {effect: read}}
    steps: [{id: look, expected_tools: [query_seim]}]
    ```

    ## Repair
    Correct the name, or add it to `tools`; a key there may be a pattern (`"mcp__siem__*"`).
    """
    return Diagnostic(
        "GW112", Level.ERROR, f"the tool `{name}` is unknown", span,
        help=hint(name, tools, "add it to `tools`"),
    )  # fmt: skip


def unknown_input(name: str, span: Span, inputs: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An expression or a template that reads an input which `inputs` does not declare.

    ## Why it matters
    Nobody can supply it, so the value would be unknown on every run: the guard never holds, the call never runs.

    ## Example
    ```yaml
    inputs: {case_id: string}
    steps: [{id: note, call: {tool: comment, args: {id: "{{ inputs.case }}"}}}]
    ```

    ## Repair
    Correct the name, or declare it: `inputs: {case: string}`.
    """
    return Diagnostic(
        "GW113", Level.ERROR, f"the input `{name}` is not declared", span,
        help=hint(name, inputs, f"declare it: `inputs: {{{name}: string}}`"),
    )  # fmt: skip


def unknown_fact(root: str, name: str, span: Span, facts: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A read of `facts.NAME` or `history.NAME` where no tool of an agent's step, no `as` and no step writes NAME: a
    `call`, a sub-playbook and a `for_each` write under their own id, and what the steps inside a `for_each` write is
    read inside only.

    ## Why it matters
    The value is unknown on every run, and unknown is never a pass.

    ## Example
    ```yaml
    steps:
      - {id: look, call: {tool: query_siem}}
      - {id: judge, switch: [{when: facts.query_siem.hits > 3, goto: success}, {goto: failed}]}
    ```
    A call step writes under its own id: `facts.look.hits`.

    ## Repair
    Read the name that is written: the tool of an agent's call or its `as`; the id of a `call`, `playbook` or
    `for_each` step.
    """
    return Diagnostic(
        "GW114", Level.ERROR, f"no step writes `{root}.{name}`", span,
        help=hint(name, facts, "an agent's call is kept under its tool or its `as`, a `call` step under its id"),
    )  # fmt: skip


def of_an_item(root: str, name: str, each: str, span: Span) -> Diagnostic:
    """Report a read of what is kept for one item only, outside the steps that run for it: as good as unwritten."""
    code = {"claims": "GW118", "answers": "GW119", "signals": "GW119"}.get(root, "GW114")
    return Diagnostic(
        code, Level.ERROR, f"`{root}.{name}` is written once per item, and only the steps inside `{each}` read it",
        span, help=f"read `facts.{each}`, the list of what the items gave; its `collect` says what that is",
    )  # fmt: skip


def unknown_term(name: str, span: Span, terms: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A read of `terms.NAME` that `terms` does not define.

    ## Why it matters
    The condition would be unknown on every run, and unknown is never a pass.

    ## Example
    ```yaml
    terms: {in_time: "run.elapsed < 3600"}
    steps: [{id: pay, when: terms.intime, expected_tools: [pay]}]
    ```

    ## Repair
    Correct the name, or define it under `terms`.
    """
    return Diagnostic(
        "GW115", Level.ERROR, f"the term `{name}` is not defined", span,
        help=hint(name, terms, "define it under `terms`"),
    )  # fmt: skip


def unknown_name(name: str, span: Span, names: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An expression that begins with a name which nothing stands for.

    ## Why it matters
    An expression reads `inputs`, `facts` and the other roots; a bare word is none of them.

    ## Example
    ```yaml
    when: query_siem.hits > 3
    ```

    ## Repair
    Begin with a root: `facts.query_siem.hits > 3`; quote it where a text is meant.
    """
    known = sorted(names)
    guess = nearest(name, known)
    roots = ", ".join(f"`{root}`" for root in known)
    return Diagnostic(
        "GW116", Level.ERROR, f"`{name}` is no name here", span,
        help=f'did you mean `{guess}`?' if guess else f'begin with one of {roots}; a text is quoted: `"{name}"`',
    )  # fmt: skip


def name_not_readable(root: str, place: str, span: Span, through: str | None, roots: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    An expression that reads what its place may not: the `result` in a `where`, `args` where there is no call, `claims`
    where evidence is asked for.

    ## Why it matters
    A `where` decides *before* the call runs, so there is no result.  And what the agent says of itself may steer the
    flow, but never admit a call nor choose its approver.

    ## Example
    ```yaml
    expected_tools: [{tool: scan, where: result.clean == true}]
    ```

    ## Repair
    Write `expect` to judge the result; read facts, answers and inputs where evidence is needed.
    """
    what = f"`{root}`" if through is None else f"`{root}` (through `terms.{through}`)"
    return Diagnostic(
        "GW117", Level.ERROR, f"{place} cannot read {what}", span, help=_place_help(root, place, list(roots))
    )


def _place_help(root: str, place: str, roots: list[str]) -> str:
    if root in {"result", "error"} and place == "a `where`":
        return "`where` decides before the call runs; write it as `expect`, which judges the result"
    if root == "args":
        return "there is no call here, so it has no arguments; read `facts`, `inputs` or `terms`"
    if root == "claims":
        return "what the agent says of itself is no evidence; read `facts`, `inputs` or `answers`"
    return "it reads " + ", ".join(f"`{name}`" for name in sorted(roots))


def unknown_field(root: str, field: str, span: Span, fields: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A read of `run.NAME`, or of `claims.NAME` where no step of that name has claims.

    ## Why it matters
    The value would be unknown on every run, and unknown is never a pass.

    ## Example
    ```yaml
    when: run.iteration < 10
    ```

    ## Repair
    `run` has `id`, `started_by`, `iterations`, `calls`, `tokens`, `elapsed`; `claims` has `confidence`, `text`, and
    the steps with `claims`: `claims.STEP.NAME`.
    """
    return Diagnostic("GW118", Level.ERROR, f"`{root}` has no field `{field}`", span, help=hint(field, fields))


def unknown_source(root: str, name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """
    ## What it finds
    A read of `answers.STEP`, `signals.NAME` or `predicate("NAME")` where no step asks, no step or condition waits for
    the signal, or `predicates` does not list the name.

    ## Why it matters
    Nobody would ever give the value, so it is unknown on every run, and unknown is never a pass.

    ## Example
    ```yaml
    steps:
      - {id: confirm, ask: {question: "Was it you?", choices: [yes, no]}}
      - {id: act, when: answers.confrm == "yes", expected_tools: [unlock]}
    ```

    ## Repair
    `answers` has the ids of `ask` steps, `signals` what some `wait: {signal: …}` or condition names; a predicate is
    declared: `predicates: {is_vip: {}}`.
    """
    what, otherwise = _SOURCES[root]
    return Diagnostic("GW119", Level.ERROR, what.format(name), span, help=hint(name, known, otherwise.format(name)))


_SOURCES = {
    "answers": ("no `ask` step is called `{}`", "an answer has the id of the step that asks"),
    "signals": ("nothing waits for the signal `{}`", "wait for it: `wait: {{signal: {}}}`"),
    "predicate": ("the predicate `{}` is not declared", "declare it: `predicates: {{{}: {{}}}}`"),
}
