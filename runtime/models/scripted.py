"""A model that plays recorded turns: the same files that `guideway run --agent scripted:FILE` plays."""

from __future__ import annotations

from pathlib import Path

from guideway.runtime.agents import Reply
from guideway.runtime.calls import Usage
from guideway.runtime.scripted import read_turns

from .fake import FakeModel
from .messages import ModelReply


class ScriptedModel(FakeModel):
    """A `FakeModel` whose replies lie in a file."""

    @classmethod
    def load(cls, path: str | Path) -> ScriptedModel:
        """
        Read a script: JSON lines, a turn each, `{"text", "calls": [{"tool", "args", "id"}], "confidence", "usage"}`.

        Raises:
            HostError: a line is no turn, naming the line; or the file holds none.
        """
        return cls([_reply(turn) for turn in read_turns(path)], name=f"scripted:{Path(path).name}")


def _reply(turn: Reply) -> ModelReply:
    return ModelReply(turn.text, tuple(turn.calls), turn.usage or Usage(), confidence=turn.confidence)
