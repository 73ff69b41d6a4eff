"""Who may pass: what is served inside the sandbox, and what is allowed by name; everything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from errno import EAFNOSUPPORT, ECONNREFUSED, ENETUNREACH, ENOENT

from invcheck.gate.attempts import Attempt
from invcheck.gate.filters import INET, INET6, NETLINK, UNIX

_QUIET_FAMILIES = {38}
"""AF_ALG: the kernel's own ciphers, which is no network."""

_ASKED = ("nscd", "nslcd", "systemd/userdb", "systemd/resolve", "samba/winbindd", "avahi-daemon")
_QUIET = ("/var/lib/sss/pipes/", *(f"{root}/{name}/" for root in ("/run", "/var/run") for name in _ASKED))
"""Where the C library itself asks for names and users (nsswitch.conf(5)), before anything that an app wants."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What may be reached: the texts that are ``allowed``, what lies below ``temp``, and what ``serves`` says yes to.

    ``sorts`` says whether the attempt sends nothing yet: the C library points datagrams at each address of "localhost" to
    sort them (getaddrinfo(3), RFC 6724), which is no wish of an app's.
    """

    allowed: Collection[str]
    temp: str
    serves: Callable[[Attempt], bool]
    sorts: Callable[[], bool] = lambda: False


PASSES = 0


def judge(attempt: Attempt, inside: Inside) -> tuple[int, bool]:
    """Give the errno that an attempt gets, `PASSES` for one that may go on, and whether it is a breach.

    >>> inside = Inside(("tcp:127.0.0.1:5432",), "/tmp/w", lambda attempt: False)
    >>> judge(Attempt(2, "127.0.0.1", 5432), inside), judge(Attempt(2, "127.0.0.1", 80), inside) == (ECONNREFUSED, True)
    ((0, False), True)
    """
    if attempt.family in (INET, INET6):
        return _internet(attempt, inside)
    if attempt.family == UNIX:
        own = attempt.path.startswith(f"{inside.temp}/") or f"unix:{attempt.path}" in inside.allowed
        if own or inside.serves(attempt):
            return PASSES, False
        return (ENOENT, False) if attempt.path.startswith(_QUIET) else (ECONNREFUSED, True)
    if attempt.family == NETLINK:
        return PASSES, False  # the kernel itself, as for a list of interfaces
    return EAFNOSUPPORT, attempt.family not in _QUIET_FAMILIES


def _internet(attempt: Attempt, inside: Inside) -> tuple[int, bool]:
    if not attempt.loopback:
        return ENETUNREACH, True
    nobody = attempt.port == 0  # can listen there
    if nobody or f"tcp:{attempt.wanted}" in inside.allowed or inside.serves(attempt):
        return PASSES, False
    return ECONNREFUSED, not inside.sorts()
