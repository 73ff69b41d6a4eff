"""The gate's readable layer: noted first, refused then, whatever the app makes of it."""

import json
import os
import socket
import sys
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import box, listeners, network

HERE = "tests/sandbox/test_sandbox_network.py"


def udp(family: int = socket.AF_INET) -> socket.socket:
    """A datagram socket."""
    return socket.socket(family, socket.SOCK_DGRAM)


def on(sock: socket.socket, method: str, *args: object) -> object:
    """Call a method of a socket, and close it."""
    with sock:
        return getattr(sock, method)(*args)


ATTEMPTS: dict[str, tuple[str, Callable[[], object]]] = {
    "connect": ("192.0.2.1:443", lambda: on(socket.socket(), "connect", ("192.0.2.1", 443))),
    "connect_ex": ("192.0.2.1:443", lambda: on(socket.socket(), "connect_ex", ("192.0.2.1", 443))),
    "create_connection": ("192.0.2.1:443", lambda: socket.create_connection(("192.0.2.1", 443))),
    "version 6": ("[2001:db8::1]:443", lambda: on(socket.socket(socket.AF_INET6), "connect", ("2001:db8::1", 443))),
    "sendto": ("192.0.2.1:53", lambda: on(udp(), "sendto", b"x", ("192.0.2.1", 53))),
    "sendmsg": ("192.0.2.1:53", lambda: on(udp(), "sendmsg", [b"x"], [], 0, ("192.0.2.1", 53))),
    "getaddrinfo": ("model.invalid:443", lambda: socket.getaddrinfo("model.invalid", 443)),
    "getaddrinfo by service": ("model.invalid:443", lambda: socket.getaddrinfo(b"model.invalid", "https")),
    "getaddrinfo without a port": ("model.invalid", lambda: socket.getaddrinfo("model.invalid", None)),
    "gethostbyname": ("model.invalid", lambda: socket.gethostbyname("model.invalid")),
    "gethostbyname_ex": ("model.invalid", lambda: socket.gethostbyname_ex("model.invalid")),
    "gethostbyaddr": ("192.0.2.1", lambda: socket.gethostbyaddr("192.0.2.1")),
    "getnameinfo": ("192.0.2.1:80", lambda: socket.getnameinfo(("192.0.2.1", 80), 0)),
    "own name": ("this-host", lambda: socket.gethostbyname(socket.gethostname())),
    "loopback": ("127.0.0.1:9", lambda: on(socket.socket(), "connect", ("127.0.0.1", 9))),
    "a path": ("unix:/run/nobody.sock", lambda: on(socket.socket(socket.AF_UNIX), "connect", "/run/nobody.sock")),
    "urllib": ("model.invalid:80", lambda: urllib.request.urlopen("http://model.invalid/")),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_refused_and_noted(name: str) -> None:
    """Each way out names what was wanted and who wanted it: file, function and line."""
    wanted, attempt = ATTEMPTS[name]
    record = Record()
    with box.trial(record), pytest.raises(NetworkBlocked) as caught:
        attempt()
    breach = record.breaches[0]
    assert breach["wanted"] == wanted
    assert breach["where"] in (f"{HERE}:<lambda>", f"{HERE}:on")
    assert breach["line"] in (attempt.__code__.co_firstlineno, on.__code__.co_firstlineno + 3)
    assert (breach["thread"], breach["count"]) == ("MainThread", 1)
    assert record.journal == [{"kind": "breach", **breach}]
    assert caught.value.fields == breach
    text = str(caught.value)
    assert text.startswith(f"{wanted} was wanted, through ")
    assert f"who: {breach['where']}, line {breach['line']}" in text
    assert breach.get("why", "the network is cut in a trial") in text
    assert breach.get("hint", "did you forget a double?") in text


def test_a_datagram_is_not_said_to_be_allowed() -> None:
    """What is allowed are streams: a line of an allow-list would not help."""
    record = Record()
    with box.trial(record):
        for sock in (udp(), socket.socket()):
            with pytest.raises(NetworkBlocked):
                on(sock, "connect", ("127.0.0.1", 9))
    assert [("allow" in breach["hint"], breach["wanted"]) for breach in record.breaches] == [(False, "127.0.0.1:9"), (True, "127.0.0.1:9")]


def test_the_library_is_named() -> None:
    """`via` is what the project called: the library, or the event where it called the socket itself."""
    seen = {}
    for name in ("urllib", "create_connection", "connect"):
        record = Record()
        with box.trial(record), pytest.raises(NetworkBlocked):
            ATTEMPTS[name][1]()
        seen[name] = record.breaches[0]["via"]
    assert seen == {"urllib": "urllib.request", "create_connection": "socket", "connect": "socket.connect"}


def test_a_swallowed_attempt_is_in_the_record_with_its_count() -> None:
    """The same attempt three times is one breach with a count, even behind a bare except."""
    record = Record()
    with box.trial(record):
        for _ in range(3):
            with suppress(BaseException):
                socket.create_connection(("192.0.2.1", 443))
    assert [(breach["wanted"], breach["count"]) for breach in record.breaches] == [("192.0.2.1:443", 3)]


def test_a_thread_is_named_without_its_number() -> None:
    """How many threads came before must not show."""
    record = Record()

    def dial() -> None:
        with pytest.raises(NetworkBlocked):
            socket.create_connection(("192.0.2.1", 443))

    with box.trial(record):
        thread = threading.Thread(target=dial, name="dialler-17")
        thread.start()
        thread.join()
    assert record.breaches[0]["thread"] == "dialler-NN"
    assert record.breaches[0]["where"] == f"{HERE}:dial"


def test_a_forked_child_is_heard() -> None:
    """A child's memory is lost, its note is not: it is in the record after the trial."""
    record = Record()
    with box.trial(record):
        child = os.fork()
        if child == 0:
            try:
                socket.create_connection(("192.0.2.1", 443))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert record.breaches == []
    assert [(breach["wanted"], breach["where"]) for breach in record.breaches] == [
        ("192.0.2.1:443", f"{HERE}:test_a_forked_child_is_heard")
    ]


def test_an_attempt_outside_of_a_trial_waits_for_the_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a worker the network is cut from the start; what an import wanted is kept until it is asked for, once."""
    monkeypatch.setattr(network, "_armed", True)
    for _ in range(2):
        with pytest.raises(NetworkBlocked):
            socket.create_connection(("192.0.2.1", 443))
    assert [(breach["wanted"], breach["count"]) for breach in network.pending()] == [("192.0.2.1:443", 2)]
    assert network.pending() == []


def test_unarmed_the_network_is_open_outside_of_trials() -> None:
    """A process that is not the sandbox's own keeps its sockets."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_listeners_of_the_sandbox_are_reachable() -> None:
    """An app's own server on loopback works in a trial, by address and by name, streams and datagrams, both versions."""
    record = Record()
    with box.trial(record):
        for host, family in (("127.0.0.1", socket.AF_INET), ("localhost", socket.AF_INET), ("::1", socket.AF_INET6)):
            with socket.create_server((host, 0), family=family) as server:
                port = server.getsockname()[1]
                socket.create_connection((host, port)).close()
        with udp() as receiver, udp() as sender:
            receiver.bind(("127.0.0.1", 0))
            sender.sendto(b"x", receiver.getsockname())
            assert receiver.recv(1) == b"x"
            sender.connect(receiver.getsockname())
            sender.sendmsg([b"y"])
            assert receiver.recv(1) == b"y"
        socket.getaddrinfo(None, 0, flags=socket.AI_PASSIVE)
        socket.getaddrinfo("0.0.0.0", 80)  # a lookup, no listener
        socket.getnameinfo(("127.0.0.1", 80), socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)
    assert record.breaches == []


def test_a_listener_of_someone_else_is_not_reachable() -> None:
    """Loopback is no class: a port that another process listens on is outside, unless the namespace is our own."""
    ready, told = os.pipe()
    go, leave = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(leave)
        server = socket.create_server(("127.0.0.1", 0))
        os.write(told, str(server.getsockname()[1]).encode())
        os.read(go, 1)
        os._exit(0)
    os.close(go)
    port = int(os.read(ready, 16))
    record = Record()
    try:
        with box.trial(record), pytest.raises(NetworkBlocked, match=r"nothing listens on 127\.0\.0\.1:\d+ inside the gate"):
            on(socket.socket(), "connect", ("127.0.0.1", port))
        listeners.install(alone=True)
        with box.trial(Record()):
            socket.create_connection(("127.0.0.1", port)).close()
    finally:
        listeners.install()
        os.close(leave)
        os.close(ready)
        os.close(told)
        os.waitpid(child, 0)
    assert record.breaches[0]["wanted"] == f"127.0.0.1:{port}"


def test_own_unix_sockets_are_reachable(tmp_path: Path) -> None:
    """Served by us, abstract, or below the worker's own temp folder; the kernel's netlink too."""
    record = Record()
    with box.trial(record):
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(str(tmp_path / "own"))
            server.listen()
            client.connect(str(tmp_path / "own"))
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(f"\0invcheck-test-{os.getpid()}")
            server.listen()
            client.connect(f"\0invcheck-test-{os.getpid()}")
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            kernel.connect((0, 0))
        listeners.install(temp=str(tmp_path))
        try:
            with socket.socket(socket.AF_UNIX) as client, pytest.raises(FileNotFoundError):
                client.connect(str(tmp_path / "manager"))
        finally:
            listeners.install()
        with socket.socket(socket.AF_UNIX) as client, pytest.raises(NetworkBlocked):
            client.connect(os.fsencode(tmp_path / "manager"))
    assert [breach["wanted"] for breach in record.breaches] == [f"unix:{tmp_path / 'manager'}"]


def test_other_address_families_are_refused() -> None:
    """A virtual machine's socket leads out as well (family 40 in the kernel's table)."""

    class Vsock:
        family = 40
        type = 1

    record = Record()
    with box.trial(record), pytest.raises(NetworkBlocked):
        network._hook("socket.connect", (Vsock(), (2, 80)))
    assert record.breaches[0]["wanted"] == "address family 40"


def test_whoever_stands_outside_of_the_project_is_called_so() -> None:
    """With no frame of the project above, as in a library's own thread, the place says that."""
    record = Record()
    with box.trial(record):
        thread = threading.Thread(target=urllib.request.urlopen, args=("http://model.invalid/",))
        silent = threading.excepthook
        threading.excepthook = lambda _args: None
        try:
            thread.start()
            thread.join()
        finally:
            threading.excepthook = silent
    assert (record.breaches[0]["where"], record.breaches[0]["line"]) == ("(outside the project)", None)
    assert record.breaches[0]["thread"] == "Thread-N (urlopen)" or record.breaches[0]["thread"].startswith("Thread-N")


def test_notes_are_appended_by_every_holder() -> None:
    """The notes are JSON lines with the process that wrote them; reading goes on where it stopped."""
    notes = network.notes_file()
    try:
        assert network.noted(notes) == ([], 0)
        os.write(notes, json.dumps({"wanted": "a:1", "process": 1}).encode() + b"\n")
        first, end = network.noted(notes)
        assert first == [{"wanted": "a:1", "process": 1}]
        assert network.noted(notes, end) == ([], end)
    finally:
        os.close(notes)


def test_the_gate_without_notes_still_notes_in_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the notes' file exists nothing is lost of what this process sees."""
    monkeypatch.setattr(network, "_notes", None)
    network.skip()
    record = Record()
    with box.trial(record), pytest.raises(NetworkBlocked):
        socket.create_connection(("192.0.2.1", 443))
    assert len(record.breaches) == 1


def test_loopback_in_its_spellings() -> None:
    """127.0.0.0/8, ::1, v4-mapped and the names for it; not a name that only begins so."""
    assert all(map(listeners.loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1", "", "LOCALHOST")))
    assert not any(map(listeners.loopback, ("128.0.0.1", "127.example.org", "10.0.0.1", "2001:db8::1", "local")))
    assert (listeners.service("https"), listeners.service(b"http"), listeners.service("x"), listeners.service(None)) == (
        443,
        80,
        None,
        None,
    )


def test_a_kernel_without_a_table_has_no_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without IPv6 its table is missing; then nothing listens there."""
    monkeypatch.setattr(listeners, "_alone", True)
    assert listeners._table("tcp-of-another-kernel") == []
    assert sys.platform == "linux"


def test_a_name_that_stands_in_no_file_is_ours_where_we_serve_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the machine's own namespace others serve such names too; in one of its own all of them are inside."""
    monkeypatch.setattr(listeners, "_alone", False)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("\0invcheck-of-our-own")
        assert listeners.own_path("\0invcheck-of-our-own")
        assert not listeners.own_path("\0invcheck-of-another")
        monkeypatch.setattr(listeners, "_alone", True)
        assert listeners.own_path("\0invcheck-of-another")
