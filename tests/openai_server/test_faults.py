"""What providers do instead of replying, over real HTTP: each ends in a `ModelError` that says how."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from guideway.runtime.models.messages import ModelError, ModelReply, TextDelta
from guideway.runtime.models.named import wrap
from tests.openai_server.clients import ask, asked, model_at, provider_model, request
from tests.openai_server.faults import CutOff, Garbage, Slow, Status
from tests.openai_server.server import Does, Server, closed_url
from tests.openai_server.wire import Call, Says

BOTH = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


@BOTH
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status(429), "rate_limit"),
        (Status(500), "server"),
        (Status(503), "overloaded"),
        (Status(401), "authentication"),
        (Status(404), "no_such_model"),
        (Status(400), "rejected"),
        (Status(400, error_code="context_length_exceeded"), "context_window"),
    ],
    ids=lambda value: f"{value.code}{value.error_code or ''}" if isinstance(value, Status) else value,
)
def test_an_http_error(streaming: bool, status: Status, kind: str) -> None:
    """
    The error has its kind, the status and the server's words, and the provider's own exception as its cause.
    """
    with Server([status]) as server, pytest.raises(ModelError, match=rf"HTTP {status.code}: the server says no") as got:
        ask(server, streaming)

    assert got.value.kind == kind
    assert got.value.__cause__ is not None


@BOTH
@pytest.mark.parametrize(
    "body", ["<html>It works!</html>", "", "null", "{}", '{"choices": []}', '{"choices": [{}]}', "data: {\n\n"]
)
def test_a_body_that_is_no_reply(streaming: bool, body: str) -> None:
    """
    A 200 with anything else in it is `unreadable`, never half a reply.
    """
    with Server([Garbage(body)]) as server, pytest.raises(ModelError) as got:
        ask(server, streaming)

    assert got.value.kind == "unreadable"


def test_a_body_of_another_media_type() -> None:
    """
    Plain text is no reply.
    """
    with Server([Garbage("fine", "text/plain")]) as server, pytest.raises(ModelError) as got:
        ask(server, False)

    assert got.value.kind == "unreadable"


CALLS = Says(calls=(Call("isolate_host", '{"host": "ws-7"}'),))


@pytest.mark.parametrize("says", [Says("one two three four"), CALLS], ids=["text", "calls"])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_connection_that_breaks_in_the_middle(says: Says, after: int) -> None:
    """
    A dropped connection is no reply, however much of it had come.
    """
    with Server([CutOff(says, after)]) as server, pytest.raises(ModelError) as got:
        ask(server, True)

    assert got.value.kind == "connection"


@pytest.mark.parametrize("says", [Says("one two three four"), CALLS], ids=["text", "calls"])
@pytest.mark.parametrize("after", [2, 4])
def test_a_stream_that_ends_too_early_and_politely(says: Says, after: int) -> None:
    """
    A body that ends without a finish reason is no reply, though what came may look like one: a call in it never runs.
    """
    with Server([CutOff(says, after, rude=False)]) as server, pytest.raises(ModelError) as got:
        ask(server, True)

    assert got.value.kind == "broken_off"


@BOTH
def test_a_server_that_is_silent(streaming: bool) -> None:
    """
    A time limit set for the request ends the wait.
    """
    with Server([Slow()]) as server, pytest.raises(ModelError) as got:
        ask(server, streaming, request(timeout=0.2))

    assert got.value.kind == "timeout"


@BOTH
def test_a_server_that_is_not_there(streaming: bool) -> None:
    """
    A refused connection says so.
    """
    server = Server([])
    server.url = closed_url()

    with pytest.raises(ModelError) as got:
        ask(server, streaming)
    assert got.value.kind == "connection"


@BOTH
def test_a_reply_that_a_filter_withheld(streaming: bool) -> None:
    """
    What is left of a filtered reply is no reply.
    """
    with Server([Says("x", finish="content_filter")]) as server, pytest.raises(ModelError) as got:
        ask(server, streaming)

    assert got.value.kind == "filtered"


@pytest.mark.parametrize("fault", [Status(429), Garbage(), CutOff()], ids=["429", "garbage", "cut"])
def test_the_model_can_be_asked_again(fault: Does) -> None:
    """
    After a fault the same model answers the next request.
    """

    async def twice() -> ModelReply:
        model = model_at(server)
        with pytest.raises(ModelError):
            await asked(model, True, request())
        _, reply = await asked(model, True, request())
        await model.close()
        return reply

    with Server([fault, Says("Back.")]) as server:
        reply = asyncio.run(twice())

    assert reply.text.strip() == "Back."


def test_a_stream_may_be_left() -> None:
    """
    Who stops listening after the first piece gets no error, and the model answers the next request.
    """

    async def leave_and_ask() -> tuple[str, ModelReply]:
        model = model_at(server)
        pieces = model.stream(request())
        first = await anext(pieces)
        await pieces.aclose()  # type: ignore[attr-defined]
        reply = await model.reply(request())
        await model.close()
        assert isinstance(first, TextDelta)
        return first.text, reply

    with Server([Says("one two three"), Says("Next.")]) as server:
        first, reply = asyncio.run(leave_and_ask())

    assert (first, reply.text) == ("one ", "Next.")


def test_a_request_that_is_cancelled_stays_cancelled() -> None:
    """
    Cancelling the wait is no failure of the model's.
    """

    async def cancel() -> None:
        task = asyncio.create_task(model_at(server).reply(request()))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with Server([Slow()]) as server, pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_one_model_serves_one_loop_after_another() -> None:
    """
    A model that a function makes is made anew in each event loop, where connections of the last would be dead.
    """
    with Server(lambda body: Says("ok")) as server:
        model = model_at(server)
        texts = [asyncio.run(model.reply(request())).text for _ in range(3)]

    assert texts == ["ok", "ok", "ok"]


def test_loops_that_have_ended_are_let_go_of() -> None:
    """
    A program that runs agents one after another, each in a loop of its own, keeps the connections of the last only.
    """
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def once() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await model.reply(request())

    with Server(lambda body: Says("ok")) as server:
        model = model_at(server)
        for _ in range(4):
            asyncio.run(once())
        gc.collect()

    assert [loop() for loop in loops[:-1]] == [None, None, None]


def test_a_model_object_serves_one_loop_after_another() -> None:
    """
    A given model object is closed with each loop, and opens anew in the next.
    """
    with Server(lambda body: Says("ok")) as server:
        model = wrap(provider_model(server))
        texts = [asyncio.run(model.reply(request())).text for _ in range(3)]

    assert texts == ["ok", "ok", "ok"]


def test_a_model_object_in_two_loops_at_once_says_what_to_do() -> None:
    """
    Its connections belong to the loop that is still at work: another one is refused, and told of the way out.
    """

    async def both() -> None:
        await model.reply(request())
        with ThreadPoolExecutor(1) as other:
            other.submit(asyncio.run, model.reply(request())).result()

    with Server(lambda body: Says("ok")) as server:
        model = wrap(provider_model(server))
        with pytest.raises(ModelError, match="give `wrap` a function") as got:
            asyncio.run(both())

    assert got.value.kind == "setup"


def test_threads_share_a_model_that_a_function_makes() -> None:
    """
    Eight threads with a loop each ask one model at the same time.
    """
    with Server(lambda body: Says(body["messages"][-1]["content"])) as server:
        model = model_at(server)
        sent = [request([{"role": "user", "content": str(number)}]) for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            replies = list(threads.map(lambda each: asyncio.run(model.reply(each)), sent))

    assert [reply.text for reply in replies] == [str(number) for number in range(8)]


def test_nothing_is_left_open_when_a_loop_ends() -> None:
    """
    A program that never calls `close` hears nothing of sockets and closed loops when it ends.
    """
    program = (
        "import asyncio, gc, sys\n"
        "from tests.openai_server.clients import model_at, request\n"
        "from tests.openai_server.server import Server\n"
        "from tests.openai_server.wire import Says\n"
        "with Server(lambda body: Says('ok')) as server:\n"
        "    model = model_at(server)\n"
        "    for _ in range(2):\n"
        "        print(asyncio.run(model.reply(request())).text)\n"
        "    gc.collect()\n"
    )
    root = Path(__file__).resolve().parents[2]

    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", program], cwd=root, capture_output=True, text=True
    )

    assert (done.stdout.split(), done.stderr) == (["ok", "ok"], "")


def test_a_closed_model_opens_again() -> None:
    """
    `close` lets go of connections, and the next request makes new ones.
    """

    async def close_between() -> list[str]:
        model = model_at(server)
        texts = []
        for _ in range(2):
            texts.append((await model.reply(request())).text)
            await model.close()
            await model.close()
        return texts

    with Server(lambda body: Says("ok")) as server:
        assert asyncio.run(close_between()) == ["ok", "ok"]


def test_many_requests_at_once() -> None:
    """
    Fifty requests at the same time get their own answers.
    """

    async def together() -> list[str]:
        model = model_at(server)
        sent = [request([{"role": "user", "content": str(number)}]) for number in range(50)]
        replies = await asyncio.gather(*(model.reply(each) for each in sent))
        await model.close()
        return [reply.text for reply in replies]

    with Server(lambda body: Says(body["messages"][-1]["content"])) as server:
        assert asyncio.run(together()) == [str(number) for number in range(50)]
