"""`guideway run`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .loading import definition_of, folder_of, skills_of
from .outside import Others
from .runs import Request, carry_out


def command(
    playbook: options.Playbook,
    tools: Annotated[str | None, typer.Option(metavar="MODULE", help="A Python file, or the name of a module.")] = None,
    input: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="An input; may be repeated.")] = None,
    inputs: Annotated[str | None, typer.Option(metavar="FILE", help="Inputs, as one JSON object.")] = None,
    approve: Annotated[str, typer.Option(metavar="ask|deny|file:F", help="Who decides on approvals.")] = "ask",
    agent: Annotated[str | None, typer.Option(metavar="scripted:F", help="Who plays the agent.")] = None,
    user: Annotated[str, typer.Option(metavar="ask|scripted:F", help="Who is the user of a conversation.")] = "ask",
    signal: Annotated[
        list[str] | None, typer.Option(metavar="NAME[=JSON]", help="A signal from outside; may be repeated.")
    ] = None,
    predicates: Annotated[
        str | None, typer.Option(metavar="MODULE", help="Answers the predicates, by name; as --tools.")
    ] = None,
    trace: Annotated[str | None, typer.Option(metavar="FILE", help="Write the record, as JSON lines.")] = None,
    draw: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the machine, with the way of the run.")] = None,
    started_by: Annotated[str | None, typer.Option(metavar="NAME", help="Who starts it; by default you.")] = None,
    fast_forward: Annotated[bool, typer.Option("--fast-forward", help="Leap over waits between tries.")] = False,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Play it as if it began then, leaping over waits.")
    ] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Run a playbook with real tools, telling each step, call, verdict, branch and approval as it happens.

    --approve ask asks on the terminal and, where there is none, leaves the run waiting; deny rejects every approval;
    file:F takes the decisions and answers recorded in F. --agent scripted:F plays recorded turns, --user scripted:F
    recorded messages, one JSON object a line. A --signal comes when a step waits for it. Playbooks that are called
    are found beside the file.

    Exit status: 0 an outcome of class success, 1 any other end, 2 misuse, 3 waiting for a person or something outside,
    130 interrupted.

    Example: guideway run triage.yaml --tools tools.py --input host=ws-7 --agent scripted:turns.jsonl
    """
    known = skills_of(skills)
    definition = definition_of(playbook, known, root=folder_of(root))
    others = Others(user, signal or [], predicates, at)
    return carry_out(
        definition, Request(tools, input or [], inputs, approve, agent, trace, draw, started_by, fast_forward, others)
    )
