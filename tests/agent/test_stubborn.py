"""Hooks and tools that hang, models that lie about themselves, listeners that meddle: the run keeps to its word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentLimits, Decision
from guideway.journal import MemoryJournal, start
from guideway.runtime.agent import patience
from guideway.runtime.agent.limits import Price
from guideway.runtime.models.fake import FakeModel, FunctionModel
from guideway.runtime.models.messages import ModelReply
from guideway.termination import NoToolCalls, TextMention, ToolCalled

PLAYBOOK: dict[str, Any] = {
    "id": "p", "name": "P", "inputs": {"host": "string"},
    "tools": {"look": {"effect": "read"}, "cut": {
        "effect": "irreversible", "where": "args.host == inputs.host",
        "approval": {"ask": "Cut?", "approvers": ["lead"]}}},
    "steps": [{"id": "look", "description": "L", "expected_tools": ["look"]},
              {"id": "cut", "description": "C", "expected_tools": ["cut"]}],
}  # fmt: skip
LOOK, CUT = gw.ToolCall("look", {}), gw.ToolCall("cut", {"host": "ws-7"})


class World:
    """Tools, and what they have done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def look(self) -> str:
        """Look."""
        return "seen"

    def cut(self, host: str) -> str:
        """Cut a host off."""
        self.done.append(host)
        return "done"


def yes(question: Any) -> Decision:
    """The lead agrees."""
    return Decision("approve", by="lead")


def agent(world: World, *replies: Any, **more: Any) -> Agent:
    """An agent under the playbook."""
    return Agent(FakeModel(list(replies)), [world.look, world.cut], playbook=PLAYBOOK, decisions=yes, **more)


def test_a_listener_of_events_changes_nothing_that_runs() -> None:
    """
    Events hold copies: what was approved is what runs.
    """
    world = World()

    def meddle(event: Any) -> None:
        call = getattr(event, "call", None)
        if call is not None:
            call.args["host"] = "EVIL"

    result = agent(world, LOOK, CUT, on_event=meddle).run_sync("go", inputs={"host": "ws-7"})

    assert (result.success, world.done) == (True, ["ws-7"])


class Keeper:
    """A hook that keeps its points, and says later that nothing was decided."""

    def __init__(self) -> None:
        self.points: list[Any] = []

    def before_tool(self, point: Any) -> None:
        """Keep it."""
        self.points.append(point)


def test_a_hook_that_keeps_its_point_changes_no_approved_call() -> None:
    """
    Whether a call was admitted is the loop's to know, and its arguments are the session's.
    """
    from guideway.hooks.verdict import AgentHooks, Continue

    world, keeper = World(), Keeper()

    class Late(AgentHooks):
        async def before_tool(self, call: Any, ctx: Any) -> Continue:
            for point in keeper.points:
                point.admitted = False
                if point.call.name == "cut":
                    point.call = gw.ToolCall("cut", {"host": "EVIL"}, point.call.call_id)
            return Continue()

    agent(world, LOOK, CUT, "done", "done", hooks=[keeper, Late()]).run_sync("go", inputs={"host": "ws-7"})

    assert "EVIL" not in world.done


@pytest.mark.parametrize("args", [None, [1], 5, "text"])
def test_arguments_that_are_no_map_are_refused(args: Any) -> None:
    """
    Whatever a model hands over, the run goes on by the gate's answer.
    """
    world = World()
    result = agent(world, LOOK, gw.ToolCall("cut", args), CUT).run_sync("go", inputs={"host": "ws-7"})

    assert (result.success, world.done) == (True, ["ws-7"])


@pytest.mark.parametrize(
    "reply",
    [
        ModelReply(None), ModelReply(5), ModelReply("a", None), ModelReply("a", (5,)),  # type: ignore[arg-type]
        ModelReply("", (gw.ToolCall(None, {}),)), ModelReply("", (gw.ToolCall("look", {}, 7),)),  # type: ignore[arg-type]
        ModelReply("a", (), None), ModelReply("a", (), gw.Usage(-5)), ModelReply("a", (), gw.Usage(2.5)),  # type: ignore[arg-type]
        ModelReply("a", (), gw.Usage(1, cost=float("nan"))),
    ],
)  # fmt: skip
def test_a_reply_with_odd_fields_is_the_models_failure(reply: ModelReply) -> None:
    """
    It ends the segment with `error`, never with a traceback, and the run can be gone on with.
    """

    async def odd(request: Any) -> ModelReply:
        return reply

    class Odd:
        name = "odd"
        reply = staticmethod(odd)

    world = World()
    result = Agent(Odd(), [world.look, world.cut], playbook=PLAYBOOK).run_sync("go", inputs={"host": "ws-7"})

    assert (result.stop_reason, type(result.error).__name__) == ("error", "ModelError")


