"""
A second reading of SEMANTICS S7 to S30 and S36 to S40, for one call a turn: plain dicts, no speed, nothing shared.

It knows the `Definition` and its expressions; of `guideway.runtime` it knows nothing.  `Model.on` takes one event and
gives the verdict kind it expects (None where the event answers no call); `state` and `outcome` are then to be compared.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import jsonschema

from guideway.statemachine import conditions as c
from guideway.statemachine.definition import Definition, Edge, OutcomeClass, StateKind
from guideway.statemachine.expressions import Expression, Terms, Unknown, compile_value
from guideway.statemachine.tools import Effect, Tool

CONTROL = ("complete_step", "skip_step")
KNOWN_CODES = ("run_over", "id_reused", "bad_args")
LONGEST = 30 * 24 * 3600.0
Call = dict[str, Any]


class CircleError(Exception):
    """The automatic moves lead round and round."""


class Model:
    """One run."""

    def __init__(self, definition: Definition, now: datetime | None) -> None:
        self.d = definition
        self.now = self.started = now
        self.state = definition.initial
        self.inputs = {name: given.default for name, given in definition.inputs.items() if given.default is not None}
        self.facts: dict[str, Any] = {}
        self.history: dict[str, list[Any]] = {}
        self.visits: dict[str, int] = {}
        self.step, self.visit = "", 0
        self.out: list[Call] = []
        self.used: set[str] = set()
        self.asked: dict[str, Any] = {}
        self.turn: dict[str, Any] | None = None
        self.timers: list[tuple[datetime, str, str, int]] = []
        self.calls = self.tokens = self.iterations = self.nudges = self.refusals = self.moves = 0
        self.confidence: float | None = None
        self.text, self.text_only = "", False
        self.ending: str | None = None
        self.outcome: str | None = None
        self.incomplete: set[str] = set()
        self.unknown: list[str] = []
        self.called: set[c.Condition] = set()
        self.fresh = True
        self.later: list[Call] = []
        self.issued = 0
        self.reset()
        for branch in definition.termination:
            for leaf in c.leaves(branch.condition):
                if isinstance(leaf, c.TimeLimit) and now is not None:
                    self.timers.append((now + timedelta(seconds=leaf.seconds), "limit", "", 0))
        self.arrive(None)
        self.settle_down()

    def reset(self) -> None:
        """The registers of a visit."""
        self.counts: dict[int, int] = {}
        self.spent = self.successes = self.failures = self.rounds = 0
        self.barred: dict[str, datetime] = {}
        self.rejected: list[Any] = []
        self.again: Any = None
        self.granted = False
        self.collected: list[Any] | None = None

    # --- looking ---------------------------------------------------------------------------------------------------

    @property
    def here(self) -> Any:
        return self.d.states[self.state]

    def scope(self, **more: Any) -> dict[str, Any]:
        elapsed = (self.now - self.started).total_seconds() if self.now and self.started else 0
        run = {
            "id": "run", "started_by": "", "iterations": self.iterations, "calls": self.calls, "tokens": self.tokens,
            "elapsed": elapsed,
        }  # fmt: skip
        claims = {"text": self.text} | ({} if self.confidence is None else {"confidence": self.confidence})
        return {
            "inputs": self.inputs, "facts": self.facts, "history": self.history, "claims": claims,
            "terms": Terms(self.d.terms), "run": run, **more,
        }  # fmt: skip

    def true(self, rule: Expression | None, **more: Any) -> bool | None:
        """True, False, or None for unknown; a rule that is not there is true."""
        value = True if rule is None else rule(self.scope(**more), self.now)
        return value if isinstance(value, bool) else None

    def tool(self, name: str) -> Tool:
        return self.d.tool(name) or Tool(name)

    def repeatable(self, name: str) -> bool:
        return self.tool(name).idempotent or self.tool(name).effect is Effect.READ

    def lines(self, tool: str | None = None) -> list[tuple[int, Any]]:
        """The entries of the step, with their places; those that speak of `tool`."""
        work = self.here.step.work if self.here.step is not None and self.here.kind is StateKind.STEP else None
        found = list(enumerate(work.entries)) if work else []
        return [(i, e) for i, e in found if tool is None or fnmatchcase(tool, e.tool)]

    def needed(self) -> list[tuple[int, Any]]:
        return [(i, e) for i, e in self.lines() if not e.optional]

    def quota(self, entry: Any) -> int | None:
        return entry.times or (1 if self.tool(entry.tool).effect is Effect.IRREVERSIBLE else None)

    def met(self, upto: int = 10**9) -> bool:
        return all(self.counts.get(i, 0) >= (self.quota(e) or 1) for i, e in self.needed() if i < upto)

    def outside(self, tool: str) -> bool:
        if any(fnmatchcase(tool, name) for name in self.d.optional_tools):
            return True
        named = any(fnmatchcase(tool, name) for name in self.d.named_tools)
        return self.d.extra_tools and not named and self.tool(tool).effect is not Effect.IRREVERSIBLE

    def known(self, tool: str) -> bool:
        named = any(fnmatchcase(tool, name) for name in self.d.named_tools)
        return named or tool in CONTROL or self.d.tool(tool) is not None or self.outside(tool)

    def mine(self) -> list[Call]:
        return [o for o in self.out if (o["step"], o["visit"]) == (self.step, self.visit)]

    # --- deciding (S14) --------------------------------------------------------------------------------------------

    def decide(self, call: Call) -> tuple[str, Any]:
        """`allow` with the entry, `defer`, or `deny` with the code."""
        tool, args = call["tool"], call["args"]
        if self.ending is not None:
            return "deny", "run_over"
        if call.get("reused"):
            return "deny", "id_reused"
        if self.d.closed_alphabet and not self.known(tool):
            return "deny", "no"
        schema = self.tool(tool).parameters
        if schema is not None and not jsonschema.Draft202012Validator(schema).is_valid(args):
            return "deny", "bad_args"
        others = [o for o in self.out if o is not call]
        if tool in CONTROL:
            return ("defer", None) if others else self.control(call)
        irreversible = [self.tool(o["tool"]).effect is Effect.IRREVERSIBLE for o in (*others, call)]
        if others and any(irreversible):
            return "defer", None
        if call["auto"]:
            declared = self.true(self.tool(tool).where, args=args) is True
            fine = declared and [tool, args] not in self.rejected
            return ("allow", None) if fine else ("defer", None) if others else ("deny", "no")
        if self.here.kind is StateKind.CALL and any(o["auto"] and o in self.mine() for o in others):
            return "defer", None
        if self.stale(call, others):
            return "defer", None
        found = self.candidate(call)
        refused = found is None or [tool, args] in self.rejected
        if found is not None and found != "outside":
            most = self.here.step.max_calls
            reserved = len([o for o in self.mine() if o["entry"] is not None and o is not call])
            refused = refused or (most is not None and self.spent + reserved >= most)
            refused = refused or (tool in self.barred and (self.now is None or self.now < self.barred[tool]))
        if refused:
            return ("defer", None) if others and self.known(tool) else ("deny", "no")
        return "allow", None if found == "outside" else found

    def stale(self, call: Call, others: list[Call]) -> bool:
        rules = [e.where for _, e in self.lines(call["tool"])] + [self.tool(call["tool"]).where]
        unsure = {o["fact"] for o in others}
        return bool(others) and any(reads(rule, self.d) & (unsure | {"*run"}) for rule in rules if rule is not None)

    def candidate(self, call: Call) -> Any:
        """The place of the best entry, `outside`, or None."""
        tool, args, ways = call["tool"], call["args"], []
        work = self.here.step.work if self.here.step is not None else None
        for i, entry in self.lines(tool):
            most = self.quota(entry)
            taken = self.counts.get(i, 0) + len([o for o in self.mine() if o["entry"] == i and o is not call])
            if most is not None and taken >= most:
                continue
            if not entry.optional and work is not None and work.listed and not self.met(upto=i):
                continue
            rank = 2 if entry.optional else 0 if most is not None or taken == 0 else 1
            if self.true(entry.where, args=args) is True and self.true(self.tool(tool).where, args=args) is True:
                ways.append((rank, i))
        if ways:
            return min(ways)[1]
        return "outside" if self.outside(tool) and self.true(self.tool(tool).where, args=args) is True else None

    def control(self, call: Call) -> tuple[str, Any]:
        """S17."""
        step = self.here.step
        if self.here.kind is not StateKind.STEP:
            return "deny", "no"
        sure = call["args"].get("confidence", 0)
        if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
            return "deny", "bad_args"
        if call["tool"] == "skip_step":
            return ("deny", "no") if step.required or step.approval else ("allow", None)
        return ("deny", "no") if self.needed() or not self.may_complete() else ("allow", None)

    def may_complete(self) -> bool:
        return self.successes >= self.here.step.min_calls and self.valid()

    def valid(self) -> bool:
        return all(self.true(rule) is True for rule in self.here.step.validation)

    # --- events ----------------------------------------------------------------------------------------------------

    def on(self, event: str, *values: Any, now: datetime | None = None) -> str | None:
        """One event that a session has taken; gives the verdict it must have given, where it gave one."""
        self.moves = 0
        self.pass_time(now)
        self.moves = 0
        return getattr(self, f"on_{event}")(*values)  # type: ignore[no-any-return]

    def on_tick(self) -> None:
        """Nothing but time."""

    def on_claim(self, confidence: float) -> None:
        self.confidence = confidence
        self.follow()

    def on_complete(self) -> None:
        for key in [k for k, q in self.asked.items() if q["of"] == "step"]:
            del self.asked[key]
        self.take("completed" if self.here.edges.get("completed") else "approved")
        self.follow()

    def on_skip(self) -> None:
        self.take("skipped")
        self.follow()

    def on_fail(self) -> None:
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

    def deny(self, call: Call, code: str) -> None:
        call["state"] = "done"
        if code != "id_reused":
            self.used.add(call["id"])
        if self.turn is not None and not call["auto"] and code != "run_over":
            self.turn["denied"] = True

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

    def on_observe(self, call_id: str, word: str, value: Any) -> None:
        found = [o for o in self.out if o["id"] == call_id and o["state"] == "running"]
        if found:  # else time came first, or the report is a repeated one
            self.apply(found[0], word, value)
            self.follow()

    def on_approve(self, key: str) -> None:
        asked = self.asked.pop(key, None)
        if asked is None:
            return
        if asked["of"] == "step":
            self.take("approved" if self.here.edges.get("approved") else "completed")
        else:
            self.granted_call(asked["call"])
        self.follow()

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

    def on_reject(self, key: str) -> None:
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
        asked = self.asked.pop(key, None)
        if asked is not None:
            self.apply(asked["call"], "ok", result)
            self.follow()

    def on_did_not_happen(self, key: str) -> None:
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

    # --- outcomes (S18 to S28) -------------------------------------------------------------------------------------

    def apply(self, call: Call, word: str, value: Any) -> None:
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
        self.facts[call["fact"]] = value
        self.history.setdefault(call["fact"], []).append(value)
        for branch in self.d.termination:
            for leaf in c.leaves(branch.condition):
                if isinstance(leaf, c.ToolCalled) and leaf.tool == call["tool"]:
                    names = {"args": call["args"], "result": value}
                    if self.true(leaf.where, **names) is True and self.true(leaf.expect, **names) is True:
                        self.called.add(leaf)

    def after_agent(self, call: Call, word: str, value: Any, good: bool) -> None:
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
        retry = self.here.step.retry
        if retry is None or word == "ok" or not self.repeatable(call["tool"]) or self.failures > retry.at_most:
            return False
        error = value if word == "error" else {"type": "unknown", "message": "nobody knows"}
        return self.true(retry.when, args=call["args"], error=error) is True

    def pause(self) -> float:
        retry = self.here.step.retry
        return float(min(retry.wait * retry.backoff ** (self.failures - 1), LONGEST))

    def on_failure(self) -> bool:
        edges = self.here.edges.get("failed", ())
        return bool(edges) and edges[0].target != f"failed:{self.here.step.id}"

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

    def admissible(self) -> bool:
        step = self.here.step
        if step.max_calls is not None and self.spent >= step.max_calls:
            return False
        if self.d.optional_tools or self.d.extra_tools:
            return True
        return any(self.quota(e) is None or self.counts.get(i, 0) < (self.quota(e) or 0) for i, e in self.lines())

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
        if self.collected is not None:
            self.facts[self.here.step.id] = self.collected
        self.take("completed" if self.valid() else "failed")

    def wait(self, seconds: float) -> None:
        if seconds > 0 and self.now is not None:
            self.timers.append((self.now + timedelta(seconds=seconds), "wake", self.step, self.visit))
        else:
            self.fresh = True

    # --- time (S7, S26) --------------------------------------------------------------------------------------------

    def pass_time(self, now: datetime | None) -> None:
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
        if kind == "wake":
            self.fresh = True
        elif kind == "timeout":
            for call in self.mine():
                if call["entry"] is not None or call["auto"]:
                    call["orphan"] = True
            self.void(step, visit)
            self.take("timeout")
        self.follow()

    def void(self, step: str, visit: int) -> None:
        """The questions of a visit are closed; calls that waited for them do not run."""
        for key, asked in list(self.asked.items()):
            if asked["of"] != "reconcile" and (asked["step"], asked["visit"]) == (step, visit):
                del self.asked[key]
                if (call := asked.get("call")) is not None:
                    self.out.remove(call)
                    call["state"] = "done"
                    self.used.add(call["id"])

    # --- moving (S9 to S11, S27) -----------------------------------------------------------------------------------

    def take(self, event: str) -> None:
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
        self.moves += 1
        if self.moves > 4 * len(self.d.states) + 20:
            raise CircleError
        self.state = edge.target
        self.arrive(edge)

    def arrive(self, edge: Edge | None) -> None:
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

    def is_entry(self) -> bool:
        return self.here.kind is StateKind.ROUTER and self.here.step is not None and self.here.step.id != self.state

    def leave(self) -> None:
        self.void(self.step, self.visit)
        self.timers = [t for t in self.timers if t[1] == "limit"]
        self.later = []
        self.step = ""

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
        kind, _ = self.decide(call)
        if kind == "defer":
            self.later.append(call)
        elif kind == "allow":
            self.admit(call, None)
        else:
            self.deny(call, "no")
            self.take("failed")

    def follow(self) -> None:
        self.settle_down()
        if self.later:
            again, self.later = self.later, []
            for call in again:
                self.decide_auto(call)
            self.settle_down()
        self.close_turn()

    # --- turns (S16) -----------------------------------------------------------------------------------------------

    def close_turn(self) -> None:
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

    def untouched(self) -> bool:
        return self.here.kind is StateKind.STEP and not self.here.step.required and self.spent == 0

    # --- the end (S36 to S40) --------------------------------------------------------------------------------------

    def check_ends(self) -> None:
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
        if self.ending is None or self.outcome is not None or self.out or self.turn is not None:
            return
        end = self.here.end
        self.outcome = self.ending
        if end.outcome_class is OutcomeClass.SUCCESS and self.ending == end.outcome:
            if self.unknown:
                self.outcome = f"failed:unknown:{self.unknown[0]}"
            elif self.incomplete:
                self.outcome = "incomplete"


def reads(rule: Expression, definition: Definition) -> set[str]:
    """Facts by name, and `*run` where a rule reads what any call may change."""
    found: set[str] = set()
    for read in rule.reads:
        root, *rest = read.path
        if root in ("facts", "history"):
            found.add(str(rest[0]))
        elif root in ("run", "claims"):
            found.add("*run")
        elif root == "terms":
            found |= reads(definition.terms[str(rest[0])], definition)
    return found
