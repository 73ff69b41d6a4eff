"""Event loops."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ways.way import Targets, module, way


async def _dial(to: Targets, host: str = "host") -> None:
    _, writer = await asyncio.open_connection(to[host], to["port"])
    writer.close()


async def _send(to: Targets) -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=(to["host"], to["port"]))
    transport.sendto(b"out")
    await asyncio.sleep(0.05)
    transport.close()


def _put(name: str, what: Callable[[Targets], Coroutine[Any, Any, None]]) -> None:
    """Put it among the ways twice, for the loop of the standard library and for one of C code."""
    way(f"asyncio{name}")(lambda to: asyncio.run(what(to)))
    way(f"uvloop{name}", hidden=True)(lambda to: module("uvloop").run(what(to)))


_put("", _dial)
_put(", a datagram", _send)
_put(", by name", lambda to: _dial(to, "name"))


@way("trio")
def trio(to: Targets) -> object:
    library = module("trio")

    async def dial() -> None:
        await (await library.open_tcp_stream(to["host"], to["port"])).aclose()

    library.run(dial)
