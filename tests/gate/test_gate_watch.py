"""A cell whose attempts are watched: what programs dial is refused, noted before the refusal, and named."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from select import poll
from typing import Any

import pytest

from invcheck.gate import cell, filters, keeper, seccomp, watch, world
from invcheck.gate.tiers import Tier
from invcheck.sandbox.network import noted, notes_file

CURL = shutil.which("curl")
SOCKADDR = """
import ctypes, socket, struct
def address(host, port):
    return struct.pack("=H", 2) + struct.pack(">H", port) + socket.inet_aton(host) + bytes(8)
libc = ctypes.CDLL(None, use_errno=True)
"""
FAULTS = "import faulthandler, os; faulthandler.register(40, file=int(os.environ['SITES']), all_threads=False)\n"


@dataclass
class Ran:
    """How a program ended, what was noted and where threads stood."""

    over: str
    notes: list[dict[str, Any]]
    sites: str

    @property
    def wanted(self) -> list[str]:
        """What was wanted, in order."""
        return [each["wanted"] for each in self.notes]


def run(argv: list[str], tier: Tier, temp: Path, **options: Any) -> Ran:
    """Run a program in a cell until it is over, and answer what it attempts."""
    notes, sites = notes_file(), notes_file()
    life, kept = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    environ = {"PATH": os.environ["PATH"], "SITES": str(sites)}
    program = cell.Program(argv, environ, str(temp), str(temp), life, notes, sites, keep=(sites,), stdio=(null, null, null))
    running = cell.Cell(program, cell.walls(tier, seen=[str(temp), sys.prefix, sys.base_prefix, *sys.path], **options))
    try:
        while (over := running.over()) is None:
            poller = poll()
            for descriptor in (running.process, *running.descriptors()):
                poller.register(descriptor, 1)
            poller.poll(5_000)
            running.attend()
    finally:
        running.end()
        said = os.pread(sites, 1 << 20, 0).decode()
        found = noted(notes)[0]
        for descriptor in (notes, sites, life, kept, null):
            os.close(descriptor)
    return Ran(over, found, said)


def python(text: str, tier: Tier, temp: Path, **options: Any) -> Ran:
    """The same for a piece of Python."""
    return run([sys.executable, "-c", SOCKADDR + text], tier, temp, **options)


watched = pytest.mark.parametrize("tier", [Tier.K1, Tier.K2])

UNREADABLE = "an address that cannot be read"
TELL = "except OSError as error: raise SystemExit(error.errno)"
REFUSED = {
    "connect": (
        "libc.connect(socket.socket().fileno(), address('192.0.2.1', 443), 16); raise SystemExit(ctypes.get_errno())",
        "192.0.2.1:443",
        "exit 101",
    ),
    "udp": (
        "libc.sendto(socket.socket(type=2).fileno(), b'x', 1, 0, address('192.0.2.1', 9), 16); raise SystemExit(ctypes.get_errno())",
        "192.0.2.1:9",
        "exit 101",
    ),
    "message": (f"try: socket.socket(type=2).sendmsg([b'x'], [], 0, ('192.0.2.1', 9))\n{TELL}", "192.0.2.1:9", "exit 101"),
    "fast open": (f"try: socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('192.0.2.1', 80))\n{TELL}", "192.0.2.1:80", "exit 101"),
    "mapped": (f"try: socket.socket(10).connect(('::ffff:192.0.2.1', 80))\n{TELL}", "192.0.2.1:80", "exit 101"),
    "loopback": ("raise SystemExit(socket.socket().connect_ex(('127.0.0.1', 1)))", "127.0.0.1:1", "exit 111"),
    "unix": ("raise SystemExit(socket.socket(1).connect_ex('/dev/log'))", "unix:/dev/log", "exit 111"),
    "abstract": ("raise SystemExit(socket.socket(1).connect_ex('\\0nobody'))", "unix:@nobody", "exit 111"),
    "vsock": (f"try: socket.socket(40)\n{TELL}", "address family 40", "exit 97"),
    "no family": (
        "libc.sendto(socket.socket(type=2).fileno(), b'x', 1, 0, bytes(2) + address('127.0.0.1', 9)[2:], 16); exit(ctypes.get_errno())",
        "127.0.0.1:9",
        "exit 111",
    ),
    "unreadable": ("libc.connect(socket.socket().fileno(), 8, 16); raise SystemExit(ctypes.get_errno())", UNREADABLE, "exit 97"),
    "too short": ("libc.connect(socket.socket().fileno(), address('192.0.2.1', 1), 3); raise SystemExit(97)", UNREADABLE, "exit 97"),
}


@watched
@pytest.mark.parametrize("way", REFUSED)
def test_what_may_not_pass_is_refused_and_noted(way: str, tier: Tier, tmp_path: Path) -> None:
    """101 is ENETUNREACH, 111 ECONNREFUSED, 97 EAFNOSUPPORT (errno.h); one attempt is one note."""
    text, wanted, over = REFUSED[way]
    ran = python(text, tier, tmp_path)
    assert (ran.wanted, ran.over) == ([wanted], over)
    note = ran.notes[0]
    assert (note["kernel"], note["count"], note["thread"], note["command"]) == (True, 1, "MainThread", None)


@watched
@pytest.mark.parametrize(
    "text",
    [
        "with socket.create_server(('127.0.0.1', 0)) as own: socket.create_connection(own.getsockname()).close()",
        "one = socket.socket(type=2); one.bind(('127.0.0.1', 0)); socket.socket(type=2).sendto(b'x', one.getsockname())",
        "one = socket.socket(socket.AF_UNIX); one.bind('\\0own'); one.listen(); socket.socket(socket.AF_UNIX).connect('\\0own')",
        "one = socket.socket(socket.AF_UNIX); one.bind('own'); one.listen(); socket.socket(socket.AF_UNIX).connect('own')",
        "from multiprocessing import Manager\nif __name__ == '__main__':\n  with Manager() as made: assert made.list([1])[0] == 1",
        "import os, socket\nassert socket.if_nameindex()\nassert socket.getaddrinfo('127.0.0.1', 80)",
        "one, other = socket.socketpair(); one.sendmsg([b'x']); assert other.recv(1) == b'x'",
    ],
    ids=["tcp", "udp", "abstract", "path", "manager", "itself", "pair"],
)  # fmt: skip
def test_what_is_served_inside_is_reached(text: str, tier: Tier, tmp_path: Path) -> None:
    """Servers of its own, of its children and unnamed pairs: nothing of it is an attempt."""
    ran = python(text, tier, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 0", [])


@watched
def test_a_listener_outside_sees_nothing(tier: Tier, tmp_path: Path) -> None:
    """It is the judge: on loopback by address, as a path elsewhere, and as an abstract name."""
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as path, socket.socket(socket.AF_UNIX) as name:
        folder = tmp_path / "outside"
        folder.mkdir()
        path.bind(str(folder / "judge"))
        name.bind(f"\0judge-{os.getpid()}")
        port = tcp.getsockname()[1]
        for each in (tcp, path, name):
            each.listen()
            each.setblocking(False)
        text = (
            f"for one, where in ((socket.socket(), ('127.0.0.1', {port})), (socket.socket(socket.AF_UNIX), {str(folder / 'judge')!r}), "
            f"(socket.socket(socket.AF_UNIX), '\\0judge-{os.getpid()}')): assert one.connect_ex(where)"
        )
        inside = tmp_path / "inside"
        inside.mkdir()
        ran = python(text, tier, inside)
        for each in (tcp, path, name):
            with pytest.raises(BlockingIOError):
                each.accept()
    assert ran.over == "exit 0"
    assert ran.wanted == [f"127.0.0.1:{port}", f"unix:{folder / 'judge'}", f"unix:@judge-{os.getpid()}"]


@watched
def test_a_thread_of_python_says_where_it_stands(tier: Tier, tmp_path: Path) -> None:
    """From inside C code, one block for each note that says so; a thread of C code has none, and is given an empty one."""
    text = FAULTS + (
        "def dials(port): libc.connect(socket.socket().fileno(), address('192.0.2.1', port), 16)\n"
        "dials(1)\nimport threading\none = threading.Thread(target=dials, args=(2,), name='pool-3'); one.start(); one.join()\n"
    )
    ran = python(text, tier, tmp_path)
    assert ran.wanted == ["192.0.2.1:1", "192.0.2.1:2"]
    assert [each["dump"] for each in ran.notes] == [True, True]
    blocks = ran.sites.split("Stack (")[1:]
    assert [block.count("in dials") for block in blocks] == [1, 1]


def test_a_storm_of_attempts_is_noted_whole_and_asked_eight_times(tmp_path: Path) -> None:
    """A loop that dials does not fill the memory with stacks."""
    text = FAULTS + "for _ in range(20): libc.connect(socket.socket().fileno(), address('192.0.2.1', 1), 16)\n"
    ran = python(text, Tier.K1, tmp_path)
    assert ran.wanted == ["192.0.2.1:1"] * 20
    assert [each["dump"] for each in ran.notes] == [True] * 8 + [False] * 12
    assert ran.sites.count("Stack (") == 8


@watched
def test_a_path_is_judged_by_where_it_leads(tier: Tier, tmp_path: Path) -> None:
    """Neither dots nor a link lead out of the folder that is its own."""
    (tmp_path / "outside").mkdir()
    temp = tmp_path / "own"
    temp.mkdir()
    (temp / "link").symlink_to(tmp_path / "outside")
    with socket.socket(socket.AF_UNIX) as judge:
        judge.bind(str(tmp_path / "outside" / "judge"))
        judge.listen()
        judge.setblocking(False)
        ways = [f"{temp}/../outside/judge", "link/judge", "../outside/judge"]
        ran = python(f"for way in {ways}: assert socket.socket(socket.AF_UNIX).connect_ex(way) == 111", tier, temp)
        with pytest.raises(BlockingIOError):
            judge.accept()
    assert (ran.over, ran.wanted) == ("exit 0", [f"unix:{way}" for way in ways])


@watched
def test_an_allowed_path_is_allowed_by_every_name_it_has(tier: Tier, tmp_path: Path) -> None:
    """libpq dials /var/run/postgresql where /run/postgresql is allowed: a link in front changes nothing."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    with socket.socket(socket.AF_UNIX) as served:
        served.bind(str(tmp_path / "outside" / "db"))
        served.listen()
        for allowed, dialled in (("outside", "link"), ("link", "outside"), ("link", "link")):
            text = f"socket.socket(socket.AF_UNIX).connect({str(tmp_path / dialled / 'db')!r})"
            ran = python(text, tier, tmp_path / "own", allow=(f"unix:{tmp_path / allowed / 'db'}",))
            assert (ran.over, ran.wanted) == ("exit 0", [])


