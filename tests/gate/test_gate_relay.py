"""The relay: connections from allowed ports arrive as they are, and what reaches further than this machine does not."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from invcheck.allowance import Tcp
from invcheck.gate import telltale as telltales
from invcheck.gate.telltale import telltale

PROGRAM = """
import sys
from invcheck.allowance import Tcp
from invcheck.gate import relay
life, notes, limit, *pairs = sys.argv[1:]
if int(limit):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(limit), int(limit)))
told = [each.split(",") for each in pairs]
relay.serve([(int(at), Tcp(host, int(port))) for at, host, port in told], int(life), int(notes))
"""


class Running:
    """A relay in a process of its own; ``ports`` are what clients dial, in the order of what they lead to."""

    def __init__(self, stack: ExitStack, to: list[Tcp], limit: int = 0) -> None:
        inside = [stack.enter_context(closing(_listening(each.host))) for each in to]
        self.ports = [each.getsockname()[1] for each in inside]
        self.notes = os.memfd_create("notes")
        life, self._life = os.pipe()
        pairs = [f"{at.fileno()},{each.host},{each.port}" for at, each in zip(inside, to, strict=True)]
        command = [sys.executable, "-c", PROGRAM, str(life), str(self.notes), str(limit), *pairs]
        self.process = subprocess.Popen(command, pass_fds=[life, self.notes, *(each.fileno() for each in inside)])
        os.close(life)
        stack.callback(self.end)

    def end(self) -> int:
        """Close the pipe that it lives by, once, and give its exit status."""
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
        return self.process.wait(20)

    def noted(self) -> list[dict[str, Any]]:
        """What stands in the notes."""
        return [json.loads(line) for line in os.pread(self.notes, 1 << 20, 0).splitlines()]


def _listening(host: str = "127.0.0.1") -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.bind((host, 0))
    made.listen(64)
    made.settimeout(20)
    return made


def _port(made: socket.socket) -> int:
    return int(made.getsockname()[1])


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What a test opens."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def service(stack: ExitStack) -> socket.socket:
    """A service outside: a listener that the test accepts on itself."""
    return stack.enter_context(closing(_listening()))


@pytest.fixture
def pair(stack: ExitStack, service: socket.socket) -> tuple[socket.socket, socket.socket, Running]:
    """Both ends of one connection through a relay, and the relay."""
    relay = Running(stack, [Tcp("127.0.0.1", _port(service))])
    return *_through(stack, relay, service), relay


def _through(stack: ExitStack, relay: Running, service: socket.socket, index: int = 0) -> tuple[socket.socket, socket.socket]:
    client = stack.enter_context(closing(socket.create_connection(("127.0.0.1", relay.ports[index]), 20)))
    served = stack.enter_context(closing(service.accept()[0]))
    served.settimeout(20)
    return client, served


Pair = tuple[socket.socket, socket.socket, Running]


def test_bytes_arrive_both_ways_as_they_are(pair: Pair) -> None:
    """The service hears what the client says, and the other way round, whoever begins."""
    client, served, relay = pair
    served.sendall(b"220 ready\r\n")
    assert client.recv(64) == b"220 ready\r\n"
    client.sendall(bytes(range(256)))
    assert _exactly(served, 256) == bytes(range(256))
    assert relay.noted() == []


def _exactly(end: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size and (part := end.recv(size - len(parts))):
        parts += part
    return parts


def test_one_end_may_fall_silent_and_still_listen(pair: Pair) -> None:
    """A half-close goes through: the service sees the end, and its answer still arrives, with its own end."""
    client, served, _ = pair
    client.sendall(b"all of it")
    client.shutdown(socket.SHUT_WR)
    assert _whole(served) == b"all of it"
    served.sendall(b"thanks")
    served.close()
    assert _whole(client) == b"thanks"


def _whole(end: socket.socket) -> bytes:
    parts = b""
    while part := end.recv(1 << 16):
        parts += part
    return parts


def test_a_slow_reader_stops_the_writer_and_loses_nothing(pair: Pair) -> None:
    """The relay keeps no more than its buffers: a writer blocks while nobody reads, and every byte arrives in the end."""
    client, served, relay = pair
    said = os.urandom(1 << 20) * 64
    client.settimeout(0.2)
    sent = 0
    with suppress(TimeoutError):
        while sent < len(said):
            sent += client.send(said[sent : sent + (1 << 16)])
    assert 0 < sent < len(said)
    assert _resident(relay.process.pid) < 64 << 20
    client.settimeout(20)
    heard = hashlib.sha256()
    reader = threading.Thread(target=lambda: [heard.update(part) for part in iter(lambda: served.recv(1 << 16), b"")])
    reader.start()
    client.sendall(said[sent:])
    client.shutdown(socket.SHUT_WR)
    reader.join(60)
    assert heard.digest() == hashlib.sha256(said).digest()


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_connections_go_at_once_without_mixing(stack: ExitStack, service: socket.socket) -> None:
    """Fifty clients that are all open get each what is its own."""
    relay = Running(stack, [Tcp("127.0.0.1", _port(service))])
    pairs = [_through(stack, relay, service) for _ in range(50)]
    for number, (client, _) in enumerate(pairs):
        client.sendall(b"%d" % number)
    for number, (_, served) in enumerate(pairs):
        assert served.recv(8) == b"%d" % number
        served.sendall(b"answer %d" % number)
    assert [client.recv(16) for client, _ in pairs] == [b"answer %d" % number for number in range(50)]


def test_who_comes_when_all_places_are_taken_waits(stack: ExitStack, service: socket.socket) -> None:
    """With descriptors for two connections the third is carried when one of them is over."""
    relay = Running(stack, [Tcp("127.0.0.1", _port(service))], limit=36)
    first, second = _through(stack, relay, service), _through(stack, relay, service)
    third = stack.enter_context(closing(socket.create_connection(("127.0.0.1", relay.ports[0]), 20)))
    service.settimeout(0.2)
    with pytest.raises(TimeoutError):
        service.accept()
    service.settimeout(20)
    for end in first:
        end.close()
    third.sendall(b"now")
    assert stack.enter_context(closing(service.accept()[0])).recv(8) == b"now"
    second[0].sendall(b"still")
    assert second[1].recv(8) == b"still"


@pytest.mark.parametrize("breaks", [0, 1])
def test_an_end_that_breaks_off_breaks_the_other_off(pair: Pair, breaks: int) -> None:
    """A reset is no orderly end: whoever waits for the rest of an answer must not take it for one."""
    ends = pair[:2]
    ends[0].sendall(b"x")
    assert ends[1].recv(1) == b"x"
    ends[1].sendall(b"y")
    assert ends[0].recv(1) == b"y"
    ends[breaks].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, (1).to_bytes(4, "little") + bytes(4))
    ends[breaks].close()
    with pytest.raises(ConnectionResetError):
        ends[1 - breaks].recv(1)


def test_a_service_that_is_not_there_is_named(stack: ExitStack) -> None:
    """The client is reset, and the note says that nothing listens outside either; the relay goes on."""
    closed = stack.enter_context(closing(socket.socket()))
    closed.bind(("127.0.0.1", 0))
    relay = Running(stack, [Tcp("127.0.0.1", _port(closed))])
    client = stack.enter_context(closing(socket.create_connection(("127.0.0.1", relay.ports[0]), 20)))
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    (note,) = relay.noted()
    where = f"127.0.0.1:{_port(closed)}"
    assert (note["kernel"], note["wanted"], note["what"]) == (True, where, "an allowed service is not there")
    assert note["why"] == f"nothing listens on {where} outside of the gate either"
    closed.listen(1)
    _through(stack, relay, closed)


def _has_ipv6() -> bool:
    try:
        _listening("::1").close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _has_ipv6(), reason="this kernel has no IPv6 loopback")
def test_either_address_of_localhost_leads_to_the_one_that_is_served(stack: ExitStack, service: socket.socket) -> None:
    """A client that tries ::1 first reaches a service on 127.0.0.1, where both are allowed; of other addresses none does."""
    port = _port(service)
    both = Running(stack, [Tcp("::1", port), Tcp("127.0.0.1", port)])
    client = stack.enter_context(closing(socket.create_connection(("::1", both.ports[0]), 20)))
    client.sendall(b"hello")
    assert stack.enter_context(closing(service.accept()[0])).recv(8) == b"hello"
    alone = Running(stack, [Tcp("::1", port), Tcp("127.0.0.2", port)])
    refused = stack.enter_context(closing(socket.create_connection(("::1", alone.ports[0]), 20)))
    with pytest.raises(ConnectionResetError):
        refused.recv(1)
    assert [note["wanted"] for note in alone.noted()] == [f"[::1]:{port}"]


def test_it_ends_with_its_supervisor(pair: Pair) -> None:
    """When the other end of its pipe is closed the process is over, with status 0, and its connections are too."""
    client, _, relay = pair
    assert relay.end() == 0
    assert client.recv(1) == b""


MODEL = "a model was asked"
PROXY = "a proxy was asked"

ASKED = [
    (b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n", MODEL, "POST /v1/chat/completions"),
    (b"POST /openai/deployments/d/chat/completions?api-version=1 HTTP/1.1\r\n", MODEL, "POST /openai/deployments/d/chat/completions"),
    (b"POST /v1/messages HTTP/1.1\r\n", MODEL, "POST /v1/messages"),
    (b"POST /v1/responses HTTP/1.0\n", MODEL, "POST /v1/responses"),
    (b"POST /v1beta/models/gemini-2.5-pro:generateContent HTTP/1.1\r\n", MODEL, "POST /v1beta/models/gemini-2.5-pro:generateContent"),
    (b"POST /v1/models/g:streamGenerateContent?alt=sse HTTP/1.1\r\n", MODEL, "POST /v1/models/g:streamGenerateContent"),
    (b"POST /api/chat HTTP/1.1\r\n", MODEL, "POST /api/chat"),
    (b"POST /api/generate HTTP/1.1\r\n", MODEL, "POST /api/generate"),
    (b"POST /v1/embeddings HTTP/1.1\r\n", MODEL, "POST /v1/embeddings"),
    (b"POST /v1/completions HTTP/1.1\r\n", MODEL, "POST /v1/completions"),
    (b"POST /model/anthropic.claude/converse-stream HTTP/1.1\r\n", MODEL, "POST /model/anthropic.claude/converse-stream"),
    (b"GET /v1/realtime?model=m HTTP/1.1\r\n", MODEL, "GET /v1/realtime"),
    (b"CONNECT api.example.org:443 HTTP/1.1\r\n\r\n", PROXY, "api.example.org:443"),
    (b"GET http://user@example.org/x HTTP/1.1\r\n", PROXY, "example.org"),
    (b"\x05\x01\x00", PROXY, "a connection over SOCKS 5"),
    (b"\x05\x02\x00\x02", PROXY, "a connection over SOCKS 5"),
    (b"\x04\x01\x01\xbb\xc0\x00\x02\x01me\x00", PROXY, "192.0.2.1:443"),
    (b"\x04\x01\x01\xbb\x00\x00\x00\x01me\x00example.org\x00", PROXY, "example.org:443"),
]


@pytest.mark.parametrize(("said", "what", "wanted"), ASKED)
def test_who_asks_for_more_than_this_machine_is_told(said: bytes, what: str, wanted: str) -> None:
    """Requests as RFC 9112, RFC 1928, the note on SOCKS 4 and the providers' references spell them."""
    told = telltale(said, ["127.0.0.1:4000"])
    assert (told.what, told.wanted) == (what, wanted)


