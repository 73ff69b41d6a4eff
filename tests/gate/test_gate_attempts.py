"""What a waiting call wants, and who may have it: read from raw addresses, judged without a kernel."""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import socket
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.gate import attempts, callers, names, policy, seccomp, syscalls, world
from invcheck.gate.attempts import Attempt
from invcheck.gate.policy import Inside, judge
from invcheck.gate.seccomp import Request

INET, INET6, UNIX, NETLINK, VSOCK, ALG = 2, 10, 1, 16, 40, 38
NUMBERS = syscalls.of("x86_64")
assert NUMBERS is not None


def inet(host: str, port: int) -> bytes:
    """A struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7))."""
    address = ipaddress.ip_address(host)
    if address.version == 4:
        return struct.pack("=H", INET) + struct.pack(">H", port) + address.packed + bytes(8)
    return struct.pack("=H", INET6) + struct.pack(">HI", port, 0) + address.packed + bytes(4)


@given(host=st.ip_addresses(), port=st.integers(0, 65535))
def test_an_internet_address_is_read_as_it_was_written(host: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> None:
    """Both families; a version 4 address inside of version 6, which gRPC dials, is the version 4 one."""
    read = attempts.address(inet(str(host), port))
    plain = getattr(host, "ipv4_mapped", None) or host
    assert read == Attempt(INET6 if host.version == 6 else INET, str(plain), port)
    assert read.wanted == (f"[{plain}]:{port}" if plain.version == 6 else f"{plain}:{port}")
    assert read.loopback == (plain.is_loopback or plain.is_unspecified)


@given(raw=st.binary(max_size=130))
def test_no_bytes_make_the_reader_fall_over(raw: bytes) -> None:
    """Whatever a program hands over is an address, none, or too short to be one."""
    if len(raw) >= 24:  # the longest fixed part that is read, of struct sockaddr_in6
        read = attempts.address(raw)
        assert read is None or read.wanted
    else:
        with suppress(struct.error):
            attempts.address(raw)


@pytest.mark.parametrize(
    ("raw", "path", "wanted"),
    [
        (b"\1\0/run/x\0rest", "/run/x", "unix:/run/x"),
        (b"\1\0/run/x", "/run/x", "unix:/run/x"),
        (b"\1\0\0bus", "\0bus", "unix:@bus"),
        (b"\1\0", "", "unix:"),
    ],
)
def test_a_unix_address_is_a_path_or_abstract(raw: bytes, path: str, wanted: str) -> None:
    """A path ends with its first zero byte, an abstract name begins with one (unix(7))."""
    read = attempts.address(raw)
    assert read == Attempt(UNIX, path=path)
    assert (read.wanted, read.loopback) == (wanted, False)


def test_other_families_are_named_by_number_and_none_takes_back() -> None:
    """AF_UNSPEC dissolves an association (connect(2)) and leads nowhere."""
    assert attempts.address(struct.pack("=H14x", VSOCK)) == Attempt(VSOCK)
    assert Attempt(VSOCK).wanted == "address family 40"
    assert attempts.address(bytes(16)) is None


@given(host=st.ip_addresses(v=4), port=st.integers(0, 65535))
def test_a_message_to_an_address_of_no_family_is_one_of_version_4(host: ipaddress.IPv4Address, port: int) -> None:
    """udp_sendmsg takes AF_UNSPEC for AF_INET where the address is whole (16 bytes), else it sends to nobody."""
    raw = bytes(2) + inet(str(host), port)[2:]
    assert attempts.address(raw, sends=True) == Attempt(INET, str(host), port)
    assert attempts.address(raw[:15], sends=True) is None
    assert attempts.address(raw) is None


def waiting(number: int, *arguments: int) -> list[Attempt]:
    """What a call of this very process wants."""
    return attempts.attempted(Request(1, os.getpid(), number, (*arguments, *[0] * 6)[:6]), NUMBERS)


def test_addresses_are_read_from_whoever_waits() -> None:
    """connect, sendto, sendmsg and sendmmsg name theirs at other places; none is none, and one that cannot be read is told so."""
    wanted = Attempt(INET, "192.0.2.1", 443)
    raw = ctypes.create_string_buffer(inet("192.0.2.1", 443), 16)
    at = ctypes.addressof(raw)
    other = ctypes.create_string_buffer(inet("198.51.100.7", 9), 16)
    header = struct.pack("=QI44x", at, 16)
    messages = ctypes.create_string_buffer(
        header + bytes(8) + struct.pack("=QI44x", 0, 0) + bytes(8) + struct.pack("=QI44x", ctypes.addressof(other), 16) + bytes(8)
    )
    assert waiting(NUMBERS.connect, 3, at, 16) == [wanted]
    assert waiting(NUMBERS.sendto, 3, 0, 0, 0, at, 16) == [wanted]
    nameless = ctypes.create_string_buffer(bytes(2) + inet("192.0.2.1", 443)[2:], 16)
    assert waiting(NUMBERS.sendto, 3, 0, 0, 0, ctypes.addressof(nameless), 16) == [wanted]
    assert waiting(NUMBERS.connect, 3, ctypes.addressof(nameless), 16) == []
    assert waiting(NUMBERS.sendto, 3, 0, 0, 0, 0, 16) == []
    assert waiting(NUMBERS.sendmsg, 3, ctypes.addressof(messages), 0) == [wanted]
    assert waiting(NUMBERS.sendmmsg, 3, ctypes.addressof(messages), 3) == [wanted, Attempt(INET, "198.51.100.7", 9)]
    assert waiting(NUMBERS.sendmmsg, 3, ctypes.addressof(messages), 0) == []
    assert waiting(NUMBERS.socket, VSOCK, 1, 0) == [Attempt(VSOCK)]
    assert waiting(NUMBERS.connect, 3, 8, 16) == [attempts.UNREADABLE]
    assert waiting(NUMBERS.connect, 3, 2**64 - 4096, 16) == [attempts.UNREADABLE]
    assert waiting(NUMBERS.connect, 3, at, 3) == [attempts.UNREADABLE]


def test_a_signal_to_nobody_is_none() -> None:
    """A thread that has gone needs no answer."""
    seccomp.signal(NUMBERS, 2**22 + 1, 2**22 + 1, 0)


inside = Inside(
    ("tcp:127.0.0.1:5432", "tcp:[::1]:5432", "unix:/run/postgresql/.s.PGSQL.5432"),
    "/tmp/w",
    lambda each: each.port == 8000 or each.path == "\0own",
)
"""What the cases below may reach."""


@pytest.mark.parametrize(
    ("attempt", "refusal", "breach"),
    [
        (Attempt(INET, "127.0.0.1", 5432), 0, False),
        (Attempt(INET6, "::1", 5432), 0, False),
        (Attempt(INET, "127.0.0.1", 8000), 0, False),
        (Attempt(INET, "127.0.0.1", 5433), errno.ECONNREFUSED, True),
        (Attempt(INET, "127.0.0.1", 0), 0, False),
        (Attempt(INET, "192.0.2.1", 0), errno.ENETUNREACH, True),
        (Attempt(INET, "0.0.0.0", 80), errno.ECONNREFUSED, True),
        (Attempt(INET, "192.0.2.1", 5432), errno.ENETUNREACH, True),
        (Attempt(INET, "192.0.2.1", 8000), errno.ENETUNREACH, True),
        (Attempt(UNIX, path="/run/postgresql/.s.PGSQL.5432"), 0, False),
        (Attempt(UNIX, path="/run/postgresql/.s.PGSQL.5433"), errno.ECONNREFUSED, True),
        (Attempt(UNIX, path="/tmp/w/pymp-1/listener"), 0, False),
        (Attempt(UNIX, path="/tmp/w2/x"), errno.ECONNREFUSED, True),
        (Attempt(UNIX, path="\0own"), 0, False),
        (Attempt(UNIX, path="\0bus"), errno.ECONNREFUSED, True),
        (Attempt(UNIX, path="/var/run/nscd/socket"), errno.ENOENT, False),
        (Attempt(UNIX, path="/run/systemd/userdb/io.systemd.DynamicUser"), errno.ENOENT, False),
        (Attempt(UNIX, path="/run/systemd/journal/socket"), errno.ECONNREFUSED, True),
        (Attempt(UNIX, path="/var/lib/sss/pipes/nss"), errno.ENOENT, False),
        (Attempt(NETLINK), 0, False),
        (Attempt(VSOCK), errno.EAFNOSUPPORT, True),
        (Attempt(ALG), errno.EAFNOSUPPORT, False),
        (attempts.UNREADABLE, errno.EAFNOSUPPORT, True),
    ],
)  # fmt: skip
def test_who_may_pass(attempt: Attempt, refusal: int, breach: bool) -> None:
    """What is served inside or allowed by its exact name; everything else is refused, and noted where an app wants it."""
    assert judge(attempt, inside) == (refusal, breach)


def test_what_only_sorts_addresses_is_refused_without_a_word() -> None:
    """On loopback alone: a socket that was pointed elsewhere may send at any time."""
    sorting = Inside((), "/tmp/w", lambda _attempt: False, lambda: True)
    assert judge(Attempt(INET, "127.0.0.1", 5432), sorting) == (errno.ECONNREFUSED, False)
    assert judge(Attempt(INET, "192.0.2.1", 5432), sorting) == (errno.ENETUNREACH, True)


def test_a_table_of_the_kernel_is_read_as_it_is_written() -> None:
    """Four bytes at a time in the processor's order (proc_pid_net(5)), here little-endian; a mapped address is version 4."""
    assert world.plain(b"0100007F") == "127.0.0.1"
    assert world.plain(b"B80D0120000000000000000001000000") == "2001:db8::1"
    assert world.plain(b"0000000000000000FFFF00000100007F") == "127.0.0.1"


@pytest.mark.parametrize(
    ("served", "host", "met"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "0.0.0.0", True),
        ("::1", "::", True),
        ("0.0.0.0", "127.0.0.9", True),
        ("::", "127.0.0.1", True),
        ("0.0.0.0", "::1", False),
        ("127.0.0.2", "127.0.0.1", False),
        ("::1", "127.0.0.1", False),
    ],
)  # fmt: skip
def test_who_serves_an_address(served: str, host: str, met: bool) -> None:
    """A socket at any address of version 6 takes version 4 as well (ipv6(7)); any address, dialled, is loopback (ip(7))."""
    assert world.meets(served, host) == met


