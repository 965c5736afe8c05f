"""How a run ends (S36 to S40)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine import conditions as c
from guideway.statemachine.definition import OutcomeClass, StateKind

from .deciding import Deciding


class Ends(Deciding):
    """Conditions, limits and the outcome."""

    def check_ends(self) -> None:
        """Branches in order, then limits (S9.5)."""
        if self.ending is not None:
            return
        for branch in self.d.termination:
            if self.holds(branch.condition):
                end = self.d.states[branch.target].end
                assert end is not None
                outcome = end.outcome
                goal = branch.outcome is None and end.kind.value == "goal"
                if goal and end.outcome_class is OutcomeClass.SUCCESS and self.required_open():
                    outcome = f"incomplete:{branch.reason}"
                self.state = branch.target
                self.end(outcome)
                return
        for spent, reason in (
            (self.nudges > self.d.max_nudges, "nudges"),
            (self.refusals >= self.d.max_refusals, "refusals"),
            (self.iterations >= self.d.max_iterations, "max_iterations"),
        ):
            if spent:
                self.state = f"stopped:{reason}"
                self.end(self.state)
                return

    def holds(self, condition: Any) -> bool:
        """A condition on the registers."""
        match condition:
            case c.AllOf(parts):
                return all(map(self.holds, parts))
            case c.AnyOf(parts):
                return any(map(self.holds, parts))
            case c.Not(part):
                return not self.holds(part)
            case c.MaxIterations(limit):
                return self.iterations >= limit
            case c.TokenLimit(limit):
                return self.tokens >= limit
            case c.TimeLimit(seconds):
                return bool(self.now and self.started and (self.now - self.started).total_seconds() >= seconds)
            case c.NoToolCalls():
                return self.text_only
            case c.ToolCalled():
                return condition in self.called
            case c.ConfidenceMet(threshold):
                return self.confidence is not None and self.confidence >= threshold
            case c.TextMention(pattern):
                return pattern.replace(r"\b", "") in self.text.split() or pattern == self.text
        raise AssertionError(condition)

    def required_open(self) -> bool:
        """A required step is still ahead; where a guard decides, it counts as ahead."""
        state, seen = self.here, set()
        while state.kind is not StateKind.END:
            seen.add(state.name)
            ways = self.d.states[state.step.id].edges.get("completed", ()) if state.step else ()
            if not ways or state.step.required or len(ways) > 1 or ways[0].guard is not None:
                return True
            state = self.d.states[ways[0].target]
            if state.name in seen:
                return False
        return False

    def end(self, outcome: str) -> None:
        """The outcome is fixed (S40)."""
        self.ending = outcome
        self.timers, self.later = [], []
        for call in list(self.out):
            if call["state"] in ("pending", "doubt"):
                self.out.remove(call)
                self.used.add(call["id"])
                if call["state"] == "doubt":
                    self.unknown.append(call["tool"])
                call["state"] = "done"
        self.asked = {}

    def publish(self) -> None:
        """The outcome is published when nothing is under way."""
        if self.ending is None or self.outcome is not None or self.out or self.turn is not None:
            return
        end = self.here.end
        self.outcome = self.ending
        if end.outcome_class is OutcomeClass.SUCCESS and self.ending == end.outcome:
            if self.unknown:
                self.outcome = f"failed:unknown:{self.unknown[0]}"
            elif self.incomplete:
                self.outcome = "incomplete"
