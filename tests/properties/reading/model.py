"""The events of a run, its time and its turns (S6, S7, S16, S26)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from guideway.statemachine import conditions as c
from guideway.statemachine.definition import Definition, StateKind

from .looking import CONTROL, Call
from .settling import Settling

KNOWN_CODES = ("run_over", "id_reused", "bad_args")


class Model(Settling):
    """One run."""

    def __init__(self, definition: Definition, now: datetime | None) -> None:
        super().__init__(definition, now)
        for branch in definition.termination:
            for leaf in c.leaves(branch.condition):
                if isinstance(leaf, c.TimeLimit) and now is not None:
                    self.timers.append((now + timedelta(seconds=leaf.seconds), "limit", "", 0))
        self.arrive(None)
        self.settle_down()

    def on(self, event: str, *values: Any, now: datetime | None = None) -> str | None:
        """One event that a session has taken; gives the verdict it must have given, where it gave one."""
        self.moves = self.longest = 0
        self.pass_time(now)
        self.moves = 0
        return getattr(self, f"on_{event}")(*values)  # type: ignore[no-any-return]

    def on_tick(self) -> None:
        """Nothing but time."""

    def on_claim(self, confidence: float) -> None:
        """Somebody says how sure the agent is."""
        self.confidence = confidence
        self.follow()

    def on_complete(self) -> None:
        """The host declares the step done."""
        for key in [k for k, q in self.asked.items() if q["of"] == "step"]:
            del self.asked[key]
        self.take("completed" if self.here.edges.get("completed") else "approved")
        self.follow()

    def on_skip(self) -> None:
        """The host skips the step."""
        self.take("skipped")
        self.follow()

    def on_fail(self) -> None:
        """The host lets the step fail."""
        self.take("failed")
        self.follow()

    def on_propose(self, given: tuple[str, str, dict[str, Any]] | None, text: str, tokens: int) -> str | None:
        """A reply with one call or none."""
        self.tokens += tokens
        call: Call | None = None
        if given is not None:
            call_id, tool, args = given
            call = {"id": call_id, "tool": tool, "args": args, "auto": False, "entry": None, "step": "", "visit": 0,
                    "state": "new", "orphan": False, "approved": False, "fact": tool,
                    "reused": call_id in self.used or any(o["id"] == call_id for o in self.out)}  # fmt: skip
        if self.outcome is None:
            began = (self.step, self.visit)
            self.turn = {"call": call, "text": text, "began": began, "denied": False, "succeeded": False}
            self.check_ends()
        answer = self.propose(call) if call is not None else None
        self.close_turn()
        return answer

    def propose(self, call: Call) -> str:
        """Decide the one call of the turn; also when it waited."""
        kind, what = self.decide(call)
        if kind == "deny":
            self.deny(call, what)
            return f"deny {what}"
        if kind == "defer":
            call["state"] = "deferred"
            return "defer"
        self.used.add(call["id"])
        if call["tool"] in CONTROL:
            self.steer(call)
            return "allow"
        return self.admit(call, what)

    def steer(self, call: Call) -> None:
        """A control tool acts at once."""
        call["state"] = "done"
        if self.turn is not None:
            self.turn["succeeded"] = True
        self.nudges = self.refusals = 0
        self.confidence = call["args"].get("confidence", self.confidence)
        self.moves = 0
        self.take("completed" if call["tool"] == "complete_step" else "skipped")
        self.settle_down()

    def on_observe(self, call_id: str, word: str, value: Any) -> None:
        """An outcome is reported."""
        found = [o for o in self.out if o["id"] == call_id and o["state"] == "running"]
        if found:  # else time came first, or the report is a repeated one
            self.apply(found[0], word, value)
            self.follow()

    def on_approve(self, key: str) -> None:
        """A person allows."""
        asked = self.asked.pop(key, None)
        if asked is None:
            return
        if asked["of"] == "step":
            self.take("approved" if self.here.edges.get("approved") else "completed")
        else:
            self.granted_call(asked["call"])
        self.follow()

    def on_reject(self, key: str) -> None:
        """A person refuses."""
        asked = self.asked.pop(key, None)
        if asked is None:
            return
        call = asked.get("call")
        if call is None:
            self.take("rejected")
        else:
            self.out.remove(call)
            call["state"] = "done"
            self.used.add(call["id"])
            if (call["step"], call["visit"]) == (self.step, self.visit):
                self.rejected.append([call["tool"], call["args"]])
                if self.here.edges.get("rejected"):
                    self.take("rejected")
                elif call["auto"]:
                    self.take("failed")
        self.follow()

    def on_happened(self, key: str, result: Any) -> None:
        """A person found that the call happened."""
        asked = self.asked.pop(key, None)
        if asked is not None:
            self.apply(asked["call"], "ok", result)
            self.follow()

    def on_did_not_happen(self, key: str) -> None:
        """A person found that it did not."""
        asked = self.asked.pop(key, None)
        if asked is None:
            return
        call = asked["call"]
        if call["auto"] and call in self.mine():
            self.out.remove(call)
            self.used.add(call["id"])
            self.again, self.granted, self.fresh = call["args"], True, True
        else:
            self.apply(call, "cancelled", None)
        self.follow()

    def pass_time(self, now: datetime | None) -> None:
        """What falls due fires first, each at its own time."""
        if now is None or self.now is None:
            self.now = self.now or now
            return
        while due := [t for t in self.timers if t[0] <= now]:
            timer = min(due, key=lambda t: t[:2])
            self.timers.remove(timer)
            self.now = max(self.now, timer[0])
            self.moves = 0
            self.fire(*timer)
        self.now = max(self.now, now)

    def fire(self, _: datetime, kind: str, step: str, visit: int) -> None:
        """One timer."""
        if kind == "wake":
            self.fresh = True
        elif kind == "timeout":
            for call in self.mine():
                if call["entry"] is not None or call["auto"]:
                    call["orphan"] = True
            self.void(step, visit)
            self.take("timeout")
        self.follow()

    def follow(self) -> None:
        """What comes after an event."""
        self.settle_down()
        if self.later:
            again, self.later = self.later, []
            for call in again:
                self.decide_auto(call)
            self.settle_down()
        self.close_turn()

    def close_turn(self) -> None:
        """The deferred call, then the end of the turn."""
        while self.turn is not None:
            call = self.turn["call"]
            if call is not None and call["state"] in ("running", "pending", "doubt") and not call["orphan"]:
                return
            if call is not None and call["state"] == "deferred":
                self.propose(call)
                if call["state"] == "deferred":
                    return
                continue
            self.end_turn()
        self.publish()

    def end_turn(self) -> None:
        """S16."""
        turn, self.turn = self.turn, None
        assert turn is not None
        self.moves = 0
        self.iterations += 1
        self.text, self.text_only = turn["text"], turn["call"] is None
        if self.ending is not None:
            self.publish()
            return
        if self.text_only:
            self.after_text(turn["began"])
        if turn["denied"] and not turn["succeeded"]:
            self.refusals += 1
        self.settle_down()

    def after_text(self, began: tuple[str, int]) -> None:
        """A reply without calls."""
        if self.here.kind is not StateKind.STEP:
            return
        same = (self.step, self.visit) == began
        if same and not self.needed() and self.may_complete():
            self.take("completed")
        elif same and self.untouched():
            seen: set[str] = set()
            while self.untouched() and self.ending is None and self.state not in seen:
                seen.add(self.state)
                self.take("skipped")
                while self.ending is None and (event := self.by_itself()):
                    self.take(event)
        else:
            self.nudges += 1
