"""The double as an application of a web server (ASGI 3): the one door to starlette and uvicorn.

A connection is kept until the client leaves it, the server ends, or a fault breaks it. It is never said beforehand that it
will be closed: a client that knows may take a reply that was cut for a whole one.
"""

from __future__ import annotations

import asyncio
import logging
import math
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

from invcheck import lanes
from invcheck.double import Double
from invcheck.errors import ScriptedModelError
from invcheck.faces.answering import aanswer, malformed, refusal
from invcheck.faces.bodies import Answer, Asked, Break
from invcheck.request import Call
from invcheck.vocabulary import Fault

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LANE = "x-invcheck-lane"
"""The header by which a client names its lane."""

_RETRIED = frozenset({408, 409, 429})
_SERVER = 500
_AT_ONCE = "0.001"
_RESET = struct.pack("ii", 1, 0)  # socket(7), SO_LINGER: a close with nothing lingering is a reset


async def serve(double: Double, listening: socket.socket, lane: str | None, silence: float, begun: Callable[[asyncio.Event], None]) -> None:
    """Serve a double on a listening socket; ``begun`` gets the event that ends it."""
    config = uvicorn.Config(
        _App(double, lane, silence),
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

    def __init__(self, double: Double, lane: str | None, silence: float) -> None:
        self.double, self.lane, self._silence = double, lane, silence
        self._flights: list[_Flight] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return  # it never said what it wanted
        asked = Asked(request.method, scope["path"], request.headers, body)
        transport: asyncio.Transport = scope["state"]["connection"].transport
        answer = await self._answer(asked, self.lane or request.headers.get(LANE), transport)
        if answer.status:
            await send({"type": "http.response.start", "status": answer.status, "headers": _headers(answer)})
        breaks = await _sent(answer, send)
        if breaks is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._broken(breaks, transport, receive)

    async def _answer(self, asked: Asked, lane: str | None, transport: asyncio.Transport) -> Answer:
        flight = _Flight(transport)
        try:
            return await aanswer(self.double, asked, lane=lane, arrived=lambda call: self._meet(flight, call))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # no exception reaches a client on a socket; the double has recorded it
            return refusal(asked, error, loop=True)
        finally:
            if flight in self._flights:
                self._flights.remove(flight)

    def _meet(self, flight: _Flight, call: Call) -> None:
        """Enter an exchange until its answer begins; one that meets another on an ordered lane has no order of its own.

        Not for longer: who has read the beginning of an answer may ask again because of it. Nor one whose client has left,
        which may be the same client that asks again.
        """
        flight.lane, flight.ordered = call.lane, self.double.ordered(call.lane)
        if any(other.lane == call.lane and other.ordered and not other.client.is_closing() for other in self._flights):
            self.double.latch(lanes.overlap(call.lane), call.lane)
        self._flights.append(flight)

    async def _broken(self, breaks: Break, transport: asyncio.Transport, receive: Receive) -> None:
        """Keep silent for as long as a break says, unless the client leaves before, and close the connection without an end."""
        gone = asyncio.ensure_future(receive())  # the request is here, so that all that can come is its end
        lasts = math.inf if breaks.fault.kind == "timeout" else breaks.seconds  # a time-out is the client's, whenever that is
        if lasts:
            loop: Any = asyncio.get_running_loop()
            await asyncio.wait([gone, loop.silence(min(lasts, self._silence))], return_when=asyncio.FIRST_COMPLETED)
            if lasts > self._silence and not gone.done():
                self.double.latch(_cut(breaks, self._silence), None)
        if breaks.fault.kind == "connection":
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport.close()
        await gone


class _Flight:
    """One exchange that is not answered yet."""

    __slots__ = ("client", "lane", "ordered")

    def __init__(self, client: asyncio.Transport) -> None:
        self.client = client
        self.lane: str | None = None
        self.ordered = False


def _cut(breaks: Break, silence: float) -> ScriptedModelError:
    """Give the error of a silence that ends before what the script says: its client saw another fault than in process."""
    return ScriptedModelError(
        f"a {breaks.fault.kind} was silent for {silence:g} real seconds and its client still waited: it saw the connection break",
        code="SILENCE_CUT",
        expected=f"a client whose time-out is less than {silence:g} seconds",
        got="one that waits longer",
        hint="lower the client's time-out, or let the server be silent for longer (silence=, --silence)",
    )


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
