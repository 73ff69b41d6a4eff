"""The double as an application of a web server (ASGI 3): the one door to starlette and uvicorn.

A connection is kept until the client leaves it, the server ends, or a fault breaks it. It is never said beforehand that it
will be closed: a client that knows may take a reply that was cut for a whole one.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
import sys
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from invcheck.double import Double
from invcheck.faces.answering import aanswer, malformed, refusal
from invcheck.faces.bodies import Answer, Asked, Break
from invcheck.vocabulary import Fault

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LANE = "x-invcheck-lane"
"""The header by which a client names its lane."""

SILENCE = 2.0
"""Real seconds that a silence lasts at most; a client that waits longer sees its connection go."""

_RETRIED = frozenset({408, 409, 429})
_SERVER = 500
_AT_ONCE = "0.001"
_RESET = struct.pack("ii", 1, 0)  # socket(7), SO_LINGER: a close with nothing lingering is a reset


async def serve(double: Double, listening: socket.socket, lane: str | None, begun: Callable[[asyncio.Event], None]) -> None:
    """Serve a double on a listening socket; ``begun`` gets the event that ends it."""
    config = uvicorn.Config(
        _App(double, lane),
        http=_Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
    )
    config.load()
    server, stop = uvicorn.Server(config), asyncio.Event()
    server.lifespan = config.lifespan_class(config)
    with _quiet():
        await server.startup(sockets=[listening])
        begun(stop)
        await stop.wait()
        await _end(server)


async def _end(server: uvicorn.Server) -> None:
    """Break off what is under way, and leave nothing that would warn when it is collected."""
    for accepting in server.servers:
        accepting.close()
    for connection in list(server.server_state.connections):
        connection.transport.abort()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.sleep(0)  # in which the transports close their sockets


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what uvicorn logs of this server out of what the app logs: it is told by the record."""
    logger, own = logging.getLogger("uvicorn.error"), get_ident()

    def others(entry: logging.LogRecord) -> bool:
        return entry.thread != own

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


class _App:
    """Answers each request of a client with one exchange of the double."""

    def __init__(self, double: Double, lane: str | None) -> None:
        self.double, self.lane = double, lane

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return  # it never said what it wanted
        asked = Asked(request.method, scope["path"], request.headers, body)
        answer = await self._answer(asked, self.lane or request.headers.get(LANE))
        transport: asyncio.Transport = scope["state"]["connection"].transport
        if answer.status:
            await send({"type": "http.response.start", "status": answer.status, "headers": _headers(answer)})
        breaks = await _sent(answer, send)
        if breaks is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await _broken(breaks, transport, receive)

    async def _answer(self, asked: Asked, lane: str | None) -> Answer:
        try:
            return await aanswer(self.double, asked, lane=lane)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # no exception reaches a client on a socket; the double has recorded it
            return refusal(asked, error, loop=True)


async def _sent(answer: Answer, send: Send) -> Break | None:
    """Send the parts of a body; give how it breaks, if it does."""
    try:
        async for part in answer.parts:
            if isinstance(part, Break):
                return part
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # as above: a step that raises in the middle of its stream breaks the connection
        return Break(Fault("cut", type(error).__name__))
    finally:
        await answer.parts.aclose()
    return None


async def _broken(breaks: Break, transport: asyncio.Transport, receive: Receive) -> None:
    """Keep silent for as long as a break says, unless the client leaves before, and close the connection without an end."""
    gone = asyncio.ensure_future(receive())  # the request is here, so that all that can come is its end
    if breaks.seconds:
        loop: Any = asyncio.get_running_loop()
        await asyncio.wait([gone, loop.silence(min(breaks.seconds, SILENCE))], return_when=asyncio.FIRST_COMPLETED)
    if breaks.fault.kind == "connection":
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.close()
    await gone


def _headers(answer: Answer) -> list[tuple[bytes, bytes]]:
    headers = dict(answer.headers)
    if answer.status in _RETRIED or answer.status >= _SERVER:
        headers.setdefault("retry-after-ms", _AT_ONCE)
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class _Protocol(H11Protocol):
    """HTTP/1.1 as uvicorn has it, whose application may close the connection and hears of what is no request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Let the application know the connection."""
        super().connection_made(transport)
        self.app_state = {"connection": self}

    def on_response_complete(self) -> None:
        """Keep the connection without a time limit: no clock of a trial has to move for it."""
        super().on_response_complete()
        self._unset_keepalive_if_required()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, naming what is wrong with it, and enter it."""
        app: Any = self.app
        answer = malformed(app.double, str(sys.exception() or msg), lane=app.lane)
        headers = _headers(answer)
        self.transport.write(self.conn.send(h11.Response(status_code=answer.status, headers=headers)) or b"")
        for part in answer.parts:
            self.transport.write(self.conn.send(h11.Data(data=part)) or b"")
        self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
        self.transport.close()
