"""What the doubles are compared by: a row is a script, how its client asks, and nothing that only one double knows."""

from __future__ import annotations

from dataclasses import dataclass

from invcheck import Fault, Reply, Text

SAID = " ".join(f"part {n}" for n in range(1, 25))
REPLY = Reply((Text(SAID),))
HALF = 1800
"""Bytes of a stream after which a fault breaks it: in every dialect some of the text has arrived, and no finish reason."""

GARBLED = "{not json"


@dataclass(frozen=True, slots=True)
class Row:
    """One script: ``steps`` in order, asked once by an SDK's client that tries again twice, as SDKs do by default.

    ``timeout`` is the client's, in real seconds where a server answers.
    """

    name: str
    steps: tuple[Reply | Fault, ...]
    streams: bool = False
    timeout: float = 60.0

    @property
    def whole(self) -> bool:
        """Whether what arrives in the end is a whole reply."""
        return isinstance(self.steps[-1], Reply)


def _garbled(body: str, kind: str) -> Fault:
    return Fault("server", status=200, body=body, headers={"content-type": kind})


def _failing(kind: str) -> Row:
    return Row(f"{kind}, always", (Fault(kind),) * 3)


ROWS = (
    Row("a reply", (REPLY,)),
    Row("a reply, streamed", (REPLY,), streams=True),
    Row("an empty reply", (Reply((Text(""),)),)),
    Row("429 with retry-after, then a reply", (Fault("rate-limit", retry_after=1), REPLY)),
    Row("429, then a stream", (Fault("rate-limit", retry_after=1), REPLY), streams=True),
    Row("500, 500, then a reply", (Fault("server"), Fault("server"), REPLY)),
    Row("529, then a reply", (Fault("overloaded"), REPLY)),
    _failing("rate-limit"),
    _failing("unavailable"),
    _failing("overloaded"),
    _failing("conflict"),
    Row("400", (Fault("bad-request"),)),
    Row("401", (Fault("unauthorized"),)),
    Row("403", (Fault("forbidden"),)),
    Row("404", (Fault("not-found"),)),
    Row("422", (Fault("unprocessable"),)),
    Row("a body that is no JSON", (_garbled(GARBLED, "application/json"),)),
    Row("a chunk that is no JSON", (_garbled(f"data: {GARBLED}\n\n", "text/event-stream"),), streams=True),
    Row("a stream that is cut", (Fault("cut", reply=REPLY, after=HALF),), streams=True),
    Row("a stream that ends early", (Fault("truncated", reply=REPLY, after=HALF),), streams=True),
    Row("a stream that falls silent", (Fault("stall", reply=REPLY, after=HALF),), streams=True, timeout=0.3),
    Row("no connection, always", (Fault("connection"),) * 3),
    Row("no answer in time, always", (Fault("timeout"),) * 3, timeout=0.3),
)