@pytest.mark.parametrize("point", ["on_start", "before_model", "before_tool", "after_tool"])
def test_a_hook_that_hangs_is_not_waited_for_past_the_limit(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The time of the run is over for hooks, too.
    """
    monkeypatch.setattr(patience, "GRACE", 0.05)

    async def hang(self: Any, given: Any) -> None:
        await asyncio.sleep(1000)

    hook = type("Hang", (), {point: hang})()
    world = World()
    result = agent(world, LOOK, CUT, hooks=[hook], limits=AgentLimits(seconds=0.3)).run_sync(
        "go", inputs={"host": "ws-7"}
    )

    assert (result.stop_reason, world.done) == ("time_budget", [])


def test_a_tool_that_does_not_heed_being_cancelled_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Nobody knows what becomes of it.
    """
    from guideway.runtime.agent import pool

    monkeypatch.setattr(pool, "GRACE", 0.05)
    stop = asyncio.Event()

    async def look() -> str:
        """Look, for ever."""
        while not stop.is_set():
            try:
                await asyncio.wait_for(stop.wait(), 30)
            except asyncio.CancelledError:
                continue
        return "late"

    async def run() -> Any:
        made = Agent(FakeModel([LOOK]), [look, World().cut], playbook=PLAYBOOK, limits=AgentLimits(seconds=0.2))
        result = await made.run("go", inputs={"host": "ws-7"})
        stop.set()
        return result

    assert asyncio.run(run()).stop_reason == "time_budget"


def test_an_agent_goes_on_only_in_the_mode_the_run_was_begun_in() -> None:
    """
    A run that only recorded is not taken up by an agent that enforces, as if it did.
    """
    world, journal = World(), MemoryJournal()
    tools: list[Any] = [world.look, world.cut]
    first = Agent(FakeModel([LOOK, CUT]), tools, playbook=PLAYBOOK, mode="record", journal=journal)
    first.run_sync("go", inputs={"host": "ws-7"}, run_id="r")
    second = Agent(FakeModel([CUT]), tools, playbook=PLAYBOOK, journal=journal)

    with pytest.raises(gw.HostError, match="begun in `record` mode"):
        second.recover_sync("r")


def test_a_run_cut_off_before_its_first_note_is_recovered() -> None:
    """
    The journal has its start alone; the prompt is said again.
    """
    world, journal = World(), MemoryJournal()
    start(journal, gw.load(PLAYBOOK), run_id="r", inputs={"host": "ws-7"})
    made = agent(world, LOOK, CUT, journal=journal)
    result = made.recover_sync("r", said="An alert.")

    assert (result.success, world.done) == (True, ["ws-7"])


def test_a_reply_with_thousands_of_calls_is_cut() -> None:
    """
    The first are looked at; the others are answered, and did not run.
    """
    world = World()
    many = ModelReply("", tuple(gw.ToolCall("look", {}, f"c{n}") for n in range(3000)))
    result = agent(world, many, CUT).run_sync("go", inputs={"host": "ws-7"})

    assert result.success
    assert sum("at most" in str(message.get("content")) for message in result.messages) == 3000 - 128


@pytest.mark.parametrize("price", [float("nan"), -1.0, float("inf"), True])
def test_a_price_that_no_limit_would_ever_reach_is_refused(price: float) -> None:
    """
    A cost limit beside it would be none.
    """
    with pytest.raises(gw.HostError, match="a price is a number"):
        Price(price, 1.0)
    with pytest.raises(gw.HostError, match="hundred years"):
        AgentLimits(seconds=1e18)


@pytest.mark.parametrize(
    ("condition", "reason", "success"),
    [
        (NoToolCalls(), "no_tools", True),
        (TextMention(r"\bESCALATE\b"), r"text_mention:\bESCALATE\b", False),
        (ToolCalled("cut") & NoToolCalls(), "tool_called:cut AND no_tools", True),
    ],
)
def test_without_a_playbook_the_condition_is_asked_before_the_text_ends_the_run(
    condition: Any, reason: str, success: bool
) -> None:
    """
    The document of the termination algebra has no playbook: which branch fired is told in its own words.
    """
    result = Agent(FakeModel([CUT, "please ESCALATE"]), [World().cut], termination=condition).run_sync("go")

    assert (result.reason, result.success) == (reason, success)


def test_hooks_as_the_document_of_seed_two_writes_them() -> None:
    """
    Plain classes with `ctx` and `call`, not wrapped in anything.
    """
    from guideway.hooks.methods import HookAction, ToolCall, ToolResult

    class StopAfterTwoCalls:
        def before_model(self, ctx: Any) -> Any:
            if ctx.model_calls >= 2:
                return HookAction(end=True, output="stopped: too many model calls")
            return None

    class CountRuns:
        def on_start(self, ctx: Any) -> Any:
            runs = (ctx.hook_state or {}).get("runs", 0) + 1
            return HookAction(state={"runs": runs})

    class Cache:
        def before_tool(self, call: ToolCall) -> Any:
            return ToolResult("seen (cached)") if call.name == "look" else None

    world = World()
    hooks = [StopAfterTwoCalls(), CountRuns(), Cache()]
    result = agent(world, LOOK, "hm", "hm", hooks=hooks).run_sync("go", inputs={"host": "ws-7"})

    assert (result.stop_reason, result.output) == ("hook_end", "stopped: too many model calls")
    assert result.hook_states["CountRuns"] == {"runs": 1}
    assert "seen (cached)" in [message.get("content") for message in result.messages]


def test_a_function_model_may_be_slow() -> None:
    """
    A limit in time does not wait for the model, either.
    """

    async def slow(request: Any) -> str:
        await asyncio.sleep(1000)
        return ""

    result = Agent(FunctionModel(slow), [], limits=AgentLimits(seconds=0.2)).run_sync("go")

    assert result.stop_reason == "time_budget"


def test_a_decision_for_an_older_result_is_refused_and_burns_nothing() -> None:
    """
    The run has gone on since: nothing is decided, and the latest result still works.
    """
    world = World()
    twice = {**PLAYBOOK, "steps": [*PLAYBOOK["steps"], {"id": "again", "description": "A", "expected_tools": ["cut"]}]}
    made = Agent(FakeModel([LOOK, CUT, CUT]), [world.look, world.cut], playbook=twice)
    first = made.run_sync("go", inputs={"host": "ws-7"})
    second = made.send_sync(Decision("approve", by="lead"), to=first)
    asked = second.pending[0].approval_id
    with pytest.raises(gw.HostError, match="gone on since"):
        made.send_sync({asked: Decision("approve", by="lead")}, to=first)
    last = made.send_sync({asked: Decision("approve", by="lead")}, to=second)

    assert (last.success, world.done) == (True, ["ws-7", "ws-7"])


def test_while_a_person_looks_into_an_unknown_call_the_model_is_not_asked() -> None:
    """
    The run is suspended with the question; the model is not nudged out of it.
    """
    world, journal = World(), MemoryJournal()
    session = start(journal, gw.load(PLAYBOOK), run_id="r", inputs={"host": "ws-7"})
    session.propose([gw.ToolCall("look", {}, "c1")])
    session.observe("c1", gw.Succeeded("seen"))
    session.propose([gw.ToolCall("cut", {"host": "ws-7"}, "c2")])
    gw.Approvals(session).approve("call c2", by="lead")
    made = Agent(FakeModel(["I wait."] * 9), [world.look, world.cut], playbook=PLAYBOOK, journal=journal)
    result = made.recover_sync("r")
    ended = made.send_sync({"reconcile c2": Decision("happened", by="ann", result="done")}, to=result)

    assert (result.status, [question.of for question in result.pending]) == ("suspended", ["reconcile"])
    assert (ended.outcome, world.done) == ("success", [])


def test_a_recovered_model_reads_what_it_read_and_passes_on_no_mark() -> None:
    """
    With a vault the transcript is whole; without one, a call that holds a mark does not run.
    """

    class Safe:
        def __init__(self) -> None:
            self.kept: dict[Any, Any] = {}

        def put(self, run: str, name: str, value: Any) -> None:
            self.kept[run, name] = value

        def get(self, run: str, name: str) -> Any:
            return self.kept.get((run, name))

    done: list[str] = []

    def login() -> dict[str, str]:
        """Log in."""
        return {"cookie": "RESSECRET-55"}

    def use(key: str) -> str:
        """Use it."""
        done.append(key)
        return "done"

    hidden = {"type": "object", "properties": {"cookie": {"type": "string", "sensitive": True}}}
    book = {"id": "p", "name": "P", "tools": {"login": {"effect": "read", "result": hidden}, "use": {}},
            "steps": [{"id": "login", "description": "L", "expected_tools": ["login"]},
                      {"id": "ask", "ask": "Go on?"},
                      {"id": "use", "description": "U", "expected_tools": ["use"]}]}  # fmt: skip

    def reader(request: Any) -> Any:
        read = [message["content"] for message in request.messages if message["role"] == "tool"]
        return gw.ToolCall("login", {}) if not read else gw.ToolCall("use", {"key": read[0]["cookie"]}, f"u{len(read)}")

    for vault in (Safe(), None):
        journal = MemoryJournal()
        made = Agent(FunctionModel(reader), [login, use], playbook=book, journal=journal, vault=vault)
        made.run_sync("go", run_id="r")
        again = Agent(FunctionModel(reader), [login, use], playbook=book, journal=journal, vault=vault)
        result = again.recover_sync("r", said=Decision("answer", by="ann", answer="yes"))
        assert result.success is (vault is not None)
    assert done == ["RESSECRET-55"]


def test_the_state_of_a_result_can_be_sealed() -> None:
    """
    Whoever keeps it as a file finds out if somebody has edited it.
    """
    from guideway.journal import seal, unseal

    world = World()
    made = Agent(FakeModel([LOOK, CUT]), [world.look, world.cut], playbook=PLAYBOOK)
    result = made.run_sync("go", inputs={"host": "ws-7"})
    sealed = seal(result.state, b"k" * 32)
    again = made.resume_sync(unseal(sealed, b"k" * 32).data, Decision("approve", by="lead"))
    sealed["snapshot"]["session"]["bound"][0]["args"]["host"] = "EVIL"

    assert (again.success, world.done) == (True, ["ws-7"])
    with pytest.raises(gw.JournalError, match="not the one that was sealed"):
        unseal(sealed, b"k" * 32)
