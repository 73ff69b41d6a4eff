"""Who may pass: what is served inside the sandbox, and what is allowed by name; everything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from errno import EAFNOSUPPORT, ECONNREFUSED, ENETUNREACH, ENOENT

from invcheck.gate.attempts import Attempt
from invcheck.gate.filters import INET, INET6, NETLINK, UNIX

_QUIET_FAMILIES = {38}
"""AF_ALG: the kernel's own ciphers, which is no network."""

_QUIET = ("/run/nscd/", "/var/run/nscd/", "/run/systemd/", "/var/run/systemd/")
"""Where the C library itself asks for names and users, before anything that an app wants."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What may be reached: the texts that are ``allowed``, what lies below ``temp``, and what ``serves`` says yes to."""

    allowed: Collection[str]
    temp: str
    serves: Callable[[Attempt], bool]


PASSES = 0


def judge(attempt: Attempt, inside: Inside) -> tuple[int, bool]:
    """Give the errno that an attempt gets, `PASSES` for one that may go on, and whether it is a breach.

    >>> inside = Inside(("tcp:127.0.0.1:5432",), "/tmp/w", lambda attempt: False)
    >>> judge(Attempt(2, "127.0.0.1", 5432), inside), judge(Attempt(2, "127.0.0.1", 80), inside) == (ECONNREFUSED, True)
    ((0, False), True)
    """
    if attempt.family in (INET, INET6):
        if attempt.loopback and (f"tcp:{attempt.wanted}" in inside.allowed or inside.serves(attempt)):
            return PASSES, False
        return (ECONNREFUSED if attempt.loopback else ENETUNREACH), True
    if attempt.family == UNIX:
        own = attempt.path.startswith(f"{inside.temp}/") or f"unix:{attempt.path}" in inside.allowed
        if own or inside.serves(attempt):
            return PASSES, False
        return (ENOENT, False) if attempt.path.startswith(_QUIET) else (ECONNREFUSED, True)
    if attempt.family == NETLINK:
        return PASSES, False  # the kernel itself, as for a list of interfaces
    return EAFNOSUPPORT, attempt.family not in _QUIET_FAMILIES
