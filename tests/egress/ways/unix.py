"""Unix sockets: no namespace of the network holds those that stand in a file."""

import ctypes
import os
import socket
import tempfile
from pathlib import Path

from ways.way import Targets, module, way


@way("a Unix socket at a path", local=True)
def path(to: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(to["path"])


@way("a Unix socket at a relative path", local=True)
def relative(to: Targets) -> object:
    before = Path.cwd()
    os.chdir(Path(to["path"]).parent)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(Path(to["path"]).name)
    finally:
        os.chdir(before)


@way("a Unix socket through a link in the own folder", local=True)
def linked(to: Targets) -> object:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as one:
        Path(folder, "link").symlink_to(to["path"])
        one.connect(f"{folder}/link")


@way("an abstract Unix socket", local=True)
def abstract(to: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + to["abstract"])


@way("a Unix datagram", local=True)
def datagram(to: Targets) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b"out", to["letters"])


def _native(address: bytes) -> None:
    libc = ctypes.CDLL(None)
    text = (1).to_bytes(2, "little") + address
    libc.connect(libc.socket(1, 1, 0), text, len(text))


@way("a Unix socket at a path, by ctypes", hidden=True, local=True)
def native(to: Targets) -> object:
    _native(to["path"].encode() + b"\0")


@way("an abstract Unix socket, by ctypes", hidden=True, local=True)
def native_abstract(to: Targets) -> object:
    _native(b"\0" + to["abstract"].encode())


@way("a Unix socket through a link, by ctypes", hidden=True, local=True)
def native_linked(to: Targets) -> object:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "link").symlink_to(to["path"])
        _native(f"{folder}/link".encode() + b"\0")


@way("pycurl at a Unix socket", hidden=True, local=True)
def pycurl(to: Targets) -> object:
    client = module("pycurl").Curl()
    client.setopt(client.UNIX_SOCKET_PATH, to["path"])
    client.setopt(client.URL, "http://any/")
    client.perform()
