"""Stories of the security playbooks of the library."""

from __future__ import annotations

from .story import Fault, InTurn, Story

ADDRESS = {
    "ip_reputation": {"score": 80},
    "ip_location": {"country": "BR", "owner": "an access provider"},
    "host_of_address": {"host": "ws-7"},
}
SIGN_IN = ADDRESS | {
    "directory_lookup": {"privileged": False, "manager": "mia"},
    "search_sign_ins": {"sign_ins": []},
    "list_sessions": InTurn([{"active": ["s-1"]}, {"active": []}]),
}
WEIGHED = {
    "assess": [[("device_lookup", {"user": "ann"})], [("complete_step", {"summary": "A new device, far away."})]],
    "document": [[("comment_on_case", {"case_id": "c-1", "text": "It was the user."})]],
    "lock": [[("lock_account", {"user": "ann"})]],
}
OF_ANN = {"case_id": "c-1", "user": "ann", "source_ip": "198.51.100.7"}

SUSPICIOUS_SIGN_IN = [
    Story("locked", OF_ANN, SIGN_IN, WEIGHED, {"ask_manager": "no"}),
    Story("own_sign_in", OF_ANN, SIGN_IN, WEIGHED, {"ask_manager": "yes"}),
    Story("own_sign_in", OF_ANN, SIGN_IN | {"ip_reputation": {"score": 3}}, WEIGHED),
    Story("stopped:refusals", OF_ANN, SIGN_IN, {"assess": [[("search_sign_ins", {"user": "ann"})]]}),
    Story("escalated", OF_ANN, SIGN_IN | {"list_sessions": {"active": ["s-1"]}}, WEIGHED, {"ask_manager": "no"}),
    Story("escalated", OF_ANN, SIGN_IN | {"directory_lookup": {}, "ip_reputation": {"score": 3}}, WEIGHED),
]

ENRICH_IP = [
    Story("known", {"ip": "198.51.100.7"}, ADDRESS),
    Story("own", {"ip": "10.1.2.3"}, ADDRESS),
    Story("own", {"ip": "FE80::1"}, ADDRESS),
]

DEVICE = {
    "get_device": {"owner": "ann", "managed": True, "encrypted": False},
    "wipe_state": InTurn([{"done": False}, {"done": True}]),
}
LOST = {"device_id": "d-1", "owner": "ann"}
ANSWERED = {"owner": {"only_copy": False, "switched_off": True}}
FOUND = {"turn_up": {"by": "the porter"}}

LOST_DEVICE = [
    Story("found", LOST, DEVICE, people=ANSWERED, signals=FOUND),
    Story("wiped", LOST, DEVICE, people=ANSWERED),
    Story("wiped", LOST | {"stolen": True}, DEVICE, people={"owner": {"only_copy": True, "switched_off": False}}),
    Story(
        "locked", LOST, DEVICE | {"get_device": {"owner": "ann", "managed": False, "encrypted": True}}, people=ANSWERED
    ),
    Story(
        "locked", LOST, DEVICE | {"get_device": {"owner": "ann", "managed": True, "encrypted": True}}, people=ANSWERED
    ),
    Story("locked", LOST, DEVICE | {"wipe_state": {"done": False}}, people=ANSWERED),
    Story("escalated", LOST, DEVICE | {"get_device": {"owner": "bob", "managed": True, "encrypted": True}}),
    Story("kept", LOST, DEVICE, people=ANSWERED | {"wipe": Fault.REJECTED}),
]