def test_whoever_is_gone_is_told_nothing_of() -> None:
    """No process has this number (proc_sys_kernel(5): pid_max is at most 2^22)."""
    gone = 2**22 + 1
    assert (world.read(f"{gone}/comm"), world.process(gone), world.own_number(gone)) == (b"", gone, gone)
    assert (world.catches(gone, 40), world.pending(gone, 40), world.inode(gone, 0)) == (False, False, b"")
    assert (world.whole(gone, "x"), world.ports(gone, 80), world.paths(gone, "/x")) == ("/x", {}, set())
    assert seccomp.datagrams(NUMBERS, gone, 0) is None
    assert world._links(str(gone)) == set()


def test_what_a_socket_is_can_be_asked() -> None:
    """Datagrams are told from streams, in this very process; a number that is none is nothing."""
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams, socket.socket() as stream:
        assert seccomp.datagrams(NUMBERS, os.getpid(), datagrams.fileno())
        assert seccomp.datagrams(NUMBERS, os.getpid(), stream.fileno()) is False
        assert world.inode(os.getpid(), stream.fileno()) == str(os.fstat(stream.fileno()).st_ino).encode()
    assert seccomp.datagrams(NUMBERS, os.getpid(), 1 << 20) is None


@given(st.ip_addresses(v=4), st.integers(0, 65535))
def test_nothing_but_loopback_ever_passes(host: ipaddress.IPv4Address, port: int) -> None:
    """Even where everything is served and allowed."""
    everything = Inside([f"tcp:{host}:{port}"], "/", lambda _attempt: True)
    passed = judge(Attempt(INET, str(host), port), everything)[0] == policy.PASSES
    assert passed == (host.is_loopback or host.is_unspecified)


