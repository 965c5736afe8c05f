"""The short forms in which a program may write a reply, and the reply they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from guideway.runtime.calls import ToolCall, told
from guideway.statemachine.errors import HostError

from .messages import ModelReply, TextDelta

Written = str | ModelReply | ToolCall | Sequence[str | ToolCall] | BaseException | type[BaseException]
"""A text, a call, a list of both, a whole reply; or an exception, which is raised instead of a reply."""

WANTED = "a text, a ToolCall, a list of both, a ModelReply or an exception"


def reply_of(written: object) -> ModelReply:
    """
    Turn a short form into the reply it stands for.

    Raises:
        HostError: it is none.
        BaseException: it is an exception, or the class of one.

    >>> reply_of("Nothing found.").text
    'Nothing found.'
    >>> reply_of(["Looking.", ToolCall("query_siem", {"hours": 24})]).calls
    (ToolCall(name='query_siem', args={'hours': 24}, call_id=''),)
    """
    if isinstance(written, ModelReply):
        return written
    if isinstance(written, BaseException) or (isinstance(written, type) and issubclass(written, BaseException)):
        raise written
    if isinstance(written, str | ToolCall):
        written = [written]
    if not isinstance(written, list | tuple):
        raise HostError(f"a reply is {WANTED}, not {told(written)}")
    return _gathered(written)


def _gathered(parts: Sequence[object]) -> ModelReply:
    for part in parts:
        if not isinstance(part, str | ToolCall):
            raise HostError(f"a list that stands for a reply holds texts and ToolCalls, not {told(part)}")
    texts = [part for part in parts if isinstance(part, str)]
    return ModelReply("\n".join(texts), tuple(part for part in parts if isinstance(part, ToolCall)))


def pieces(reply: ModelReply) -> Iterator[TextDelta | ModelReply]:
    """
    Cut a reply into the pieces that a stream would bring: a word at a time, and at the end the whole.

    >>> [piece.text for piece in pieces(ModelReply("All is well."))]
    ['All ', 'is ', 'well.', 'All is well.']
    """
    for word in re.findall(r"\s*\S+\s*|\s+", reply.text):
        yield TextDelta(word)
    yield reply
