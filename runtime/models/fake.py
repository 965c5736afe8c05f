"""Models that are part of the program: they say what they are given, or what a function says."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from threading import Lock
from typing import Any

from guideway.statemachine.errors import HostError

from .messages import ModelError, ModelReply, ModelRequest, TextDelta
from .replies import Written, pieces, reply_of


class FunctionModel:
    """
    A model that is a function: from the request to a text, a call, a list of both, a `ModelReply` or an exception.

    The function may be asynchronous.  What it raises is raised, unchanged.  It holds no state of its own, so one object
    may serve many runs at once.

    >>> model = FunctionModel(lambda request: f"You said: {request.messages[-1]['content']}")
    >>> request = ModelRequest([{"role": "user", "content": "hello"}])
    >>> asyncio.run(model.reply(request)).text
    'You said: hello'
    """

    def __init__(self, function: Callable[[ModelRequest], Any], name: str = "function") -> None:
        if not callable(function):
            raise HostError(f"a FunctionModel is made of a function of one request, not of {function!r}")
        self.name = name
        self._function = function

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Answer with what the function says."""
        await asyncio.sleep(0)  # as a real model would, let other runs go on meanwhile
        said = self._function(request)
        if inspect.isawaitable(said):
            said = await said
        reply = reply_of(said)
        return reply if reply.model else replace(reply, model=self.name)

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelReply]:
        """The answer, a word at a time."""
        for piece in pieces(await self.reply(request)):
            await asyncio.sleep(0)
            yield piece


class FakeModel(FunctionModel):
    """
    A model that says what it was given, a reply at a time, whatever it hears; `requests` keeps what it heard.

    Replies are taken in the order of the requests, also where several runs share the model.  When none is left, it
    raises `ModelError`.

    >>> from guideway.runtime.calls import ToolCall
    >>> model = FakeModel([ToolCall("query_siem", {"hours": 24}), "Nothing found."])
    >>> request = ModelRequest([{"role": "user", "content": "look"}])
    >>> asyncio.run(model.reply(request)).calls[0].name, asyncio.run(model.reply(request)).text
    ('query_siem', 'Nothing found.')
    >>> len(model.requests), model.left
    (2, 0)
    """

    def __init__(self, replies: Iterable[Written], name: str = "fake") -> None:
        if isinstance(replies, str):
            raise HostError("a FakeModel is given a list of replies; write [text] for one")
        super().__init__(self._next, name)
        self.requests: list[ModelRequest] = []
        """what it was asked, as it was then"""
        self._replies = list(replies)
        self._lock = Lock()

    @property
    def left(self) -> int:
        """How many replies have not been given yet."""
        return max(0, len(self._replies) - len(self.requests))

    def _next(self, request: ModelRequest) -> Written:
        with self._lock:
            number = len(self.requests)
            self.requests.append(replace(request, messages=copy.deepcopy(list(request.messages))))
        if number < len(self._replies):
            return self._replies[number]
        return ModelError(
            f"the model `{self.name}` was asked for reply {number + 1} and was given {len(self._replies)}; give it more"
        )
