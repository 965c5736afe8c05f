"""The three playbooks that set the tone of the format compile clean, and as their authors mean them."""

from __future__ import annotations

from pathlib import Path

import pytest

from guideway.compiler import check_definition, compile_playbook
from guideway.compiler.falling import falls_into_handler
from guideway.playbooks.loader import load_playbook
from guideway.playbooks.models import Playbook
from guideway.statemachine.definition import Definition

from .corpus import HERE
from .helpers import plain

LIBRARY = HERE.parent.parent / "playbooks" / "library"
CALLEES = {"enrich-ip": load_playbook(HERE / "ok" / "parts" / "enrich.yaml")}


def model(name: str) -> tuple[Playbook, Definition]:
    """Read and compile one of them; there is nothing to say against it."""
    playbook = load_playbook(Path(LIBRARY / f"{name}.yaml"))
    compiled = compile_playbook(playbook, callees=CALLEES if name == "suspicious-sign-in" else None)
    assert compiled.diagnostics == []
    assert compiled.definition is not None
    return playbook, compiled.definition


@pytest.mark.parametrize("name", ["suspicious-sign-in", "canary-deploy", "refund-desk"])
def test_a_model_is_clean(name: str) -> None:
    """No finding about names, types, flow or handlers."""
    playbook, definition = model(name)

    assert check_definition(definition) == []
    assert list(falls_into_handler(playbook)) == []


def test_a_bad_reading_puts_everything_back() -> None:
    """Canary deploy: what fails inside the ramp fails the ramp, and that is handled by rolling back."""
    _, definition = model("canary-deploy")

    assert {plain(definition, name)["failed"] for name in ("shift", "bake", "measure")} == {"ramp.failed"}
    assert plain(definition, "ramp.failed") == {"failed": "roll_back"}
    assert plain(definition, "ramp.join") == {"completed": "success", "again": "shift"}


def test_the_answer_of_the_manager_leads_on() -> None:
    """Suspicious sign-in: yes is written down, no and silence lock the account."""
    _, definition = model("suspicious-sign-in")
    ways = plain(definition, "ask_manager")

    assert (ways["answered yes"], ways["answered no"], ways["timeout"]) == (
        "document",
        "lock.approval",
        "lock.approval",
    )
    assert definition.facts["address"] == (("country",), ("score",))


def test_nobody_is_paid_twice() -> None:
    """Refund desk: what is not known to have happened is handed over, and so is what failed."""
    _, definition = model("refund-desk")
    ways = plain(definition, "refund")

    assert definition.conversation
    assert (ways["unknown"], ways["failed"], ways["rejected"]) == ("handed_over", "handed_over", "declined")
