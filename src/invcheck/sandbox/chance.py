"""Chance: one seeded stream per trial behind every source of randomness that Python has.

Global `random` (the hidden instance, so names that were captured early follow), unseeded ``random.Random()``,
``os.urandom``, ``uuid``, ``secrets`` and ``SystemRandom`` are functions of the trial's seed. A ``Random(7)`` of the
user is never touched.
"""

from __future__ import annotations

import os
import sys
from _random import Random as Generator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sys import _getframe as frame_at
from sys import getrefcount
from types import ModuleType
from typing import TYPE_CHECKING, Any

from invcheck.sandbox import ambient, imports
from invcheck.seeds import derive

if TYPE_CHECKING:
    from random import Random
    from uuid import UUID

_THROUGH = frozenset({__name__, "uuid", "secrets", "random"})

_real_urandom, _real_getrandom = os.urandom, os.getrandom


class _Chance:
    """The entropy of one trial; made when something first asks for it.

    ``due`` says that the hidden instance of `random` was not seeded for this trial yet.
    """

    __slots__ = ("_node", "_stream", "due", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.due = True
        self._stream: Random | None = None
        self._node: int | None = None

    def bits(self, count: int) -> int:
        """Draw that many bits."""
        if self._stream is None:
            from random import Random  # noqa: PLC0415  # a trial without entropy does not pay for it

            self._stream = Random(_derived(self.seed, "entropy", _entropy_way))  # noqa: S311  # it is to be predictable
        return self._stream.getrandbits(count) if count else 0

    def bytes(self, count: int) -> bytes:
        """Draw that many bytes."""
        return self.bits(8 * count).to_bytes(count, "little")

    def node(self) -> int:
        """Give the trial's made-up network address, marked as one that no card has (RFC 9562, section 6.10)."""
        if self._node is None:
            self._node = self.bits(48) | (1 << 40)
        return self._node


_open: _Chance | None = None
_hidden: Any = None
_saved: object = None
_spent = False  # the hidden instance still holds what the last trial left
_held = False  # somebody holds the hidden instance itself, so that it is seeded before anybody asks


class _Module(ModuleType):
    """The module `random`, which tells who takes its hidden instance."""

    @property
    def _inst(self) -> Any:
        global _held  # noqa: PLW0603  # one hidden instance per process
        _held = True
        _settle()
        return _hidden


def install() -> None:
    """Put our functions into `os`, and into `random`, `uuid` and `tempfile` once they are imported."""
    os.urandom = urandom
    os.getrandom = getrandom
    imports.after("random", _prepare_random)
    imports.after("uuid", _prepare_uuid)
    imports.after("tempfile", _prepare_tempfile)


def _drawing(source: str) -> _Chance | None:
    """Give the trial's entropy and note the read; None where real entropy is due.

    An import draws real entropy (keys of the library's own), as only the first trial of a worker would see it.
    """
    if _open is None:
        return None
    frame = frame_at(2)
    if ambient.importing(frame):
        return None
    ambient.read(source, frame, _THROUGH)
    return _open


def urandom(size: int, /) -> bytes:
    """`os.urandom`, from the stream of the trial in hand."""
    drawn = _drawing("entropy")
    return _real_urandom(size) if drawn is None or size < 0 else drawn.bytes(size)


def getrandom(size: int, flags: int = 0) -> bytes:
    """`os.getrandom`, from the stream of the trial in hand."""
    drawn = _drawing("entropy")
    return _real_getrandom(size, flags) if drawn is None or size < 0 else drawn.bytes(size)


def _prepare_random(module: ModuleType) -> None:
    global _hidden, _held  # noqa: PLW0603  # one module per process
    _hidden = hidden = vars(module)["_inst"]  # names captured early are its methods
    names = [name for name, each in vars(module).items() if getattr(each, "__self__", None) is hidden]
    _held = _captured(vars(module), {name: getattr(hidden, name) for name in names})
    module.Random.seed = _seeding(module.Random.seed)
    module.__class__ = _Module
    for name in names:
        setattr(module, name, _recorded(name, getattr(hidden, name)))
    vars(module)["_urandom"] = urandom  # SystemRandom's and so secrets' own name for it
    if _held:
        _settle()  # imported in a trial: that trial's numbers are its seed's as well


def _captured(space: dict[str, Any], fresh: dict[str, Any]) -> bool:
    """Whether others hold the module's functions: then more refers to one than to one that was made just now."""
    return any(getrefcount(space[name]) > getrefcount(fresh[name]) for name in fresh)


def _recorded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    draws = name not in ("getstate", "setstate")

    def recorded(*args: Any, **kwargs: Any) -> Any:
        if _open is not None:
            _settle()
            if draws:
                ambient.read("random", frame_at(1))
        elif _spent:
            _restore()
        return method(*args, **kwargs)

    recorded.__module__, recorded.__name__, recorded.__qualname__, recorded.__doc__ = "random", name, name, method.__doc__
    recorded.__wrapped__ = method  # type: ignore[attr-defined]  # for inspect.signature
    return recorded


def _seeding(seed: Callable[..., None]) -> Callable[..., None]:
    def seeding(self: object, a: Any = None, version: int = 2) -> None:
        if a is None:
            drawn = _drawing("random")
            if drawn is not None:
                a = drawn.bits(256)
        seed(self, a, version)

    seeding.__name__, seeding.__qualname__, seeding.__doc__ = "seed", "Random.seed", seed.__doc__
    return seeding


def _prepare_uuid(module: ModuleType) -> None:
    real1, realnode = module.uuid1, module.getnode

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> UUID:
        drawn = _drawing("uuid")
        if drawn is None:
            real: UUID = real1(node, clock_seq)
            return real
        # with both given, the library takes the time from the clock and nothing from the system
        made: UUID = real1(drawn.node() if node is None else node, drawn.bits(14) if clock_seq is None else clock_seq)
        return made

    def getnode() -> int:
        drawn = _drawing("uuid")
        found: int = realnode() if drawn is None else drawn.node()
        return found

    for function, real in ((uuid1, real1), (getnode, realnode)):
        function.__module__, function.__qualname__, function.__doc__ = "uuid", function.__name__, real.__doc__
        setattr(module, function.__name__, function)


def _prepare_tempfile(module: ModuleType) -> None:
    # the first temp file of a process looks for a folder, and draws names for it: it must not be a trial's draw
    module.gettempdir()


def _restore() -> None:
    global _spent  # noqa: PLW0603  # one hidden instance per process
    _spent = False
    _hidden.setstate(_saved)


def _settle() -> None:
    """Seed the hidden instance for the trial in hand, once; most apps never draw from it, and a seeding costs as much as 20 calls."""
    global _saved, _spent  # one hidden instance per process
    if _open is None or not _open.due:
        return
    _open.due = False
    if not _spent:
        _saved, _spent = _hidden.getstate(), True
    Generator.seed(_hidden, _derived(_open.seed, "chance", _random_way))  # what random.Random adds to it is for seeds of other types
    _hidden.gauss_next = None


def _renew() -> None:
    """Forget what the standard library remembers from one draw to the next, so that no trial sees an earlier one's."""
    tempfile, uuid = sys.modules.get("tempfile"), sys.modules.get("uuid")
    if tempfile is not None:
        tempfile._name_sequence = None  # type: ignore[attr-defined]  # noqa: SLF001  # it has no public way
    if uuid is not None:
        uuid._last_timestamp = None  # type: ignore[attr-defined]  # noqa: SLF001  # as above


_random_way: int | None = None
_entropy_way: int | None = None


@contextmanager
def salted(random: int | None, entropy: int | None) -> Iterator[None]:
    """Let trials that begin until the block is left have other random numbers, or other entropy, than their seeds' own.

    Each number is one such way, None the seeds' own.
    """
    global _random_way, _entropy_way  # one audit per process
    before = _random_way, _entropy_way
    _random_way, _entropy_way = random, entropy
    try:
        yield
    finally:
        _random_way, _entropy_way = before


def _derived(seed: int, label: str, way: int | None) -> int:
    return derive(seed, label) if way is None else derive(seed, label, f"other {way}")


def begin(seed: int) -> _Chance | None:
    """Make all randomness a function of ``seed`` until `end` is given what this gives.

    The hidden instance's state outside of trials is put back when somebody outside of one asks for it.
    """
    global _open  # one trial in hand per process
    _renew()
    before, _open = _open, _Chance(seed)
    if _held:
        _settle()
    return before


def end(before: _Chance | None) -> None:
    """Leave the trial."""
    global _open  # noqa: PLW0603  # as above
    _open = before
    _renew()
