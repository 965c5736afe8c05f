"""An agent under a playbook, in twenty lines.  The model is recorded; a name (`openai:gpt-4o`) makes it a real one."""

from pathlib import Path

import guideway as gw
from guideway.agent import Agent, Decision
from guideway.runtime.models.fake import FakeModel


def enrich_indicator(host: str) -> dict[str, str]:
    """Look a host up."""
    return {"verdict": "malicious"}


def isolate_host(host: str) -> str:
    """Cut a host off the network."""
    return f"{host} is isolated"


TRIAGE = Path(__file__).parents[1] / "docs/playbooks/triage.yaml"
LOOK, CUT = gw.ToolCall("enrich_indicator", {"host": "ws-7"}), gw.ToolCall("isolate_host", {"host": "ws-7"})
model = FakeModel([CUT, "It is contained.", LOOK, CUT])  # out of sequence; a false claim; then as the playbook says
agent = Agent(model, [enrich_indicator, isolate_host], playbook=TRIAGE)

result = agent.run_sync("An alert on ws-7.", inputs={"host": "ws-7"})
for question in result.pending:  # the run is suspended; `result.state` is JSON, and another process could go on here
    print(question.ask, question.args, "-> soc-lead says yes")
    result = agent.send_sync({question.approval_id: Decision("approve", by="soc-lead")}, to=result)
print(*(message["content"] for message in result.messages if message["role"] == "tool"), sep="\n")
print(result.stop_reason, result.outcome, result.success)
