"""What an agent is to the driver: something that answers a brief with a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from guideway.statemachine.steps import Step

from .calls import Outcome, ToolCall, Usage
from .verdicts import LegalCall, Verdict


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one call of an earlier reply: the latest verdict on it, and the outcome if it ran."""

    call: ToolCall
    verdict: Verdict
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class OpenStep:
    """
    A step in which an agent may work now.

    Its description, hints and claims are those of `step`; `legal` is what it still takes.  `path` is the frame it
    lies in: nothing for the run's own, `ramp[2]/` for an item of a `for_each`, `enrich/` for a sub-playbook.
    """

    step: Step
    path: str = ""
    legal: tuple[LegalCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """
    What an agent is told before each reply: its step, the calls that are legal now, and what came of the reply before.

    Where branches run side by side several steps are open: `steps` has all of them, and `step` is the first.  A
    refused call is in `heard` with its `Deny`, whose `message` is written for the model.  `said` is what the user has
    answered, in a playbook with `conversation`.
    """

    step: Step
    legal: tuple[LegalCall, ...] = ()
    heard: tuple[Heard, ...] = ()
    steps: tuple[OpenStep, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of an agent.  `confidence` lies between 0 and 1."""

    text: str = ""
    calls: Sequence[ToolCall] = field(default_factory=tuple)
    confidence: float | None = None
    usage: Usage | None = None


class Agent(Protocol):
    """Anything that replies."""

    def reply(self, brief: Brief) -> Reply | None:
        """Answer; None where there is nothing more to come, which stops the drive but does not end the run."""
        ...
