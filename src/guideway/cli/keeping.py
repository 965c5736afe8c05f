"""Keeping a run in a journal: what was asked for, and how people and other processes go on with it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from guideway.runtime.approvals import Question
from guideway.runtime.lenient import check_mode
from guideway.statemachine.errors import HostError

from .journals import Opened, opened
from .status import MisuseError


@dataclass(frozen=True, slots=True)
class Keeping:
    """The options, as they were given; `again` is the command line that goes on with the run, but for its id."""

    journal: str | None = None
    key: str | None = None
    run_id: str | None = None
    mode: str = "enforce"
    wait: bool = False
    again: Sequence[str] = ()
    command: str = "run"

    def check(self, *, leaps: bool) -> None:
        """
        Hold the options against each other.

        Raises:
            MisuseError: naming one.
        """
        try:
            check_mode(self.mode)
        except HostError as fault:
            raise MisuseError(f"--mode: {fault}") from None
        if self.run_id is not None and not self.run_id.strip():
            raise MisuseError("--run-id: a run has a name")
        for name, given in (("--key", self.key), ("--wait", self.wait)):
            if given and self.journal is None:
                raise MisuseError(f"{name}: give --journal, through which people in other processes decide")
        if self.wait and leaps:
            raise MisuseError("--wait: people take real time; leave --at and --fast-forward out")


def again_with(
    playbook: str, journal: str | None, key: str | None, tools: str | None, agent: str | None,
    predicates: str | None, skills: str | None, root: str | None,
) -> list[str]:  # fmt: skip
    """The command line that goes on with a run, but for its id."""
    given = {
        "journal": journal, "key": key, "tools": tools, "agent": agent, "predicates": predicates, "skills": skills,
        "root": root,
    }  # fmt: skip
    return [playbook, *(part for name, value in given.items() if value is not None for part in (f"--{name}", value))]


@contextmanager
def kept(keeping: Keeping, secret: str) -> Iterator[Opened | None]:
    """The journal of a run, made where there is none; `secret` is the key that the environment held."""
    if keeping.journal is None:
        yield None
        return
    with opened(keeping.journal, keeping.key, make=True, secret=secret) as found:
        yield found


VERBS = {"step": "approve", "call": "approve", "ask": "answer", "reconcile": "reconcile"}
FORMS = {"ask": " ANSWER", "reconcile": " --happened"}
MOST = 5
"""Questions that are spelled out."""


def how_to_decide(run: str, journal: str, questions: Sequence[Question]) -> Iterator[str]:
    """
    The commands by which people decide.

    >>> list(how_to_decide("run-1", "runs.db", [Question("step agree@1", "step", "agree", "Go on?", ("lead",))]))
    ["decide with:  guideway approve run-1 'step agree@1' --by NAME --journal runs.db"]
    """
    for question in questions[:MOST]:
        asked = f"{shlex.quote(run)} {shlex.quote(question.approval_id)}{FORMS.get(question.of, '')}"
        yield f"decide with:  guideway {VERBS[question.of]} {asked} --by NAME --journal {shlex.quote(journal)}"


def how_to_go_on(run: str, keeping: Keeping) -> str:
    """The command that goes on with a run."""
    return f"go on with:  guideway resume {shlex.join([run, *keeping.again])}"
