"""What the outcome of a call does (S18 to S25, S28)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import jsonschema

from guideway.statemachine import conditions as c
from guideway.statemachine.expressions import Unknown
from guideway.statemachine.tools import Effect

from .looking import Call
from .moving import Moving

LONGEST = 30 * 24 * 3600.0


class Settling(Moving):
    """Applies outcomes."""

    def apply(self, call: Call, word: str, value: Any) -> None:
        """Settle a call, and move."""
        tool, current = call["tool"], call in self.mine() and (call["auto"] or call["entry"] is not None)
        ways = [event for event in (f"unknown {tool}", "unknown") if self.here.edges.get(event)]
        twice = self.repeatable(tool)
        if word == "unknown" and not twice and self.ending is None and not (current and ways):
            call["state"] = "doubt"
            self.asked[f"reconcile {call['id']}"] = {"of": "reconcile", "call": call}
            return
        self.out.remove(call)
        self.used.add(call["id"])
        schema = self.tool(tool).result
        good = word == "ok" and (schema is None or jsonschema.Draft202012Validator(schema).is_valid(value))
        good = good and self.true(call["expect"], args=call["args"], result=value) is True
        self.calls += word != "cancelled"
        if good:
            self.keep(call, value)
        if word == "unknown" and self.tool(tool).effect is not Effect.READ:
            self.unknown.append(tool)
        if good and twice:
            self.unknown = [name for name in self.unknown if name != tool]
        if self.turn is not None and self.turn["call"] is call and good:
            self.turn["succeeded"] = True
            self.nudges = self.refusals = 0
        call["state"] = "done"
        if self.ending is None and current:
            if word == "unknown" and not twice:
                self.spent += not call["auto"]
                self.take(ways[0])
            elif call["auto"]:
                self.after_auto(call, word, value, good)
            else:
                self.after_agent(call, word, value, good)
        self.settle_down()

    def keep(self, call: Call, value: Any) -> None:
        """A success that counts: its fact, and the `tool_called` it meets."""
        self.facts[call["fact"]] = value
        self.history.setdefault(call["fact"], []).append(value)
        for branch in self.d.termination:
            for leaf in c.leaves(branch.condition):
                if isinstance(leaf, c.ToolCalled) and leaf.tool == call["tool"]:
                    names = {"args": call["args"], "result": value}
                    if self.true(leaf.where, **names) is True and self.true(leaf.expect, **names) is True:
                        self.called.add(leaf)

    def after_agent(self, call: Call, word: str, value: Any, good: bool) -> None:
        """Registers of an agent's step (S18 to S23)."""
        self.spent += word != "cancelled"
        if good:
            self.counts[call["entry"]] = self.counts.get(call["entry"], 0) + 1
            self.successes += 1
        elif word != "cancelled" and call["needed"]:
            self.failures += 1
            if self.may_retry(call, word, value):
                if (pause := self.pause()) > 0 and self.now is not None:
                    self.barred[call["tool"]] = self.now + timedelta(seconds=pause)
            elif self.on_failure():
                self.take("failed")
                return
        self.check_step()

    def may_retry(self, call: Call, word: str, value: Any) -> bool:
        """Tries are left, and the rule of `retry` is true."""
        retry = self.here.step.retry
        if retry is None or word == "ok" or not self.repeatable(call["tool"]) or self.failures > retry.at_most:
            return False
        error = value if word == "error" else {"type": "unknown", "message": "nobody knows"}
        return self.true(retry.when, args=call["args"], error=error) is True

    def pause(self) -> float:
        """Seconds before the next try."""
        retry = self.here.step.retry
        return float(min(retry.wait * retry.backoff ** (self.failures - 1), LONGEST))

    def check_step(self) -> None:
        """S20 to S22."""
        step = self.here.step
        if [o for o in self.mine() if o["entry"] is not None]:
            return
        out_of_calls = step.max_calls is not None and 0 < self.spent >= step.max_calls
        if self.met() and self.successes >= step.min_calls and (self.needed() or out_of_calls):
            if self.valid():
                self.take("completed")
            elif self.on_failure() or not self.admissible():
                self.take("failed")
        elif out_of_calls:
            if self.here.edges.get("advanced") and self.successes:
                if step.required:
                    self.incomplete.add(step.id)
                self.take("advanced")
            else:
                self.take("exhausted")

    def after_auto(self, call: Call, word: str, value: Any, good: bool) -> None:
        """S28."""
        repeat = self.here.step.call.repeat
        if word == "ok" and repeat is None:
            self.finish_auto() if good else self.take("failed")
        elif word == "ok":
            self.round(call, value, good, repeat)
        elif word == "cancelled":
            self.take("failed")
        else:
            self.failures += 1
            if self.may_retry(call, word, value):
                self.again, self.granted = call["args"], True
                self.wait(self.pause())
            else:
                self.take("failed")

    def round(self, call: Call, value: Any, good: bool, repeat: Any) -> None:
        """One round of `repeat`."""
        self.rounds += 1
        names = {"args": call["args"], "result": value}
        if good and repeat.collect is not None:
            item = repeat.collect(self.scope(**names), self.now)
            if isinstance(item, Unknown):
                self.take("failed")
                return
            self.collected = [*(self.collected or []), item]
        if good and self.true(repeat.until, **names) is True:
            self.finish_auto()
        elif self.rounds >= repeat.at_most:
            self.take("failed")
        else:
            self.wait(repeat.wait)

    def finish_auto(self) -> None:
        """The runtime's call did what it was for."""
        if self.collected is not None:
            self.facts[self.here.step.id] = self.collected
        self.take("completed" if self.valid() else "failed")

    def wait(self, seconds: float) -> None:
        """The next try or round comes later, or at once."""
        if seconds > 0 and self.now is not None:
            self.timers.append((self.now + timedelta(seconds=seconds), "wake", self.step, self.visit))
        else:
            self.fresh = True

    def granted_call(self, call: Call) -> None:
        """Decided once more, with its reservation (S30)."""
        call["approved"] = True
        earlier = self.out[: self.out.index(call)]
        rest, self.out = self.out, earlier
        kind, entry = self.decide(call)
        self.out = [o for o in rest if o is not call]
        if kind == "allow":
            self.out = rest
            call["state"] = "running"
        elif kind == "defer":
            call["state"] = "deferred"
            if call["auto"]:
                self.later.append(call)
        else:
            self.deny(call, entry)
            if call["auto"]:
                self.take("failed")