def question(name: str, kind: int = 1) -> bytes:
    """A query as RFC 1035, section 4.1, has it."""
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split(".") if each)
    return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\0" + struct.pack(">HH", kind, 1)


@given(st.lists(st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True), max_size=5), st.sampled_from([1, 28, 65]))
def test_a_name_is_read_from_a_query_and_there_is_none_of_it(labels: list[str], kind: int) -> None:
    """The answer has the query's number and question, and code 3, "name error"."""
    query = question(".".join(labels), kind)
    asked = names.asked(query + b"extra")
    assert asked == (".".join(labels), len(query))
    answer = names.nothing(query, asked[1])
    assert (answer[:2], answer[3] & 0xF, answer[12:]) == (query[:2], 3, query[12:])
    assert answer[2] & 0x80
    assert names.asked(answer) is None


@given(st.binary(max_size=80))
def test_what_is_no_query_is_left_alone(raw: bytes) -> None:
    """No bytes make the reader fall over or read past them."""
    asked = names.asked(raw)
    assert asked is None or asked[1] <= len(raw)
    assert names.asked(question("a.b")[:-3]) is None
    assert names.asked(question("a")[:12] + b"\xc0\x0c\0\1\0\1") is None
    assert names.asked(b"\0" * 40) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"/usr/bin/curl\0-sS\0http://x\0", "curl -sS http://x"),
        (b"python3\0-c\0import x\n\x1b[31m\0", "python3 -c import x  [31m"),
        (b"", ""),
        (b"/bin/long\0" + b"x" * 100 + b"\0", "long " + "x" * 74 + "…"),
        ("/bin/é\0\udcff\0".encode("utf-8", "surrogateescape"), "é  "),
    ],
)
def test_a_command_line_is_spoken_plainly(line: bytes, words: str) -> None:
    """The program without its folder, at most 80 characters, nothing that a terminal acts on."""
    assert callers.spoken(line) == words


