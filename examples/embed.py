"""Any agent loop, gated.  The model is a list of replies here; yours is asked with what it has heard."""

from pathlib import Path
from typing import Any

import guideway as gw

TOOLS: dict[str, Any] = {"enrich_indicator": lambda host: {"verdict": "malicious"}, "isolate_host": lambda host: "done"}
REPLIES = [("isolate_host", "ws-7"), ("enrich_indicator", "ws-7"), ("isolate_host", "ws-8"), ("isolate_host", "ws-7")]

session = gw.Session(gw.load(Path(__file__).parents[1] / "docs/playbooks/triage.yaml"), inputs={"host": "ws-7"})
people, heard = gw.Approvals(session), ["An alert on ws-7."]  # `people` is never handed to the model
for turn, (tool, host) in enumerate(REPLIES):
    calls = {f"c{turn}": gw.ToolCall(tool, {"host": host}, call_id=f"c{turn}")}
    verdicts = session.propose(list(calls.values()))
    while verdicts:
        match verdicts.pop(0):
            case gw.Deny() as denial:
                heard.append(denial.message)
            case gw.NeedsApproval() as question:
                print(question.ask, "-> soc-lead says yes")
                verdicts += people.approve(question.approval_id, by="soc-lead").progress.verdicts
            case gw.Allow(call_id, name, control=False):  # a Defer needs nothing; observe brings its answer
                result = TOOLS[name](**calls[call_id].args)
                heard.append(f"{name}: {result}")
                verdicts += session.observe(call_id, gw.Succeeded(result)).verdicts
print(*heard, session.outcome, sep="\n")
