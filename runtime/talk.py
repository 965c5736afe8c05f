"""The talk between an agent and the user of a playbook with `conversation`."""

from __future__ import annotations

from collections.abc import Iterable

from .users import User
from .watchers import Watcher


class Talk:
    """
    What the agent has said to the user, and what came back.

    >>> from .users import ScriptedUser
    >>> talk = Talk(ScriptedUser(["o-1"]))
    >>> talk.speak("Which order?")
    >>> talk.answered(), talk.said(), talk.said()
    (True, 'o-1', '')
    """

    def __init__(self, user: User, watchers: Iterable[Watcher] = ()) -> None:
        self._user = user
        self._watchers = tuple(watchers)
        self._unanswered: str | None = None
        self._said = ""

    @property
    def open(self) -> bool:
        """The user has not answered yet."""
        return self._unanswered is not None

    def speak(self, text: str | None) -> None:
        """The agent says this to the user; None: nothing."""
        self._unanswered = text

    def answered(self) -> bool:
        """The user has answered the agent's last words, if there were any; else is asked now."""
        if self._unanswered is None:
            return True
        answer = self._user.answer(self._unanswered)
        if answer is None:
            return False
        self._unanswered, self._said = None, answer
        for watcher in self._watchers:
            watcher.answered(answer)
        return True

    def said(self) -> str:
        """What the user has said, once."""
        said, self._said = self._said, ""
        return said
