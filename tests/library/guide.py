"""Stories of the playbooks of the language guide, and of those translated from elsewhere."""

from __future__ import annotations

from typing import Any

from guideway import Failed

from .story import Fault, InTurn, Story

HOST = {"host": "srv-7"}
CUSTOMER = {"customer_id": "c-1"}
CHAT: dict[str, Any] = {
    "know": ["Hello! Where do you live now?", [("get_customer", {"customer_id": "c-1"})]],
    "change": [[("set_address", {"customer_id": "c-1", "address": "Lindenallee 3"})]],
}
CASE = {"case_id": "c-1"}


def case(verdict: str) -> dict[str, Any]:
    """The replies of an agent that comes to this verdict, and is sure of it."""
    said = {"verdict": verdict, "summary": "A test of the team next door.", "confidence": 0.9}
    return {"read": [[("read_case", {"case_id": "c-1"})], [("complete_step", said)]]}


def pay(amount: int) -> dict[str, Any]:
    """The replies of an agent that pays this amount."""
    return {
        "read": [[("get_invoice", {"invoice": "i-1"})]],
        "pay_it": [[("pay", {"invoice": "i-1", "amount": amount})]],
    }


BILL = {"invoice": "i-1", "clerk": "carla"}
LOGIN = {"user": "ann", "ip": "198.51.100.7"}
LEAVER = {"user": "ann", "manager": "mia"}
HEIR = {"name": "bob", "keep_copy": True}
MOVE = {"database": "orders"}
CHECKED = {"query": [], "look": [[("query", {"metric": "cpu"})], [("search_logs", {"text": "Error"})]]}
CAUSE = [("complete_step", {"cause": "The pool of connections is too small."})]
CARE = [[("snapshot", HOST)], [("patch", HOST)], [("verify", HOST)], [("read_state", HOST)], [("complete_step", {})]]
WIPE = [[("page_owner", HOST)], [("wipe", HOST)]]
PATCHING = [[("patch", HOST)]]

JOB = {"job": "j-1"}
FUNDED = {"budget_spent": False}
MOVING = {"work": [[("move_batch", {}), ("verify_copy", JOB)]]}
SURE: dict[str, Any] = {"work": [[("job_state", JOB)], 0.95]}

