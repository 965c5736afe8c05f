"""From edges to arrows: those of one pair of boxes share one, and the faults no step handles need none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from guideway.statemachine.definition import ANYWHERE, Definition, Edge

from .picture import Arrow, Tone
from .walk import Walk
from .words import AS_PLANNED, clean, label_of, short

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


@dataclass(frozen=True, slots=True)
class Places:
    """The box of each state, the place of each box on the page, and the boxes of unwritten ends."""

    node: Mapping[str, str]
    order: Mapping[str, int]
    faults: frozenset[str]
    merged: frozenset[str]


def arrows(definition: Definition, walk: Walk | None, places: Places) -> tuple[Arrow, ...]:
    """Draw the edges, sorted by where they begin, then by where they end, so that pictures diff like text."""
    strands: dict[tuple[str, str, bool], _Strand] = {}
    for edge, branches in _edges(definition):
        source, target = places.node.get(edge.source), places.node[edge.target]
        hidden = source == target and edge.event == "entered"
        count = walk.taken.get((edge.source, edge.event, edge.target), 0) if walk else 0
        unhandled = target in places.faults and edge.source != ANYWHERE and not count
        if source is None or hidden or unhandled:
            continue
        strand = strands.setdefault((source, target, count > 0), _Strand())
        _add(strand, edge, branches, count)
        if edge.source == ANYWHERE:
            strand.words = {} if target in places.merged else _reasons(definition, edge)  # a merged box names its own
    for edge, count in _unforeseen(definition, walk):
        pair = places.node[edge.source], places.node[edge.target]
        strand = strands.setdefault((*pair, True), _Strand())
        _add(strand, edge, (edge,), count)
        strand.words |= _reasons(definition, edge)
        strand.words.pop("terminated", None)
    ordered = sorted(strands.items(), key=lambda s: (places.order[s[0][0]], places.order[s[0][1]], not s[0][2]))
    return tuple(_arrow(f"a{i}", *key, strand, walk) for i, (key, strand) in enumerate(ordered))


def _edges(definition: Definition) -> Iterator[tuple[Edge, tuple[Edge, ...]]]:
    """Give every edge with the branches it is one of."""
    for state in definition.states.values():
        for branches in state.edges.values():
            for edge in branches:
                yield edge, branches
    for edge in definition.anywhere:
        yield edge, (edge,)


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


def _add(strand: _Strand, edge: Edge, branches: tuple[Edge, ...], count: int) -> None:
    word, guard = label_of(edge, branches)
    if guard:
        told = f"{word}: {guard}" if word else guard
        strand.guards += [told] if told not in strand.guards else []
    elif word:
        strand.words[edge.event] = word
    if edge.guard:
        strand.details.append(clean(f"{edge.event}: {edge.guard.source}"))
    strand.planned = strand.planned or edge.event in AS_PLANNED
    strand.counts[edge.source, edge.event, edge.target] = count


def _arrow(id: str, source: str, target: str, taken: bool, strand: _Strand, walk: Walk | None) -> Arrow:
    silent = _IN_THE_BOX if strand.planned else frozenset()
    words = ", ".join(dict.fromkeys(word for event, word in strand.words.items() if event not in silent))
    labels = list(strand.guards)
    if words:
        labels.append(f"or {words}" if strand.planned else words)
    tone = Tone.PLAIN if walk is None else Tone.WALKED if taken else Tone.DIMMED
    detail = "\n".join(dict.fromkeys(strand.details))
    return Arrow(id, source, target, tuple(labels), detail, not strand.planned, tone, sum(strand.counts.values()))
