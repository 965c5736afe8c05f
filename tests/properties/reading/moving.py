"""Edges, visits, automatic moves and commands (S9 to S11, S27, S28)."""

from __future__ import annotations

from datetime import timedelta

from guideway.statemachine.definition import Edge, StateKind
from guideway.statemachine.expressions import Unknown, compile_value

from .ends import Ends
from .looking import Call


class CircleError(Exception):
    """The automatic moves lead round and round."""


class Moving(Ends):
    """Takes edges, and does what the state it comes to asks for."""

    def take(self, event: str) -> None:
        """The first true branch of an event; unknown is a failure (S10)."""
        for edge in self.here.edges.get(event, ()):
            answer = self.true(edge.guard)
            if answer is True:
                self.go(edge)
                return
            if answer is None:
                break
        if event == "failed":
            outcome = f"failed:{self.here.step.id if self.here.step else self.state}"
            self.state = "failed:host"
            self.end(outcome)
        else:
            self.take("failed")

    def go(self, edge: Edge) -> None:
        """Along an edge."""
        self.moves += 1
        self.longest = max(self.longest, self.moves)
        if self.moves > 4 * len(self.d.states) + 20:
            raise CircleError
        self.state = edge.target
        self.arrive(edge)

    def arrive(self, edge: Edge | None) -> None:
        """A visit begins, or the run ends."""
        here = self.here
        self.fresh = True
        if here.kind is StateKind.END:
            self.leave()
            self.end(here.end.outcome)
        elif here.step is not None and not self.is_entry() and not (edge and edge.event == "approved"):
            self.leave()
            self.reset()
            self.step = here.step.id
            self.visit = self.visits[self.step] = self.visits.get(self.step, 0) + 1
            self.incomplete.discard(self.step)
            if here.step.timeout is not None and self.now is not None:
                due = self.now + timedelta(seconds=here.step.timeout)
                self.timers.append((due, "timeout", self.step, self.visit))

    def leave(self) -> None:
        """The visit is over."""
        self.void(self.step, self.visit)
        self.timers = [t for t in self.timers if t[1] == "limit"]
        self.later = []
        self.step = ""

    def void(self, step: str, visit: int) -> None:
        """The questions of a visit are closed; calls that waited for them do not run."""
        for key, asked in list(self.asked.items()):
            if asked["of"] != "reconcile" and (asked["step"], asked["visit"]) == (step, visit):
                del self.asked[key]
                if (call := asked.get("call")) is not None:
                    self.out.remove(call)
                    call["state"] = "done"
                    self.used.add(call["id"])

    def settle_down(self) -> None:
        """Automatic moves, ends and commands, until nothing moves."""
        while self.ending is None:
            event = self.by_itself()
            if event is not None:
                self.take(event)
                continue
            self.check_ends()
            if self.ending is not None or not self.fresh:
                break
            self.fresh = False
            before = (self.state, self.visit)
            if self.here.kind is StateKind.APPROVAL:
                self.ask_step()
            elif self.here.kind is StateKind.CALL:
                self.make_call()
            if before == (self.state, self.visit) and not self.fresh:
                self.check_ends()
                break
        self.publish()

    def by_itself(self) -> str | None:
        """The event of a state that waits for nothing."""
        here, step = self.here, self.here.step
        if here.kind is StateKind.ROUTER and not self.is_entry():
            return "completed"
        if here.kind is StateKind.ROUTER:
            answer = self.true(step.when)
            if answer is not True:
                return "passed" if answer is False else "failed"
            full = step.max_visits is not None and self.visits.get(step.id, 0) >= step.max_visits
            return "max_visits" if full else "entered"
        if here.kind is StateKind.STEP and step.max_calls == 0 and self.needed():
            return "exhausted"
        return None

    def ask_step(self) -> None:
        """A step wants a person first."""
        step = self.here.step
        if step.call is not None:
            args = self.again if self.again is not None else compile_value(dict(step.call.args))(self.scope(), self.now)
            if isinstance(args, Unknown):
                self.take("failed")
                return
            self.again = args
        more = {} if step.call is None else {"args": self.again}
        if isinstance(compile_value(step.approval.ask)(self.scope(**more), self.now), Unknown):
            self.take("failed")
            return
        self.asked[f"step {step.id}@{self.visit}"] = {"of": "step", "step": step.id, "visit": self.visit}

    def make_call(self) -> None:
        """The runtime's own call."""
        step, args = self.here.step, self.again
        if args is None:
            args = compile_value(dict(step.call.args))(self.scope(), self.now)
        if isinstance(args, Unknown):
            self.take("failed")
            return
        self.issued += 1
        call = {"id": f"auto {self.issued}", "tool": step.call.tool, "args": args, "auto": True, "entry": None,
                "step": step.id, "visit": self.visit, "state": "new", "orphan": False, "approved": self.granted,
                "fact": step.id}  # fmt: skip
        self.again, self.granted = None, False
        self.decide_auto(call)

    def decide_auto(self, call: Call) -> None:
        """The runtime's own call before the gate."""
        kind, _ = self.decide(call)
        if kind == "defer":
            self.later.append(call)
        elif kind == "allow":
            self.admit(call, None)
        else:
            self.deny(call, "no")
            self.take("failed")

    def admit(self, call: Call, entry: int | None) -> str:
        """Reserve and bind; run it, or ask for it."""
        line = dict(self.lines()).get(entry) if entry is not None else None
        call |= {"entry": entry, "step": self.step, "visit": self.visit}
        call["fact"] = line.fact if line else self.step if call["auto"] else call["tool"]
        call["expect"] = line.expect if line else self.here.step.call.expect if call["auto"] else None
        call["needed"] = line is not None and not line.optional
        approval = (line.approval if line else None) or self.tool(call["tool"]).approval
        if approval is None or call["approved"]:
            call["state"] = "running"
            self.out.append(call)
            return "allow"
        ask = compile_value(approval.ask)(self.scope(args=call["args"]), self.now)
        if isinstance(ask, Unknown):
            self.deny(call, "no")
            if call["auto"]:
                self.take("failed")
            return "deny no"
        call["state"] = "pending"
        self.out.append(call)
        self.asked[f"call {call['id']}"] = {"of": "call", "call": call, "step": self.step, "visit": self.visit}
        return "needs_approval"

    def deny(self, call: Call, code: str) -> None:
        """The call does not run, ever."""
        call["state"] = "done"
        if code != "id_reused":
            self.used.add(call["id"])
        if self.turn is not None and not call["auto"] and code != "run_over":
            self.turn["denied"] = True
