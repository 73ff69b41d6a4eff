"""What an allowed port costs: a service that echoes, asked directly and through the relay, in bytes a second and a round trip."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing

BAR = 100.0  # MB a second, there and back
SIZE = 256 << 20
CHUNK = 1 << 18
ROUNDS = 2_000
ECHO = """
import socket, sys, threading
listener = socket.socket(fileno=int(sys.argv[1]))
def echo(end):
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    space = memoryview(bytearray(1 << 18))
    while size := end.recv_into(space):
        end.sendall(space[:size])
    end.close()
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
RELAY = """
import sys
from invcheck.allowance import Tcp
from invcheck.gate import relay
relay.serve([(int(sys.argv[1]), Tcp("127.0.0.1", int(sys.argv[2])))], int(sys.argv[3]), 2)
"""


def measure(times: int) -> bool:
    """Print both; False where the relay misses its bar by a factor of two."""
    with ExitStack() as stack:
        service, inside = (stack.enter_context(closing(socket.create_server(("127.0.0.1", 0)))) for _ in range(2))
        life, kept = os.pipe()
        port = str(service.getsockname()[1])
        echo = _started(stack, service.fileno(), ECHO, str(service.fileno()))
        _started(stack, inside.fileno(), RELAY, str(inside.fileno()), port, str(life), life=life)
        print(f"{'echo':<14}{'MB/s':>8}{'bar':>6}{'round trip us':>15}")
        rates = {}
        for name, listener in (("direct", service), ("relay", inside)):
            tries = [_rate(listener.getsockname()) for _ in range(max(1, times))]
            rates[name] = statistics.median(tries)
            trip = statistics.median(_trip(listener.getsockname()) for _ in range(max(1, times)))
            print(f"{name:<14}{rates[name]:>8.0f}{BAR if name == 'relay' else 0:>6.0f}{trip:>15.1f}")
        os.close(kept)
        echo.kill()
        return rates["relay"] >= BAR / 2


def _started(stack: ExitStack, descriptor: int, program: str, *arguments: str, life: int | None = None) -> subprocess.Popen[bytes]:
    keep = [descriptor] if life is None else [descriptor, life]
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], pass_fds=keep)
    stack.callback(process.wait)
    if life is not None:
        os.close(life)
    return process


def _dialled(address: tuple[str, int]) -> socket.socket:
    made = socket.create_connection(address)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _rate(address: tuple[str, int]) -> float:
    """Megabytes that came back in a second."""
    with _dialled(address) as client:
        said = bytes(CHUNK)
        space = memoryview(bytearray(CHUNK))
        began = time.perf_counter()
        writer = threading.Thread(target=lambda: [client.sendall(said) for _ in range(SIZE // CHUNK)])
        writer.start()
        left = SIZE
        while left:
            left -= client.recv_into(space)
        writer.join()
        return SIZE / 1e6 / (time.perf_counter() - began)


def _trip(address: tuple[str, int]) -> float:
    """Microseconds from a byte to its echo."""
    with _dialled(address) as client:
        began = time.perf_counter()
        for _ in range(ROUNDS):
            client.send(b"x")
            client.recv(1)
        return (time.perf_counter() - began) / ROUNDS * 1e6
