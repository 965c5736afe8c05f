"""The server: a thread of its own, a port of its own, and a list of what it does next."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterable
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


class Server:
    """
    Speaks `POST /v1/chat/completions` while its `with` block lasts; `requests` holds the bodies it got.

    A script is a list, played in the order of the requests, or a function of the body, for many clients at once.
    """

    def __init__(self, script: Script) -> None:
        self._does = script if callable(script) else _in_order(script)
        self._closing = threading.Event()
        self.requests: list[dict[str, Any]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    @property
    def url(self) -> str:
        """The base address a client is given."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
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
