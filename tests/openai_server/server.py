"""The server: one thread and one port for all tests, and for each test a path of its own and a script."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from itertools import count
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.openai_server.faults import CutOff, Garbage, Slow, Status
from tests.openai_server.wire import Says, chunks, whole

Does = Says | Status | Garbage | Slow | CutOff
Script = Iterable[Does] | Callable[[dict[str, Any]], Does]
EVENTS = "text/event-stream"
NUMBERS = count(1)
OPEN: dict[int, Server] = {}


class Server:
    """
    Speaks `POST /v1/chat/completions` while its `with` block lasts; `requests` holds the bodies it got.

    A script is a list, played in the order of the requests, or a function of the body, for many clients at once.
    """

    def __init__(self, script: Script) -> None:
        self._does = script if callable(script) else _in_order(script)
        self._closing = threading.Event()
        self._number = next(NUMBERS)
        self.requests: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{_port()}/{self._number}/v1"

    def __enter__(self) -> Self:
        OPEN[self._number] = self
        return self

    def __exit__(self, *_: object) -> None:
        del OPEN[self._number]
        self._closing.set()

    async def answer(self, body: dict[str, Any]) -> Response:
        """Do what the script says next."""
        self.requests.append(body)
        does = self._does(body)
        match does:
            case Says():
                return _streamed(chunks(does)) if body.get("stream") else JSONResponse(whole(does))
            case Status(code, message, error_code):
                error = {"message": message, "type": "error", "code": error_code}
                return JSONResponse({"error": error}, status_code=code)
            case Garbage(text, media):
                return Response(text, media_type=EVENTS if body.get("stream") else media)
            case Slow():
                await self._silence()
                return Response(status_code=503)
            case CutOff():
                return StreamingResponse(_cut(does), media_type=EVENTS)

    async def _silence(self) -> None:
        while not self._closing.is_set():
            await asyncio.sleep(0.01)


def closed_url() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@cache
def _port() -> int:
    """Start the thread when it is first needed; it ends with the process."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    app = Starlette(routes=[Route("/{number:int}/v1/chat/completions", _answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    threading.Thread(target=server.run, args=([listening],), daemon=True).start()
    return int(listening.getsockname()[1])


async def _answer(request: Request) -> Response:
    server = OPEN.get(request.path_params["number"])
    return Response(status_code=410) if server is None else await server.answer(await request.json())


def _in_order(script: Iterable[Does]) -> Callable[[dict[str, Any]], Does]:
    steps = iter(list(script))
    return lambda body: next(steps, Status(400, "the script of the server is over"))


def _streamed(events: Iterable[str]) -> StreamingResponse:
    async def send() -> AsyncIterator[str]:
        for event in events:
            yield event
            await asyncio.sleep(0)

    return StreamingResponse(send(), media_type=EVENTS)


async def _cut(does: CutOff) -> AsyncIterator[str]:
    """The beginning of a stream; raising in the middle makes uvicorn drop the connection."""
    for number, event in enumerate(chunks(does.says)):
        if number == does.after:
            if does.rude:
                raise ConnectionAbortedError
            return
        yield event
