"""What a branch or an irreversible call of a shipped playbook rests on is not the agent's to choose."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
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
    """Remembers which tools were refused."""

    def __init__(self) -> None:
        self.tools: list[str] = []

    def happened(self, records: Iterable[Record]) -> None:
        """Keep the refused ones."""
        self.tools += [e["tool"] for e in map(to_json, records) if e["kind"] == "decided" and e["verdict"] == "deny"]


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


def test_a_refund_rests_on_the_order_that_was_asked_about() -> None:
    """Neither another order of the customer's nor one of somebody else can be what the refund is reckoned from."""
    order = {"customer_id": "c-1", "paid": 900, "refunded": 0, "days_since_delivery": 3}
    names = ("search_help", "issue_refund", "list_refunds", "write_to_customer", "hand_over")
    tools: dict[str, Any] = {name: lambda **_: {} for name in names}
    tools["get_order"] = lambda order_id: {"id": order_id, **order}
    read = [guideway.ToolCall("get_order", {"order_id": "o-2"})]
    machine = guideway.load(ROOT / "playbooks" / "library" / "refund-request.yaml")

    assert run(machine, {"customer_id": "c-1", "order_id": "o-1"}, tools, [read])[::2] == ("understand", ["get_order"])
    read[0] = guideway.ToolCall("get_order", {"order_id": "o-1"})
    assert run(machine, {"customer_id": "c-9", "order_id": "o-1"}, tools, [read])[0] == "understand"