def test_connections_that_linger_take_no_path_from_who_serves_it(tmp_path: Path) -> None:
    """What was accepted bears the path as well, and nobody holds it while it waits to be closed."""
    (tmp_path / "own").mkdir()
    where = str(tmp_path / "served")
    text = (
        f"one = socket.socket(socket.AF_UNIX); one.bind({where!r}); one.listen()\n"
        f"kept = [socket.socket(socket.AF_UNIX) for _ in range(3)]\n"
        f"for each in kept: each.connect({where!r})\n"  # nobody accepts them, so no process holds what is to be accepted
        f"names = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); names.bind({where + '2'!r})\n"
        f"socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', {where + '2'!r})"
    )
    ran = python(text, Tier.K2, tmp_path / "own")
    assert (ran.over, ran.wanted) == ("exit 0", [])


def test_a_port_that_another_serves_as_well_is_not_its_own(tmp_path: Path) -> None:
    """Without a network of its own: a datagram socket at the same number opens no way to a database beside it."""
    with socket.create_server(("127.0.0.1", 0)) as judge:
        judge.setblocking(False)
        port = judge.getsockname()[1]
        text = (
            f"one = socket.socket(type=2); one.bind(('127.0.0.1', {port}))\n"
            f"two = socket.create_server(('127.0.0.2', {port}))\n"
            f"assert socket.socket().connect_ex(('127.0.0.1', {port})) == 111\n"
            f"socket.create_connection(('127.0.0.2', {port})).close()"
        )
        ran = python(text, Tier.K2, tmp_path)
        with pytest.raises(BlockingIOError):
            judge.accept()
    assert (ran.over, ran.wanted) == ("exit 0", [f"127.0.0.1:{port}"])