@pytest.mark.parametrize(
    ("thread", "mapped", "library"),
    [
        ("MainThread", b"7f00 r-xp /v/site-packages/pycurl.cpython-311.so\n", "pycurl"),
        ("MainThread", b"/v/uvloop/loop.so\n", "uvloop"),
        ("MainThread", b"/v/psycopg_binary/_psycopg.so\n/v/psycopg_binary.libs/libpq-1.so.5\n", "psycopg"),
        ("MainThread", b"/v/uvloop/loop.so\n/v/grpc/_cython/cygrpc.so\n", None),
        ("event_engine", b"/v/uvloop/loop.so\n/v/grpc/_cython/cygrpc.so\n", "grpcio"),
        ("ZMQbg/IO/N", b"", "pyzmq"),
        ("MainThread", b"/lib/libc.so.6\n", None),
    ],
)
def test_a_library_is_named_where_it_can_only_be_that_one(thread: str, mapped: bytes, library: str | None) -> None:
    """Its threads say so, or nothing else is loaded that dials by itself."""
    assert callers.library(thread, mapped) == library


def test_a_program_without_a_command_line_is_called_as_its_thread() -> None:
    """A process may overwrite its own."""
    assert callers.program(b"/usr/bin/curl\0-s\0", "x") == "curl"
    assert callers.program(b"", "curl") == "curl"
