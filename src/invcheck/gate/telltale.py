"""What the first bytes of a connection give away: that a proxy or a model is asked, which reaches further than this machine."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_REQUEST = re.compile(rb"([A-Z]{3,16}) ([\x21-\x7e]{1,4096}) HTTP/1\.[01]\r?\n")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?([^/?#]+)", re.IGNORECASE)
_MODEL = re.compile(
    r"/(?:chat/completions|v1/(?:completions|messages|responses|embeddings)|api/(?:chat|generate|embed|embeddings)"
    r"|models/[^/?]+:(?:stream)?generateContent|model/[^/?]+/(?:invoke|converse)(?:-with-response-stream|-stream)?)/?(?:\?|$)",
    re.IGNORECASE,
)
"""Where providers answer as models: OpenAI's, Anthropic's, Ollama's, Gemini's and Bedrock's paths, below any prefix."""

_SPOKEN = re.compile(r"/v1/realtime/?(?:\?|$)")
"""Where a model is spoken to over a WebSocket."""

_LOOKED_AT = 8_192
_NO_AUTHENTICATION, _GSSAPI, _PASSWORD = 0, 1, 2  # RFC 1928 §3
_SOCKS4, _SOCKS5 = 4, 5
_FIXED = 8  # bytes of a SOCKS4 request before the user's name


@dataclass(frozen=True, slots=True)
class Told:
    """What was found: ``web`` for a request of HTTP/1; ``what`` is asked for, if it is more than the service itself."""

    web: bool = False
    what: str | None = None
    wanted: str = ""
    hint: str = ""


def telltale(said: bytes | memoryview, own: Collection[str], *, first: bool = True) -> Told:
    """Say what bytes from a client ask for; ``own`` are the spellings ``host:port`` of the service, which may be meant by them.

    A greeting of SOCKS can only be the ``first`` that is said.

    >>> telltale(b"POST /v1/messages HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n", []).wanted
    'POST /v1/messages'
    >>> telltale(b"CONNECT api.example.org:443 HTTP/1.1\\r\\n\\r\\n", []).what
    'a proxy was asked'
    """
    head = bytes(said[:_LOOKED_AT])
    request = _REQUEST.match(head)
    if request is None:
        greeted = _socks(head, len(said)) if first else ""
        return _proxy(greeted, web=False) if greeted else Told()
    method, target = request[1].decode("ascii"), request[2].decode("ascii")
    if method == "CONNECT":
        return _proxy(target)
    absolute = _ABSOLUTE.match(target)
    if absolute and absolute[1].lower() not in own:
        return _proxy(absolute[1])
    if (method == "POST" and _MODEL.search(target)) or _SPOKEN.search(target):
        hint = "bind a double where the app builds its client: a model behind an allowed port is no test"
        return Told(web=True, what="a model was asked", wanted=f"{method} {target.partition('?')[0]}", hint=hint)
    return Told(web=True)


def _proxy(wanted: str, *, web: bool = True) -> Told:
    hint = "allow the service itself: whoever reaches a proxy reaches the network"
    return Told(web, "a proxy was asked", wanted, hint)


def _socks(head: bytes, size: int) -> str:
    """Give what a greeting of SOCKS asks for, nothing where it is none: the whole of it, and not one byte more, has come."""
    if len(head) > 2 and head[0] == _SOCKS5 and size == 2 + head[1] and {*head[2:]} <= {_NO_AUTHENTICATION, _GSSAPI, _PASSWORD}:  # noqa: PLR2004  # version and count
        return "a connection over SOCKS 5"
    if len(head) > _FIXED and head[0] == _SOCKS4 and head[1] in (1, 2) and any(head[2:4]) and head[-1] == 0:
        address = head[4:8]
        named = address[:3] == b"\0\0\0" and address[3]
        name = head[_FIXED:-1].partition(b"\0")[2].decode("ascii", "backslashreplace") if named else ".".join(map(str, address))
        return f"{name}:{int.from_bytes(head[2:4], 'big')}"
    return ""
