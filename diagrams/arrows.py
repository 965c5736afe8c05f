"""From edges to arrows: those of one pair of boxes share one, and the faults no step handles need none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from guideway.statemachine.definition import ANYWHERE, Definition, Edge

from .counts import counted
from .edges import Way, ways
from .picture import Arrow, Line, Role, Tone
from .texts import clean, short
from .walk import Walk
from .words import label_of, planned

_IN_THE_BOX = frozenset({"skipped", "advanced", "passed"})
"""Beside an arrow that goes as planned these need no word: the box says `may be skipped`, `then goes on`, `when …`."""


@dataclass(slots=True)
class _Strand:
    """The edges that one arrow stands for."""

    words: dict[str, str] = field(default_factory=dict)
    guards: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    planned: bool = False
    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, way: Way, count: int) -> None:
        """Let the arrow stand for one more edge."""
        edge = way.edge
        word, guard = label_of(edge, way.branches)
        if guard:
            told = f"{word}: {guard}" if word else guard
        else:
            told = clean(way.branch) or (word if planned(edge.event) else "")
        if told:
            self.guards += [told] if told not in self.guards else []
        elif word:
            self.words[edge.event] = word
        if edge.guard:
            self.details.append(clean(f"{edge.event}: {edge.guard.source}"))
        self.planned = self.planned or planned(edge.event)
        self.counts[edge.source, edge.event, edge.target] = count

    def labels(self) -> tuple[str, ...]:
        """Say when the arrow is taken: one line for each guard, one for what did not go as planned."""
        silent = _IN_THE_BOX if self.planned else frozenset()
        words = ", ".join(dict.fromkeys(word for event, word in self.words.items() if event not in silent))
        exceptions = [f"or {words}" if self.planned else words] if words else []
        return (*self.guards, *exceptions)


@dataclass(frozen=True, slots=True)
class Places:
    """The box of each state, the place of each box on the page, the region of each block, the unwritten ends."""

    node: Mapping[str, str]
    order: Mapping[str, int]
    faults: frozenset[str]
    merged: frozenset[str]
    region: Mapping[str, str]
    around: Mapping[str, frozenset[str]]
    """the frames around each box"""


_Key = tuple[str, str, str, bool]
"""Source, target, the region it leaves, whether it has been taken."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Arrows, and what boxes say instead: of an edge that fails the block, where no one box follows."""

    arrows: tuple[Arrow, ...]
    lines: Mapping[str, tuple[Line, ...]]


def arrows(definition: Definition, walk: Walk | None, places: Places) -> Drawn:
    """Draw the edges, sorted by where they begin, then by where they end, so that pictures diff like text."""
    strands: dict[_Key, _Strand] = {}
    failing: dict[tuple[str, str, bool], _Strand] = {}
    counts = counted(definition, walk)
    for way in ways(definition):
        count = counts.get((way.edge.source, way.edge.event, way.edge.target), 0)
        source, target = places.node.get(way.source), places.node.get(way.target, "")
        if source is None or _hidden(way, source, target, count, places):
            continue
        if way.fails and (way.by_default or not target or target in places.faults):
            failing.setdefault((source, way.fails, count > 0), _Strand()).add(way, count)
            continue
        strand = strands.setdefault((source, target, _leaves(way, target, places), count > 0), _Strand())
        strand.add(way, count)
        if way.source == ANYWHERE:
            strand.words = {} if target in places.merged else _reasons(definition, way.edge)  # merged: it names its own
    for edge, count in _unforeseen(definition, walk):
        source, target = places.node[edge.source], places.node[edge.target]
        if source != target:
            strand = strands.setdefault((source, target, "", True), _Strand())
            strand.add(Way(edge, (edge,), edge.source, edge.target), count)
            strand.words |= _reasons(definition, edge)
            strand.words.pop("terminated", None)
    ordered = sorted(strands.items(), key=lambda s: _place(s[0], places))
    lines: dict[str, tuple[Line, ...]] = {}
    for (source, fails, taken), strand in failing.items():
        lines[source] = (*lines.get(source, ()), _line(fails, taken, strand))
    return Drawn(tuple(_arrow(f"a{i}", key, strand, walk) for i, (key, strand) in enumerate(ordered)), lines)


def _hidden(way: Way, source: str, target: str, count: int, places: Places) -> bool:
    """Say whether an edge needs no arrow: it stays in its box, or it is a fault that nobody handles."""
    if way.by_default:
        return not count
    within = source == target and way.edge.event == "entered"
    return within or (not way.fails and target in places.faults and way.source != ANYWHERE and not count)


def _leaves(way: Way, target: str, places: Places) -> str:
    """Find the region an arrow leaves; one that leads back into it begins at its box."""
    region = places.region.get(way.leaves, "")
    return "" if region in places.around.get(target, frozenset()) else region


def _place(key: _Key, places: Places) -> tuple[int, int, bool, bool]:
    source, target, leaves, taken = key
    return places.order[source], places.order[target], bool(leaves), not taken


def _line(fails: str, taken: bool, strand: _Strand) -> Line:
    words = "; ".join(strand.labels())
    return Line(Role.DANGER if taken else Role.EXIT, f"{words} → {short(fails)}")


def _reasons(definition: Definition, edge: Edge) -> dict[str, str]:
    """Say which conditions end a run there."""
    reasons = [short(branch.reason) for branch in definition.termination if branch.target == edge.target]
    return {reason: reason for reason in reasons or [short(edge.event)]}


def _unforeseen(definition: Definition, walk: Walk | None) -> Iterator[tuple[Edge, int]]:
    """Give the moves of a walk that are no edge of their state's own: those of `*`."""
    if walk is None:
        return
    own = {(edge.source, edge.event, edge.target) for edge in definition.edges()}
    for (source, event, target), count in sorted(walk.taken.items()):
        if (source, event, target) not in own and source in definition.states and target in definition.states:
            yield Edge(source, event, target), count


def _arrow(id: str, key: _Key, strand: _Strand, walk: Walk | None) -> Arrow:
    source, target, leaves, taken = key
    tone = Tone.PLAIN if walk is None else Tone.WALKED if taken else Tone.DIMMED
    detail = "\n".join(dict.fromkeys(strand.details))
    count = sum(strand.counts.values())
    return Arrow(id, source, target, strand.labels(), detail, not strand.planned, tone, count, leaves)
