"""S14, for one call at a time."""

from __future__ import annotations

from typing import Any

import jsonschema

from guideway.statemachine.definition import StateKind
from guideway.statemachine.tools import Effect

from .looking import CONTROL, Call, Looking, reads


class Deciding(Looking):
    """Says what becomes of a call, and changes nothing."""

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
        if self.stale(call, others):
            return "defer", None
        if call["auto"]:
            declared = self.true(self.tool(tool).where, args=args) is True
            fine = declared and [tool, args] not in self.rejected
            return ("allow", None) if fine else ("defer", None) if others else ("deny", "no")
        if self.here.kind is StateKind.CALL and any(o["auto"] and o in self.mine() for o in others):
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
        """A rule that matters reads what a call under way will answer (S14.4)."""
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
