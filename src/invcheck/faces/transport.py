"""The transport face: an HTTP client's own transport, so that unmodified SDKs ask a double without a socket.

One transport serves httpx2 and httpx, sync and async alike; each HTTP request is one call of the double.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, NoReturn

from invcheck import record
from invcheck.double import Double
from invcheck.errors import CallCancelled, DoubleError, InvcheckError
from invcheck.faces.answering import aanswer, answer, refusal
from invcheck.faces.bodies import Asked, Break
from invcheck.request import AbortSignal
from invcheck.vocabulary import Waits


def transport(double: Double, *, module: ModuleType | None = None, lane: str | None = None) -> Any:
    """Give a transport of ``module``, which is httpx2 or httpx (httpx2 by default, where it is installed).

    What comes back is what a provider sends, and marked ``x-invcheck-double: 1``; a fault without a response is the
    module's own exception (ConnectError, ReadTimeout, RemoteProtocolError). Where the double itself cannot answer, the
    response says so in a status that no client repeats. A reply that comes later than the client's read time-out, in
    virtual seconds, is a ReadTimeout. DoubleError where neither module is installed.

    >>> import httpx2, invcheck
    >>> with invcheck.testing():
    ...     client = httpx2.Client(transport=transport(invcheck.ScriptedModel("hello")))
    ...     asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    ...     body = client.post("http://double.invalid/v1/chat/completions", json=asked).json()
    >>> body["choices"][0]["message"]["content"]
    'hello'
    """
    return _made(module or _installed())(double, lane)


def _installed() -> ModuleType:
    for name in ("httpx2", "httpx"):
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name)
    raise DoubleError("a transport needs httpx2 or httpx, and neither is installed", hint="pip install httpx2")


@cache
def _made(module: Any) -> Any:  # noqa: C901  # two classes, whose bases are the module's
    """Make the transport's class of a module's own base classes, which its clients check."""

    class Body(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc]  # the module decides its bases
        """The body of a response as its parts come."""

        def __init__(self, wire: _Wire, parts: Any) -> None:
            self._wire, self._parts = wire, parts

        def __iter__(self) -> Iterator[bytes]:
            with self._wire.errors():
                for part in self._parts:
                    if isinstance(part, Break):
                        self._wire.let(part)
                    else:
                        yield part

        async def __aiter__(self) -> AsyncIterator[bytes]:
            with self._wire.errors():
                async for part in self._parts:
                    if isinstance(part, Break):
                        await self._wire.alet(part)
                    else:
                        yield part

        def close(self) -> None:
            self._parts.close()

        async def aclose(self) -> None:
            await self._parts.aclose()

    class Transport(module.BaseTransport, module.AsyncBaseTransport):  # type: ignore[misc]  # as above
        """What an HTTP client sends its requests through, answered by a double."""

        def __init__(self, double: Double, lane: str | None) -> None:
            self._double, self._lane = double, lane

        def handle_request(self, request: Any) -> Any:
            request.read()
            wire = _Wire(module, request)
            try:
                with wire.errors():
                    found = answer(self._double, wire.asked, lane=self._lane, signal=wire.signal)
            except InvcheckError as error:
                found = refusal(wire.asked, error, loop=False)
            body = Body(wire, found.parts)
            if not found.status:
                list(body)
            return module.Response(found.status, headers=found.headers, stream=body)

        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            wire = _Wire(module, request)
            try:
                with wire.errors():
                    found = await aanswer(self._double, wire.asked, lane=self._lane, signal=wire.signal)
            except InvcheckError as error:
                found = refusal(wire.asked, error, loop=True)
            body = Body(wire, found.parts)
            if not found.status:
                [part async for part in body]
            return module.Response(found.status, headers=found.headers, stream=body)

    return Transport


class _Wire:
    """One request as its client sees it: how long it waits for what comes next, and what it raises where that does not come."""

    def __init__(self, module: Any, request: Any) -> None:
        self._module, self._request = module, request
        self.asked = Asked(request.method, request.url.path, request.headers, request.content)
        self.signal = AbortSignal(patience=(request.extensions.get("timeout") or {}).get("read"))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the client's own time-out where the double was not waited for any longer."""
        try:
            yield
        except CallCancelled:
            if not self.signal.aborted:
                raise
            raise self._error("ReadTimeout", "nothing more came in time") from None

    def let(self, part: Break) -> NoReturn:
        """Wait until a connection ends without an end, and raise what the client does then."""
        seconds, error = self._end(part)
        clock = _clock()
        if clock is not None and seconds:
            clock.let(seconds)
        raise error

    async def alet(self, part: Break) -> NoReturn:
        """Wait in the event loop until a connection ends without an end, and raise what the client does then."""
        seconds, error = self._end(part)
        clock = _clock()
        if clock is not None and seconds:
            await clock.alet(seconds)
        raise error

    def _end(self, part: Break) -> tuple[float, Exception]:
        patience, kind, text = self.signal.patience, part.fault.kind, part.fault.message
        if kind == "timeout":  # a stall is what lets the time pass
            return 0.0, self._error("ReadTimeout", text)
        if patience is not None and part.seconds >= patience:
            return patience, self._error("ReadTimeout", text)
        return part.seconds, self._error("ConnectError" if kind == "connection" else "RemoteProtocolError", text)

    def _error(self, kind: str, text: str) -> Exception:
        made: Exception = getattr(self._module, kind)(text, request=self._request)
        return made


def _clock() -> Waits | None:
    held = record.current()
    return None if held is None else held.clock