PLAIN = [
    b"",
    b"\x00\x00\x00\x08\x04\xd2\x16\x2f",  # PostgreSQL: SSLRequest
    b"*1\r\n$4\r\nPING\r\n",  # Redis
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS: ClientHello
    b"\x05\x01\x00\x01" + bytes(260),  # MySQL: a packet of 261 bytes
    b"\x04\x01\x00\x00" + bytes(256),  # MongoDB: a message of 260 bytes
    b"\x04\x00\x00\x00\x01\x00\x00\x00\x00",  # Cassandra: STARTUP
    b"\x05\x01\x09",  # no way to sign on that SOCKS has
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /v1/messages HTTP/1.1\r\n",
    b"POST /v1/messages-archive HTTP/1.1\r\n",
    b"POST /api/chats HTTP/1.1\r\n",
    b"POST /orders HTTP/1.1\r\n",
    b"GET http://127.0.0.1:4000/orders HTTP/1.1\r\n",
    b"GET /login?next=http://example.org/ HTTP/1.1\r\n",
]


@pytest.mark.parametrize("said", PLAIN)
def test_a_service_of_this_machine_is_nobodys_business(said: bytes) -> None:
    """Databases, queues and plain web services pass."""
    assert telltale(said, ["127.0.0.1:4000", "localhost:4000"]).what is None


