"""What a trial may reach although the network is cut: exact addresses of this machine, each spelled in one way.

A check or the settings name them: ``tcp:127.0.0.1:5432``, ``tcp:[::1]:5432``, ``tcp:localhost:5432``, ``unix:/run/x.sock``.
Whoever listens at such an address is outside of the sandbox and may reach everything, which `risk` says of those known for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from invcheck.errors import UsageError

CODE = "ALLOW_INVALID"
"""The code of every text that allows nothing."""

_LONGEST = 107  # bytes of a Unix socket's path: sun_path of unix(7) without the zero byte at its end
_SHAPE = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*):(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LOCALHOST = ("127.0.0.1", "::1")
_ANY = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  # refused, not bound
_MEANT = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "localhost", "::1": "localhost"}  # noqa: S104  # refused, not bound
_SUCH = "such as tcp:127.0.0.1:5432 or unix:/run/postgresql/.s.PGSQL.5432"

_PORTS = {
    1080: "SOCKS proxies (IANA)",
    1234: "LM Studio, which answers as a model",
    3128: "Squid, a proxy",
    4000: "LiteLLM's gateway to models",
    7890: "Clash, a proxy",
    8118: "Privoxy, a proxy",
    9050: "Tor, a proxy",
    9150: "Tor Browser's proxy",
    11434: "Ollama, which answers as a model",
    12434: "Docker Model Runner, which answers as a model",
}
"""Ports that their programs' own manuals give as what they listen on, and that hardly anything else is known for."""

_SOCKETS = {
    "containerd.sock": "containerd, which starts programs with a network",
    "crio.sock": "CRI-O, which starts programs with a network",
    "docker.sock": "Docker, which starts programs with a network",
    "podman.sock": "Podman, which starts programs with a network",
    "system_bus_socket": "D-Bus, through which others act",
}


@dataclass(frozen=True, slots=True)
class Tcp:
    """A port of this machine's loopback; ``host`` is an address, an IPv6 one without brackets."""

    host: str
    port: int

    @property
    def text(self) -> str:
        """The one spelling.

        >>> Tcp("::1", 5432).text
        'tcp:[::1]:5432'
        """
        return f"tcp:[{self.host}]:{self.port}" if ":" in self.host else f"tcp:{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Unix:
    """A Unix socket by its whole path."""

    path: str

    @property
    def text(self) -> str:
        """The one spelling.

        >>> Unix("/run/x.sock").text
        'unix:/run/x.sock'
        """
        return f"unix:{self.path}"


def read(text: str) -> tuple[Tcp | Unix, ...]:
    """Give what a text allows: one address, or both of ``localhost``, since a client may try either.

    UsageError, code ALLOW_INVALID, for whatever is no exact address of this machine: a wildcard, a range of ports, a name or
    an address outside of loopback, a relative path. ``hint`` says what to write.

    >>> read("tcp:localhost:5432")
    (Tcp(host='127.0.0.1', port=5432), Tcp(host='::1', port=5432))
    """
    shape = _SHAPE.fullmatch(text)
    scheme, rest = (shape["scheme"], shape["rest"]) if shape else ("", "")
    if scheme == "tcp":
        return _tcp(text, rest)
    if scheme == "unix":
        return (_unix(text, rest),)
    raise _refused(text, "it begins with tcp: or unix:", _instead(text))


def allowed(text: str) -> Tcp | Unix:
    """Give what one of the texts of `canonical` allows.

    >>> allowed("tcp:[::1]:5432"), allowed("unix:/run/x.sock")
    (Tcp(host='::1', port=5432), Unix(path='/run/x.sock'))
    """
    return read(text)[0]


def canonical(texts: Iterable[str]) -> tuple[str, ...]:
    """Give what texts allow, each address in its one spelling, once and in order; UsageError like `read`.

    >>> canonical(["tcp:localhost:5432", "tcp:127.0.0.1:5432"])
    ('tcp:127.0.0.1:5432', 'tcp:[::1]:5432')
    """
    return tuple(sorted({each.text for text in texts for each in read(text)}))