MAIL = {
    "get_message": {"message_id": "m-1", "sender": "x@evil.example", "subject": "Prize", "urls": ["http://a.example"]},
    "check_url": {"url": "http://a.example", "verdict": "malicious"},
    "check_sender": {"sender": "x@evil.example", "spoofed": False, "first_seen_days": 1},
    "recipients": {"mailboxes": ["ann", "bob"], "clicked": ["bob"]},
    "gone": InTurn([{"mailboxes": ["ann"], "clicked": []}, {"mailboxes": [], "clicked": []}]),
    "revoke_sessions": {"revoked": ["bob"]},
}
REPLY = [[("reply_to_reporter", {"user": "ines", "text": "Thank you."})]]
LOOKED = {
    "inspect": [
        [("check_url", {"url": "http://a.example"})],
        [("check_sender", {"sender": "x@evil.example"})],
    ],
    "quarantine": [[("quarantine_message", {"message_id": "m-1"})]],
    "purge": [[("purge_message", {"message_id": "m-1"})]],
    "share": [[("share_indicator", {"url": "http://a.example"})]],
    "sum_up": [[("complete_step", {"result": "A prize that was none."})]],
    "thank": REPLY, "thank_contained": REPLY, "thank_kept": REPLY,
}  # fmt: skip
REPORTED = {"message_id": "m-1", "reporter": "ines"}
CLEAN = {"check_url": {"url": "http://a.example", "verdict": "clean"}}
NOBODY = {"recipients": {"mailboxes": ["ann"], "clicked": []}}
NEVER_THERE = {"inspect": [[("search_mail", {"sender": "x@evil.example"})]]}

PHISHING_TRIAGE = [
    Story("contained", REPORTED, MAIL, LOOKED),
    Story("contained", REPORTED, MAIL | NOBODY, LOOKED | {"share": [[("skip_step", {"reason": "known"})]]}),
    Story("harmless", REPORTED, MAIL | CLEAN, LOOKED),
    Story("kept", REPORTED, MAIL, LOOKED, {"purge": Fault.REJECTED}),
    Story("escalated", REPORTED, MAIL, LOOKED | NEVER_THERE),
    Story("stopped:refusals", REPORTED, MAIL, LOOKED | {"sum_up": [[("search_mail", {"sender": "x"})]]}),
]

CASE = {"folder": "out", "report": "out/r", "blocklist": "out/b", "commands": "out/c"}
SOURCES = {
    "addresses": ["198.51.100.7"], "hostile": ["198.51.100.7"], "known": [], "sources": [], "lines": 9, "unread": 0,
    "attempts": 9,
}  # fmt: skip
LOG = {
    "open_case": CASE,
    "find_sources": SOURCES,
    "find_logins": {"by_source": [], "breaches": [], "accounts": ["eve"], "first_line": 3},
    "find_new_accounts": {"accounts": [], "groups": [], "after": []},
    "propose_blocklist": {"path": "out/b", "blocked": ["198.51.100.7"], "left_out": []},
    "verify_blocklist": {"ok": True, "missing": [], "unexpected": []},
    "disable_account": {"user": "eve", "path": "out/c", "command": "usermod -L eve"},
    "write_report": {"path": "out/r", "lines": 9},
}
ONE_LEFT = {"wanted": ["eve"], "disabled": [], "remaining": ["eve"], "commands": []}
NONE_LEFT = {"wanted": ["eve"], "disabled": ["eve"], "remaining": [], "commands": ["usermod -L eve"]}
NO_ONE: dict[str, list[str]] = {"wanted": [], "disabled": [], "remaining": [], "commands": []}

SSH_BRUTE_FORCE = [
    Story("contained", {"log": "auth.log"}, LOG | {"suspects": InTurn([ONE_LEFT, NONE_LEFT])}),
    Story("blocked", {"log": "auth.log"}, LOG | {"suspects": NO_ONE}),
    Story("quiet", {"log": "auth.log"}, LOG | {"find_sources": SOURCES | {"hostile": []}}),
    Story("not_disabled", {"log": "auth.log"}, LOG | {"suspects": ONE_LEFT}, people={"disable": Fault.REJECTED}),
    Story("not_verified", {"log": "auth.log"}, LOG | {"suspects": ONE_LEFT}),
]

SECURITY = {
    "suspicious-sign-in": SUSPICIOUS_SIGN_IN,
    "enrich-ip": ENRICH_IP,
    "lost-device": LOST_DEVICE,
    "phishing-triage": PHISHING_TRIAGE,
    "ssh-brute-force": SSH_BRUTE_FORCE,
}
