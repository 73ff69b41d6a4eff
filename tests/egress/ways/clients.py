"""Clients of HTTP in Python."""

import asyncio
import urllib.request
from collections.abc import Callable

from ways.way import PATIENCE, module, way


def _put(name: str, ask: Callable[[str], object]) -> None:
    """Put a client among the ways twice: by an address, and by a name."""
    way(name.rstrip(","))(lambda to: ask(f"http://{to['host']}:{to['port']}/"))
    way(f"{name} by name")(lambda to: ask(f"http://{to['name']}:{to['port']}/"))


async def _asked(library: str, url: str) -> None:
    async with module(library).AsyncClient(timeout=PATIENCE) as client:
        await client.get(url)


async def _session(url: str) -> None:
    async with module("aiohttp").ClientSession() as session:
        await session.get(url)


_put("urllib", lambda url: urllib.request.urlopen(url, timeout=PATIENCE))
_put("urllib3", lambda url: module("urllib3").request("GET", url, timeout=PATIENCE, retries=False))
_put("requests", lambda url: module("requests").get(url, timeout=PATIENCE))
_put("httpx", lambda url: module("httpx").get(url, timeout=PATIENCE))
_put("httpx, asynchronous,", lambda url: asyncio.run(_asked("httpx", url)))
_put("httpx2", lambda url: module("httpx2").get(url, timeout=PATIENCE))
_put("httpx2, asynchronous,", lambda url: asyncio.run(_asked("httpx2", url)))
_put("aiohttp", lambda url: asyncio.run(_session(url)))
