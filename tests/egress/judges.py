"""The judges: listeners for every way, which see who comes, whatever the client says of itself.

Each way of each round has ports, paths and a name of its own, so that whoever comes late is told apart too.
"""

from __future__ import annotations

import os
import re
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.egress.world import HOST, HOST6, SERVER

_FIRST = 10_000  # below the ports that the kernel gives to whoever asks for any, on one of the addresses
_ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"
_NAME = re.compile(rb"(?:^|[^a-z0-9])(w\d+)(?:\.|\x07)(?:example)", re.IGNORECASE)


class Judges:
    """Listens until it is closed; ``seen`` tells by each way's key how somebody came."""

    def __init__(self, folder: Path, *, version6: bool) -> None:
        self.seen: dict[str, set[str]] = {}
        self._folder, self._version6 = folder, version6
        self._selector = selectors.DefaultSelector()
        self._number = 0
        self._served: dict[str, Any] = {}
        names = self._bound(socket.AF_INET, socket.SOCK_DGRAM, (SERVER, 53))
        self._watch(names, lambda: self._named(names))
        daemon = self._bound(socket.AF_UNIX, socket.SOCK_STREAM, "/run/nscd/socket")
        self._watch(daemon, lambda: self._asked(daemon))
        kept = self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._watch(kept, lambda: self._serve(kept))
        served = self._bound(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "served"))
        self._watch(served, lambda: self._serve(served))
        self._served = {"allowed": kept.getsockname()[1], "served": str(folder / "served")}

    def targets(self) -> dict[str, Any]:
        """Give what is listened to from now on for one more way: its ``key`` and where it leads."""
        self._number += 1
        key = f"w{self._number}"
        self.seen[key] = set()
        port = _FIRST + self._number
        self._stream(key, socket.AF_INET, (HOST, port), "TCP")
        if self._version6:
            self._stream(key, socket.AF_INET6, (HOST6, port), "TCP over IPv6")
        self._stream(key, socket.AF_INET, ("127.0.0.1", port), "TCP on loopback")
        datagrams = self._bound(socket.AF_INET, socket.SOCK_DGRAM, (HOST, port))
        self._watch(datagrams, lambda: self._letter(datagrams, key, "a datagram"))
        paths = {name: str(self._folder / key / name) for name in ("path", "letters")}
        paths["postgres"] = str(self._folder / key / f".s.PGSQL.{port}")
        (self._folder / key).mkdir(mode=0o755)
        for name in ("path", "postgres"):
            self._stream(key, socket.AF_UNIX, paths[name], "a Unix socket")
        abstract = f"egress-{os.getpid()}-{key}"
        self._stream(key, socket.AF_UNIX, "\0" + abstract, "an abstract Unix socket")
        letters = self._bound(socket.AF_UNIX, socket.SOCK_DGRAM, paths["letters"])
        self._watch(letters, lambda: self._letter(letters, key, "a Unix datagram"))
        name = f"{key}.example.test"
        host6 = HOST6 if self._version6 else None
        return {"key": key, "host": HOST, "host6": host6, "port": port, "name": name, "abstract": abstract, **paths, **self._served}

    def connection(self, key: str) -> socket.socket:
        """Give an open connection of before: whatever comes over it was sent by way ``key``."""
        with self._bound(socket.AF_INET, socket.SOCK_STREAM, (HOST, 0)) as server:
            server.setblocking(True)
            client = socket.create_connection(server.getsockname())
            other, _ = server.accept()
        self._watch(other, lambda: self._late(other, key))
        return client

    def look(self, seconds: float) -> bool:
        """Let the judges see who has come, waiting so long for the first; say whether anybody did."""
        ready = self._selector.select(seconds)
        for chosen, _ in ready:
            with suppress(BlockingIOError, ConnectionError):
                chosen.data()
        return bool(ready)

    def close(self) -> None:
        for chosen in list(self._selector.get_map().values()):
            chosen.fileobj.close()  # type: ignore[union-attr]  # all of them are sockets
        self._selector.close()

    def _bound(self, family: int, kind: int, address: Any) -> socket.socket:
        made = socket.socket(family, kind)
        made.setblocking(False)
        made.bind(address)
        if family == socket.AF_UNIX and not address.startswith("\0"):
            Path(address).chmod(0o777)
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        return made

    def _watch(self, one: socket.socket, heard: Callable[[], None]) -> None:
        self._selector.register(one, selectors.EVENT_READ, heard)

    def _stream(self, key: str, family: int, address: Any, how: str) -> socket.socket:
        made = self._bound(family, socket.SOCK_STREAM, address)
        self._watch(made, lambda: self._came(made, key, how))
        return made

    def _came(self, server: socket.socket, key: str, how: str) -> None:
        server.accept()[0].close()
        self.seen[key].add(how)

    def _letter(self, server: socket.socket, key: str, how: str) -> None:
        server.recv(4096)
        self.seen[key].add(how)

    def _late(self, other: socket.socket, key: str) -> None:
        if b"late" in other.recv(4096):
            self.seen[key].add("over a connection of before")
        else:
            self._selector.unregister(other)

    def _found(self, text: bytes, how: str) -> None:
        found = _NAME.search(text)
        if found is not None:
            self.seen.setdefault(found[1].decode().lower(), set()).add(how)

    def _named(self, server: socket.socket) -> None:
        """Answer a query as RFC 1035 has it: every name has one address, `HOST`."""
        query, asker = server.recvfrom(4096)
        self._found(query[12:].replace(b"\x07", b"."), "a lookup of its name")
        end = query.index(b"\0", 12) + 5
        wants = int.from_bytes(query[end - 4 : end - 2], "big") == 1
        record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(HOST) if wants else b""
        server.sendto(query[:2] + b"\x81\x80\0\1" + (b"\0\1" if wants else b"\0\0") + bytes(4) + query[12:end] + record, asker)

    def _asked(self, server: socket.socket) -> None:
        other, _ = server.accept()
        with other, suppress(TimeoutError):
            other.settimeout(0.5)
            self._found(other.recv(4096), "a question to the daemon of names")

    def _serve(self, server: socket.socket) -> None:
        other, _ = server.accept()
        with other, suppress(TimeoutError):
            other.settimeout(5)
            other.recv(4096)
            other.sendall(_ANSWER)