@watched
def test_the_c_library_sorts_addresses_in_peace(tier: Tier, tmp_path: Path) -> None:
    """It points a datagram socket at each address of "localhost" (RFC 6724), which no app wants; a message is noted."""
    text = (
        "for port in (0, 5432):\n"
        "  for host, family in (('127.0.0.1', 2), ('::1', 10)): socket.socket(family, 2).connect_ex((host, port))\n"
        "try: socket.socket(type=2).sendto(b'x', ('127.0.0.1', 5432))\n" + TELL
    )
    ran = python(text, tier, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 111", ["127.0.0.1:5432"])


@watched
def test_sockets_that_send_by_other_calls_are_refused(tier: Tier, tmp_path: Path) -> None:
    """SCTP is connected by an option and SOCK_PACKET is no internet socket: 93 is EPROTONOSUPPORT."""
    text = (
        "for kind, protocol in ((1, 132), (10, 768), (10 | 0x80800, 768)):\n"
        "  assert (libc.socket(2, kind, protocol), ctypes.get_errno()) == (-1, 93)"
    )
    ran = python(text, tier, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 0", [])


@contextmanager
def watching(monkeypatch: pytest.MonkeyPatch, *requests: seccomp.Request | None, **options: Any) -> Iterator[tuple[watch.Watch, int]]:
    """A watch whose listener is always ready and gives these requests, the last one for ever, and what it has answered."""
    given = list(requests)
    heard, ready = os.pipe()
    notes, sites = notes_file(), notes_file()
    os.write(ready, b"x")
    monkeypatch.setattr(seccomp, "receive", lambda _listener: given.pop(0) if len(given) > 1 else given[0])
    made = watch.Watch(heard, options.pop("sink", None), notes, sites, session=os.getpid(), command=b"", **options)
    try:
        yield made, notes
    finally:
        made.close()
        assert made.descriptors() == []
        for descriptor in (ready, notes, sites):
            os.close(descriptor)


def test_who_dials_without_end_leaves_time_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The supervisor has more to do than to answer one program: it can still end it."""
    heard = Counter[str]()
    with watching(monkeypatch, None) as (made, notes):
        monkeypatch.setattr(seccomp, "receive", lambda _listener: heard.update("x") if heard.total() < 1_000 else pytest.fail("for ever"))
        made.attend()
        assert noted(notes)[0] == []
    assert heard.total() == 64


def test_who_asks_for_names_without_end_leaves_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 of 100 questions have their turn, the others the next time."""
    sink = socket.socket(type=socket.SOCK_DGRAM)
    sink.bind(("127.0.0.1", 0))
    with socket.socket(type=socket.SOCK_DGRAM) as asks, watching(monkeypatch, None, sink=os.dup(sink.fileno())) as (made, _):
        for _ in range(100):
            asks.sendto(b"noise", sink.getsockname())
        made.attend()
        poller = poll()
        poller.register(sink, 1)
        left = []
        while poller.poll(0):
            left.append(sink.recv(9))
    sink.close()
    assert left == [b"noise"] * 36


def killed(thread: int) -> None:
    """Kill a process, and wait until nothing is left of it."""
    os.kill(thread, 9)
    while Path(f"/proc/{thread}/comm").exists():
        poll().poll(1)


@contextmanager
def pipe() -> Iterator[int]:
    """The end of a pipe."""
    end, other = os.pipe()
    yield end
    os.close(end)
    os.close(other)


def test_what_was_read_of_whoever_is_gone_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be another's by then (seccomp_unotify(2)): killed while its call is in hand, it is neither noted nor answered."""
    attempted = watch.attempted

    def dies(request: seccomp.Request, numbers: Any) -> Any:
        killed(request.thread)
        return attempted(request, numbers)

    monkeypatch.setattr(watch, "attempted", dies)
    ran = python("socket.socket().connect_ex(('192.0.2.1', 1))", Tier.K1, tmp_path)
    assert (ran.over, ran.wanted) == ("signal 9 (SIGKILL)", [])


def test_whoever_is_gone_before_its_call_is_taken_is_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listener was ready, and there is nothing to take (ENOENT)."""
    hear = watch.Watch._hear

    def dies(self: watch.Watch) -> None:
        killed(self._session)
        hear(self)

    monkeypatch.setattr(watch.Watch, "_hear", dies)
    ran = python("socket.socket().connect_ex(('192.0.2.1', 1))", Tier.K1, tmp_path)
    assert (ran.over, ran.wanted) == ("signal 9 (SIGKILL)", [])


def test_whoever_is_gone_before_the_answer_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it wanted is noted all the same."""
    note = watch.Watch._note

    def dies(self: watch.Watch, given: dict[str, Any], request: seccomp.Request) -> int:
        size = note(self, given, request)
        killed(request.thread)
        return size

    monkeypatch.setattr(watch.Watch, "_note", dies)
    ran = python("socket.socket().connect_ex(('192.0.2.1', 1))", Tier.K1, tmp_path)
    assert (ran.over, ran.wanted) == ("signal 9 (SIGKILL)", ["192.0.2.1:1"])


def test_another_descriptor_hears_of_no_calls() -> None:
    """25 is ENOTTY: only who is gone is no error."""
    request = seccomp.Request(1, 1, 1, ())
    with pipe() as end:
        for call in (lambda: seccomp.waits(end, request), lambda: seccomp.answer(end, request, 0), lambda: seccomp.receive(end)):
            with pytest.raises(OSError, match="25"):
                call()


def test_no_watch_without_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that we do not know has no filter, so there is nothing to hear."""
    monkeypatch.setattr(seccomp, "numbers", lambda: None)
    with pytest.raises(OSError, match="no filter is known"):
        watch.Watch(0, None, 0, 0, session=1, command=b"")


@watched
def test_a_connection_to_nobody_is_the_kernels_business(tier: Tier, tmp_path: Path) -> None:
    """An address without a path (22 is EINVAL), and one that dissolves what was connected."""
    text = (
        "one = socket.socket(socket.AF_UNIX)\n"
        "assert (libc.connect(one.fileno(), b'\\1\\0', 2), ctypes.get_errno()) == (-1, 22)\n"
        "two = socket.socket(type=2); assert libc.connect(two.fileno(), bytes(16), 16) == 0"
    )
    ran = python(text, tier, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 0", [])


def test_many_may_ask_for_names_and_noise_is_an_attempt(tmp_path: Path) -> None:
    """More threads than are kept in mind: the last one is told; bytes that are no query ask for no name."""
    text = (
        "import threading\n"
        "def run():\n"
        "  sock = socket.socket(type=2); sock.connect(('127.0.0.1', 53)); held.append(sock)\n"
        "held, go = [], threading.Event()\n"
        "many = [threading.Thread(target=lambda: (run(), go.wait())) for _ in range(70)]\n"
        "for each in many: each.start()\n"
        "while len(held) < 70: pass\n"
        "run(); held[-1].send(b'noise')\n"
        "held[-1].send(bytes.fromhex('123401000001000000000000') + b'\\1a\\4test\\0\\0\\1\\0\\1'); assert held[-1].recv(512)[3] & 15 == 3\n"
        "go.set()"
    )
    ran = python(text, Tier.K1, tmp_path)
    assert (ran.over, [(each["wanted"], each["thread"]) for each in ran.notes]) == (
        "exit 0",
        [("127.0.0.1:53", "MainThread"), ("a.test", "MainThread")],
    )


@watched
def test_a_connection_to_the_port_of_names_is_no_lookup(tier: Tier, tmp_path: Path) -> None:
    """Nobody takes connections there: it is an attempt as any other."""
    ran = python("raise SystemExit(socket.socket().connect_ex(('127.0.0.1', 53)))", tier, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 111", ["127.0.0.1:53"])


@pytest.mark.skipif(CURL is None, reason="there is no curl here")
def test_a_name_is_told_where_nobody_may_look_at_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some containers refuse pidfd_getfd(2): what goes to the server of names is a lookup then."""
    monkeypatch.setattr(seccomp, "datagrams", lambda *_: None)
    ran = run(["/bin/sh", "-c", "curl -sS http://api.example.test/x"], Tier.K1, tmp_path)
    assert (ran.over, ran.wanted) == ("exit 6", ["api.example.test"])


def test_a_thread_that_puts_signals_off_is_not_asked(tmp_path: Path) -> None:
    """What it would say later would be taken for the next one's answer."""
    text = FAULTS + (
        "import signal, threading\n"
        "def dials(port): libc.connect(socket.socket().fileno(), address('192.0.2.1', port), 16)\n"
        "def deaf(): signal.pthread_sigmask(signal.SIG_BLOCK, {40}); dials(1)\n"
        "one = threading.Thread(target=deaf); one.start(); one.join(); dials(2)"
    )
    ran = python(text, Tier.K1, tmp_path)
    assert [(each["wanted"], each["dump"]) for each in ran.notes] == [("192.0.2.1:1", False), ("192.0.2.1:2", True)]
    assert (ran.sites.count("Stack ("), ran.sites.count("in dials")) == (1, 1)


@pytest.mark.parametrize("longest", [0, 2_000])
def test_a_handler_that_says_nothing_is_answered_for(longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader counts on one block for each note that asks for one, and no thread is waited for without end."""
    monkeypatch.setattr(watch, "_LONG", longest)
    text = (
        "import signal; signal.signal(40, lambda *_: None)\n"
        "libc.connect(socket.socket().fileno(), address('192.0.2.1', 1), 16); os = __import__('os'); os._exit(0)"
    )
    ran = python(text, Tier.K1, tmp_path)
    assert ([each["dump"] for each in ran.notes], ran.sites) == ([True], "Stack (none)\n")


def test_names_belong_to_the_thread_whose_socket_asks(tmp_path: Path) -> None:
    """Two threads have connected before either asks: the first one asks first all the same."""
    text = (
        "import threading\n"
        "ready, go = threading.Semaphore(0), threading.Semaphore(0)\n"
        "def run(name, sock):\n"
        "  libc.prctl(15, name, 0, 0, 0); sock.connect(('127.0.0.1', 53)); ready.release(); go.acquire()\n"
        "one, two = socket.socket(type=2), socket.socket(type=2)\n"
        "for given in ((b'first', one), (b'second', two)): threading.Thread(target=run, args=given).start(); ready.acquire()\n"
        "for sock, name in ((one, b'a'), (two, b'b')):\n"
        "  sock.send(bytes.fromhex('123401000001000000000000') + b'\\1' + name + b'\\4test\\0\\0\\1\\0\\1'); sock.recv(512)\n"
        "go.release(2)"
    )
    ran = python(text, Tier.K1, tmp_path)
    assert [(each["wanted"], each["thread"]) for each in ran.notes] == [("a.test", "first"), ("b.test", "second")]


@watched
@pytest.mark.skipif(CURL is None, reason="there is no curl here")
def test_a_program_is_named_by_its_command_line(tier: Tier, tmp_path: Path) -> None:
    """A child's attempt is told with what was started."""
    ran = run(["/bin/sh", "-c", "curl -sS http://192.0.2.1:8080/x; true"], tier, tmp_path)
    assert [(each["wanted"], each["command"], each["via"]) for each in ran.notes] == [
        ("192.0.2.1:8080", "curl -sS http://192.0.2.1:8080/x", "curl")
    ]


@pytest.mark.skipif(CURL is None, reason="there is no curl here")
def test_a_name_is_noted_that_a_program_looks_up(tmp_path: Path) -> None:
    """Once, however many kinds of record are asked for; the program hears that there is no such name (curl's status 6)."""
    ran = run(["/bin/sh", "-c", "curl -sS http://api.example.test/x"], Tier.K1, tmp_path)
    assert ran.over == "exit 6"
    assert [(each["wanted"], each["host"], each["port"]) for each in ran.notes] == [("api.example.test", "api.example.test", None)]


def test_a_name_that_is_looked_up_in_c_code_has_a_line(tmp_path: Path) -> None:
    """The thread waits for its answer and is asked meanwhile, which the C library bears."""
    text = FAULTS + (
        "def asks():\n    made = ctypes.c_void_p()\n    return libc.getaddrinfo(b'api.example.test', b'443', None, ctypes.byref(made))\n"
        "raise SystemExit(0 if asks() == -2 else 1)\n"
    )
    ran = python(text, Tier.K1, tmp_path)
    assert ran.over == "exit 0"  # -2 is EAI_NONAME (netdb.h)
    assert ran.wanted == ["api.example.test"]
    assert "in asks" in ran.sites


@watched
def test_what_cannot_be_looked_into_does_not_exist(tier: Tier, tmp_path: Path) -> None:
    """io_uring is not there (38 is ENOSYS), nobody takes another's descriptors (1 is EPERM), and no privileges are gained."""
    text = (
        "first = libc.syscall(425, 1, ctypes.create_string_buffer(120)), ctypes.get_errno()\n"
        "second = libc.syscall(438, 0, 0, 0), ctypes.get_errno()\n"
        "raise SystemExit(0 if (first, second) == ((-1, 38), (-1, 1)) and libc.prctl(39, 0, 0, 0, 0) == 1 else 1)"
    )
    assert python(text, tier, tmp_path).over == "exit 0"


def test_the_static_filter_leaves_unix_sockets_only(tmp_path: Path) -> None:
    """Where no listener works: 13 is EACCES, and own Unix sockets work; with a namespace loopback does as well."""
    text = (
        "one, _ = socket.socketpair()\n"
        "try: socket.socket()\nexcept PermissionError as error: raise SystemExit(error.errno)\n"
        "own = socket.create_server(('127.0.0.1', 0)); socket.create_connection(own.getsockname()).close()"
    )
    assert python(text, Tier.K3, tmp_path, alone=False).over == "exit 13"
    assert python(text, Tier.K3, tmp_path).over == "exit 0"


@pytest.mark.parametrize("deaf", [errno.ENOENT, errno.EPERM])
def test_walls_whose_listener_hears_nothing_are_none(deaf: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel takes the filter and lets nobody hear of a call (or lets whoever asks wait for ever), no program begins."""

    def receive(_listener: int) -> None:
        if deaf == errno.ENOENT:
            return
        raise OSError(deaf, os.strerror(deaf))

    monkeypatch.setattr(seccomp, "receive", receive)
    with pytest.raises(cell.NotWalled, match="the listener does not answer"):
        python("raise SystemExit(0)", Tier.K2, tmp_path)


@contextmanager
def ordinary(user: int) -> Iterator[int]:
    """A child that is an ordinary user; gives 0 in it, whose leaving is its end, and its number to the parent."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # its files in /proc are its own again
        try:
            yield 0
            os._exit(0)
        finally:
            os._exit(1)
    yield child


@watched
@pytest.mark.skipif(os.getuid() != 0 or CURL is None, reason="only root can be somebody else, with curl")
def test_an_ordinary_user_has_the_same_walls(tier: Tier) -> None:
    """Nothing of it needs privileges: a program of user 65534 is refused, noted and named alike."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is root's alone
        Path(folder).chmod(0o777)
        over, notes = _of_nobody(tier, Path(folder))
    assert over == "exit 0"
    assert notes[0] == ["192.0.2.1:8080", "curl -sS http://192.0.2.1:8080/x"]
    assert notes[1][1] == "curl -sS http://api.example.test"
    if tier is Tier.K1:
        assert notes[1][0] == "api.example.test"


def _of_nobody(tier: Tier, temp: Path) -> Any:
    said = temp / "said"
    assert all((filters, keeper, seccomp, watch, tempfile))  # loaded before: the other user may not read their files
    with ordinary(65534) as child:
        if child == 0:
            ran = run(["/bin/sh", "-c", "curl -sS http://192.0.2.1:8080/x; curl -sS http://api.example.test; true"], tier, temp)
            said.write_text(json.dumps([ran.over, [(each["wanted"], each["command"]) for each in ran.notes]]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return json.loads(said.read_text())


def test_the_same_number_may_be_another_file_or_none_there() -> None:
    """A fork that closed all descriptors and opened its own is not asked to write into the one that has the number now."""
    sites, own = notes_file(), notes_file()
    ready, says = os.pipe()
    waits, ends = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(own, sites)
        os.close(own)
        os.write(says, b"x")
        os.close(ends)
        os.read(waits, 1)
        os._exit(0)
    try:
        os.read(ready, 1)
        assert world.same_file(os.getpid(), sites)
        assert not world.same_file(child, sites)
        assert not world.same_file(child, own)
    finally:
        for each in (sites, own, ready, says, waits, ends):
            os.close(each)
        os.waitpid(child, 0)
