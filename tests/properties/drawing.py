"""
Random playbooks for the tests of the session: those of the compiler's tests, and what they lack.

`varied` adds approvals and limits on tools, quotas on optional entries, schemas, `as`, thinking steps, `on_unknown`,
nested termination; `calm` takes away what counts turns, so that a batch can be compared with its calls one by one;
`plain` draws what the fast path of the session is made for.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from guideway import Machine, PlaybookError, load

Page = dict[str, Any]


def _strategies() -> Any:
    """The generator of the compiler's tests: these folders are no packages of one another."""
    place = Path(__file__).parents[1] / "compiler" / "strategies.py"
    spec = importlib.util.spec_from_file_location("random_playbooks", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


strategies = _strategies()
TOOLS: tuple[str, ...] = strategies.TOOLS
ENDS: tuple[str, ...] = strategies.ENDS
LEAD = {"ask": "May it run, {{ run.id }}?", "approvers": ["lead"]}


class Changes:
    """One pass over a drawn page: each method adds what its name says, now and then."""

    def __init__(self, rng: random.Random, page: Page) -> None:
        self.rng = rng
        self.page = page
        self.ids = [step["id"] for step in page["steps"]]
        self.facts = {
            fact
            for step in page["steps"]
            for fact in ([step["id"]] if "call" in step else map(tool_of, step.get("expected_tools", ())))
        }

    def maybe(self, chance: float) -> bool:
        """True that often."""
        return self.rng.random() < chance

    def varied(self) -> Page:
        """The page with whatever comes."""
        self.tools()
        for step in self.page["steps"]:
            self.limits(step)
            if "expected_tools" in step:
                self.entries(step)
                self.step(step)
            if "call" in step and self.maybe(0.3):
                step["validation"] = ["run.calls >= 0"]
            if "repeat" in step and self.maybe(0.3):
                step["repeat"]["collect"] = self.rng.choice(["result.n", "result"])
        self.ending()
        return self.page

    def tools(self) -> None:
        """Approvals, schemas, and what to do when nobody knows."""
        tools, rng = self.page["tools"], self.rng
        for name in TOOLS:
            if self.maybe(0.1):
                tools[name]["approval"] = dict(LEAD)
        if self.maybe(0.2):
            tools["t1"]["parameters"] = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
        if self.maybe(0.2):
            tools["t2"]["result"] = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}}
        if self.maybe(0.3):
            tools[rng.choice(TOOLS[3:])]["on_unknown"] = rng.choice([*self.ids, *ENDS])
        if self.facts and self.maybe(0.3):
            tools["t0"]["where"] = f"!has(facts.{self.fact()}) || args.n != facts.{self.fact()}.n"

    def fact(self) -> str:
        """A fact that some step writes."""
        return self.rng.choice(sorted(self.facts))

    def limits(self, step: Page) -> None:
        """Most steps of the first generator are left with nothing; take some hard limits away, so that runs last."""
        for key in ("when", "timeout", "on_timeout", "validation"):
            if key in step and self.maybe(0.3) and not (key == "timeout" and "on_timeout" in step):
                del step[key]

    def entries(self, step: Page) -> None:
        """`where` over facts, `as`, optional entries with a quota."""
        entries = step["expected_tools"]
        for place, entry in enumerate(entries):
            if self.facts and self.maybe(0.15):
                more = {} if isinstance(entry, str) else entry
                rule = f"default(facts.{self.fact()}.n, 9) > args.n"
                entries[place] = {**more, "tool": tool_of(entry), "where": rule}
        if entries and self.maybe(0.1):
            name = f"{step['id']}_found"
            more = {} if isinstance(entries[0], str) else entries[0]
            entries[0] = {**more, "tool": tool_of(entries[0]), "as": name}
            step.setdefault("next", [{"when": f"has(facts.{name}.n)", "goto": self.rng.choice(self.ids)}])
            if isinstance(step["next"], list) and "when" in step["next"][-1]:
                step["next"].append({"goto": "done"})
        if self.maybe(0.25):
            optional = step.setdefault("optional_tools", [])
            optional.append({"tool": self.rng.choice(TOOLS), "times": self.rng.randint(1, 2)})
        if len(entries) > 1 and self.maybe(0.2):
            step["order"] = "listed"

    def step(self, step: Page) -> None:
        """Registers of an agent's step."""
        rng = self.rng
        if self.maybe(0.15):
            step["max_tool_calls"] = rng.randint(1, 3)
        if self.maybe(0.15):
            step["min_tool_calls"] = rng.randint(1, 3)
        if self.maybe(0.1):
            step["validation"] = [rng.choice(["run.calls > 2", "run.calls % 2 == 0", "inputs.limit > 2"])]
        if not step["expected_tools"] and self.maybe(0.5):
            del step["expected_tools"]

    def ending(self) -> None:
        """Nested conditions, `not` and `no_tool_calls` among them."""
        rng = self.rng
        if "termination" not in self.page or self.maybe(0.3):
            self.page.pop("termination", None)
            return
        more = rng.choice([
            {"all": [{"not": {"tool_called": rng.choice(TOOLS)}}, {"max_iterations": rng.randint(2, 9)}]},
            {"all": [{"no_tool_calls": True}, {"not": {"text_mention": "go on"}}], "outcome": "handed_over"},
            {"any": [{"tool_called": rng.choice(TOOLS), "where": "args.n > 4"}, {"text_mention": r"\bHALT\b"}]},
        ])  # fmt: skip
        if self.maybe(0.5):
            self.page["termination"].append(more)


