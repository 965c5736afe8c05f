"""
Random playbooks of the whole format: blocks in blocks, sub-playbooks, people, time, policies.

`mixed` draws a page and the playbook it may call.  What is drawn is nearly always valid; what is not is left out, and
the tests count what is left.  Every agent's tool takes `n` and answers `{"n": int, "ok": bool, "list": [int …]}`.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

from guideway import Machine, PlaybookError, load

from .phrasing import TOOLS, Page, Phrases, Place

EFFECTS: dict[str, Page] = {
    "t0": {"effect": "read"},
    "t1": {"effect": "read"},
    "t2": {"effect": "write", "idempotent": True},
    "t3": {"effect": "write", "undo": "back3"},
    "t4": {"effect": "irreversible", "approval": "none", "because": "a test of what stands alone"},
    "t5": {"undo": {"tool": "back5", "args": {"n": "{{ result.n }}"}}},
    "back3": {"idempotent": True},
    "back5": {"effect": "write"},
    "note": {},
}
OUTCOMES = {"handed_over": "stopped", "fixed": "success", "undone": "failed"}
WORDS = ("success", "failed", "stopped", "escalated", *OUTCOMES)
KINDS: dict[str, int] = {
    "agent": 12, "call": 6, "approval": 2, "ask": 3, "switch": 1, "wait": 3, "playbook": 3, "parallel": 4,
    "for_each": 3, "repeat": 2, "section": 2, "undo": 2,
}  # fmt: skip
BLOCKS = ("parallel", "for_each", "repeat", "section")


class Mix(Phrases):
    """One playbook being drawn."""

    def __init__(
        self, rng: random.Random, *, name: str = "mixed", callee: Page | None = None, calm: bool = False
    ) -> None:
        super().__init__(rng)
        self.name = name
        self.callee = callee
        self.calm = calm
        """nothing that counts turns, and no branches that run against each other"""
        self.numbered = 0
        self.any_order = False

    def page(self, size: int) -> Page:
        """The whole playbook."""
        rng = self.rng
        page: Page = {
            "id": self.name, "name": self.name.title(), "outcomes": dict(OUTCOMES),
            "inputs": {"limit": {"type": "integer", "default": 3}},
            "tools": {tool: dict(what) for tool, what in EFFECTS.items()},
        }  # fmt: skip
        if self.maybe(0.2):
            page["predicates"] = {"lucky": {"description": "the host says so"}}
            self.predicate = True
        self.any_order = self.maybe(0.1)
        page["steps"] = self.steps_of(Place(words=not self.any_order), size)
        if self.any_order:
            page["strict_sequence"] = False
        if self.maybe(0.25):
            page["optional_tools"] = rng.sample(["t0", "t1", "note"], rng.randint(1, 2))
        self.tools(page["tools"])
        if self.maybe(0.3):
            page["finally"] = [
                {"id": f"last{i}", "call": {"tool": "note", "args": {"n": i}}} for i in range(rng.randint(1, 2))
            ]
            if self.maybe(0.3):
                page["finally"][0]["retry"] = 1
                page["finally"][0]["call"]["tool"] = "back3"
        if self.maybe(0.4):
            page["policies"] = [self.policy(number) for number in range(rng.randint(1, 3))]
        self.ending(page)
        if self.name != "mixed" or self.maybe(0.1):
            page["outputs"] = {"said": "run.calls", **({"got": f"facts.{self.facts[0]}"} if self.facts else {})}
        if not self.calm and self.maybe(0.1):
            page["conversation"] = True
        return page

    def tools(self, tools: dict[str, Page]) -> None:
        """Approvals and limits on tools."""
        for tool in ("t1", "t3", "t5"):
            if self.maybe(0.12):
                tools[tool]["approval"] = self.approval("args.n > 2")
        if self.maybe(0.2):
            tools["t3"] |= {"where": "args.n >= 0", "because": "no negative numbers"}
        if self.maybe(0.15):
            tools["t2"]["result"] = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}}
        if self.maybe(0.2):
            tools["t0"]["parameters"] = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
        if self.maybe(0.15):
            tools["t5"]["on_unknown"] = "failed"

    def ending(self, page: Page) -> None:
        """Limits and conditions."""
        rng = self.rng
        if self.calm:
            page |= {"max_iterations": 200, "max_refusals": 200, "max_nudges": 200}
            return
        if self.maybe(0.4):
            page["max_iterations"] = rng.randint(3, 30)
        if self.maybe(0.3):
            page |= {"max_refusals": rng.randint(1, 6), "max_nudges": rng.randint(0, 4)}
        branches: list[Page] = [
            {"tool_called": rng.choice(TOOLS)}, {"signal": "halt", "outcome": "handed_over"}, {"text_mention": "STOP"},
            {"confidence_met": 0.9}, {"time_limit": "20m"}, {"token_limit": 3000},
            {"all": [{"no_tool_calls": True}, {"tool_called": "t1"}]}, {"signal": "halt"},
            {"not": {"not": {"tool_called": rng.choice(TOOLS), "where": "args.n > 3"}}, "outcome": "fixed"},
        ]  # fmt: skip
        if page.get("predicates"):
            branches.append({"all": [{"custom": "lucky"}, {"tool_called": "t0"}]})
        if self.maybe(0.25):
            page["termination"] = rng.sample(branches, rng.randint(1, 2))

    # --- lists and steps ------------------------------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        """A name nobody has."""
        self.numbered += 1
        return f"{'c_' if self.name != 'mixed' else ''}{kind[0]}{self.numbered}"

    def steps_of(self, place: Place, size: int) -> list[Page]:
        """Some steps, one after another."""
        kinds = dict(KINDS)
        if place.depth > 2:
            kinds |= dict.fromkeys(BLOCKS, 0)
        if self.callee is None:
            kinds["playbook"] = 0
        chosen = self.rng.choices(list(kinds), list(kinds.values()), k=size)
        ids = [self.fresh(kind) for kind in chosen]
        return [self.step(kind, ids, i, place) for i, kind in enumerate(chosen)]

    def step(self, kind: str, ids: list[str], place_in_list: int, place: Place) -> Page:
        """One step of the kind."""
        name = ids[place_in_list]
        step: Page = {"id": name}
        getattr(self, f"as_{kind}")(step, place, ids)
        self.extras(step, kind, ids, place_in_list, place)
        if place.depth == 0:
            self.steps.append(name)
        return step

    def target(self, ids: list[str], own: int, place: Place, *, on: bool = True) -> str:
        """Somewhere to go."""
        free = self.any_order and place.depth == 0
        below = ids[own + 1 :]
        targets: list[str] = ["done", "failed", *(() if free else below * 2)]
        if self.maybe(0.15):
            targets += [] if free else ids[:own]
        if place.words:
            targets += WORDS
        if place.outer and not self.any_order:
            targets += place.outer
        return self.rng.choice(targets)

    def extras(self, step: Page, kind: str, ids: list[str], own: int, place: Place) -> None:
        """What any step may have."""
        rng = self.rng
        if kind == "switch":
            return
        free = self.any_order and place.depth == 0
        if self.maybe(0.12):
            step["when"] = self.guard(place)
        if self.maybe(0.12):
            step["required"] = False
        if self.maybe(0.15) and not free and kind != "ask":
            step["next"] = self.target(ids, own, place)
        if self.maybe(0.35) and not free:
            step["on_failure"] = self.target(ids, own, place)
        if self.maybe(0.12):
            step["timeout"] = rng.choice(["30s", "5m", "1h"])
            if self.maybe(0.6) and not free:
                step["on_timeout"] = self.target(ids, own, place)
        if self.maybe(0.08):
            step["max_visits"] = rng.randint(1, 2)
        if kind != "approval" and self.maybe(0.08):
            step["approval"] = self.approval(self.guard(place))
            if self.maybe(0.5) and not free:
                step["on_reject"] = self.target(ids, own, place)
            if place.depth == 0:
                self.approvals.append(step["id"])
        if kind == "agent" and step.get("expected_tools") and self.maybe(0.1) and not free:
            step["on_unknown"] = self.target(ids, own, place)

    # --- kinds ----------------------------------------------------------------------------------------------------

    def as_agent(self, step: Page, place: Place, ids: list[str]) -> None:
        """An agent's step: tools, or thinking; claims."""
        rng = self.rng
        step["description"] = "Work."
        entries: list[Any] = [
            self.entry(step, tool, place) for tool in rng.sample(TOOLS, rng.choice((0, 1, 1, 1, 2, 2, 3)))
        ]
        if entries:
            step["expected_tools"] = entries
        if self.maybe(0.25):
            step["optional_tools"] = [rng.choice(("t0", "t1", "note"))]
        if self.maybe(0.2):
            step["max_tool_calls"] = rng.randint(1, 4)
        if entries and self.maybe(0.1):
            step["min_tool_calls"] = rng.randint(1, 2)
        if len(entries) > 1 and self.maybe(0.2):
            step["order"] = "listed"
        if self.maybe(0.15):
            step["claims"] = {"word": "string"}
            self.claims.append(step["id"])
        if self.maybe(0.05):
            step["required_probes"] = [{"name": "seen", "match": '^t[0-9] .*"n"'}]
        if self.maybe(0.06):
            step["validation"] = [self.guard(place)]

    def entry(self, step: Page, tool: str, place: Place) -> Any:
        """One expected tool; its fact has a name of its own, so that branches do not write over one another."""
        name = f"{step['id']}_{tool}"
        entry: Page = {"tool": tool, "as": name}
        if self.maybe(0.15):
            entry["times"] = self.rng.randint(1, 2)
        if self.maybe(0.1):
            entry["expect"] = "result.ok"
        if self.maybe(0.1):
            entry["where"] = "args.n != inputs.limit"
        elif self.facts and self.maybe(0.1):
            entry["where"] = f"default(facts.{self.rng.choice(self.facts)}.n, 9) > args.n"
        if self.maybe(0.06):
            entry["approval"] = self.approval("args.n > 1")
        self.facts.append(name)
        return entry

    def as_call(self, step: Page, place: Place, ids: list[str]) -> None:
        """A call of the runtime's own."""
        rng = self.rng
        tool = rng.choice(("t0", "t1", "t2", "t3", "t3", "t4", "t5"))
        step["call"] = {"tool": tool, "args": {"n": self.number(place)}}
        if self.maybe(0.15):
            step["call"]["expect"] = "result.ok"
        if self.maybe(0.15):
            step["repeat"] = {"until": "result.ok && result.n > 2", "at_most": rng.randint(1, 3)}
            if self.maybe(0.5):
                step["repeat"]["wait"] = "10s"
        elif tool in ("t0", "t1", "t2") and self.maybe(0.3):
            step["retry"] = rng.choice([1, {"at_most": 2, "wait": "5s", "backoff": 2}])
        self.facts.append(step["id"])

    def as_approval(self, step: Page, place: Place, ids: list[str]) -> None:
        """A person decides, and nothing else."""
        step["approval"] = self.approval(self.guard(place))
        if self.maybe(0.5) and not (self.any_order and place.depth == 0):
            step["on_reject"] = self.target(ids, ids.index(step["id"]), place)
        if place.depth == 0:
            self.approvals.append(step["id"])

    def as_ask(self, step: Page, place: Place, ids: list[str]) -> None:
        """A person answers."""
        rng = self.rng
        ask: Page = {"question": "What now, {{ run.id }}?"}
        if self.maybe(0.5):
            ask["assignees"] = ["lead"]
        shape = rng.choice(("text", "list", "map", "fields"))
        if shape == "list" or (self.any_order and place.depth == 0 and shape == "map"):
            ask["choices"] = ["yes", "no"]
        elif shape == "map":
            own = ids.index(step["id"])
            ask["choices"] = {"yes": self.target(ids, own, place), "no": self.target(ids, own, place)}
        if shape == "fields":
            ask["fields"] = {"n": "integer", "why": "string"}
        else:
            self.asks.append(step["id"])
        if self.maybe(0.3):
            ask["remind"] = "2m"
        step["ask"] = ask if len(ask) > 1 or self.maybe(0.5) else ask["question"]

    def as_switch(self, step: Page, place: Place, ids: list[str]) -> None:
        """A router."""
        if self.any_order and place.depth == 0:
            self.as_agent(step, place, ids)
            return
        own = ids.index(step["id"])
        step["switch"] = [
            {"when": self.guard(place), "goto": self.target(ids, own, place)},
            {"goto": self.target(ids, own, place)},
        ]

    def as_wait(self, step: Page, place: Place, ids: list[str]) -> None:
        """Time, a condition, a signal."""
        rng = self.rng
        name = rng.choice(("go", "ready"))
        kind = rng.choice(("time", "until", "signal"))
        step["wait"] = {
            "time": rng.choice(["10s", "3m"]),
            "until": {"until": rng.choice([self.guard(place), 'now > timestamp("2026-03-02T09:05:00Z")'])},
            "signal": {"signal": name},
        }[kind]
        if kind == "signal" and name not in self.signals:
            self.signals.append(name)

    def as_playbook(self, step: Page, place: Place, ids: list[str]) -> None:
        """The other playbook."""
        assert self.callee is not None
        step["playbook"] = self.callee["id"]
        if self.maybe(0.5):
            step["with"] = {"limit": self.rng.choice([2, "{{ inputs.limit }}", "{{ run.calls }}"])}

    def as_parallel(self, step: Page, place: Place, ids: list[str]) -> None:
        """Branches."""
        rng = self.rng
        count = rng.randint(2, 3)
        branches: Page = {}
        known = list(self.facts)
        for _ in range(count):
            name = self.fresh("branch")
            if self.maybe(0.4):
                [one] = self.steps_of(place.inside((), True), 1)
                self.rename(one["id"], name)
                del one["id"]
                branches[name] = one
            else:
                branches[name] = self.steps_of(place.inside((), True), rng.choice((1, 1, 2)))
        step["parallel"] = branches
        self.facts = known + [fact for fact in self.facts if fact not in known]
        if not self.calm and self.maybe(0.5):
            step["join"] = rng.choice(["any", 1, 2, "all"])

    def rename(self, old: str, new: str) -> None:
        """A branch of one step takes the branch's name."""
        for names in (self.facts, self.asks, self.claims, self.steps):
            names[:] = [new if name == old else name for name in names]

    def as_for_each(self, step: Page, place: Place, ids: list[str]) -> None:
        """Once per item."""
        rng = self.rng
        name = f"item{self.numbered}"
        source: Any = rng.choice([[1, 2], [1, 2, 3], [], [1], ["{{ inputs.limit }}", 2]])
        if self.facts and self.maybe(0.4):
            source = f"default(facts.{rng.choice(self.facts)}.list, [4, 5])"
        spec: Page = {"as": name, "in": source}
        concurrency = rng.choice((1, 1, 2, 3))
        if concurrency > 1:
            spec["concurrency"] = concurrency
        if self.maybe(0.1):
            spec["at_most"] = 2
        known = list(self.facts), list(self.asks), list(self.claims), list(self.signals)
        step["steps"] = self.steps_of(place.inside(ids, concurrency > 1, name), rng.choice((1, 2)))
        if self.maybe(0.3):
            spec["collect"] = rng.choice([name, "run.calls"])
        step["for_each"] = spec
        self.facts, self.asks, self.claims, self.signals = map(list, known)

    def as_repeat(self, step: Page, place: Place, ids: list[str]) -> None:
        """Round after round."""
        rng = self.rng
        step["steps"] = self.steps_of(place.inside(ids, False), rng.choice((1, 2)))
        step["repeat"] = {"until": self.guard(place), "at_most": rng.randint(1, 3)}
        if self.maybe(0.3):
            step["repeat"]["wait"] = "20s"
        if self.maybe(0.3):
            step["repeat"]["collect"] = "run.calls"

    def as_section(self, step: Page, place: Place, ids: list[str]) -> None:
        """Once."""
        step["steps"] = self.steps_of(place.inside(ids, False), self.rng.choice((1, 2, 2)))

    def as_undo(self, step: Page, place: Place, ids: list[str]) -> None:
        """Take back what can be taken back."""
        step["undo"] = self.rng.choice(["all", ["t3"], ["t5", "t3"]])


def mixed(rng: random.Random, calm: bool = False) -> tuple[Page, list[Page]]:
    """A page and what it may call: nothing, one playbook, or one that calls another."""
    library: list[Page] = []
    callee: Page | None = None
    for number in range(rng.choice((0, 1, 1, 2))):
        callee = Mix(rng, name=f"part{number}", callee=callee, calm=calm).page(rng.choice((1, 1, 2)))
        library.append(callee)
    return Mix(rng, callee=callee, calm=calm).page(rng.choice((1, 2, 3, 4))), library


@lru_cache(maxsize=20_000)
def compiled(seed: int, calm: bool = False) -> Machine | None:
    """The machine of a seed, compiled once for all tests; none where the page is not valid."""
    page, library = mixed(random.Random(f"mixed {calm} {seed}"), calm)
    try:
        return load(page, library=library, flow=False)
    except PlaybookError:
        return None
