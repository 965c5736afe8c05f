"""A transcript made fit for a provider: names it takes, ids of their own."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guideway.runtime.models.transcript import Names, as_args, told_apart

TAKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@given(st.lists(st.text(min_size=1, max_size=90), unique=True, max_size=12))
def test_every_name_has_a_way_out_and_back(names: list[str]) -> None:
    """
    Whatever tools are called, each goes out under a name that providers take, and comes back as itself.
    """
    table = Names(names)

    out = [table.out(name) for name in names]

    assert all(TAKEN.fullmatch(name) for name in out)
    assert len(set(out)) == len(names)
    assert [table.back(name) for name in out] == names


def test_names_that_providers_take_are_left_alone() -> None:
    """
    A good name goes out unchanged, also where another tool's would be changed into it.
    """
    table = Names(["siem.query", "siem_query"])

    assert table.out("siem_query") == "siem_query"
    assert table.back("never_told") == "never_told"


def call(call_id: str, name: str = "look") -> dict[str, Any]:
    """A call in a message."""
    return {"call_id": call_id, "name": name, "args": {}}


def answer(call_id: str, content: str) -> dict[str, Any]:
    """The answer to a call."""
    return {"role": "tool", "call_id": call_id, "name": "look", "content": content}


def assistant(*ids: str) -> dict[str, Any]:
    """A reply with calls."""
    return {"role": "assistant", "content": "", "tool_calls": [call(each) for each in ids]}


def test_ids_that_come_back_in_a_later_reply_are_told_apart() -> None:
    """
    A model that writes `c1` in every reply gets an id of its own for each, and answers follow their calls in order.
    """
    sent = told_apart([assistant("c1"), answer("c1", "a"), assistant("c1", ""), answer("c1", "b"), answer("", "c")])

    assert [each["call_id"] for message in sent for each in message.get("tool_calls", ())] == ["c1", "c1_2", "call"]
    assert [message["call_id"] for message in sent if message["role"] == "tool"] == ["c1", "c1_2", "call"]


def test_a_transcript_in_order_is_left_alone() -> None:
    """
    Distinct ids stay; the messages given are not changed.
    """
    messages = [{"role": "user", "content": "look"}, assistant("c1", "c2"), answer("c2", "b"), answer("c1", "a")]
    before = repr(messages)

    assert told_apart(messages) == messages
    assert repr(messages) == before


def test_arguments_that_were_no_object_go_back_as_the_text_in_one() -> None:
    """
    Providers take objects only; the model still sees what it wrote.
    """
    assert as_args('{"a": ') == {"INVALID_JSON": '{"a": '}
    assert as_args({"a": 1}) == {"a": 1}
