"""`guideway resume`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .keeping import Keeping, again_with
from .loading import definition_of, folder_of, skills_of
from .means import Request
from .outside import Others
from .resuming import carry_on


def command(
    run: options.Run,
    playbook: options.Playbook,
    journal: options.Journal,
    key: options.Key = None,
    tools: options.Tools = None,
    input: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A sensitive input, again; may be repeated.")
    ] = None,
    inputs: Annotated[str | None, typer.Option(metavar="FILE", help="Sensitive inputs, as one JSON object.")] = None,
    approve: options.Approve = "ask",
    agent: options.Agent = None,
    user: options.User = "ask",
    signal: options.Signal = None,
    predicates: options.Predicates = None,
    wait: options.Wait = False,
    trace: options.Trace = None,
    draw: options.Draw = None,
    fast_forward: options.FastForward = False,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Go on as if it were then, leaping over waits.")
    ] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Go on with a run that its journal holds, after a crash or once people have decided.

    Calls that were under way when the program stopped are unknown: of a tool that only reads, or is idempotent, the
    call is made again; of any other a person says whether it happened (guideway reconcile). No completed call is run
    again. Deadlines that have passed take effect at once. A recorded agent goes on after the turns it has played.

    Sensitive inputs are in no journal; give them again. The other options, and the exit status, are those of run.

    Example: guideway resume run-1 triage.yaml --journal runs.db --tools tools.py
    """
    known = skills_of(skills)
    definition = definition_of(playbook, known, root=folder_of(root))
    again = again_with(playbook, journal, key, tools, agent, predicates, skills, root)
    others = Others(user, signal or [], predicates, at)
    given = Request(
        tools, input or [], inputs, approve, agent, trace, draw, None, fast_forward, others,
        Keeping(journal, key, run, "enforce", wait, again, "resume"),
    )  # fmt: skip
    return carry_on(definition, given)