def allowing(host: str, port: int | None) -> str | None:
    """Give the text that allows what was refused, None where nothing can: it is no address of this machine.

    Whoever wants ``::1`` has most often asked for ``localhost``, and goes on to 127.0.0.1 where nothing listens there: the
    text for it is that of both.

    >>> allowing("127.0.0.1", 5432), allowing("::1", 5432), allowing("unix:/run/x.sock", None), allowing("example.org", 443)
    ('tcp:127.0.0.1:5432', 'tcp:localhost:5432', 'unix:/run/x.sock', None)
    """
    plain = _MEANT.get(host, host).removeprefix("::ffff:")
    text = host if port is None else f"tcp:{plain}:{port}"
    try:
        read(text)
    except UsageError:
        return None
    return text


def risk(text: str) -> str | None:
    """Say what a canonical text is known for, where that reaches further than this machine; None for all others.

    A port is a guess and never a proof: this is for a warning. What really passes is looked at by `gate.relay`.

    >>> risk("tcp:127.0.0.1:11434"), risk("tcp:127.0.0.1:5432")
    ('Ollama, which answers as a model', None)
    """
    target = allowed(text)
    return _PORTS.get(target.port) if isinstance(target, Tcp) else _SOCKETS.get(target.path.rpartition("/")[2])


def _tcp(text: str, rest: str) -> tuple[Tcp, ...]:
    host, colon, port = rest.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare:
        raise _refused(text, "it names a host and a port", _SUCH)
    if not _PORT.fullmatch(port) or int(port) > 0xFFFF:  # noqa: PLR2004  # the greatest port
        raise _refused(text, "it names one port, from 1 to 65535", "write a line for each port")
    if host.lower() == "localhost":
        return tuple(Tcp(each, int(port)) for each in _LOCALHOST)
    return (Tcp(_loopback(text, bare, port, bracketed=bare != host), int(port)),)


def _loopback(text: str, host: str, port: str, *, bracketed: bool) -> str:
    """Give an address of loopback in the spelling of RFC 5952, an IPv4 one in its own even where it is mapped into IPv6."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415  # only where something is allowed

    try:
        address = ip_address(host)
    except ValueError:
        why = "a wildcard allows what nobody named" if "*" in host else "only this machine can be allowed, by an address or as localhost"
        raise _refused(text, why, _no_network(port)) from None
    address = getattr(address, "ipv4_mapped", None) or address
    if str(address) in _ANY:
        raise _refused(text, f"{host} is where a server listens, not where it is reached", f"write tcp:{_ANY[str(address)]}:{port}")
    if not address.is_loopback:
        raise _refused(text, "only this machine can be allowed", _no_network(port))
    if bracketed is (":" not in host):
        raise _refused(text, "an IPv6 address stands in brackets, no other", f"write {Tcp(str(address), int(port)).text}")
    return str(address.compressed if isinstance(address, IPv6Address) else address)


def _unix(text: str, path: str) -> Unix:
    if path.startswith(("@", "\0")):
        raise _refused(text, "an abstract socket lives in its own network alone", "have the service listen at a path")
    if any(sign in path for sign in "*?\0\r\n"):
        raise _refused(text, "it names one path, without a wildcard", _SUCH)
    if not path.startswith("/"):
        raise _refused(text, "it names the whole path", f"write unix:/…/{path}" if path else _SUCH)
    if path != os.path.normpath(path):
        raise _refused(text, "it names the path as it is", f"write unix:{os.path.normpath(path)}")
    if path.startswith("/proc/"):
        raise _refused(text, "no service listens below /proc", "name the path itself")
    if len(os.fsencode(path)) > _LONGEST:
        raise _refused(text, f"no socket has a path of more than {_LONGEST} bytes", "have the service listen at a shorter one")
    return Unix(path)


def _instead(text: str) -> str:
    """What somebody may have meant who left the scheme out, or wrote another one."""
    address = re.search(r"(?:^|//|@)(localhost|127(?:\.\d+){3}|\[::1\]):([1-9]\d{0,4})(?![\d:])", text)
    if address:
        return f"write tcp:{address[1]}:{address[2]}"
    return f"write unix:{text}" if text.startswith("/") else _SUCH


def _no_network(port: str) -> str:
    return f"there is no network in `run`: bind a double, or start the service here and write tcp:127.0.0.1:{port}"


def _refused(text: str, why: str, hint: str) -> UsageError:
    return UsageError(f"{text!r} allows nothing: {why}", code=CODE, hint=hint)
