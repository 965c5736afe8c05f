"""Asking a person on the terminal."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from guideway.runtime.approvals import Question
from guideway.runtime.decisions import Decision
from guideway.runtime.redact import Redactor
from guideway.runtime.users import User
from guideway.runtime.wording import printable
from guideway.statemachine.canonical import read

from .inputs import AS_JSON, types_of
from .status import OutputError
from .streams import coloured, paint, write

Pause = Callable[[], AbstractContextManager[None]]
ANSWERS = {"a": "approve", "r": "reject", "l": "", "": ""}
DOUBTS = {"y": "happened", "n": "did_not_happen", "l": "", "": ""}


class Keyboard:
    """
    Reads lines of whoever sits at the terminal, while the rest of it keeps still.

    `Pause` holds what else is shown.
    """

    def __init__(self, pause: Pause) -> None:
        self.pause = pause

    def read(self, prompt: str) -> str:
        """
        One line, without blanks around it.

        Raises:
            EOFError: nobody is there any more.
        """
        write("  " + prompt, sys.stdout)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.strip()

    def choose(self, prompt: str, answers: Mapping[str, str]) -> str:
        """What the key, or the word it stands for, means; anything else is asked again."""
        while True:
            answer = self.read(prompt).lower()
            for key, meaning in answers.items():
                if answer == key or (key and answer and answer in (meaning, WORDS.get(key))):
                    return meaning

    def json(self, prompt: str, types: frozenset[str]) -> object:
        """A value as JSON; where a text is wanted, the line as it is."""
        while True:
            text = self.read(prompt)
            if types == {"string"}:
                return text
            try:
                return read(text)
            except ValueError:
                if text and not types & AS_JSON:
                    return text
                write("  that is no JSON\n", sys.stdout)


class Terminal:
    """
    Shows the exact call and its arguments, or what is asked, and takes the decision of whoever sits there.

    Who answers neither (`later`, an empty line, the end of input, a terminal that is gone) leaves the run waiting.
    """

    def __init__(self, redactor: Redactor, pause: Pause) -> None:
        self._redactor = redactor
        self._keyboard = Keyboard(pause)

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """Ask."""
        question = self._redactor.question(question)
        with self._keyboard.pause():
            try:
                for line in shown(question, objection):
                    write(line + "\n", sys.stdout)
                return self._answer(question) if question.of == "ask" else self._decision(question)
            except (EOFError, OSError, OutputError):  # nobody is there, or the terminal is gone
                return None

    def _decision(self, question: Question) -> Decision | None:
        if question.of == "reconcile":
            verb = self._keyboard.choose("happened? [y]es, [n]o, [l]ater: ", DOUBTS)
        else:
            verb = self._keyboard.choose("[a]pprove, [r]eject, [l]ater: ", ANSWERS)
        if not verb:
            return None
        by, groups = self._name(question.approvers)
        note = self._keyboard.read("why (may be left empty): ")
        result = self._result() if verb == "happened" else None
        return Decision(verb, by, note, result, groups=groups)

    def _answer(self, question: Question) -> Decision | None:
        """An answer to an `ask`: one of its choices or a text, then its fields."""
        answer = self._choice(question) if question.choices or not question.fields else ""
        if answer is None:
            return None
        fields = {}
        for name, schema in question.fields.items():
            types = types_of(schema)
            prompt = f"{printable(name)} ({', '.join(sorted(types)) or 'any JSON'}): "
            fields[name] = self._keyboard.json(prompt, types)
        by, groups = self._name(question.approvers)
        return Decision("answer", by, answer=answer, fields=fields, groups=groups)

    def _choice(self, question: Question) -> str | None:
        """A label, by itself or by its number; without choices a text.  None: later."""
        if not question.choices:
            return self._keyboard.read("your answer (leave it empty for later): ") or None
        while text := self._keyboard.read("your choice (leave it empty for later): "):
            number = int(text) if text.isdecimal() else 0
            if text in question.choices:
                return text
            if 1 <= number <= len(question.choices):
                return question.choices[number - 1]
            if text.lower() == "later":
                break
        return None

    def _name(self, approvers: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Who decides, and the groups the person belongs to, as in `ines (soc-lead, on-call)`."""
        me = user()
        usual = me if not approvers or me in approvers else ""
        prompt = f"your name{f' [{usual}]' if usual else ''}: "
        while not (name := self._keyboard.read(prompt) or usual):
            write("  a decision needs a name\n", sys.stdout)
        return named(name)

    def _result(self) -> object:
        while text := self._keyboard.read("its result, as JSON (may be left empty): "):
            try:
                return json.loads(text)
            except ValueError:
                write("that is no JSON\n", sys.stdout)
        return None


class TerminalUser(User):
    """The user of a conversation, at the terminal; an empty line leaves the run waiting."""

    def __init__(self, pause: Pause) -> None:
        self._keyboard = Keyboard(pause)

    def answer(self, text: str) -> str | None:
        """Take the user's next message; what the agent said has been shown already."""
        with self._keyboard.pause():
            try:
                return self._keyboard.read("you: ") or None
            except (EOFError, OSError, OutputError):
                return None


def shown(question: Question, objection: str) -> list[str]:
    """A question as a person reads it before deciding."""
    colour = coloured(sys.stdout)
    whom = ", ".join(map(printable, question.approvers)) or "anybody"
    lines = [paint(f"{printable(question.step)}: {printable(question.ask, 2000)}", "bold", colour)]
    if question.tool is not None:
        lines.append(f"  {printable(question.tool)}")
        for name, value in dict(question.args or {}).items():
            lines.append(f"    {printable(name)} = {printable(json.dumps(value, ensure_ascii=False), 10_000)}")
    lines += [f"    {number}. {printable(label)}" for number, label in enumerate(question.choices, 1)]
    lines.append(f"  may {'answer' if question.of == 'ask' else 'decide'}: {whom}" + rules(question))
    return [*lines, paint(f"  {printable(objection)}", "red", colour)] if objection else lines


def rules(question: Question) -> str:
    """How many must say so, who has, and who may not."""
    told = "; each of them" if question.everyone else f"; {question.needed} persons" if question.needed > 1 else ""
    told += f"; said yes: {', '.join(map(printable, question.said))}" if question.said else ""
    return told + (f"; not: {', '.join(map(printable, question.excluded))}" if question.excluded else "")


def named(text: str) -> tuple[str, tuple[str, ...]]:
    """
    A person, with the groups in brackets.

    >>> named("ines (soc-lead, on-call)"), named("soc-lead")
    (('ines', ('soc-lead', 'on-call')), ('soc-lead', ()))
    """
    name, bracket, rest = text.partition("(")
    if not bracket or not rest.endswith(")") or not name.strip():
        return text, ()
    groups = (group.strip() for group in rest[:-1].split(","))
    return name.strip(), tuple(group for group in groups if group)


WORDS = {"y": "yes", "n": "no", "l": "later"}


def user() -> str:
    """Who is logged in; nothing where that cannot be told."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
