"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

_SKILLS = typer.Option(metavar="FILE", help="A file that maps skills to their tools.")
_OUTPUT = typer.Option("--output", "-o", metavar="FILE", help="Where the result goes.")
_ROOT = typer.Option(metavar="DIR", help="The folder out of which no called playbook is read.")
_PLAYBOOK = typer.Argument(metavar="PLAYBOOK", help="A playbook, a compiled machine, or - for standard input.")

Skills = Annotated[str | None, _SKILLS]
Output = Annotated[str | None, _OUTPUT]
Root = Annotated[str | None, _ROOT]
Playbook = Annotated[str, _PLAYBOOK]
