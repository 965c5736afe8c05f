"""`guideway run --agent MODEL`: a model in the place of recorded turns, through the agent's own loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .desk import Desk

PLAYBOOK = """
id: watch
name: Watch
inputs: {token: {type: string, sensitive: true}}
tools:
  look: {effect: read}
  isolate:
    effect: irreversible
    approval: {ask: "Isolate {{ args.host }} with {{ inputs.token }}?", approvers: [lead]}
steps:
  - {id: look, description: Look., expected_tools: [look]}
  - {id: contain, description: Contain., expected_tools: [isolate]}
"""
BOT = """
import guideway

def bot(request):
    said = sum(message["role"] == "assistant" for message in request.messages)
    isolate = guideway.ToolCall("isolate", {"host": "ws-7"})
    assert "An alert." in [message["content"] for message in request.messages]
    return [isolate, guideway.ToolCall("look", {}), isolate, "Done."][said]
"""
ABOUT = ("watch.yaml", "--tools", "tools.py", "--agent", "function:bot.py:bot", "--input", "token=hunter2")


@pytest.fixture(name="desk")
def _desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk with a model that is wrong at first."""
    desk = Desk(tmp_path)
    (tmp_path / "watch.yaml").write_text(PLAYBOOK)
    (tmp_path / "bot.py").write_text(BOT)
    yield desk
    desk.close()


def test_a_model_works_under_the_playbook_and_people_decide_elsewhere(desk: Desk) -> None:
    """Refused, told, asked, resumed with the transcript of before; nothing sensitive is shown or kept."""
    left = desk.guideway("run", *ABOUT, "--prompt", "An alert.", "--run-id", "r")
    desk.guideway("approve", "r", "contain", "--by", "lead")
    ended = desk.guideway("resume", "r", *ABOUT)
    replayed = desk.guideway("replay", "r", "watch.yaml", "--input", "token=hunter2")

    assert left.status == 3
    assert "deny   isolate(host=\"ws-7\"): out_of_sequence" in left.out
    assert "waiting for lead to decide on `contain`: Isolate ws-7 with •••?" in left.err
    assert (ended.status, replayed.status) == (0, 0)
    assert [line.split(",")[0] for line in desk.done] == ["look", "isolate ws-7"]
    assert "hunter2" not in left.out + left.err + ended.out + ended.err
    assert not any(b"hunter2" in file.read_bytes() for file in desk.folder.glob("runs.db*"))


def test_a_model_waits_for_people_in_the_same_process(desk: Desk) -> None:
    """`--wait`: the approval of another process is heard."""
    waiting = desk.begin("--prompt", "An alert.", "--agent", "function:bot.py:bot", "--wait", "--input",
                         "token=hunter2", "--tools", "tools.py", playbook="watch")  # fmt: skip
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    ended = desk.end(waiting)

    assert ended.status == 0
    assert ended.out.splitlines()[-1] == "end success"


@pytest.mark.parametrize(("agent", "said"), [
    ("function:bot.py:nobody", "--agent: function:bot.py:nobody names no function; write function:FILE.py:NAME"),
    ("function:none.py:bot", "--agent: none.py does not exist"),
    ("nonsense:x", "--agent: the model `nonsense:x` cannot be used"),
])  # fmt: skip
def test_a_model_that_is_none_is_misuse(desk: Desk, agent: str, said: str) -> None:
    """Named, before anything runs."""
    result = desk.guideway("run", *ABOUT, "--agent", agent, journal=False)

    assert (result.status, result.out) == (2, "")
    assert said in result.err
