"""Why something was refused, and what to do about it, in words that a finding and the error share."""

from __future__ import annotations

from collections.abc import Mapping

from invcheck.allowance import allowing

CUT = "the network is cut in a trial"
HINT = "did you forget a double? bind one where the app builds its client"
_PROGRAM = {
    "why": f"{CUT}, for the programs that it starts as well",
    "hint": "replace what starts it in the setup, or ask through a client that a double can answer",
}
_LOOKUP = {
    "why": f"{CUT}, and the kernel does not tell here which name was looked up",
    "hint": HINT,
}
SOFT = {
    "what": "another program was started",
    "why": "the soft gate cannot see what other programs do",
    "hint": "replace what starts it in the setup, or run where the kernel confines trials: `invcheck doctor` tells what is missing here",
}
"""Words for a program that is not let start."""

LOOKUP = "a lookup of a name"
"""What is wanted by who asks a server for names that is none of ours; its address is this machine's business."""


def reasons(host: str, port: int | None, *, loopback: bool = False, datagram: bool = False, program: bool = False) -> Mapping[str, str]:
    """Give ``why`` and ``hint`` where they say more than that the network is cut and a double is missing.

    >>> reasons("127.0.0.1", 5432, loopback=True)["why"]
    'nothing listens on 127.0.0.1:5432 inside the gate'
    >>> reasons("unix:/run/x", None)["hint"], reasons("api.example.com", 443)
    ('add allow = ["unix:/run/x"] where it is part of the test, else bind a double where the app builds its client', {})
    """
    if loopback and port is not None:
        address = f"[{host}]:{port}" if ":" in host else f"{'127.0.0.1' if host[:1].isalpha() or not host else host}:{port}"
        own = "serve it inside the trial, or replace its client in the setup"
        text = allowing(host, port) or f"tcp:127.0.0.1:{port}"
        hint = own if datagram else f'add allow = ["{text}"] where it is part of the test, else bind a double'
        return {"why": f"nothing listens on {address} inside the gate", "hint": hint}
    if host.startswith("unix:"):
        hint = f'add allow = ["{host}"] where it is part of the test, else bind a double where the app builds its client'
        return {"why": "nothing inside the gate serves this path", "hint": hint}
    if host.startswith("address family "):
        return {"why": f"{host} leads out of the gate, and cannot be allowed"}
    if host == LOOKUP:
        return _LOOKUP
    return _PROGRAM if program else {}
