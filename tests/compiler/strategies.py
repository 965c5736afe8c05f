"""
Random valid playbooks, for property tests of the compiler, the session, pictures and artifacts.

`playbook(rng, size)` gives a playbook of the first half of the format as a dict that `load_playbook` accepts and
`compile_playbook` lowers without an error.  Every step is reachable and no step is a dead end: a step falls through
to the one below it, or ends its branch list with it.  Apart from that anything may happen: jumps backwards, loops,
limits that are too low, waits, approvals, guards over facts that may be missing.

What a test may rely on:
- agent's steps and calls name the tools `t0` … of `TOOLS`; `helper_a`, `helper_b` match the pattern `helper_*`;
- guards read `facts.X.n` (a number), `facts.X.ok` (a bool) and `args.n`; a tool should answer `{"n": int, "ok": bool}`;
- inputs (`limit`, `mode`) have defaults, so a session needs none;
- a timer may be set, so give a session `now`.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

EFFECTS: tuple[dict[str, Any], ...] = (
    {"effect": "read"},
    {"effect": "read"},
    {"effect": "write", "idempotent": True},
    {"effect": "write"},
    {"effect": "irreversible"},
    {},
)
TOOLS = tuple(f"t{i}" for i in range(len(EFFECTS)))
REPEATABLE = frozenset(TOOLS[:3])
HELPERS = ("helper_a", "helper_b")
OUTCOMES = {"handed_over": "stopped", "fixed": "success", "undone": "failed"}
ENDS = ("success", "failed", "stopped", "escalated", "done", *OUTCOMES)
APPROVAL = {"ask": "May {{ run.id }} go on?", "approvers": ["lead"]}


def playbook(rng: random.Random, size: int) -> dict[str, Any]:
    """
    Draw a valid playbook of `size` steps (0 or more); the same `rng` state gives the same playbook.

    >>> playbook(random.Random(7), 3) == playbook(random.Random(7), 3)
    True
    """
    return _Drawing(rng, size).playbook()


def playbooks(max_size: int = 8) -> st.SearchStrategy[dict[str, Any]]:
    """Draw playbooks through hypothesis; a failure shrinks towards few steps."""
    return st.builds(
        lambda size, seed: playbook(random.Random(seed), size), st.integers(0, max_size), st.integers(0, 2**32 - 1)
    )


class _Drawing:
    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.ids = [f"s{i}" for i in range(size)]
        self.kinds = [rng.choices(("agent", "call", "switch", "approval"), (6, 2, 1, 1))[0] for _ in self.ids]
        self.expected = [rng.sample(TOOLS, rng.choice((0, 1, 1, 1, 2, 2, 3))) for _ in self.ids]
        self.facts = self.written()
        self.terms: list[str] = []

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def playbook(self) -> dict[str, Any]:
        rng = self.rng
        drawn: dict[str, Any] = {
            "id": f"random-{rng.randrange(1000)}",
            "name": "Random",
            "inputs": {"limit": {"type": "integer", "default": 3}, "mode": {"type": "string", "default": "dry"}},
            "outcomes": dict(OUTCOMES),
            "tools": self.tools(),
        }
        if self.maybe(0.4):
            drawn["terms"] = {"low": "inputs.limit < 5", "odd": "terms.low && " + self.flow_guard()}
            self.terms = ["terms.low", "terms.odd"]
        if self.maybe(0.3):
            drawn["defaults"] = self.defaults()
        if self.maybe(0.3):
            drawn["optional_tools"] = rng.sample(["helper_*", "t0", "t1"], rng.randint(1, 2))
        drawn["allow_extra_tools"] = self.maybe(0.2)
        if self.maybe(0.3):
            drawn["max_iterations"] = rng.randint(1, 60)
        if self.maybe(0.3):
            drawn |= {"max_refusals": rng.randint(1, 6), "max_nudges": rng.randint(0, 4)}
        if self.maybe(0.5):
            drawn["termination"] = [self.condition(2) for _ in range(rng.randint(1, 3))]
        drawn["steps"] = [self.step(place, kind) for place, kind in enumerate(self.kinds)]
        return drawn

    def written(self) -> list[str]:
        """The facts there will be: guards read no others, as a name that nothing writes is an error."""
        written: dict[str, None] = {}
        for name, kind, tools in zip(self.ids, self.kinds, self.expected, strict=True):
            written |= dict.fromkeys(tools if kind == "agent" else [name] if kind == "call" else [])
        return list(written)

    def tools(self) -> dict[str, Any]:
        tools = {name: dict(effect) for name, effect in zip(TOOLS, EFFECTS, strict=True)}
        tools["helper_*"] = {"effect": "read"}
        if self.maybe(0.3):
            tools["t3"] |= {"where": "args.n >= 0", "because": "no negative numbers"}
        if self.maybe(0.3):
            tools["t4"]["approval"] = {"ask": "Call it with {{ args.n }}?", "approvers": ["lead"]}
        if self.maybe(0.2):
            tools["t3"]["on_unknown"] = self.rng.choice(ENDS)
        return tools

    def defaults(self) -> dict[str, Any]:
        rng = self.rng
        choices: dict[str, Any] = {
            "retry": rng.choice([1, {"at_most": 2, "wait": "1s", "backoff": 2.0}]),
            "timeout": "15m",
            "on_failure": rng.choice(ENDS),
            "on_reject": rng.choice(ENDS),
            "on_timeout": rng.choice(ENDS),
        }
        return {key: choices[key] for key in rng.sample(list(choices), rng.randint(1, 3))}

    # --- expressions ---------------------------------------------------------------------------------------------

    def flow_guard(self) -> str:
        """A condition over facts, inputs, terms and the run: what `when` may read."""
        rng = self.rng
        guards = [f"run.calls % 2 == {rng.randint(0, 1)}", 'inputs.mode == "dry"', "inputs.limit > 3", *self.terms]
        if self.facts:
            fact = rng.choice(self.facts)
            guards += [
                f"facts.{fact}.n > {rng.randint(0, 6)}",
                f"default(facts.{fact}.ok, false)",
                f"has(facts.{fact}.n) && facts.{fact}.n <= inputs.limit",
                f"size(history.{fact}) > {rng.randint(0, 3)}",
                f"!has(facts.{fact})",
            ]
        return rng.choice(guards)

    def call_guard(self) -> str:
        """A condition on one call: what `where` may read."""
        return self.rng.choice(["args.n >= 0", "args.n != inputs.limit", f"has(args.n) || {self.flow_guard()}"])

    def expectation(self) -> str:
        """A condition on a result: what `expect` may read."""
        return self.rng.choice(["result.ok == true", "result.n >= 0", "default(result.ok, true)"])

    # --- steps ---------------------------------------------------------------------------------------------------

    def step(self, place: int, kind: str) -> dict[str, Any]:
        step: dict[str, Any] = {"id": self.ids[place], "description": f"Step {place}"}
        step |= {"agent": self.agent, "call": self.call, "switch": self.switch, "approval": self.approval}[kind](place)
        if self.maybe(0.15):
            step["when"] = self.flow_guard()
        if self.maybe(0.15):
            step["max_visits"] = self.rng.randint(1, 4)
            if self.maybe(0.5):
                step["on_max_visits"] = self.anywhere()
        if kind != "switch" and self.maybe(0.3):
            step["next"] = self.branches(place)
        if self.maybe(0.2):
            step["on_failure"] = self.target(place)
        if kind in ("agent", "call") and self.maybe(0.15):
            step["approval"] = dict(APPROVAL)
        if "approval" in step and self.maybe(0.5):
            step["on_reject"] = self.anywhere()
        if kind != "switch" and self.maybe(0.15):
            step["timeout"] = self.rng.choice(["30s", "5m", "1h30m"])
            if self.maybe(0.5):
                step["on_timeout"] = self.anywhere()
        if kind != "switch" and self.maybe(0.2):
            step["required"] = False
        return step

    def agent(self, place: int) -> dict[str, Any]:
        rng = self.rng
        expected = [self.entry(tool) for tool in self.expected[place]]
        step: dict[str, Any] = {"expected_tools": expected, "hints": ["Go on."]}
        if self.maybe(0.25):
            step["optional_tools"] = [rng.choice([*TOOLS, *HELPERS, "helper_*"])]
        if len(expected) > 1 and self.maybe(0.3):
            step["order"] = "listed"
        if expected and self.maybe(0.1):
            step["expected_tools"] = [*expected, self.entry(rng.choice(self.expected[place]))]
        if self.maybe(0.3):
            step["max_tool_calls"] = rng.randint(0, 5)
            if self.maybe(0.4):
                step["on_exhausted"] = self.anywhere()
        if self.maybe(0.1):
            step["min_tool_calls"] = rng.randint(0, 2)
        if self.maybe(0.1):
            step["validation"] = [self.flow_guard()]
        if self.maybe(0.15):
            step["on_unknown"] = self.anywhere()
        tools = {entry if isinstance(entry, str) else entry["tool"] for entry in step["expected_tools"]}
        if tools and tools <= REPEATABLE and self.maybe(0.4):
            step["retry"] = self.retry()
        return step

    def entry(self, tool: str) -> str | dict[str, Any]:
        if self.maybe(0.5):
            return tool
        entry: dict[str, Any] = {"tool": tool}
        if self.maybe(0.3):
            entry["where"] = self.call_guard()
        if self.maybe(0.3):
            entry["expect"] = self.expectation()
        if self.maybe(0.3):
            entry["times"] = self.rng.randint(1, 3)
        if self.maybe(0.15):
            entry |= {"approval": dict(APPROVAL), "because": "a person looks at it"}
        return entry

    def retry(self) -> Any:
        rng = self.rng
        return rng.choice([1, 2, {"at_most": 1, "wait": "2s"}, {"at_most": 3, "when": 'error.type == "Throttled"'}])

    def call(self, place: int) -> dict[str, Any]:
        rng = self.rng
        tool = rng.choice(TOOLS)
        step: dict[str, Any] = {"call": {"tool": tool, "args": {"n": rng.choice([1, "{{ inputs.limit }}"])}}}
        if self.maybe(0.2):
            step["call"]["expect"] = self.expectation()
        if self.maybe(0.2):
            step["repeat"] = {"until": "result.ok == true", "at_most": rng.randint(1, 3)}
            if self.maybe(0.5):
                step["repeat"]["wait"] = "1m"
        if tool in REPEATABLE and self.maybe(0.3):
            step["retry"] = self.retry()
        return step

    def switch(self, place: int) -> dict[str, Any]:
        return {"switch": self.branches(place)}

    def approval(self, place: int) -> dict[str, Any]:
        return {"approval": dict(APPROVAL)}

    # --- targets -------------------------------------------------------------------------------------------------

    def below(self, place: int) -> str:
        return self.ids[place + 1] if place + 1 < len(self.ids) else "done"

    def anywhere(self) -> str:
        return self.rng.choice([*self.ids, *ENDS])

    def branches(self, place: int) -> list[dict[str, Any]]:
        """Guarded jumps to anywhere, and the step below as the last resort: it stays reachable, and an end with it."""
        guarded = [{"when": self.flow_guard(), "goto": self.anywhere()} for _ in range(self.rng.randint(0, 2))]
        return [*guarded, {"goto": self.below(place)}]

    def target(self, place: int) -> Any:
        return self.anywhere() if self.maybe(0.7) else self.branches(place)

    def condition(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        simple: list[dict[str, Any]] = [
            {"max_iterations": rng.randint(1, 40)},
            {"token_limit": rng.randint(100, 5000)},
            {"time_limit": "10m"},
            {"tool_called": rng.choice(TOOLS)},
            {"tool_called": rng.choice(TOOLS), "expect": "result.ok == true"},
            {"confidence_met": 0.9},
            {"text_mention": r"\bSTOP\b"},
        ]
        choice = dict(rng.choice(simple))
        if depth == 2 and self.maybe(0.3):
            choice = {rng.choice(("all", "any")): [self.condition(1) for _ in range(rng.randint(1, 3))]}
        if depth == 2 and self.maybe(0.4):
            choice["outcome"] = rng.choice(tuple(OUTCOMES))
        return choice
