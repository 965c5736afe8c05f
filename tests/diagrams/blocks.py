"""Machines with blocks, built by hand as the compiler lowers them."""

from __future__ import annotations

from guideway.statemachine.approvals import Approval
from guideway.statemachine.blocks import Ask, Each, Parallel, Probe, SubPlaybook, Undo, Wait
from guideway.statemachine.definition import Definition, EndKind, OutcomeClass, State, StateKind
from guideway.statemachine.expressions import parse
from guideway.statemachine.steps import Call, Entry, Repeat, Step, Work
from guideway.statemachine.tools import Effect, Reversal, Tool

from .conftest import Branches, end, engine, goal, state, table


def block(kind: StateKind, step: Step, *heads: str, completed: str, fails: Branches, **edges: Branches) -> list[State]:
    """Build the three states of a block."""
    forked = state(step.id, kind, step, joined=f"{step.id}.join", failed=f"{step.id}.failed", **edges)
    lists = {"forked": tuple(edge for head in heads for edge in state(step.id, kind, forked=head).edges["forked"])}
    again: dict[str, Branches] = {"again": heads[0]} if kind in (StateKind.EACH, StateKind.LOOP) else {}
    return [
        State(step.id, kind, lists | dict(forked.edges), step),
        state(f"{step.id}.join", StateKind.JOIN, step, completed=completed, **again),
        state(f"{step.id}.failed", StateKind.JOIN, step, failed=fails),
    ]


def fault(name: str) -> State:
    """Build the end of a step whose failure nobody handles."""
    return end(name, EndKind.FAULT, name, OutcomeClass.FAILED)


def machine(name: str, steps: list[Step], states: list[State], *, closing: tuple[str, ...] = ()) -> Definition:
    """Put a machine together."""
    ends, anywhere = engine()
    tools = {
        "charge": Tool("charge", undo=Reversal("refund")),
        "refund": Tool("refund", Effect.IRREVERSIBLE),
        "reserve": Tool("reserve", undo=Reversal("release")),
    }
    return Definition(name, name.capitalize(), states[0].name, table(*states, *ends), {step.id: step for step in steps},
                      tools=tools, anywhere=anywhere, closing=closing)  # fmt: skip


def canary() -> Definition:
    """Build a `for_each` whose failures are handled, and a `finally`."""
    ramp = Step("ramp", each=Each("percent", items=(5, 25, 100), concurrency=1))
    shift = Step("shift", block="ramp", call=Call("shift_traffic"))
    bake = Step("bake", block="ramp", wait=Wait(seconds=600))
    measure = Step("measure", block="ramp", call=Call("error_rate"))
    back, page, log = Step("roll_back", call=Call("shift_traffic")), *(
        Step(name, call=Call(name)) for name in ("page", "log")
    )  # fmt: skip
    states = [
        *block(StateKind.EACH, ramp, "shift", completed="success", fails="roll_back"),
        state("shift", StateKind.CALL, shift, completed="bake", failed="ramp.failed", rejected="stopped:rejected"),
        state("bake", StateKind.WAIT, bake, completed="measure", failed="ramp.failed"),
        state("measure", StateKind.CALL, measure, completed="ramp.join", failed="ramp.failed"),
        state("roll_back", StateKind.CALL, back, completed="rolled_back", failed="failed:roll_back"),
        state("page", StateKind.CALL, page), state("log", StateKind.CALL, log),
        goal("success"), goal("rolled_back", OutcomeClass.FAILED),
        end("stopped:rejected", EndKind.STOP, "stopped:rejected", OutcomeClass.STOPPED), fault("failed:roll_back"),
    ]  # fmt: skip
    return machine("canary", [ramp, shift, bake, measure, back, page, log], states, closing=("page", "log"))


def enrich() -> Definition:
    """Build a `parallel` behind a `when`, with a section, a router that fails it, and nobody to handle that."""
    whole = Step("enrich", when=parse("inputs.x > 1"), timeout=60,
                 parallel=Parallel(("address", "account", "notes"), 2, ("notes",)))  # fmt: skip
    address = Step("address", block="enrich", playbook=SubPlaybook("enrich-ip", {"ip": "{{ inputs.ip }}"}))
    look = Step("look", block="enrich", work=Work((Entry("query"),)), claims={"why": {}}, probes=(Probe("log", "x"),))
    check = Step("check", block="enrich")
    notes = Step("notes", block="enrich", description="Take notes")
    write = Step("write", block="notes", approval=Approval("Write?"), call=Call("write"))
    states = [
        state("enrich.entry", StateKind.ROUTER, whole, entered="enrich", passed="success", failed="failed:enrich"),
        *block(StateKind.FORK, whole, "address", "look", "notes", completed="success", fails="failed:enrich",
               timeout="escalated"),
        state("address", StateKind.FRAME, address, completed="enrich.join", failed="enrich.failed"),
        state("look", StateKind.STEP, look, completed="check", failed="enrich.failed"),
        state("check", StateKind.ROUTER, check, failed="enrich.failed",
              completed=[("claims.look.why == 'bad'", "enrich.failed"), ("", "enrich.join")]),
        *block(StateKind.SECTION, notes, "write.approval", completed="enrich.join", fails="enrich.failed"),
        state("write.approval", StateKind.APPROVAL, write, approved="write", rejected="enrich.failed"),
        state("write", StateKind.CALL, write, completed="notes.join", failed="notes.failed"),
        goal("success"), goal("escalated", OutcomeClass.ESCALATED), fault("failed:enrich"),
    ]  # fmt: skip
    return machine("enrich", [whole, address, look, check, notes, write], states)


def order() -> Definition:
    """Build a question with answers that lead away, a `repeat` with steps, and an `undo`."""
    ask = Step("confirm", timeout=7200, ask=Ask("Go on?", ("customer",), ("yes", "no", "later"), {"why": {}}, 3600))
    pages = Step("pages", repeat=Repeat(parse("facts.read.last"), 5, 60, parse("facts.read")))
    read = Step("read", block="pages", call=Call("read"))
    hold = Step("hold", block="pages", wait=Wait(signal="go_on"))
    back = Step("back", undo=Undo())
    states = [
        state("confirm", StateKind.ASK, ask, completed="pages", failed="failed:confirm", timeout="stopped",
              **{"answered no": "back", "answered later": "stopped"}),
        *block(StateKind.LOOP, pages, "read", completed="success",
               fails=[("facts.read.half", "back"), ("", "confirm")]),
        state("read", StateKind.CALL, read, completed="hold", failed="pages.failed", skipped="pages.join"),
        state("hold", StateKind.WAIT, hold, completed="pages.join", failed="pages.failed", timeout="confirm"),
        state("back", StateKind.UNDO, back, completed="stopped", failed="failed:back"),
        goal("success"), goal("stopped", OutcomeClass.STOPPED), fault("failed:confirm"), fault("failed:back"),
    ]  # fmt: skip
    return machine("order", [ask, pages, read, hold, back], states)


MACHINES = {"canary": canary, "enrich": enrich, "order": order}
