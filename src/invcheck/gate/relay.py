"""Carries connections from the allowed ports inside a process's own network to the services outside, bytes as they are.

It is a process of its own with one thread, forked by the supervisor: it accepts on sockets that were bound inside, and dials
from outside. Only what is known to reach further than this machine is not carried (`telltale`): a proxy, or a model, behind
an allowed port would make every check green that asks it. A port number only tells what usually listens there, so that is
worth a warning; the first bytes of a request tell what is asked for, so they are a breach, noted as any other before the
connection is reset, and the finding is in the report whatever the app makes of the error. Nothing that the relay can't read
is held up: TLS, HTTP/2 without TLS and Unix sockets pass unseen.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable
from contextlib import suppress
from errno import EINPROGRESS
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from invcheck.gate.telltale import telltale

if TYPE_CHECKING:
    from invcheck.allowance import Tcp
    from invcheck.vocabulary import Json

_BUFFER = 1 << 18  # bytes that wait for a slow reader at most, in each direction
_SPARE = 32  # descriptors that are no connection's
_IN, _OUT = 1, 4  # select.EPOLLIN, select.EPOLLOUT
_OUTSIDE = "the port is allowed, and what stands behind it is outside of the gate"
_RESET = (1).to_bytes(4, "little") + bytes(4)  # struct linger: on, zero seconds


def serve(pairs: list[tuple[int, Tcp]], life: int, notes: int) -> NoReturn:
    """Carry connections until the other end of the pipe ``life`` is closed; the process ends with that.

    ``pairs`` are listening sockets and what each leads to; ``notes`` is the file to which attempts are appended (`watch`).
    Of ``localhost`` both addresses are allowed: where only one of them is served outside, the other leads there too. Where
    none is, the connection is reset, and the note says that nothing listens outside either.
    """
    Relay(pairs, notes).run(life)
    os._exit(0)


class Relay:
    """The connections of some listening sockets; `run` carries them until it is told to end."""

    def __init__(self, pairs: list[tuple[int, Tcp]], notes: int) -> None:
        self._poller, self.notes = select.epoll(), notes
        self.watched: dict[int, Callable[[int], None]] = {}
        self._masks: dict[int, int] = {}
        self._listeners = {descriptor: _leads(to, [each for _, each in pairs]) for descriptor, to in pairs}
        self._connections = 0
        self._most = _room()
        self.space = memoryview(bytearray(_BUFFER))
        for descriptor in self._listeners:
            os.set_blocking(descriptor, False)
        self._open(accepting=True)

    def run(self, life: int) -> None:
        """Carry until the other end of the pipe is closed."""
        self._poller.register(life, 0)
        while True:
            for descriptor, events in self._poller.poll():
                if descriptor == life:
                    return
                act = self.watched.get(descriptor)
                if act is not None:  # what stood before it in the same round may have closed it
                    act(events)

    def want(self, descriptor: int, mask: int, act: Callable[[int], None]) -> None:
        """Call ``act`` when a descriptor is ready for what ``mask`` says; nothing for an empty one, so that no error spins."""
        before = self._masks.get(descriptor, 0)
        if mask == before:
            return
        if not mask:
            self.forget(descriptor)
            return
        (self._poller.modify if before else self._poller.register)(descriptor, mask)
        self._masks[descriptor], self.watched[descriptor] = mask, act

    def forget(self, descriptor: int) -> None:
        """Wait for nothing of a descriptor any more."""
        if self._masks.pop(descriptor, 0):
            self._poller.unregister(descriptor)
            del self.watched[descriptor]

    def note(self, to: Tcp, **words: str) -> None:
        """Append an attempt to the notes, as `watch` does, in words of its own: ``what`` it is, what was ``wanted``, why not, a hint."""
        told: dict[str, Json] = {
            "kernel": True, "host": to.host, "port": to.port, "via": "an allowed port", "where": None, "line": None, "thread": "",
            "command": None, "count": 1, "process": 0, "dump": False, "loopback": True, **words,
        }  # fmt: skip
        os.write(self.notes, json.dumps(told).encode() + b"\n")

    def closed(self) -> None:
        """Have room for one more connection."""
        self._connections -= 1
        self._open(accepting=True)

    def _open(self, *, accepting: bool) -> None:
        for descriptor, to in self._listeners.items():
            self.want(descriptor, _IN if accepting else 0, partial(self._accept, descriptor, to))

    def _accept(self, descriptor: int, to: tuple[Tcp, ...], _events: int) -> None:
        import _socket  # noqa: PLC0415  # the C half alone

        listener: Any = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, descriptor)
        try:
            accepted, _ = listener._accept()  # noqa: SLF001  # what socket.accept is made of
        except OSError:
            return  # whoever called has hung up again
        finally:
            listener.detach()
        self._connections += 1
        if self._connections >= self._most:
            self._open(accepting=False)
        _Connection(self, _stream(_socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, accepted)), to)


class _Connection:
    """One connection in both directions: each reads no more than the other side has taken."""

    __slots__ = ("_ends", "_halves", "_relay", "_spoken", "_to", "_web")

    def __init__(self, relay: Relay, client: Any, to: tuple[Tcp, ...]) -> None:
        self._relay, self._to = relay, to
        self._ends: list[Any] = [client]
        self._halves: list[_Half] = []
        self._spoken, self._web = False, False
        self._dial(0)

    def _dial(self, index: int) -> None:
        """Dial the service at one of its addresses, or at the next where nothing listens."""
        if index == len(self._to):
            self._missing()
            return
        service = _dialling(self._to[index])
        if service is None:
            self._dial(index + 1)
        else:
            self._relay.want(service.fileno(), _OUT, partial(self._dialled, service, index))

    def _dialled(self, service: Any, index: int, _events: int) -> None:
        import _socket  # noqa: PLC0415  # as above

        self._relay.forget(service.fileno())
        if service.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR):
            service.close()
            self._dial(index + 1)
            return
        self._ends.append(service)
        self._halves = [_Half(1), _Half(0)]
        self._wait()

    def _missing(self) -> None:
        to = self._to[0]
        wanted = to.text.removeprefix("tcp:")
        why = f"nothing listens on {wanted} outside of the gate either"
        self._relay.note(to, what="an allowed service is not there", wanted=wanted, why=why, hint="start it before the run")
        self._reset()

    def _wait(self) -> None:
        """Wait for what either end can do next; close both when neither has anything left to say."""
        if all(half.over for half in self._halves):
            self._close()
            return
        for index, end in enumerate(self._ends):
            reads, writes = self._halves[index].reads, self._halves[1 - index].left
            mask = (_IN if reads else 0) | (_OUT if writes else 0)
            self._relay.want(end.fileno(), mask, partial(self._turn, index))

    def _turn(self, index: int, events: int) -> None:
        """Move what can be moved now: what waits for this end first, then what it says."""
        try:
            waiting, saying = self._halves[1 - index], self._halves[index]
            if waiting.left and events & ~_IN:
                waiting.push(self._ends[index])
            if saying.reads and events & ~_OUT and self._pull(saying, index):
                return
        except BlockingIOError:
            return  # the event was that of a descriptor of the same number, which was closed in this round
        except OSError:
            self._reset()  # one end has broken off, so that the other is to know
            return
        self._wait()

    def _pull(self, half: _Half, index: int) -> bool:
        """Take what an end says and hand it on; True where the connection is over with that."""
        space = self._relay.space
        size = self._ends[index].recv_into(space)
        if index == 0 and size and self._tells(space[:size]):
            return True
        self._spoken = True
        half.take(space[:size], self._ends[half.target])
        return False

    def _tells(self, said: memoryview) -> bool:
        """Note and reset where a client asks for more than the service: with its first bytes, or in HTTP with any request.

        A service that speaks first is neither a proxy nor a model.
        """
        if self._spoken and not self._web:
            return False
        to = self._to[0]
        own = {each.text.removeprefix("tcp:") for each in self._to} | {f"localhost:{to.port}"}
        found = telltale(said, own, first=not self._spoken)
        self._web = self._web or found.web
        if found.what is None:
            return False
        wanted = f"{found.wanted} through {to.text.removeprefix('tcp:')}"
        self._relay.note(to, what=found.what, wanted=wanted, why=_OUTSIDE, hint=found.hint)
        self._reset()
        return True

    def _reset(self) -> None:
        import _socket  # noqa: PLC0415  # as above

        for end in self._ends:
            with suppress(OSError):
                end.setsockopt(_socket.SOL_SOCKET, _socket.SO_LINGER, _RESET)
        self._close()

    def _close(self) -> None:
        for end in self._ends:
            self._relay.forget(end.fileno())
            end.close()
        self._relay.closed()


class _Half:
    """One direction: what was read and could not be written yet, and whether its end is reached."""

    __slots__ = ("_ended", "left", "over", "target")

    def __init__(self, target: int) -> None:
        self.target = target
        self.left = b""
        self._ended = self.over = False

    @property
    def reads(self) -> bool:
        """Whether there is room for more: everything was handed on, and more may come."""
        return not self.left and not self._ended

    def take(self, said: memoryview, target: Any) -> None:
        """Hand on what was read, nothing for its end; what the other side does not take now is kept."""
        if not said:
            self._ended = True
            self._finish(target)
            return
        try:
            sent = target.send(said)
        except BlockingIOError:
            sent = 0
        self.left = bytes(said[sent:])

    def push(self, target: Any) -> None:
        """Hand on what was kept, as far as the other side takes it."""
        with suppress(BlockingIOError):
            self.left = self.left[target.send(self.left) :]
        self._finish(target)

    def _finish(self, target: Any) -> None:
        if self._ended and not self.left and not self.over:
            self.over = True
            target.shutdown(1)  # SHUT_WR: the other direction goes on


def _leads(to: Tcp, allowed: list[Tcp]) -> tuple[Tcp, ...]:
    """Give where connections to an address lead: there, or to the other address of ``localhost`` where both are allowed."""
    local = ("127.0.0.1", "::1")
    return (to, *(each for each in allowed if each.port == to.port and each != to and {each.host, to.host} == {*local}))


def _dialling(to: Tcp) -> Any:
    """Give a socket that is being connected, None where that is refused at once."""
    import _socket  # noqa: PLC0415  # as above

    try:
        service = _stream(_socket.socket(_socket.AF_INET6 if ":" in to.host else _socket.AF_INET, _socket.SOCK_STREAM))
    except OSError:
        return None  # elsewhere: a kernel without IPv6
    if service.connect_ex((to.host, to.port)) in (0, EINPROGRESS):
        return service
    service.close()
    return None


def _stream(made: Any) -> Any:
    import _socket  # noqa: PLC0415  # as above

    made.setblocking(False)
    made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    return made


def _room() -> int:
    """Give how many connections this process can hold: two descriptors each, of as many as it may have."""
    import resource  # noqa: PLC0415  # once

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, 1 << 16) if hard != resource.RLIM_INFINITY else 1 << 16
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(1, (most - _SPARE) // 2)
