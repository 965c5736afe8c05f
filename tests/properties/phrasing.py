"""What steps of random playbooks say: guards, numbers, approvals, policies, each over what there is to be read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

Page = dict[str, Any]
TOOLS = ("t0", "t1", "t2", "t3", "t4", "t5")


class Place:
    """Where a list of steps stands: what it may read, and where its steps may go."""

    def __init__(
        self, depth: int = 0, outer: Sequence[str] = (), words: bool = True, loops: Sequence[str] = ()
    ) -> None:
        self.depth = depth
        self.outer = tuple(outer)
        """steps of enclosing lists that may be jumped to"""
        self.words = words
        """outcome words are targets: no concurrent block is around"""
        self.loops = tuple(loops)

    def inside(self, ids: Sequence[str], concurrent: bool, loop: str = "") -> Place:
        """The place of a list one block further in."""
        outer = () if concurrent else (*self.outer, *ids)
        return Place(self.depth + 1, outer, self.words and not concurrent, (*self.loops, *([loop] if loop else ())))


class Phrases:
    """What may be read where one stands on the page, and drawn sayings over it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.facts: list[str] = []
        """names written so far on the page, whose values are what a tool answers"""
        self.asks: list[str] = []
        self.claims: list[str] = []
        self.signals: list[str] = []
        self.predicate = False
        self.steps: list[str] = []
        self.approvals: list[str] = []

    def maybe(self, chance: float) -> bool:
        """True that often."""
        return self.rng.random() < chance

    def guard(self, place: Place) -> str:
        """What flow may read; a fact is often missing."""
        rng = self.rng
        guards = ["run.calls % 2 == 0", "inputs.limit > 2", "run.calls < 5"]
        if self.facts:
            fact = rng.choice(self.facts)
            guards += [f"!has(facts.{fact})", f"has(facts.{fact})", f"size(history.{fact}) < 2"]
            guards += [f"default(facts.{fact}.n, 1) < 4"] * 2
        if self.predicate:
            guards.append('predicate("lucky")')
        if self.asks:
            guards.append(f'default(answers.{rng.choice(self.asks)}, "no") != "yes"')
        if self.claims:
            guards.append(f'default(claims.{rng.choice(self.claims)}.word, "x") != "bad"')
        if self.signals:
            guards.append(f"has(signals.{rng.choice(self.signals)})")
        if place.loops:
            guards.append(f"{rng.choice(place.loops)} != 2")
        return rng.choice(guards)

    def number(self, place: Place) -> Any:
        """An argument `n`."""
        choices: list[Any] = [1, 2, 3, "{{ inputs.limit }}"]
        if place.loops:
            choices += [f"{{{{ {self.rng.choice(place.loops)} }}}}"] * 3
        if self.facts:
            choices.append(f"{{{{ default(facts.{self.rng.choice(self.facts)}.n, 7) }}}}")
        return self.rng.choice(choices)

    def approval(self, guard: str) -> Any:
        """A rule or a list of them."""
        rng = self.rng
        rule: Page = {"ask": "May it, {{ run.id }}?", "approvers": ["lead"]}
        if self.maybe(0.3):
            rule |= {"approvers": ["lead", "boss"], "count": rng.choice([2, "all"])}
        if self.maybe(0.3):
            rule["timeout"] = rng.choice(["1m", "10m"])
        if self.maybe(0.2):
            rule["except"] = "intern"
        if self.maybe(0.5):
            return rule
        return [{"when": guard, **rule}, *([{"ask": "Then you?", "approvers": ["lead"]}] if self.maybe(0.5) else [])]

    def event(self, tool: bool = False) -> Any:
        """What a policy speaks of."""
        rng = self.rng
        events: list[Any] = [*TOOLS, {"tool": rng.choice(TOOLS), "where": "args.n > 2"}]
        if not tool:
            events += [f"step:{name}" for name in self.steps[:2]] + [f"approval:{name}" for name in self.approvals[:2]]
            events += [{"tool": rng.choice(TOOLS), "expect": "result.ok"}]
        return rng.choice(events)

    def policy(self, number: int) -> Page:
        """One rule over the run."""
        rng = self.rng
        tool = rng.choice(TOOLS)
        same: Page = {"same": ["n"]} if self.maybe(0.25) else {}
        kind = rng.choice(
            ("precedence", "succession", "response", "chain_precedence", "chain_response", "chain_succession", "never",
             "at_most", "at_least", "exactly", "not_together")
        )  # fmt: skip
        if kind in ("precedence", "succession"):
            value: Any = {"first": self.event(bool(same)), "then": tool, **same}
        elif kind in ("chain_precedence", "chain_succession"):
            value = {"first": rng.choice(TOOLS), "then": tool}
        elif kind == "response":
            value = {"after": tool, "eventually": self.event(bool(same)), **same}
        elif kind == "chain_response":
            value = {"after": tool, "eventually": rng.choice(TOOLS)}
        elif kind == "never":
            value = rng.choice([{"tool": tool, "where": "args.n > 2"}, "effect:irreversible", tool])
        elif kind == "not_together":
            value = [tool, rng.choice([other for other in TOOLS if other != tool])]
        else:
            event = (
                self.event(bool(same))
                if kind == "at_least"
                else rng.choice([tool, {"tool": tool, "where": "args.n > 1"}])
            )
            value = {"event": event, "times": rng.randint(1, 3), **same}
        return {"id": f"p{number}", kind: value}
