"""Whatever a model writes, exporters can send the spans."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.telemetry import Telemetry
from tests.agent.kit import ISOLATE, SIEM, agent
from tests.telemetry.kit import Kept, about, events

HALF = "\ud83d"
"""Half of a character: JSON can write it, UTF-8 cannot."""


def texts(value: Any) -> list[str]:
    """The strings in an attribute's value."""
    return [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, str)]


@pytest.mark.parametrize(
    "call",
    [gw.ToolCall(f"a{HALF}", {}), gw.ToolCall("query_siem", {"hours": HALF}), gw.ToolCall(f"b{HALF}", {HALF: 1})],
)
def test_half_a_character_is_in_no_span(call: gw.ToolCall) -> None:
    """
    A batch of spans goes out as a whole; one string that is no UTF-8 would lose all of them, also those of other runs.
    """
    kept = Kept()

    result = agent([call, SIEM, ISOLATE], hooks=[Telemetry(kept.provider, content=True)]).run_sync(f"Alert {HALF}")

    said = [value for span in kept.spans for value in about(span).values()]
    said += [value for span in kept.spans for _, more in events(span) for value in more.values()]
    assert result.success and any("?" in text for value in said for text in texts(value))
    assert all(HALF not in text and text.encode() for value in said for text in texts(value))


def test_a_made_up_name_is_cut() -> None:
    """
    The name of a tool that there is not is shown as far as a reader needs it.
    """
    kept = Kept()

    agent([gw.ToolCall("x" * 100_000, {}), SIEM, ISOLATE], hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    [name] = [said["gen_ai.tool.name"] for what, said in events(kept.spans[0]) if what == "guideway.decided"]
    assert 100 < len(name) < 1_000
