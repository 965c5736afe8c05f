"""Replies that came, over real HTTP, whole and streamed: read as they are, for the loop and the gate to judge."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.runtime.calls import Usage
from guideway.runtime.models.messages import Message, ToolSpec
from tests.openai_server.clients import QUERY, ask, request
from tests.openai_server.server import Server
from tests.openai_server.wire import Call, Says

BOTH = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


@BOTH
def test_a_text(streaming: bool) -> None:
    """
    The text, the usage, the model's name and the reason arrive; a stream's pieces make up the text.
    """
    with Server([Says("All is well.")]) as server:
        pieces, reply = ask(server, streaming)

    assert reply.text.strip() == "All is well."
    assert pieces == (reply.text if streaming else "")
    assert reply.usage == Usage(tokens=18, input_tokens=11, output_tokens=7)
    assert (reply.model, reply.finish, reply.calls) == ("fake-1", "stop", ())


@BOTH
def test_a_call(streaming: bool) -> None:
    """
    The arguments, which are text on the wire, arrive as an object, under the provider's id.
    """
    with Server([Says(calls=(Call("query_siem", '{"hours": 24}', "c7"),))]) as server:
        _, reply = ask(server, streaming)

    assert reply.calls == (("query_siem", {"hours": 24}, "c7"),)


@BOTH
@pytest.mark.parametrize(
    ("written", "args"),
    [
        ('{"hours": 2', '{"hours": 2'),
        ("[1]", "[1]"),
        ("24", "24"),
        ('{"hours": NaN}', '{"hours": NaN}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("", {}),
    ],
    ids=["cut", "a list", "a number", "NaN", "a key twice", "nothing"],
)
def test_arguments_that_are_no_object_stay_text(streaming: bool, written: str, args: Any) -> None:
    """
    What is no JSON object is kept as the model wrote it, so that the gate can refuse it; nothing at all is no argument.
    """
    with Server([Says(calls=(Call("query_siem", written),))]) as server:
        _, reply = ask(server, streaming)

    assert reply.calls[0].args == args


@BOTH
def test_a_tool_that_nobody_offered_is_passed_on(streaming: bool) -> None:
    """
    An unknown tool is a call like others: the gate refuses it, not the way to it.
    """
    with Server([Says(calls=(Call("format_disk", '{"all": true}'),))]) as server:
        _, reply = ask(server, streaming)

    assert reply.calls[0][:2] == ("format_disk", {"all": True})


@BOTH
@pytest.mark.parametrize("says", [Says(""), Says(None)], ids=["empty", "null"])
def test_an_empty_reply_is_a_reply(streaming: bool, says: Says) -> None:
    """
    Neither text nor calls: the loop hears just that.
    """
    with Server([says]) as server:
        _, reply = ask(server, streaming)

    assert (reply.text, reply.calls, reply.finish) == ("", (), "stop")


@BOTH
def test_call_ids_that_come_twice_are_passed_on(streaming: bool) -> None:
    """
    Two calls under one id stay two calls with that id: which of them runs is not decided here.
    """
    with Server([Says(calls=(Call("query_siem", '{"hours": 1}'), Call("query_siem", '{"hours": 2}')))]) as server:
        _, reply = ask(server, streaming)

    assert [(call.args, call.call_id) for call in reply.calls] == [({"hours": 1}, "call_1"), ({"hours": 2}, "call_1")]


@BOTH
def test_a_call_without_an_id_gets_one(streaming: bool) -> None:
    """
    An empty id on the wire becomes one that is the call's own.
    """
    with Server([Says(calls=(Call("query_siem", id=""),))]) as server:
        _, reply = ask(server, streaming)

    assert reply.calls[0].call_id


def test_a_reply_that_met_its_limit_says_so() -> None:
    """
    `length` arrives as the reason.
    """
    with Server([Says("one two", finish="length")]) as server:
        _, reply = ask(server, False)

    assert reply.finish == "length"


TRANSCRIPT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {"call_id": "c1", "name": "query_siem", "args": {"hours": 24}},
            {"call_id": "c1", "name": "query_siem", "args": '{"hours": 2'},
        ],
    },
    {"role": "tool", "call_id": "c1", "name": "query_siem", "content": {"hits": 3}, "is_error": False},
    {"role": "tool", "call_id": "c1", "name": "query_siem", "content": "the arguments are no object", "is_error": True},
    {"role": "user", "content": "go on"},
]


def test_a_transcript_is_sent_as_the_protocol_has_it() -> None:
    """
    Roles, texts, calls and answers arrive; ids that came twice are told apart, and each answer names its call.
    """
    with Server([Says("ok")]) as server:
        ask(server, False, request(TRANSCRIPT))

    sent = server.requests[0]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [call["id"] for call in sent[2]["tool_calls"]] == ["c1", "c1_2"]
    assert sent[2]["tool_calls"][0]["function"] == {"name": "query_siem", "arguments": '{"hours":24}'}
    assert [(message["tool_call_id"], message["content"]) for message in sent[3:5]] == [
        ("c1", '{"hits": 3}'),
        ("c1_2", '{"error":"the arguments are no object"}'),
    ]


def test_tools_and_settings_are_sent() -> None:
    """
    A tool goes with its description and schema, and settings as the provider names them.
    """
    with Server([Says("ok")]) as server:
        ask(server, False, request(temperature=0.25))

    [tool] = server.requests[0]["tools"]
    assert tool["function"]["name"] == QUERY.name
    assert tool["function"]["description"] == "Search the SIEM."
    assert tool["function"]["parameters"]["properties"] == {"hours": {"type": "integer"}}
    assert server.requests[0]["temperature"] == 0.25


def test_without_tools_none_are_sent() -> None:
    """
    A step in which no tool is legal offers none.
    """
    with Server([Says("ok")]) as server:
        ask(server, False, request(tools=()))

    assert not server.requests[0].get("tools")


def test_a_name_that_providers_refuse_goes_out_changed_and_comes_back() -> None:
    """
    A dot in a tool's name is no letter that the protocol takes; the call still names the tool.
    """
    with Server([Says(calls=(Call("siem_query"),))]) as server:
        _, reply = ask(server, False, request(tools=(ToolSpec("siem.query"),)))

    assert server.requests[0]["tools"][0]["function"]["name"] == "siem_query"
    assert reply.calls[0].name == "siem.query"
