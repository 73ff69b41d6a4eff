"""The server face: a double on a loopback port, for other languages and for clients that go around a transport.

One thread of ours serves; its exchanges belong to the trial that the double does. The port answers on 127.0.0.1 and
nowhere else.
"""

from __future__ import annotations

import importlib.util
import math
import socket
from _thread import allocate_lock
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from invcheck.double import Double
from invcheck.errors import DoubleError
from invcheck.sandbox import serving

if TYPE_CHECKING:
    import asyncio

    from invcheck.sandbox.serverloop import ServerLoop

HOST = "127.0.0.1"
KEY = "invcheck"
"""What stands for a key; no real one is ever read."""

_PORTS = range(65536)
SILENCE = 2.0
"""Real seconds that a silence lasts at most where nobody says."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where a double is served: its root, and the base URLs as the providers' clients want them.

    >>> Served(8000).openai, Served(8000).anthropic
    ('http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000')
    """

    port: int

    @property
    def url(self) -> str:
        """The root, without a slash at its end."""
        return f"http://{HOST}:{self.port}"

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's clients."""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's clients."""
        return self.url

    @property
    def environ(self) -> dict[str, str]:
        """The variables by which the providers' clients find this server; the keys are placeholders."""
        return {
            "OPENAI_BASE_URL": self.openai,
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.anthropic,
            "ANTHROPIC_API_KEY": KEY,
        }

    def __str__(self) -> str:
        return self.url


class Server:
    """A double on a port of 127.0.0.1 for the length of a block; ``port`` 0 is one that is free.

    DoubleError where the port cannot be had, or starlette and uvicorn are not installed. A client names its lane in the
    header ``x-invcheck-lane``, unless ``lane`` or the double's ``lane_by`` does. Clients that repeat what failed are told to
    do it at once (``retry-after-ms``), since they may wait for real; ``retry-after`` is what the script says.

    A time-out and a silence are real, for at most ``silence`` seconds: a client that still waits sees its connection break,
    and that is a finding, SILENCE_CUT. So is LANE_OVERLAP, where requests are in flight at once on a lane whose steps have an
    order. What else a double waits for takes no time, unless time is ``real``. A client that leaves a stream early may have
    been sent all of it: such a call counts as served.

    >>> import invcheck, json, urllib.request
    >>> with invcheck.testing(), Server(invcheck.ScriptedModel("hello")) as served:
    ...     body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    ...     asked = urllib.request.Request(f"{served}/v1/chat/completions", json.dumps(body).encode())
    ...     with urllib.request.urlopen(asked) as answer:
    ...         answer.headers["x-invcheck-double"], json.load(answer)["choices"][0]["message"]["content"]
    ('1', 'hello')
    """

    def __init__(self, double: Double, *, port: int = 0, lane: str | None = None, silence: float = SILENCE, real: bool = False) -> None:
        if type(port) is not int or port not in _PORTS:
            raise DoubleError(f"a port is a number from 0 to 65535, got {port!r}")
        if isinstance(silence, bool) or not isinstance(silence, int | float) or not 0 <= silence < math.inf:
            raise DoubleError(f"silence is a number of real seconds from 0, got {silence!r}")
        self._double, self._port, self._lane, self._silence = double, port, lane, float(silence)
        self._real = real
        self._running: tuple[ServerLoop, asyncio.Event] | None = None
        self._failed: BaseException | None = None
        # plain locks, which no sandbox takes for a wait of the app's
        self._began, self._ended = allocate_lock(), allocate_lock()

    def __enter__(self) -> Served:
        return self.open()

    def __exit__(self, *_exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Served:
        return self.open()

    async def __aexit__(self, *_exc: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Say how a server is opened, since what it serves at is known only then."""
        opened = ": it serves in a block, `with double.serve() as served:`, and served has it" if hasattr(Served, name) else ""
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{opened}")

    def open(self) -> Served:
        """Begin to serve, and give where."""
        for name in ("starlette", "uvicorn"):
            if importlib.util.find_spec(name) is None:
                raise DoubleError(f"a server needs starlette and uvicorn, and {name} is not installed", hint="pip install invcheck[serve]")
        if self._ended.locked():
            raise DoubleError("this server serves already")
        from invcheck.sandbox.serverloop import start  # noqa: PLC0415  # asyncio, only where a port is served

        listening = _listening(self._port)
        self._failed = None
        self._began.acquire()
        self._ended.acquire()
        start(self._serve, listening)
        with serving.held(), self._began:
            if self._failed is not None:
                raise self._failed
        return Served(listening.getsockname()[1])

    def close(self) -> None:
        """Serve no more; what is under way is broken off."""
        running, self._running = self._running, None
        if running is not None:
            loop, stop = running
            with suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(stop.set)
            with serving.held(), self._ended:
                pass

    def _serve(self, listening: socket.socket) -> None:
        """Serve until `close`, in a thread of ours."""
        try:
            from invcheck.faces import asgi  # noqa: PLC0415  # uvicorn and asyncio, only where a port is served
            from invcheck.sandbox.serverloop import ServerLoop  # noqa: PLC0415  # as above

            ServerLoop(real=self._real).serve(
                lambda loop: asgi.serve(self._double, listening, self._lane, self._silence, lambda stop: self._begin(loop, stop))
            )
        except BaseException as error:  # noqa: BLE001  # whatever it is, who opened the server gets it
            self._failed = error
        finally:
            listening.close()
            if self._began.locked():
                self._began.release()
            self._ended.release()

    def _begin(self, loop: ServerLoop, stop: asyncio.Event) -> None:
        self._running = loop, stop
        self._began.release()


def _listening(port: int) -> socket.socket:
    """Give a socket that listens, so that whoever learns the port can connect."""
    # with its protocol named asyncio sends small parts at once (TCP_NODELAY), so that nothing is under way but what arrives
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # who closed it last leaves it waiting for a minute
        made.bind((HOST, port))
        made.listen()
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise DoubleError(f"port {port} cannot be had: {error.strerror}", hint="port 0 is one that is free") from error
    return made
