"""`guideway run`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .keeping import Keeping, again_with
from .loading import definition_of, folder_of, skills_of
from .means import Request
from .outside import Others
from .runs import carry_out


def command(
    playbook: options.Playbook,
    tools: options.Tools = None,
    input: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="An input; may be repeated.")] = None,
    inputs: Annotated[str | None, typer.Option(metavar="FILE", help="Inputs, as one JSON object.")] = None,
    approve: options.Approve = "ask",
    agent: options.Agent = None,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What a model is asked to do.")] = "",
    user: options.User = "ask",
    signal: options.Signal = None,
    predicates: options.Predicates = None,
    journal: options.MaybeJournal = None,
    key: options.Key = None,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="What the run is called; by default drawn.")] = None,
    mode: Annotated[
        str, typer.Option(metavar="enforce|record|shadow", help="Whether what is illegal is refused, or recorded.")
    ] = "enforce",
    wait: options.Wait = False,
    trace: options.Trace = None,
    draw: options.Draw = None,
    started_by: Annotated[str | None, typer.Option(metavar="NAME", help="Who starts it; by default you.")] = None,
    fast_forward: options.FastForward = False,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Play it as if it began then, leaping over waits.")
    ] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Run a playbook with real tools, telling each step, call, verdict, branch and approval as it happens.

    --approve ask asks on the terminal and, where there is none, leaves the run waiting; deny rejects every approval;
    file:F takes the decisions and answers recorded in F. --agent scripted:F plays recorded turns, --user scripted:F
    recorded messages, one JSON object a line. A model is named as in --agent anthropic:claude-sonnet-4-6 or
    --agent function:FILE.py:NAME, and asked to do what --prompt says. A --signal comes when a step waits for it.
    Playbooks that are called are found beside the file.

    With --journal every step of the run is on the disk before it takes effect: people in other processes decide
    (guideway approve), and the run goes on after a crash (guideway resume). With --wait it stays until they have
    decided; else it leaves, and says how to go on.

    Exit status: 0 an outcome of class success, 1 any other end, 2 misuse, 3 waiting for a person or something outside,
    130 interrupted.

    Example: guideway run triage.yaml --tools tools.py --input host=ws-7 --agent scripted:turns.jsonl
    """
    known = skills_of(skills)
    definition = definition_of(playbook, known, root=folder_of(root))
    again = again_with(playbook, journal, key, tools, agent, predicates, skills, root)
    keeping = Keeping(journal, key, run_id, mode, wait, again)
    others = Others(user, signal or [], predicates, at)
    given = Request(
        tools, input or [], inputs, approve, agent, trace, draw, started_by, fast_forward, others, keeping,
        prompt,
    )  # fmt: skip
    return carry_out(definition, given)
