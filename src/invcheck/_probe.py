"""Ways out, each taken once: what the gate is proved with. A worker takes the ways it is asked for, a plain program one.

Where they lead is given by whoever asks, and is never anything but listeners of its own.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from invcheck.vocabulary import Json

Targets: TypeAlias = Mapping[str, Json]
"""``host`` with its ``port`` and ``datagrams``, a Unix socket's ``path`` and ``abstract`` name, and a ``name`` to look up."""

_PATIENCE = 2.0  # seconds for an answer that nobody else waits for


def tcp(to: Targets) -> None:
    """Connect, as every HTTP client of Python does."""
    socket.create_connection((to["host"], to["port"]), timeout=_PATIENCE).close()


def udp(to: Targets) -> None:
    """Send a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"out", (to["host"], to["datagrams"]))


def name(to: Targets) -> None:
    """Look up a name, which asks a server for it."""
    socket.getaddrinfo(to["name"], 443)


def path(to: Targets) -> None:
    """Connect to a Unix socket that stands in a file."""
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(to["path"])


def abstract(to: Targets) -> None:
    """Connect to a Unix socket that stands in no file."""
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + to["abstract"])


def program(to: Targets) -> None:
    """Start a program that connects."""
    import subprocess  # noqa: PLC0415  # the way itself

    text = f"import socket; socket.create_connection(({to['host']!r}, {to['port']}), timeout={_PATIENCE})"
    subprocess.run([sys.executable, "-S", "-c", text], stderr=subprocess.DEVNULL, check=False)  # noqa: S603  # our own interpreter


def native(to: Targets) -> None:
    """Connect by C code, of which Python sees nothing."""
    import ctypes  # noqa: PLC0415  # the way itself
    from struct import pack  # noqa: PLC0415  # likewise

    address = pack("=H", 2) + pack(">H", to["port"]) + socket.inet_aton(to["host"]) + bytes(8)
    with socket.socket() as one:
        ctypes.CDLL(None).connect(one.fileno(), address, len(address))


def native_name(to: Targets) -> None:
    """Look up a name by C code."""
    import ctypes  # noqa: PLC0415  # the way itself

    ctypes.CDLL(None).getaddrinfo(to["name"].encode(), b"443", None, ctypes.byref(ctypes.c_void_p()))


WAYS: dict[str, tuple[Callable[[Targets], None], str]] = {
    "TCP": (tcp, "port"),
    "UDP": (udp, "datagrams"),
    "a name": (name, "name"),
    "a Unix socket": (path, "path"),
    "an abstract Unix socket": (abstract, "abstract"),
    "a program": (program, "port"),
    "native code": (native, "port"),
    "a name, by native code": (native_name, "name"),
}
"""Each way, and which of the targets sees whoever takes it."""

UNSEEN = frozenset({"native code", "a name, by native code"})
"""Ways that no hook of Python sees: nothing but the kernel stops them."""


def take(task: Json, _emit: Callable[[Json], None]) -> Json:
    """Take one way in a trial, whatever comes of it, and give what was noted of it."""
    from invcheck.record import Record  # noqa: PLC0415  # a plain program has no sandbox
    from invcheck.sandbox import box, network  # noqa: PLC0415  # likewise

    with box.trial(Record(), clock="real") as record:
        with suppress(BaseException):
            WAYS[task["way"]][0](task["to"])
        network.merge()
        return [breach["wanted"] for breach in record.breaches]


def main(words: list[str]) -> None:
    """Serve ways as a worker, or take the one that is named with its targets."""
    if words:
        with suppress(Exception):
            WAYS[words[0]][0](json.loads(words[1]))
        return
    from invcheck.engines import channel  # noqa: PLC0415  # a worker's
    from invcheck.sandbox import box  # noqa: PLC0415  # likewise

    box.install(Path.cwd())
    channel.serve({"take": take})


if __name__ == "__main__":
    main(sys.argv[1:])
