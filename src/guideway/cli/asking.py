"""Asking a person on the terminal."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from guideway.runtime.approvals import Question
from guideway.runtime.decisions import Decision
from guideway.runtime.redact import Redactor
from guideway.runtime.wording import printable

from .status import OutputError
from .streams import coloured, paint, write

Pause = Callable[[], AbstractContextManager[None]]
ANSWERS = {"a": "approve", "r": "reject", "l": "", "": ""}
DOUBTS = {"y": "happened", "n": "did_not_happen", "l": "", "": ""}


class Terminal:
    """
    Shows the exact call and its arguments, and takes the decision of whoever sits there.

    Who answers neither (`later`, an empty line, the end of input, a terminal that is gone) leaves the run waiting.
    """

    def __init__(self, redactor: Redactor, pause: Pause) -> None:
        self._redactor = redactor
        self._pause = pause

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """Ask."""
        question = self._redactor.question(question)
        with self._pause():
            try:
                return self._ask(question, objection)
            except (EOFError, OSError, OutputError):  # nobody is there, or the terminal is gone
                return None

    def _ask(self, question: Question, objection: str) -> Decision | None:
        for line in self._shown(question, objection):
            write(line + "\n", sys.stdout)
        if question.of == "reconcile":
            verb = self._choose("happened? [y]es, [n]o, [l]ater: ", DOUBTS)
        else:
            verb = self._choose("[a]pprove, [r]eject, [l]ater: ", ANSWERS)
        if not verb:
            return None
        by = self._name(question.approvers)
        note = self._read("why (may be left empty): ")
        result = self._result() if verb == "happened" else None
        return Decision(verb, by, note, result)

    def _shown(self, question: Question, objection: str) -> list[str]:
        colour = coloured(sys.stdout)
        whom = ", ".join(map(printable, question.approvers)) or "anybody"
        lines = [paint(f"{printable(question.step)}: {printable(question.ask, 2000)}", "bold", colour)]
        if question.tool is not None:
            lines.append(f"  {printable(question.tool)}")
            for name, value in dict(question.args or {}).items():
                lines.append(f"    {printable(name)} = {printable(json.dumps(value, ensure_ascii=False), 10_000)}")
        lines.append(f"  may decide: {whom}")
        return [*lines, paint(f"  {printable(objection)}", "red", colour)] if objection else lines

    def _choose(self, prompt: str, answers: dict[str, str]) -> str:
        while True:
            answer = self._read(prompt).lower()
            for key, verb in answers.items():
                if answer == key or (key and answer and answer in (verb, WORDS.get(key))):
                    return verb

    def _name(self, approvers: tuple[str, ...]) -> str:
        me = user()
        usual = me if not approvers or me in approvers else ""
        while not (name := self._read(f"your name{f' [{usual}]' if usual else ''}: ") or usual):
            write("  a decision needs a name\n", sys.stdout)
        return name

    def _result(self) -> object:
        while text := self._read("its result, as JSON (may be left empty): "):
            try:
                return json.loads(text)
            except ValueError:
                write("that is no JSON\n", sys.stdout)
        return None

    def _read(self, prompt: str) -> str:
        write("  " + prompt, sys.stdout)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.strip()


WORDS = {"y": "yes", "n": "no", "l": "later"}


def user() -> str:
    """Who is logged in; nothing where that cannot be told."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
