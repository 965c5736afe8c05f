"""
Random valid playbooks of blocks, people and time, for property tests of the compiler, the session and pictures.

`playbook(rng, size)` gives a playbook as a dict that `load_playbook` accepts and `compile_playbook` lowers without an
error.  Every step is reachable and every list can end: a step falls to the one below it, or ends its branch list with
it.  A sub-playbook is called only where `callee` is true; it is `CALLEE`, known as `callee`.

What a test may rely on:
- tools are `t0` … of `TOOLS`, all but the last two reads or idempotent; `t3` has the undo `t4`;
- guards read `facts.STEP.n`, a number, and the items of loops, which are numbers; a tool should answer `{"n": int}`;
- asks have the labels `yes` and `no`, or take any text; the only signal is `go`; the only predicate is `is_vip`;
- timers are set, so give a session `now`.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

TOOLS: dict[str, dict[str, Any]] = {
    "t0": {"effect": "read"},
    "t1": {"effect": "read"},
    "t2": {"idempotent": True},
    "t3": {"undo": {"tool": "t4", "args": {"n": "{{ default(result.n, 0) }}"}}},
    "t4": {},
}
CALLEE: dict[str, Any] = {
    "id": "callee",
    "name": "Called by others",
    "inputs": {"n": {"type": "integer", "default": 1}},
    "outputs": {"n": "inputs.n + 1"},
    "steps": [{"id": "inner", "call": {"tool": "t0", "args": {"n": "{{ inputs.n }}"}}}],
}
PLAIN = ("agent", "agent", "call", "call", "approval", "ask", "wait", "switch", "undo", "claims")
BLOCKS = ("parallel", "for_each", "repeat", "section")


def playbook(rng: random.Random, size: int, *, depth: int = 2, callee: bool = False) -> dict[str, Any]:
    """
    Draw a valid playbook with lists of at most `size` steps (1 or more), blocks at most `depth` deep.

    >>> playbook(random.Random(7), 3) == playbook(random.Random(7), 3)
    True
    """
    return _Drawing(rng, size, callee).playbook(depth)


def playbooks(size: int = 3, depth: int = 2, *, callee: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Draw playbooks through hypothesis."""
    return st.builds(
        lambda seed: playbook(random.Random(seed), size, depth=depth, callee=callee), st.integers(0, 2**32 - 1)
    )