def tool_of(entry: Any) -> str:
    """The tool an entry names."""
    name: str = entry if isinstance(entry, str) else entry["tool"]
    return name


def varied(rng: random.Random) -> Page:
    """Whatever the first half of the format can say."""
    return Changes(rng, strategies.playbook(rng, rng.choice((1, 2, 2, 3, 3, 4, 5)))).varied()


def wide(rng: random.Random) -> Page:
    """Steps that ask for many tools at once, so that many calls of a batch are under way together."""
    page = varied(rng)
    for step in page["steps"]:
        if "expected_tools" in step and rng.random() < 0.8:
            named = {tool_of(entry) for entry in step["expected_tools"]}
            step["expected_tools"] += [tool for tool in rng.sample(TOOLS, 4) if tool not in named]
            step.pop("retry", None)
            if rng.random() < 0.8:
                step.pop("max_tool_calls", None)
                step.pop("on_exhausted", None)
            if rng.random() < 0.8:
                step.pop("order", None)
    return page


def calm(rng: random.Random) -> Page:
    """A page without what counts turns or answers to failures: limits of the run, and rules over its counters."""
    page = varied(rng)
    for key in ("max_iterations", "max_refusals", "max_nudges"):
        page.pop(key, None)
    page |= {"max_refusals": 1000, "max_nudges": 1000}
    if "termination" in page:
        page["termination"] = [t for t in page["termination"] if "tool_called" in t]
        if not page["termination"]:
            del page["termination"]
    return page


def plain(rng: random.Random) -> Page:
    """Steps that only count: what the fast path takes, with now and then a step that it does not take."""
    names = [f"s{i}" for i in range(rng.randint(1, 6))]
    steps: list[Page] = []
    for place, name in enumerate(names):
        tools: list[Any] = rng.sample(["a", "b", "c"], rng.choice((1, 1, 1, 2, 3)))
        step: Page = {"id": name, "description": name, "expected_tools": [some(rng, tool) for tool in tools]}
        if rng.random() < 0.2:
            step["optional_tools"] = [rng.choice("abcd")]
        if rng.random() < 0.1:
            step["max_tool_calls"] = rng.randint(1, 4)
        below = names[place + 1] if place + 1 < len(names) else "success"
        if rng.random() < 0.25:
            step |= {"next": rng.choice([*names[: place + 1], "success", "failed"]), "on_failure": below}
        elif rng.random() < 0.1:
            step["next"] = [{"when": "facts.a.n > 2", "goto": rng.choice(names)}, {"goto": below}]
        elif rng.random() < 0.1:
            step["on_failure"] = rng.choice([*names, "failed"])
        if rng.random() < 0.08:
            step["required"] = False
        steps.append(step)
    if rng.random() < 0.2:
        steps.insert(rng.randint(0, len(steps)), {"id": "auto", "call": {"tool": "d", "args": {"n": 1}}})
    if not any("a" in map(tool_of, step.get("expected_tools", ())) for step in steps):
        steps[0].setdefault("expected_tools", []).append("a")
        steps[0].pop("call", None)
    page: Page = {"id": "plain", "name": "Plain", "steps": steps, "max_iterations": rng.choice((5, 12, 40))}
    if rng.random() < 0.2:
        page["optional_tools"] = ["d"]
    if rng.random() < 0.3:
        page["tools"] = {"a": {"effect": "read"}, "b": {}, "c": {"effect": "irreversible"}, "d": {}}
    return page


def some(rng: random.Random, tool: str) -> Any:
    """An entry, with a quota now and then."""
    return {"tool": tool, "times": rng.randint(1, 3)} if rng.random() < 0.25 else tool


FLAVOURS: dict[str, Callable[[random.Random], Page]] = {"varied": varied, "calm": calm, "plain": plain}
DRAWERS = FLAVOURS | {"wide": wide}


@lru_cache(maxsize=50_000)
def machine_of(flavour: str, seed: int) -> Machine | None:
    """The machine of a seed, compiled once for all tests."""
    try:
        return load(DRAWERS[flavour](random.Random(f"{flavour} {seed}")))
    except PlaybookError:
        return None