GUIDE = {
    "parallel": [
        Story("known", HOST, {"open_ports": {"open": [22]}}),
        Story("known", HOST, {
            "open_ports": {"open": []}, "reverse_dns": Failed("no name"), "passive_dns": Failed("no name")}),
        Story("escalated", HOST, {"open_ports": Failed("down")}),
    ],
    "sections": [
        Story("ready", {"user": "ann", "remote": False}),
        Story("ready", {"user": "ann", "remote": True}, signals={"arrived": None}),
        Story("escalated", {"user": "ann", "remote": True}),
        Story("escalated", {"user": "ann", "remote": True}, {"ship": Failed("no courier")}),
    ],
    "for-each": [
        Story("rotated", {"team": "blue"}, {
            "keys": {"keys": ["k-1", "k-2"]}, "issue": {"id": "k-9"},
            "used": InTurn([{"used": False}, {"used": True}])}),
        Story("rotated", {"team": "blue"}, {"keys": {"keys": []}}),
        Story("some_left", {"team": "blue"}, {
            "keys": {"keys": ["k-1"]}, "issue": {"id": "k-9"}, "used": {"used": False}}),
    ],
    "repeat": [
        Story("drained", {"queue": "mail"}, {
            "batch": {"items": [1]}, "left": InTurn([{"length": 1}, {"length": 0}]), "stays_empty": {"length": 0}}),
        Story("stuck", {"queue": "mail"}, {"batch": {"items": [1]}, "left": {"length": 9}}),
    ],
    "sub-playbooks": [
        Story("fine", LOGIN, {"where_is": {"country": "DE"}}),
        Story("fine", LOGIN | {"ip": "10.1.1.1"}, {"where_is": {"country": "none"}}),
        Story("odd", LOGIN, {"where_is": {"country": "BR"}}),
        Story("odd", LOGIN, {"where_is": Failed("down")}),
    ],
    "look-up-address": [Story("theirs", {"ip": "198.51.100.7"}, {"where_is": {"country": "DE"}})],
    "waits-and-signals": [
        Story("done_in_time", {"change": "ch-1", "opens_at": "2026-03-03T20:00:00Z"}, {"read_health": {"ok": True}},
              signals={"go": {"change": "ch-1"}}),
        Story("called_off", {"change": "ch-1", "opens_at": "2026-03-03T20:00:00Z"}, signals={"go": {"change": "ch-2"}}),
        Story("called_off", {"change": "ch-1", "opens_at": "2026-03-03T20:00:00Z"}),
    ],
    "ask": [
        Story("archived", LEAVER, people={"mailbox": "archive"}),
        Story("handed_on", LEAVER, people={"mailbox": "hand_on", "successor": HEIR}),
        Story("held", LEAVER, people={"mailbox": "legal_hold"}),
        Story("archived", LEAVER, faults={"mailbox": Fault.SILENT}),
    ],
    "approvals": [
        Story("paid", BILL, {"get_invoice": {"amount": 20}}, pay(20), faults={"pay_it.approval": Fault.SILENT}),
        Story("paid", BILL, {"get_invoice": {"amount": 900}}, pay(900)),
        Story("paid", BILL, {"get_invoice": {"amount": 9000}}, pay(9000)),
        Story("paid", BILL, {"get_invoice": {"amount": 900000}}, pay(900000)),
        Story("declined", BILL, {"get_invoice": {"amount": 900}}, pay(900), {"pay_it": Fault.REJECTED}),
        Story("declined", BILL, {"get_invoice": {"amount": 900000}}, pay(900000),
              faults={"pay_it.approval": Fault.SILENT}),
    ],
    "claims": [
        Story("closed", CASE, {"read_case": {"alerts": 0}}, case("benign")),
        Story("open", CASE, {"read_case": {"alerts": 3}}, case("benign")),
        Story("open", CASE, {"read_case": {"alerts": 0}}, case("unsure")),
    ],
    "conversation": [
        Story("changed", CUSTOMER, agent=CHAT, people={"sure": "yes"}),
        Story("handed_over", CUSTOMER, agent=CHAT, people={"sure": "no"}),
        Story("handed_over", CUSTOMER, agent={"know": [[("hand_over", {})]]}),
        Story("stopped:max_iterations", CUSTOMER, agent={"know": ["Hello!"]}),
    ],
    "undo": [
        Story("moved", MOVE, {"switch_over": {"previous": "a"}, "compare": {"equal": True}}),
        Story("as_before", MOVE, {"switch_over": {"previous": "a"}, "compare": {"equal": False}}),
        Story("escalated", MOVE, {
            "compare": Failed("down"), "switch_over_to": Failed("down"), "switch_over": {"previous": "a"}}),
    ],
    "finally": [
        Story("solved", {"customer": "c", "ticket": "t"},
              agent={"work": [[("run_diagnosis", {})], [("apply_fix", {})]]}),
        Story("unsolved", {"customer": "c", "ticket": "t"}, {"open_tunnel": Failed("no route")}),
        Story("stopped:nudges", {"customer": "c", "ticket": "t"}, agent={"work": ["I am done."]}),
    ],
    "any-order": [
        Story("success", {"user": "ann"}, agent={"account": [
            [("assign_training", {}), ("order_badge", {})], [("create_account", {})]]}),
    ],
    "predicates": [
        Story("locked", {"user": "ann"}, predicates={"is_vip": False, "in_change_freeze": False}),
        Story("left_alone", {"user": "ann"}, predicates={"is_vip": True, "in_change_freeze": False}),
    ],
    "probes": [
        Story("found", {"service": "shop"}, agent={"look": [*CHECKED["look"], CAUSE]}),
        Story("stopped:refusals", {"service": "shop"}, agent={"look": [CAUSE]}),
    ],
    "policies": [
        Story("kept", HOST, {"verify": {"ok": True}}, {"care": CARE}),
        Story("stopped:refusals", HOST, {"verify": {"ok": True}}, {"care": PATCHING}),
        Story("retired", HOST | {"retire": True}, {"verify": {"ok": True}}, {
            "care": [[("read_state", HOST)], [("complete_step", {})]], "retire": WIPE}),
        Story("stopped:rejected", HOST | {"retire": True}, {"verify": {"ok": True}}, {"care": CARE},
              {"agree": Fault.REJECTED}),
    ],
    "termination": [
        Story("finished", JOB, {"verify_copy": {"equal": True}}, MOVING, predicates=FUNDED),
        Story("good_enough", JOB, {"job_state": {"percent": 99}}, SURE, predicates=FUNDED),
        Story("called_off", JOB, predicates={"budget_spent": True}),
        Story("called_off", JOB, agent=MOVING, predicates=FUNDED, sent=["stop_migration"]),
        Story("escalated", JOB, agent={"work": [[("hand_over", {})]]}, predicates=FUNDED),
        Story("stopped:max_iterations", JOB, {"verify_copy": {"equal": False}}, MOVING, predicates=FUNDED),
    ],
    "access-investigation": [
        Story("confirmed", CASE | {"user": "ann", "source_ip": "a", "destination_ip": "b"},
              {"get_account": {"email": "ann"}}, people={"own_activity": "yes"}),
        Story("remediated", CASE | {"user": "ann", "source_ip": "a", "destination_ip": "b"},
              {"get_account": {"email": "ann"}}, people={"own_activity": "no"}),
        Story("remediated", CASE | {"user": "ann", "source_ip": "a", "destination_ip": "b"}, {"get_account": {}}),
    ],
    "manual-command": [
        Story("ready", people={"manual": {"hyperspeed_ready": True}}),
        Story("not_ready", people={"manual": {"hyperspeed_ready": False}}),
        Story("not_ready", faults={"manual": Fault.SILENT}),
    ],
    "human-task": [
        Story("completed", {"task": "Count the cups.", "person": "ann"}),
        Story("escalated", {"task": "Count the cups.", "person": "ann"}, faults={"task": Fault.SILENT}),
    ],
    "terraform": [
        Story("planned", {"ref": "refs/pull/7", "event": "pull_request"}, {
            "terraform_format": {"clean": True}, "terraform_plan": {"plan": "p-1", "summary": "two changes"}}),
        Story("applied", {"ref": "refs/heads/main", "event": "push"}, {
            "terraform_format": {"clean": True}, "terraform_plan": {"plan": "p-1", "summary": "two changes"}}),
        Story("declined", {"ref": "refs/heads/main", "event": "push"}, {
            "terraform_format": {"clean": True}, "terraform_plan": {"plan": "p-1", "summary": "two changes"}},
            people={"apply": Fault.REJECTED}),
    ],
}  # fmt: skip
