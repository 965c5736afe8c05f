"""
Beside the implementation that the seed's document describes, on random playbooks without its faults.

Left out are, by the numbers of the parity list: failed calls and batches (D3 to D5), steps without tools (D6), later
steps' tools where extra tools are allowed (D8), and 30 refusals in a row (D17).  There the
two differ, and are meant to.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guideway as gw
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook

from .helpers import event

theirs = pytest.importorskip("tulip.playbooks.enforcer")
their_hook = pytest.importorskip("tulip.playbooks.hook")
their_models = pytest.importorskip("tulip.playbooks.models")

TOOLS = "abcdef"
STEP = st.fixed_dictionaries(
    {
        "description": st.just("Do"),
        "expected_tools": st.lists(st.sampled_from(TOOLS), min_size=1, max_size=3, unique=True),
        "hints": st.lists(st.sampled_from(["h1", "h2"]), max_size=2, unique=True),
        "required": st.booleans(),
    },
    optional={"max_tool_calls": st.integers(1, 4)},
)


@st.composite
def playbooks(draw: st.DrawFn) -> dict[str, Any]:
    """A playbook in the seed's words."""
    parts = draw(st.lists(STEP, min_size=1, max_size=4))
    return {"id": "p", "name": "P", "steps": [{"id": f"s{n}", **part} for n, part in enumerate(parts)]}


def seen(held: Any) -> tuple[Any, ...]:
    """What both show of a run."""
    step = held.current_step
    return (
        step.id if step else None, held.progress, held.is_complete, held.plan.completed_steps, held.plan.pending_steps,
        held.plan.total_tool_calls, held.get_step_summary(), held.get_next_step_hints(), held.current_step_hints,
        [(v.violation_type, v.message, v.step_id, v.tool_name, v.blocked) for v in held.violations],
        [(e.step_id, str(e.status), e.tool_calls, e.result) for e in held.plan.step_executions.values()],
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(playbooks(), st.lists(st.sampled_from([*TOOLS, "complete", "skip", "fail"]), max_size=12), st.booleans())
def test_by_hand_the_two_agree(data: dict[str, Any], does: list[str], block: bool) -> None:
    """
    Each check, and all that is shown after each move, is the same; only what was allowed is recorded.
    """
    ours = PlaybookEnforcer.from_playbook(gw.load_playbook(data), block_violations=block)
    peer = theirs.PlaybookEnforcer.from_playbook(their_models.Playbook(**data), block_violations=block)

    for what in does:
        if what == "complete":
            assert ours.complete_current_step("ok") == peer.complete_current_step("ok")
        elif what == "skip":
            assert ours.skip_current_step("why") == peer.skip_current_step("why")
        elif what == "fail":
            ours.fail_current_step("bad")
            peer.fail_current_step("bad")
        else:
            mine, other = ours.validate_tool_call(what), peer.validate_tool_call(what)
            assert mine.hints == other.hints
            # after completion the peer refuses although it was told not to block
            assert mine.allowed == (other.allowed or not block)
            if other.violation is None:
                ours.record_tool_call(what)
                peer.record_tool_call(what)
        assert seen(ours) == seen(peer)


@settings(max_examples=150, deadline=None)
@given(playbooks(), st.lists(st.sampled_from(TOOLS), max_size=14))
def test_under_the_hook_the_two_agree(data: dict[str, Any], calls: list[str]) -> None:
    """
    One successful call after the other: the same are blocked, in the same words, and the run stands in the same place.
    """
    ours = PlaybookEnforcerHook(gw.load_playbook({**data, "max_refusals": 1000}))
    peer = their_hook.PlaybookEnforcerHook(their_models.Playbook(**data))

    async def both() -> None:
        for number, tool in enumerate(calls):
            mine, other = event(tool, f"c{number}"), event(tool, f"c{number}")
            for hook, about in ((ours, mine), (peer, other)):
                await hook.on_before_tool_call(about)
                if not about.cancel:
                    about.result = "fine"
                    await hook.on_after_tool_call(about)
            assert mine.cancel == other.cancel

    asyncio.run(both())

    assert seen(ours.enforcer) == seen(peer.enforcer)


FAULTY = st.fixed_dictionaries(
    {"description": st.just("Do"), "expected_tools": st.lists(st.sampled_from(TOOLS), max_size=2, unique=True)},
    optional={"max_tool_calls": st.integers(0, 3)},
)
CALL = st.tuples(st.sampled_from([*TOOLS, "extra"]), st.booleans())


def why_they_differ(
    book: gw.Playbook, step: gw.PlaybookStep | None, tool: str, seen: list[tuple[str, bool]]
) -> set[str]:
    """What of the parity list explains that the two part at this call; `seen` are the calls of the step so far."""
    if step is None:
        return set()
    expected = [entry.tool for entry in step.expected_entries]
    named = {entry.tool for one in book.steps for entry in one.expected_entries}
    found = {"D3": any(fails for _, fails in seen), "D6": not expected, "D17": step.max_tool_calls == 0}
    if book.allow_extra_tools:
        found["D8"] = tool in named - set(expected)
        found["S14: an extra call spends nothing of the step"] = any(name not in expected for name, _ in seen)
    return {name for name, holds in found.items() if holds}


@settings(max_examples=200, deadline=None)
@given(st.lists(FAULTY, min_size=1, max_size=3), st.booleans(), st.lists(CALL, max_size=10))
def test_where_the_two_part_it_is_by_a_fault_of_the_peer(
    parts: list[dict[str, Any]], extra: bool, calls: list[tuple[str, bool]]
) -> None:
    """
    With its faults in reach, the first difference between the two is always one that the parity list names.
    """
    data = {"id": "p", "name": "P", "allow_extra_tools": extra, "steps": [
        {"id": f"s{n}", **part} for n, part in enumerate(parts)]}  # fmt: skip
    book = gw.load_playbook({**data, "max_refusals": 1000})
    ours, peer = PlaybookEnforcerHook(book), their_hook.PlaybookEnforcerHook(their_models.Playbook(**data))
    so_far = list[tuple[str, bool]]()

    async def one(hook: Any, tool: str, given: str, fails: bool) -> bool:
        about = event(tool, given)
        await hook.on_before_tool_call(about)
        if about.cancel:
            return False
        about.error, about.result = ("boom" if fails else None), "fine"
        await hook.on_after_tool_call(about)
        return True

    for number, (tool, fails) in enumerate(calls):
        step = ours.enforcer.current_step
        ran = [asyncio.run(one(hook, tool, f"c{number}", fails)) for hook in (ours, peer)]
        so_far.append((tool, fails))
        now = [hook.enforcer.current_step.id if hook.enforcer.current_step else None for hook in (ours, peer)]
        if ran[0] != ran[1] or now[0] != now[1]:
            assert why_they_differ(book, step, tool, so_far) != set()
            return
        if ran[0] is False:
            so_far.pop()
        if step is None or now[0] != step.id:
            so_far.clear()
