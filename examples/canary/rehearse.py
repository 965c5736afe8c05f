"""The canary deploy on a Tuesday, whatever day it is: a session reads no clock, so the program tells it the time."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import guideway as gw

from .tools import TOOLS, reset


def rehearse(version: str, now: datetime) -> str:
    """Deploy `version`, beginning at `now`; nothing is waited for.  What happened is printed, the outcome returned."""
    reset()
    machine = gw.load(Path(__file__).parents[2] / "playbooks/library/canary-deploy.yaml")
    session = gw.Session(machine, inputs={"service": "checkout", "version": version}, now=now)
    people = gw.Approvals(session)
    while session.outcome is None:
        match session.commands[0]:
            case gw.Ask(call_id, ask, approvers):
                for person in approvers:
                    print(f"{now:%H:%M} {ask} {person}: yes")
                    people.approve(call_id, by=person, now=now)
            case gw.RunCall(call_id, tool, args):
                result = TOOLS[tool](**args)
                print(f"{now:%H:%M} {tool} -> {result}")
                session.observe(call_id, gw.Succeeded(result), now=now)
            case gw.Wait(_, due):
                now = due
                session.tick(now)
    return str(session.outcome)


if __name__ == "__main__":
    print(rehearse(sys.argv[1], datetime(2026, 3, 3, 9, tzinfo=UTC)))
