"""
The text of a question, taken apart again by the template it was made from.

Whoever shows it must hide what one `{{ … }}` put there, and leave the author's words and everything else as they are:
an agent that chooses a secret must not be able to choose what an approver cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from guideway.statemachine.approvals import Approval
from guideway.statemachine.definition import Definition
from guideway.statemachine.expressions import Expression, Template, parse_template, text_of
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import best_match

from .marks import HIDDEN
from .reads import paths

Hide = Callable[[str], str]


class Piece(NamedTuple):
    """One piece of a question: its text (None: it cannot be known here) and what is shown of it."""

    text: str | None
    shown: Hide
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was put, the call it is about, that call without its secrets, and what else is known."""

    ask: str
    args: Mapping[str, Any]
    clean: Mapping[str, Any]
    known: Mapping[str, Any]
    terms: Mapping[str, Expression]

    def shown(self, sources: Sequence[str], hide: Hide) -> str:
        """The text without its secrets; `sources` are those it may have been made from, `hide` is for the rest."""
        ways = [list(self._pieces(source, hide)) for source in sources]
        ways.sort(key=lambda pieces: (any(p.text is None for p in pieces), not any(p.secret for p in pieces)))
        for pieces in ways:
            if (text := put_together(pieces, self.ask)) is not None:
                return text
        return HIDDEN if any(piece.secret for pieces in ways for piece in pieces) else hide(self.ask)

    def _pieces(self, source: str, hide: Hide) -> Iterator[Piece]:
        template = parse_template(source)
        for part in (source,) if template is None else template.parts:
            if isinstance(part, str):
                yield Piece(part, lambda text: text)
                continue
            text = self._text(part, self.args, template)
            if self._reads_secret(part):
                yield Piece(text, self._covered(part, template), secret=True)
            else:
                yield Piece(text, hide)

    def _text(self, part: Expression, args: Mapping[str, Any], template: Template | None) -> str | None:
        value = part({**self.known, "args": args})
        text = text_of(value)
        if template is not None and template.whole and isinstance(text, str):
            return str(value)  # as a question is made of it
        return text if isinstance(text, str) else None

    def _reads_secret(self, part: Expression) -> bool:
        """What the expression reads of the arguments is other than what may be shown of them."""
        read = (path[1:] for path in paths(part, self.terms) if path[0] == "args")
        return any(follow(self.args, path) != follow(self.clean, path) for path in read)

    def _covered(self, part: Expression, template: Template | None) -> Hide:
        """A plain path shows what is no secret below it; whatever is computed is hidden whole."""
        plain_path = len(part.reads) == 1 and part.source.replace(" ", "") == ".".join(map(str, part.reads[0].path))
        text = self._text(part, self.clean, template) if plain_path else None
        return lambda _: text if text is not None else HIDDEN


def follow(value: Any, path: Sequence[str | int]) -> Any:
    """
    What stands at the end of a path, or as far on it as there is something.

    >>> follow({"a": {"b": 1}}, ("a", "b")), follow({"a": "•••"}, ("a", "b"))
    (1, '•••')
    """
    for step in path:
        in_list = isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
        if not in_list and not (isinstance(value, Mapping) and step in value):
            break
        value = value[step]
    return value


def put_together(pieces: Sequence[Piece], text: str) -> str | None:
    """
    What is shown of a text that consists of the pieces; None where it does not.

    A piece that is not known is what stands between its neighbours; where that may be read in more than one way
    it is hidden whole.

    >>> loud = Piece(None, str.upper)
    >>> put_together([Piece("Pay ", str), loud, Piece("?", str)], "Pay ann?"), put_together([Piece("a", str)], "b")
    ('Pay ANN?', None)
    """
    runs = [list(group) for _, group in groupby(pieces, key=lambda piece: piece.text is None)]
    solid = ["".join(piece.text or "" for piece in run) for run in runs]
    first, last = leftmost(runs, solid, text), rightmost(runs, solid, text)
    if first is None or last is None:
        return None
    shown: list[str] = []
    for index, run in enumerate(runs):
        if run[0].text is not None:
            shown += [piece.shown(piece.text or "") for piece in run]
        elif first == last and not any(piece.secret for piece in run):
            end = first[index + 1] if index + 1 < len(runs) else len(text)
            shown.append(run[0].shown(text[first[index] : end]))
        else:
            shown.append(HIDDEN)
    return "".join(shown)


def leftmost(runs: Sequence[Sequence[Piece]], solid: Sequence[str], text: str) -> list[int] | None:
    """Where each run begins, every one as far left as it can; the last known one ends with the text."""
    starts, place = list[int](), 0
    for index, run in enumerate(runs):
        if run[0].text is None:
            starts.append(place)
            continue
        final = index == len(runs) - 1
        found = len(text) - len(solid[index]) if final else place if index == 0 else text.find(solid[index], place)
        if found < place or not text.startswith(solid[index], found) or (index == 0 and found != 0):
            return None
        starts.append(found)
        place = found + len(solid[index])
    return starts if runs and (runs[-1][0].text is None or place == len(text)) else None


def rightmost(runs: Sequence[Sequence[Piece]], solid: Sequence[str], text: str) -> list[int] | None:
    """The same, every one as far right as it can: the mirror image."""
    ends = leftmost(runs[::-1], [part[::-1] for part in solid[::-1]], text[::-1])
    if ends is None:
        return None
    begins = [len(text) - end - len(part) for end, part in zip(ends[::-1], solid, strict=True)]
    for index, run in enumerate(runs):
        if run[0].text is None:
            begins[index] = begins[index - 1] + len(solid[index - 1]) if index else 0
    return begins


def sources_of(definition: Definition, of: str, step: Step | None, tool: str | None) -> list[str]:
    """Every text that a question may have been made from, each rule of an approval being one."""
    if of == "ask":
        return [step.ask.question] if step is not None and step.ask is not None else []
    return [rule.ask for approval in approvals_of(definition, of, step, tool) for rule in approval.rules()]


def approvals_of(definition: Definition, of: str, step: Step | None, tool: str | None) -> list[Approval]:
    """Every approval that may have written a question."""
    own = step.approval if step is not None else None
    if of == "step" or tool is None:
        return [own] if own is not None else []
    entries = step.work.entries if step is not None and step.work is not None else ()
    named = [entry.approval for entry in entries if best_match(tool, [entry.tool]) is not None]
    declared = definition.tool(tool)
    return [a for a in (*named, declared.approval if declared else None, own) if a is not None]
