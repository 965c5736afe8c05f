"""Stories of the platform, commerce and identity playbooks of the library."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from guideway import Failed
from guideway.runtime.calls import Unknown

from .story import T0, Fault, InTurn, Story

RELEASE = {"service": "checkout", "version": "1.5.0"}
TRAFFIC = {"current_version": {"version": "1.4.2"}, "error_rate": {"rate": 0.002}}

CANARY_DEPLOY = [
    Story("success", RELEASE, TRAFFIC),
    Story("rolled_back", RELEASE, TRAFFIC | {"error_rate": InTurn([{"rate": 0.002}, {"rate": 0.4}])}),
    Story("frozen", RELEASE, TRAFFIC, start=T0 + timedelta(days=3)),
    Story("frozen", RELEASE, TRAFFIC, people={"agree": Fault.REJECTED}),
]

ORDER = {"id": "o-1", "customer_id": "c-1", "paid": 2000, "delivered_at": "2026-02-20T10:00:00Z"}
SHOP = {"get_order": ORDER, "issue_refund": {"refund": "r-1"}}
READ = [[("get_order", {"order_id": "o-1"})], [("complete_step", {"reason": "It arrived broken."})]]
RECEIPT = [[("send_receipt", {"order_id": "o-1"})]]


def refund(amount: int) -> dict[str, Any]:
    """The replies of an agent that pays so much."""
    return {"understand": READ, "refund": [[("issue_refund", {"order_id": "o-1", "amount": amount})]], "tell": RECEIPT}


BY_HAND = [[("hand_over", {"why": "I do not know."})]]

REFUND_DESK = [
    Story("success", {"customer_id": "c-1"}, SHOP, refund(50), {"confirm": "yes"}),
    Story("success", {"customer_id": "c-1"}, SHOP, refund(500), {"confirm": "yes"}),
    Story("success", {"customer_id": "c-1"}, SHOP, refund(1500), {"confirm": "yes"}),
    Story("declined", {"customer_id": "c-1"}, SHOP, refund(50), {"confirm": "no"}),
    Story("declined", {"customer_id": "c-1"}, SHOP, refund(500), {"confirm": "yes", "refund": Fault.REJECTED}),
    Story("handed_over", {"customer_id": "c-1"}, SHOP | {"issue_refund": Unknown()}, refund(50), {"confirm": "yes"}),
    Story("handed_over", {"customer_id": "c-1"}, SHOP, {"understand": BY_HAND}),
    Story("stopped:max_iterations", {"customer_id": "c-1"}, SHOP, {"understand": ["Tell me more."]}),
    Story("stopped:refusals", {"customer_id": "c-1"}, SHOP, refund(5001), {"confirm": "yes"}),
]

PERSON = {"active": True, "manager": "mia", "roles": ["reader"]}
ROLE = {"owner": "olaf", "privileged": True, "conflicts_with": ["auditor"]}
DIRECTORY = {
    "person": PERSON,
    "get_role": ROLE,
    "grant_role": {"granted_at": "2026-03-03T09:00:00Z"},
    "gone": InTurn([PERSON | {"roles": ["admin"]}, PERSON]),
}
REQUEST = {"requester": "rob", "system": "billing", "role": "admin", "lasts": "72h", "reason": "Quarterly closing"}
AUDITOR = {"person": PERSON | {"roles": ["auditor"]}}

ACCESS_REQUEST = [
    Story("ended", REQUEST, DIRECTORY),
    Story("ended", REQUEST, DIRECTORY, signals={"given_back": {"by": "rob"}}),
    Story("ended", REQUEST, DIRECTORY | {"get_role": ROLE | {"privileged": False}}),
    Story("ended", REQUEST, DIRECTORY, faults={"expires": Fault.HOST, "given_back": Fault.HOST}),
    Story("ended", REQUEST, DIRECTORY | {"get_role": ROLE | {"owner": "mia"}}, signals={"given_back": None}),
    Story("already_there", REQUEST, DIRECTORY | {"person": PERSON | {"roles": ["admin"]}}),
    Story("conflict", REQUEST, DIRECTORY | AUDITOR),
    Story("declined", REQUEST, DIRECTORY, people={"agree": Fault.REJECTED}),
    Story("escalated", REQUEST | {"lasts": "9999h"}, DIRECTORY),
    Story("escalated", REQUEST, DIRECTORY | {"gone": PERSON | {"roles": ["admin"]}}),
]

INSTANCES = {"list_instances": {"instances": ["i-1", "i-2"]}, "health": InTurn([{"ok": False}, {"ok": True}])}

RESTART_SERVICE = [
    Story("restarted", {"service": "checkout"}, INSTANCES),
    Story("failed:rolling", {"service": "checkout"}, INSTANCES | {"health": {"ok": False}}),
    Story("failed:instances", {"service": "checkout"}, INSTANCES | {"list_instances": {"instances": ["i-1"]}}),
]

ROTA = {"rota": ["ann", "bob"], "message": "Checkout is down."}

PAGE_ON_CALL = [
    Story("taken", ROTA, people={"answer": "mine"}),
    Story("taken", ROTA, people={"answer": InTurn(["not_mine", "mine"])}),
    Story("nobody", ROTA, people={"answer": "not_mine"}),
    Story("nobody", ROTA, {"page": Failed("no signal")}),
]

DEPLOYED = {"deploys": [{"id": "d-9", "at": "2026-03-03T08:30:00Z"}]}
ALERT = INSTANCES | {
    "alert": {"firing": True, "severity": "high"},
    "deploys": DEPLOYED,
    "look": InTurn([{"firing": True, "severity": "high"}, {"firing": False, "severity": "high"}]),
}
PAGED = {"alert_id": "a-1", "service": "checkout", "rota": ["ann", "bob"]}


def remedy(word: str) -> dict[str, Any]:
    """The replies of an agent that finds this remedy."""
    said = {"cause": "The last deploy leaks connections.", "remedy": word}
    return {"diagnose": [[("search_logs", {"query": "error"})], [("complete_step", said)]]}


MINE = {"answer": "mine"}
STILL = {"look": {"firing": True, "severity": "high"}}
SEARCHING = {"diagnose": [[("search_logs", {"query": "error"})]]}

ON_CALL_TRIAGE = [
    Story("recovered", PAGED, ALERT, remedy("roll_back"), MINE),
    Story("recovered", PAGED, ALERT, remedy("restart"), MINE),
    Story("handed_over", PAGED, ALERT, remedy("page"), MINE),
    Story("handed_over", PAGED, ALERT | STILL, remedy("restart"), MINE),
    Story("handed_over", PAGED, ALERT | {"deploys": {"deploys": []}}, remedy("roll_back"), MINE),
    Story("handed_over", PAGED, ALERT, remedy("roll_back"), MINE | {"roll_back": Fault.REJECTED}),
    Story("stopped:refusals", PAGED, ALERT, SEARCHING),
    Story("escalated", PAGED, ALERT, remedy("page"), {"answer": "not_mine"}),
    Story("false_alarm", PAGED, ALERT | {"alert": {"firing": False, "severity": "low"}}),
    Story("stopped:nudges", PAGED, ALERT, {"diagnose": ["Let me think."]}),
]

PURCHASE = {"order_id": "o-1", "customer_id": "c-1", "cents": 4200, "items": ["tea", "cup"]}
WAREHOUSE = {
    "reserve_stock": {"reservation": "s-1"},
    "charge_card": {"charge": "p-1"},
    "book_carrier": {"booking": "b-1", "pick_up_by": "2026-03-05"},
}
COLLECTED = {"collected": {"booking": "b-1"}}

ORDER_FULFILMENT = [
    Story("shipped", PURCHASE, WAREHOUSE, signals=COLLECTED),
    Story("cancelled", PURCHASE, WAREHOUSE),
    Story("escalated", PURCHASE, WAREHOUSE | {"charge_card": Unknown()}, signals=COLLECTED),
]


def pages(args: dict[str, Any]) -> dict[str, Any]:
    """A listing of three pages."""
    after = {None: 0, "p-1": 1, "p-2": 2}[args["after"]]
    return {"items": [after], "next": (["p-1", "p-2", None])[after], "total": 3}


LISTING = {"collection": "orders", "target": "out/orders.jsonl"}
BUSY = Failed({"type": "Throttled", "message": "slowly"})

PAGINATED_EXPORT = [
    Story("exported", LISTING, {"list_records": pages, "write_export": {"records": 3}}),
    Story("exported", LISTING, {
        "list_records": InTurn([BUSY, {"items": [1], "next": None, "total": 1}]), "write_export": {"records": 1}}),
    Story("empty", LISTING, {"list_records": {"items": [], "next": None, "total": 0}}),
    Story("incomplete_list", LISTING, {"list_records": {"items": [1], "next": "p-1", "total": 3}}),
    Story("incomplete_list", LISTING, {"list_records": pages, "write_export": {"records": 2}}),
]  # fmt: skip

GREEN = {"commit": "c-2", "passed": 12, "failed": 0, "report": ""}
RED = {"commit": "c-1", "passed": 10, "failed": 2, "report": "two are red"}
REPOSITORY = {
    "run_tests": InTurn([RED, GREEN]),
    "read_diff": {"commit": "c-2", "lines": 20},
    "read_ticket": {"text": "Make it faster."},
}
TICKET = {"ticket": "t-1", "branch": "agent/t-1"}


def coder(*verdicts: str) -> dict[str, Any]:
    """The replies of an agent whose review says this, one time after the other."""
    plan = {"plan": "Cache the look-up in the handler, and measure it before and after."}
    reviews: list[Any] = []
    for word in verdicts:
        reviews += [[("read_diff", {"branch": "agent/t-1"})], [("complete_step", {"verdict": word, "notes": "n"})]]
    return {
        "plan": [[("read_file", {"path": "a.py"})], [("complete_step", plan)]],
        "edit": [[("write_file", {"branch": "agent/t-1", "path": "a.py", "text": "x"})]],
        "review": reviews,
    }


LARGE = {"read_diff": {"commit": "c-2", "lines": 900}}
READING = [[("read_file", {"path": "a.py"})]]

CODING_AGENT = [
    Story("opened", TICKET, REPOSITORY, coder("good")),
    Story("opened", TICKET, REPOSITORY, coder("rework", "good")),
    Story("opened", TICKET, REPOSITORY | LARGE, coder("good")),
    Story("declined", TICKET, REPOSITORY | LARGE, coder("good"), {"sign": Fault.REJECTED}),
    Story("given_up", TICKET, REPOSITORY | {"run_tests": RED}, coder("good")),
    Story("given_up", TICKET, REPOSITORY, coder("rework", "rework", "rework")),
    Story("stopped:refusals", TICKET, REPOSITORY, coder("good") | {"plan": READING}),
    Story("stopped:max_iterations", TICKET, REPOSITORY | {"run_tests": RED}, coder("good") | {"edit": READING}),
    Story("given_up", TICKET, REPOSITORY, coder("good") | {"review": READING}),
]

PLATFORM = {
    "canary-deploy": CANARY_DEPLOY,
    "refund-desk": REFUND_DESK,
    "access-request": ACCESS_REQUEST,
    "restart-service": RESTART_SERVICE,
    "page-on-call": PAGE_ON_CALL,
    "on-call-triage": ON_CALL_TRIAGE,
    "order-fulfilment": ORDER_FULFILMENT,
    "paginated-export": PAGINATED_EXPORT,
    "coding-agent": CODING_AGENT,
}
