"""The models that are part of the program: what they say, and what they keep."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from guideway.runtime.calls import ToolCall, Usage
from guideway.runtime.models.fake import FakeModel, FunctionModel
from guideway.runtime.models.messages import Model, ModelError, ModelReply, ModelRequest, StreamingModel, TextDelta
from guideway.runtime.models.scripted import ScriptedModel
from guideway.statemachine.errors import HostError

LOOK = ToolCall("query_siem", {"hours": 24}, "c1")


def request(text: str = "hello") -> ModelRequest:
    """A request with one message."""
    return ModelRequest([{"role": "user", "content": text}])


def ask(model: Model, text: str = "hello") -> ModelReply:
    """One reply."""
    return asyncio.run(model.reply(request(text)))


@pytest.mark.parametrize(
    ("written", "text", "calls"),
    [
        ("Done.", "Done.", ()),
        (LOOK, "", (LOOK,)),
        ([LOOK, LOOK], "", (LOOK, LOOK)),
        (["Looking.", LOOK], "Looking.", (LOOK,)),
        (ModelReply("Whole.", (LOOK,)), "Whole.", (LOOK,)),
        ([], "", ()),
    ],
)
def test_each_short_form_stands_for_a_reply(written: Any, text: str, calls: tuple[ToolCall, ...]) -> None:
    """
    A text, a call, a list of both and a whole reply are taken; an empty list is an empty reply.
    """
    reply = ask(FakeModel([written]))

    assert (reply.text, reply.calls) == (text, calls)


@pytest.mark.parametrize("written", [3, None, {"text": "x"}, [LOOK, 3]])
def test_what_stands_for_no_reply_is_refused(written: Any) -> None:
    """
    Anything else is the program's mistake, and the message says what is taken.
    """
    with pytest.raises(HostError, match=r"ToolCall"):
        ask(FakeModel([written]))


@pytest.mark.parametrize("written", [ModelError("it is down"), ModelError])
def test_an_exception_among_the_replies_is_raised(written: Any) -> None:
    """
    An exception, or its class, in the place of a reply is raised; the reply after it follows.
    """
    model = FakeModel([written, "Back."])

    with pytest.raises(ModelError):
        ask(model)
    assert ask(model).text == "Back."


def test_a_fake_model_that_has_run_out_says_so() -> None:
    """
    The error names the model and how many replies it had.
    """
    model = FakeModel(["only"])
    ask(model)

    with pytest.raises(ModelError, match=r"`fake` was asked for reply 2 and was given 1"):
        ask(model)
    assert model.left == 0


def test_requests_are_kept_as_they_were() -> None:
    """
    A transcript that grows after the request does not change what the model kept of it.
    """
    model, messages = FakeModel(["one"]), [{"role": "user", "content": "first"}]

    asyncio.run(model.reply(ModelRequest(messages)))
    messages[0]["content"] = "changed"
    messages.append({"role": "user", "content": "second"})

    assert [list(kept.messages) for kept in model.requests] == [[{"role": "user", "content": "first"}]]


def test_a_text_is_no_list_of_replies() -> None:
    """
    `FakeModel("Done.")` would say a letter at a time; it is refused.
    """
    with pytest.raises(HostError, match=r"write \[text\]"):
        FakeModel("Done.")


def test_a_stream_brings_the_text_in_pieces_and_then_the_whole() -> None:
    """
    The pieces put together are the text of the reply, which comes last, once.
    """

    async def streamed() -> list[TextDelta | ModelReply]:
        return [piece async for piece in FakeModel([[" All\nis  well. ", LOOK]]).stream(request())]

    *deltas, last = asyncio.run(streamed())

    assert isinstance(last, ModelReply)
    assert "".join(piece.text for piece in deltas) == last.text == " All\nis  well. "
    assert len(deltas) == 3
    assert last.calls == (LOOK,)


def test_each_of_them_is_a_streaming_model() -> None:
    """
    The protocols hold at run time, which is how an agent knows that it may stream.
    """
    assert isinstance(FakeModel([]), StreamingModel)
    assert isinstance(FunctionModel(lambda _: ""), StreamingModel)


def test_a_function_may_be_asynchronous_and_sees_the_request() -> None:
    """
    An async function is awaited, and gets the request as it is.
    """

    async def shout(asked: ModelRequest) -> str:
        await asyncio.sleep(0)
        return str(asked.messages[-1]["content"]).upper()

    reply = ask(FunctionModel(shout, name="shouter"), "hello")

    assert (reply.text, reply.model) == ("HELLO", "shouter")


def test_what_a_function_raises_is_raised() -> None:
    """
    A mistake in the function is not dressed up as a model's failure.
    """

    def broken(_: ModelRequest) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(FunctionModel(broken))


def test_one_fake_model_serves_runs_at_the_same_time() -> None:
    """
    A hundred requests at once get a hundred different replies.
    """
    model = FakeModel([str(number) for number in range(100)])

    async def together() -> list[ModelReply]:
        return await asyncio.gather(*(model.reply(request(str(number))) for number in range(100)))

    replies = asyncio.run(together())

    assert {reply.text for reply in replies} == {str(number) for number in range(100)}


def test_a_script_is_played_with_its_usage_and_confidence(tmp_path: Path) -> None:
    """
    A script's line becomes a whole reply, the parts of its usage included.
    """
    script = tmp_path / "turns.jsonl"
    script.write_text(
        '{"text": "Looking.", "calls": [{"tool": "query_siem", "args": {"hours": 24}, "id": "c1"}], "confidence": 0.8,'
        ' "usage": {"input_tokens": 11, "output_tokens": 7, "cost": 0.5}}\n'
    )

    reply = ask(ScriptedModel.load(script))

    assert (reply.text, reply.calls, reply.confidence) == ("Looking.", (LOOK,), 0.8)
    assert reply.usage == Usage(18, 11, 7, 0.5)


def test_a_script_that_has_run_out_says_whose_it_is(tmp_path: Path) -> None:
    """
    The error names the file.
    """
    script = tmp_path / "turns.jsonl"
    script.write_text('{"text": "Only this."}\n')
    model = ScriptedModel.load(script)
    ask(model)

    with pytest.raises(ModelError, match=r"scripted:turns\.jsonl"):
        ask(model)
