"""What a branch or an irreversible call of a shipped playbook rests on is not the agent's to choose."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway.runtime.agents import Reply
from guideway.runtime.clocks import LeapingClock
from guideway.runtime.decisions import Recorded
from guideway.runtime.driver import Driver, Finish, Watcher, Why
from guideway.runtime.records import Record, to_json
from guideway.runtime.scripted import ScriptedAgent

ROOT = Path(__file__).parents[2]
CLEAN, BAD = "https://a.example/help", "https://b.example/payslip"
SENDER = guideway.ToolCall("check_sender", {"sender": "pay@b.example"})
THANK = guideway.ToolCall("reply_to_reporter", {"user": "ines", "text": "It is harmless."})


class Denied(Watcher):
    """Remembers which tools were refused, and why."""

    def __init__(self) -> None:
        self.tools: list[str] = []
        self.reasons: list[str] = []

    def happened(self, records: Iterable[Record]) -> None:
        """Keep the refused ones."""
        refused = [e for e in map(to_json, records) if e["kind"] == "decided" and e["verdict"] == "deny"]
        self.tools += [e["tool"] for e in refused]
        self.reasons += [f"{e['tool']}: {e['code']}" for e in refused]


def check(url: str) -> guideway.ToolCall:
    """A check of a link."""
    return guideway.ToolCall("check_url", {"url": url})


def phishing(urls: dict[str, str], *turns: list[guideway.ToolCall]) -> tuple[str, str, list[str]]:
    """A mail from an honest sender with these links and verdicts; the state and the text at the end, and refusals."""
    tools: dict[str, Any] = {
        "get_message": lambda message_id: {
            "message_id": message_id, "sender": "pay@b.example", "subject": "Payslip", "urls": list(urls)
        },
        "check_url": lambda url: {"url": url, "verdict": urls[url]},
        "check_sender": lambda sender: {"sender": sender, "spoofed": False, "first_seen_days": 900},
        "find_recipients": lambda message_id: {"mailboxes": ["ines"], "clicked": []},
        "reply_to_reporter": lambda user, text: {"to": user},
    }  # fmt: skip
    others = ("search_mail", "quarantine_message", "purge_message", "revoke_sessions", "share_indicator")
    tools |= {name: lambda **_: {} for name in others}
    machine = guideway.load(ROOT / "playbooks" / "library" / "phishing-triage.yaml")
    return run(machine, {"message_id": "m-1", "reporter": "ines"}, tools, turns)


def run(
    machine: guideway.Machine, inputs: dict[str, Any], tools: dict[str, Any], turns: Iterable[list[guideway.ToolCall]]
) -> tuple[str, str, list[str]]:
    """Drive it with an agent that makes these calls, a turn each."""
    clock, denied = LeapingClock(), Denied()
    session = guideway.Session(machine, inputs=inputs, now=clock.now())
    agent = ScriptedAgent([Reply("", calls) for calls in turns])
    finish = Driver(session, tools, agent=agent, clock=clock, watchers=[denied]).run()
    return session.state, finish.text, denied.tools


@pytest.mark.parametrize("verdict", ["malicious", "suspicious"])
def test_an_agent_that_checks_only_the_clean_link_does_not_end_harmless(verdict: str) -> None:
    """The step is not done while a link is unchecked, so the sender's check and the thanks are refused."""
    state, _, denied = phishing({BAD: verdict, CLEAN: "clean"}, [check(CLEAN), SENDER], [THANK])

    assert (state, denied) == ("inspect", ["check_sender", "reply_to_reporter"])


@pytest.mark.parametrize("verdict", ["malicious", "suspicious"])
@pytest.mark.parametrize("together", [True, False])
def test_an_agent_that_checks_the_clean_link_last_does_not_end_harmless(verdict: str, together: bool) -> None:
    """A clean answer after a bad one, or many of them, does not take the bad one back."""
    calls = [check(BAD), *[check(CLEAN)] * 10, SENDER]
    turns = [calls] if together else [[call] for call in calls]
    state, _, denied = phishing({BAD: verdict, CLEAN: "clean"}, *turns, [THANK])

    assert (state, denied) == ("quarantine", ["reply_to_reporter"])


def test_a_link_of_another_mail_is_not_checked() -> None:
    """Nothing but what the mail holds counts."""
    assert phishing({BAD: "malicious"}, [check(CLEAN)])[2] == ["check_url"]


@pytest.mark.parametrize("urls", [[], [CLEAN], [CLEAN, f"{CLEAN}/2", f"{CLEAN}/3"]])
def test_a_mail_with_clean_links_alone_ends_harmless(urls: list[str]) -> None:
    """Whatever their number, none included: the rule is no trap."""
    turns = [[*map(check, urls), SENDER], [THANK]]

    assert phishing(dict.fromkeys(urls, "clean"), *turns) == ("harmless", "harmless", [])


def test_more_links_than_the_budget_allows_go_to_a_person() -> None:
    """A mail stuffed with links cannot push the bad one out of sight."""
    urls = {f"{CLEAN}/{i}": "clean" for i in range(30)} | {BAD: "malicious"}

    assert phishing(urls, *[[check(url)] for url in urls])[1] == "escalated"