def test_only_a_greeting_can_be_of_socks() -> None:
    """Bytes in the middle of a connection mean whatever they like."""
    assert telltale(b"\x05\x01\x00", [], first=False) == telltales.Told()


@pytest.mark.parametrize("said", [b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n\r\n{}", b"\x05\x01\x00"])
def test_a_model_and_a_proxy_are_not_reached(pair: Pair, said: bytes) -> None:
    """The note is there when the client is reset, and the service has not heard a byte."""
    client, served, relay = pair
    client.sendall(said)
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    (note,) = relay.noted()
    assert note["what"] in (MODEL, PROXY)
    assert note["wanted"].endswith(f"through 127.0.0.1:{note['port']}")
    with pytest.raises(ConnectionResetError):
        served.recv(1)


def test_a_later_request_is_looked_at_too(pair: Pair) -> None:
    """A connection that began with a harmless request is kept alive for others."""
    client, served, relay = pair
    client.sendall(b"GET /health HTTP/1.1\r\n\r\n")
    assert served.recv(64).startswith(b"GET /health")
    served.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert client.recv(64).startswith(b"HTTP/1.1 204")
    client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    assert len(relay.noted()) == 1


@pytest.mark.parametrize("first", ["client", "service"])
def test_what_is_no_web_service_is_looked_at_once(pair: Pair, first: str) -> None:
    """A database may be told whatever it likes after its first bytes, and from the beginning where it speaks first."""
    client, served, relay = pair
    if first == "client":
        client.sendall(b"\0\0\0\x08\x04\xd2\x16\x2f")
        assert len(_exactly(served, 8)) == 8
    else:
        served.sendall(b"hello")
        assert client.recv(8) == b"hello"
    client.sendall(b"\x05\x01\x00")
    assert _exactly(served, 3) == b"\x05\x01\x00"
    client.sendall(b"CONNECT a:1 HTTP/1.1\r\n")
    assert _exactly(served, 22) == b"CONNECT a:1 HTTP/1.1\r\n"
    assert relay.noted() == []
