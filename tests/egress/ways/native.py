"""C code inside the process, of which Python sees nothing."""

import ctypes
import platform
import socket
import struct
from pathlib import Path

from ways.way import Missing, Targets, module, way

CONNECT = {"x86_64": 42, "aarch64": 203}


def sockaddr(to: Targets) -> object:
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", to["port"]) + socket.inet_aton(to["host"]) + bytes(8)


def _stream() -> int:
    return ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)


@way("ctypes connect", hidden=True)
def connect(to: Targets) -> object:
    ctypes.CDLL(None).connect(_stream(), sockaddr(to), 16)


@way("ctypes connect by its system call's number", hidden=True)
def numbered(to: Targets) -> object:
    number = CONNECT.get(platform.machine())
    if number is None:
        raise Missing("another processor's numbers")
    ctypes.CDLL(None).syscall(ctypes.c_long(number), ctypes.c_long(_stream()), sockaddr(to), ctypes.c_long(16))


@way("ctypes sendto, a datagram", hidden=True)
def sendto(to: Targets) -> object:
    libc = ctypes.CDLL(None)
    libc.sendto(libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0), b"out", 3, 0, sockaddr(to), 16)


def _message(to: Targets) -> object:
    """struct msghdr of recvmsg(2), padded as 64-bit processors do it."""
    address, text = ctypes.create_string_buffer(sockaddr(to), 16), ctypes.create_string_buffer(b"out")
    vector = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(text), 3))
    packed = struct.pack("PI4xPNPNi4x", ctypes.addressof(address), 16, ctypes.addressof(vector), 1, 0, 0, 0)
    return packed, (address, text, vector)


@way("ctypes sendmsg, a datagram", hidden=True)
def sendmsg(to: Targets) -> object:
    libc = ctypes.CDLL(None)
    packed, _kept = _message(to)
    libc.sendmsg(libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0), packed, 0)


@way("ctypes sendmmsg, datagrams", hidden=True)
def sendmmsg(to: Targets) -> object:
    libc = ctypes.CDLL(None)
    packed, _kept = _message(to)
    libc.sendmmsg(libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0), ctypes.create_string_buffer(packed + bytes(8)), 1, 0)


@way("pycurl", hidden=True)
def pycurl(to: Targets) -> object:
    client = module("pycurl").Curl()
    client.setopt(client.URL, f"http://{to['host']}:{to['port']}/")
    client.perform()


@way("pycurl by name", hidden=True)
def pycurl_name(to: Targets) -> object:
    client = module("pycurl").Curl()
    client.setopt(client.URL, f"http://{to['name']}:{to['port']}/")
    client.perform()


def _ready(target: str) -> None:
    grpc = module("grpc")
    with grpc.insecure_channel(target) as channel:
        grpc.channel_ready_future(channel).result(timeout=1)


@way("grpcio", hidden=True)
def grpcio(to: Targets) -> object:
    _ready(f"{to['host']}:{to['port']}")


@way("grpcio by name", hidden=True)
def grpcio_name(to: Targets) -> object:
    _ready(f"{to['name']}:{to['port']}")


@way("psycopg (libpq)", hidden=True)
def psycopg(to: Targets) -> object:
    module("psycopg").connect(f"host={to['host']} port={to['port']} connect_timeout=2")


@way("psycopg by name", hidden=True)
def psycopg_name(to: Targets) -> object:
    module("psycopg").connect(f"host={to['name']} port={to['port']} connect_timeout=2")


@way("psycopg at a Unix socket", hidden=True, local=True)
def psycopg_unix(to: Targets) -> object:
    module("psycopg").connect(f"host={Path(to['postgres']).parent} port={to['port']} connect_timeout=2")