def test_only_a_bad_link_is_shared() -> None:
    """The recorded liar of the examples is refused four times, and the mail goes all the same."""
    spec = importlib.util.spec_from_file_location("phishing_tools", ROOT / "examples" / "phishing" / "tools.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    machine = guideway.load(ROOT / "playbooks" / "library" / "phishing-triage.yaml")
    clock, denied = LeapingClock(), Denied()
    session = guideway.Session(machine, inputs={"message_id": "m-501", "reporter": "ines"}, now=clock.now())
    decisions = Recorded.load(ROOT / "examples" / "phishing" / "approvals.json")
    agent = ScriptedAgent.load(ROOT / "examples" / "phishing" / "agent-lying.jsonl")
    driver = Driver(session, module.TOOLS, agent=agent, decisions=decisions, clock=clock, watchers=[denied])

    assert driver.run() == Finish(Why.ENDED, "contained")
    assert denied.tools == ["check_sender", *["reply_to_reporter"] * 2, "share_indicator"]


@pytest.mark.parametrize(
    ("file", "verdict", "state"),
    [
        ("docs/playbooks/triage.yaml", "malicious", "contain"),
        ("docs/playbooks/triage.yaml", "clean", "harmless"),
        ("src/guideway/cli/starter.yaml", "malicious", "contain"),
        ("src/guideway/cli/starter.yaml", "suspicious", "handed_over"),
        ("src/guideway/cli/starter.yaml", "clean", "harmless"),
    ],
)
def test_the_agent_does_not_choose_whose_verdict_decides(file: str, verdict: str, state: str) -> None:
    """A look at another host is refused; what is not clean never ends in success by itself."""
    tools: dict[str, Any] = {
        "enrich_indicator": lambda host: {"verdict": verdict if host == "ws-7" else "clean"},
        "isolate_host": lambda host: {},
    }
    turns = [[guideway.ToolCall("enrich_indicator", {"host": host})] for host in ("ws-9", "ws-7")]
    reached, _, denied = run(guideway.load(ROOT / file), {"host": "ws-7"}, tools, turns)

    assert (reached, denied) == (state, ["enrich_indicator"])


def refund(*turns: list[guideway.ToolCall], paid: int = 90, days: int = 3) -> tuple[str, list[str]]:
    """A refund of c-1, who owns o-1 and says yes to what is asked; the state reached, and why calls were refused."""
    owners = {"o-1": "c-1", "o-2": "c-2"}
    delivered = datetime.now(UTC) - timedelta(days=days)
    order = {"paid": paid, "delivered_at": f"{delivered:%Y-%m-%dT%H:%M:%SZ}"}
    tools: dict[str, Any] = {
        name: lambda **_: {} for name in ("search_help", "issue_refund", "send_receipt", "hand_over")
    }
    tools["get_order"] = lambda order_id: {"id": order_id, "customer_id": owners[order_id], **order}
    machine = guideway.load(ROOT / "playbooks" / "library" / "refund-desk.yaml")
    clock, denied = LeapingClock(), Denied()
    session = guideway.Session(machine, inputs={"customer_id": "c-1"}, now=clock.now())
    yes = Recorded([{"step": "confirm", "answer": "yes", "by": "customer"}])
    agent = ScriptedAgent([Reply("", calls) for calls in turns])
    Driver(session, tools, agent=agent, decisions=yes, clock=clock, watchers=[denied]).run()
    return session.state, denied.reasons


def order(order_id: str) -> guideway.ToolCall:
    """A look at an order."""
    return guideway.ToolCall("get_order", {"order_id": order_id})


def pay(order_id: str, amount: int) -> guideway.ToolCall:
    """A refund."""
    return guideway.ToolCall("issue_refund", {"order_id": order_id, "amount": amount})


SUM_UP = guideway.ToolCall("complete_step", {"reason": "it broke"})


def test_a_refund_rests_on_an_order_of_the_customer() -> None:
    """An order of somebody else can be read, and is no order to go on with, not even beside the right one."""
    assert refund([order("o-2")], [SUM_UP]) == ("understand", ["complete_step: control"])
    assert refund([order("o-1")], [order("o-2")], [SUM_UP], [pay("o-2", 9)]) == ("refund", ["issue_refund: where"])


@pytest.mark.parametrize(
    ("paid", "days", "amount", "why"),
    [
        pytest.param(90, 3, 91, "where", id="more than was paid"),
        pytest.param(90, 31, 90, "where", id="after thirty days"),
        pytest.param(9000, 3, 5001, "policy", id="more than an agent may pay"),
    ],
)
def test_a_refund_is_bound_to_what_was_read(paid: int, days: int, amount: int, why: str) -> None:
    """More than was paid, too late, or more than the policy allows is refused, and for that reason."""
    turns = [[order("o-1")], [SUM_UP], [pay("o-1", amount)]]

    assert refund(*turns, paid=paid, days=days) == ("refund", [f"issue_refund: {why}"])


def test_a_small_refund_is_paid_once() -> None:
    """Up to a hundred nobody is asked; the second payment is refused, in one turn and in two."""
    paid = [pay("o-1", 90)]

    assert refund([order("o-1")], [SUM_UP], paid * 2) == ("tell", ["issue_refund: out_of_sequence"])
    assert refund([order("o-1")], [SUM_UP], paid, paid) == ("tell", ["issue_refund: out_of_sequence"])