class _Drawing:
    def __init__(self, rng: random.Random, size: int, callee: bool) -> None:
        self.rng = rng
        self.size = size
        self.count = 0
        self.kinds = (*PLAIN, "playbook") if callee else PLAIN

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def playbook(self, depth: int) -> dict[str, Any]:
        drawn: dict[str, Any] = {
            "id": "mixed",
            "name": "Mixed",
            "tools": {name: dict(spec) for name, spec in TOOLS.items()},
            "predicates": {"is_vip": {}},
        }
        if self.maybe(0.15):
            drawn["strict_sequence"] = False
            drawn["steps"] = [self.listed(depth, [], fenced=True, most=1)[0] for _ in range(self.size)]
        else:
            drawn["steps"] = self.listed(depth, [], fenced=False)
        if self.maybe(0.2):
            drawn["conversation"] = True
        if self.maybe(0.3):
            drawn["termination"] = [self.rng.choice([{"max_iterations": 30}, {"signal": "halt"}, {"custom": "is_vip"}])]
        if self.maybe(0.3):
            drawn["finally"] = [{"id": "closing", "call": {"tool": "t0"}}]
        if self.maybe(0.3):
            drawn["defaults"] = self.rng.choice([{"retry": 1}, {"timeout": "1h"}, {"on_failure": "escalated"}])
        return drawn

    def listed(self, depth: int, known: list[str], *, fenced: bool, most: int = 0) -> list[dict[str, Any]]:
        """A list of steps; `known` are the numbers that guards may read, `fenced` lists are left by their end only."""
        names = [self.name("s") for _ in range(self.rng.randint(1, most or self.size))]
        steps, known = [], list(known)
        for place, name in enumerate(names):
            below = names[place + 1] if place + 1 < len(names) else "done"
            step = {"id": name, "description": name, **self.kind(name, depth, known, below, fenced=fenced)}
            if "switch" not in step and self.maybe(0.2):
                step["next"] = [
                    {"when": self.guard(known), "goto": self.rng.choice(["done", "failed"])},
                    {"goto": below},
                ]
            if self.maybe(0.15):
                step["when"] = self.guard(known)
            if self.maybe(0.2):
                step["on_failure"] = self.rng.choice(["done", "failed", below] if fenced else ["escalated", below])
            if "call" in step:
                known.append(f"facts.{name}.n")
            steps.append(step)
        return steps

    def guard(self, known: list[str]) -> str:
        read = self.rng.choice(["run.calls", *known])
        return self.rng.choice([f"{read} > 2", f"default({read}, 0) % 2 == 0", f"has({read})"])

    def kind(self, name: str, depth: int, known: list[str], below: str, *, fenced: bool) -> dict[str, Any]:
        if depth and self.maybe(0.35):
            return self.block(self.rng.choice(BLOCKS), depth - 1, known, fenced=fenced)
        return self.plain(self.rng.choice(self.kinds), name, known, below)

    def plain(self, kind: str, name: str, known: list[str], below: str) -> dict[str, Any]:
        rng, tool = self.rng, self.rng.choice(list(TOOLS))
        asked = {
            "ask": {"question": f"Well, {name}?", "choices": rng.choice([["yes", "no"], {"yes": below, "no": "done"}])}
        }
        kinds: dict[str, dict[str, Any]] = {
            "agent": {"expected_tools": [{"tool": tool, "as": f"kept_{name}"}], "max_tool_calls": rng.randint(1, 4)},
            "call": {"call": {"tool": tool, "args": {"n": 1}}},
            "approval": {"approval": {"ask": "Go on?", "approvers": ["lead"]}, "on_reject": "done"},
            "ask": rng.choice([asked, {"ask": "Well?"}]),
            "wait": {"wait": rng.choice(["1m", {"until": self.guard(known)}, {"signal": "go"}]), "timeout": "10m"},
            "switch": {"switch": [{"when": self.guard(known), "goto": "done"}, {"goto": below}]},
            "undo": {"undo": rng.choice(["all", ["t3"]])},
            "claims": {"claims": {"n": "integer"}, "optional_tools": ["t0"]},
            "playbook": {"playbook": "callee", "with": {"n": rng.randint(1, 5)}},
        }
        drawn = dict(kinds[kind])
        if kind == "ask" and isinstance(drawn["ask"], dict) and below != "done":
            drawn["ask"] = {"question": "Well?", "choices": ["yes", "no"]} if self.maybe(0.5) else drawn["ask"]
        if kind in ("agent", "call", "ask") and self.maybe(0.2):
            drawn["required"] = False
        return drawn

    def block(self, kind: str, depth: int, known: list[str], *, fenced: bool) -> dict[str, Any]:
        rng = self.rng
        if kind == "parallel":
            branches = {self.name("b"): self.listed(depth, known, fenced=True) for _ in range(rng.randint(1, 3))}
            return {"parallel": branches, "join": rng.choice(["all", "any", rng.randint(1, len(branches))])}
        if kind == "for_each":
            item = self.name("item")
            loop = {"as": item, "in": [1, 2, 3][: rng.randint(0, 3)], "concurrency": rng.choice([1, 1, 2])}
            steps = self.listed(depth, [*known, item], fenced=fenced or loop["concurrency"] != 1)
            return {"for_each": loop | ({"collect": f"{item} + 1"} if self.maybe(0.3) else {}), "steps": steps}
        steps = self.listed(depth, known, fenced=fenced)
        if kind == "section":
            return {"steps": steps}
        return {"repeat": {"until": "run.calls > 5", "at_most": rng.randint(1, 3), "wait": "1s"}, "steps": steps}
