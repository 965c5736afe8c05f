"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

_SKILLS = typer.Option(metavar="FILE", help="A file that maps skills to their tools.")
_OUTPUT = typer.Option("--output", "-o", metavar="FILE", help="Where the result goes.")
_ROOT = typer.Option(metavar="DIR", help="The folder out of which no called playbook is read.")
_PLAYBOOK = typer.Argument(metavar="PLAYBOOK", help="A playbook, a compiled machine, or - for standard input.")
_JOURNAL = typer.Option(metavar="PATH", help="The journal: a .db file, or a folder of JSON lines.")
_KEY = typer.Option(metavar="FILE", help="Its key; else GUIDEWAY_KEY, else the file PATH.key.")
_RUN = typer.Argument(metavar="RUN", help="The id of a run.")
_ASKED = typer.Argument(metavar="[APPROVAL]", help="What is decided; left out, what is asked is listed.")
_BY = typer.Option(metavar="NAME", help="Who decides.")
_GROUP = typer.Option(metavar="GROUP", help="A group that person belongs to; may be repeated.")
_NOTE = typer.Option(metavar="TEXT", help="Why, for the record.")

Skills = Annotated[str | None, _SKILLS]
Output = Annotated[str | None, _OUTPUT]
Root = Annotated[str | None, _ROOT]
Playbook = Annotated[str, _PLAYBOOK]
Journal = Annotated[str, _JOURNAL]
MaybeJournal = Annotated[str | None, _JOURNAL]
Key = Annotated[str | None, _KEY]
Run = Annotated[str, _RUN]
Asked = Annotated[str | None, _ASKED]
By = Annotated[str | None, _BY]
Group = Annotated[list[str] | None, _GROUP]
Note = Annotated[str, _NOTE]
Tools = Annotated[str | None, typer.Option(metavar="MODULE", help="A Python file, or the name of a module.")]
Approve = Annotated[str, typer.Option(metavar="ask|deny|file:F", help="Who decides on approvals.")]
Agent = Annotated[str | None, typer.Option(metavar="scripted:F|MODEL", help="Who plays the agent.")]
User = Annotated[str, typer.Option(metavar="ask|scripted:F", help="Who is the user of a conversation.")]
Signal = Annotated[
    list[str] | None, typer.Option(metavar="NAME[=JSON]", help="A signal from outside; may be repeated.")
]
Predicates = Annotated[
    str | None, typer.Option(metavar="MODULE", help="Answers the predicates, by name; as --tools.")
]
Trace = Annotated[str | None, typer.Option(metavar="FILE", help="Write the record, as JSON lines.")]
Draw = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the machine, with the way of the run.")]
FastForward = Annotated[bool, typer.Option("--fast-forward", help="Leap over waits between tries.")]
Wait = Annotated[bool, typer.Option("--wait", help="Stay until people in other processes have decided.")]
