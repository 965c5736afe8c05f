"""`guideway init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guideway.statemachine.span import escaped

from .status import CLEAN, MisuseError
from .streams import write

STARTER = Path(__file__).with_name("starter.yaml")


def command(
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="The playbook to write.")] = "playbook.yaml",
) -> int:
    """Write a commented playbook to start from. What is there already is left alone.

    Example: guideway init triage.yaml
    """
    target = Path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise MisuseError(f"PATH: {path} must end in .yaml or .yml")
    try:
        if target.is_dir():
            raise MisuseError(f"PATH: {path} is a folder; name a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as stream:
            stream.write(STARTER.read_text(encoding="utf-8"))
    except FileExistsError:
        raise MisuseError(f"PATH: {path} is there already; name another file") from None
    except (OSError, ValueError) as fault:
        raise MisuseError(f"PATH: {path} cannot be written: {getattr(fault, 'strerror', None) or fault}") from None
    name, stem = escaped(path), escaped(target.stem)
    write(f"{name} is written.  Next:  guideway check {name}  and  guideway draw {name} -o {stem}.svg\n")
    return CLEAN
