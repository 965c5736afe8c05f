"""`guideway explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .status import CLEAN, MisuseError
from .streams import write

if TYPE_CHECKING:
    from guideway.playbooks.codes import Rule


def command(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A code or the name of a rule; none lists them all.")
    ] = None,
) -> int:
    """Explain a finding: what it finds, why it matters, an example, the repair.

    Example: guideway explain GW020
    """
    rules = catalogue()
    if code is None:
        width = max(len(rule.name) for rule in rules.values())
        write("".join(f"{rule.code}  {rule.name:{width}}  {rule.summary}\n" for rule in rules.values()))
        return CLEAN
    wanted = [rule for rule in rules.values() if code.upper() == rule.code or code.lower() == rule.name]
    if not wanted:
        raise MisuseError(f"CODE: there is no rule `{code}`{_nearest(code, rules)}; guideway explain lists them all")
    essays = (f"# {rule.code} {rule.name}\n\nThis rule {rule.summary}.\n\n{rule.essay.strip()}\n" for rule in wanted)
    write("\n".join(essays))
    return CLEAN


def catalogue() -> dict[str, Rule]:
    """Every rule by its code, in order."""
    from guideway.compiler.catalogue import CATALOGUE
    from guideway.playbooks.codes import CODES
    from guideway.playbooks.codes_shape import SHAPE_CODES

    rules = {**CODES, **SHAPE_CODES, **{rule.code: rule for rule in CATALOGUE}}
    return dict(sorted(rules.items()))


def _nearest(word: str, rules: dict[str, Rule]) -> str:
    from difflib import get_close_matches

    names = [*rules, *(rule.name for rule in rules.values())]
    near = get_close_matches(word, names, 1) or get_close_matches(word.upper(), names, 1)
    return f"; did you mean `{near[0]}`?" if near else ""
