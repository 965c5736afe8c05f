"""The user at the other end of a playbook with `conversation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from .lines import entries, take


class User:
    """
    Answers the agent's replies; this one is not there.

    >>> User().answer("Where was it sent?") is None
    True
    """

    def answer(self, text: str) -> str | None:
        """What the user says to `text`; None: nobody has answered, and the run waits."""
        return None


class Answering(User):
    """
    A user that is a function.

    >>> Answering(lambda text: "To the old address.").answer("Where was it sent?")
    'To the old address.'
    """

    def __init__(self, answer: Callable[[str], str | None]) -> None:
        self._answer = answer

    def answer(self, text: str) -> str | None:
        """What the function returns."""
        return self._answer(text)


class ScriptedUser(User):
    """
    Says what the script says, one message to each reply of the agent's, whatever that was.

    >>> user = ScriptedUser(["To the old address."])
    >>> user.answer("Where was it sent?"), user.answer("Thank you.")
    ('To the old address.', None)
    """

    def __init__(self, messages: Iterable[str]) -> None:
        self._left = list(messages)

    @classmethod
    def load(cls, path: str | Path) -> ScriptedUser:
        """
        Read a script: JSON lines, a message each, `{"text": "…"}`.

        Raises:
            HostError: a line is no message, naming the line.
        """
        messages: list[str] = []
        for place, found in entries(path):
            take(found, place, {"text": (str,)}, needed=("text",))
            messages.append(found["text"])
        return cls(messages)

    def answer(self, text: str) -> str | None:
        """The next message of the script; None when it has run out."""
        return self._left.pop(0) if self._left else None
