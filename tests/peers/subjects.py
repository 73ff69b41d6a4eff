"""The four doubles: each plays a row for a client, ours twice, in process and served."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import invcheck
from invcheck import Fault, Reply, ScriptedModel
from invcheck.faults import completed
from tests.frameworks import environments
from tests.peers.asking import DIALECTS, Ask, Seen, question
from tests.peers.rows import ROWS, SAID, Row

CHUNKS = 2
"""Chunks after which a peer breaks a stream: some of the text has arrived by then, as with ours."""

LATE = 1
"""Seconds that a peer is late: longer than the client of such a row waits."""


class Cannot(Exception):
    """A peer has no way to do what a row asks for; the text says why."""


class Subject(Protocol):
    """A double that a row can be put to."""

    name: str

    def play(self, row: Row, dialect: str, ask: Ask) -> Seen:
        """Play a row and give what the client sees of it; Cannot says why a row is not played."""


def _told(seen: Seen, double: ScriptedModel) -> Seen:
    """What a client saw of ours, which counts for itself how often it was asked."""
    if seen.attempts != double.counts.attempted:
        raise environments.Failed(f"the client sent {seen.attempts} requests, the double counted {double.counts}")
    return seen


class Transport:
    """Ours in process, under the SDK's own HTTP client."""

    name = "transport"

    def play(self, row: Row, dialect: str, ask: Ask) -> Seen:
        with invcheck.testing():
            double = ScriptedModel(*row.steps, chunks="words")
            made = double.anthropic if dialect == "messages" else double.openai
            return _told(ask(client=made(timeout=row.timeout)), double)


class Server:
    """Ours on a loopback port."""

    name = "server"

    def play(self, row: Row, dialect: str, ask: Ask) -> Seen:
        with invcheck.testing():
            double = ScriptedModel(*row.steps, chunks="words")
            with double.serve() as served:
                return _told(ask(base_url=served.anthropic if dialect == "messages" else served.openai, timeout=row.timeout), double)


class Llmock:
    """llmock from PyPI, which is told over HTTP what to do next."""

    name = "llmock"

    def __init__(self, url: str) -> None:
        self._url = url

    def play(self, row: Row, dialect: str, ask: Ask) -> Seen:
        behaviours = [behaviour for step in row.steps for behaviour in self._behaviours(step)]
        _post(f"{self._url}/_llmock/reset", {})
        _post(f"{self._url}/_llmock/scenario", {"behaviors": behaviours})
        return ask(base_url=f"{self._url}/{'anthropic' if dialect == 'messages' else 'v1'}", timeout=row.timeout)

    @staticmethod
    def _behaviours(step: Reply | Fault) -> list[dict[str, Any]]:
        if isinstance(step, Reply):
            return [{"type": "reply", "text": step.text}]
        if step.kind == "connection":
            raise Cannot("it answers whoever reaches it: only a stream that has begun is broken")
        if step.kind == "timeout":
            return [{"type": "delay", "seconds": LATE}]
        whole = completed(step)
        if step.reply is None and step.body is None:
            return [{"type": "fail", "status": whole.status, "retry_after": whole.retry_after, "message": whole.message}]
        if not _streams(step):
            raise Cannot("it garbles a chunk of a stream, never a whole body")
        kind = {"cut": "disconnect", "truncated": "truncate", "stall": "stall"}.get(step.kind, "malformed")
        return [{"type": "reply", "text": SAID}, {"type": "stream_fault", "kind": kind, "after_chunks": CHUNKS, "stall_seconds": LATE}]


_SAID = {"response": {"content": SAID}, "chunkSize": 5}
_BROKEN: dict[str, dict[str, Any]] = {
    "connection": {"chaos": {"disconnectRate": 1}},
    "timeout": {"chaos": {"latencyMs": 1000 * LATE}},
    "cut": {"truncateAfterChunks": CHUNKS, "latency": 20},  # without a pause it breaks before anything is sent
    "stall": {"recordedTimings": {"ttftMs": 0, "interChunkDelaysMs": [0, 1000 * LATE], "totalDurationMs": 1000 * LATE}},
}


class Aimock:
    """@copilotkit/aimock from npm, which has a fixture for every step of every row from its start."""

    name = "aimock"

    def __init__(self, url: str) -> None:
        self._url = url

    def play(self, row: Row, dialect: str, ask: Ask) -> Seen:
        for step in row.steps:
            self._fixture(step)
        return ask(base_url=self._url if dialect == "messages" else f"{self._url}/v1", timeout=row.timeout)

    @classmethod
    def fixtures(cls) -> dict[str, Any]:
        """Give its file of fixtures; the steps of a row are told apart by how often the row's question was asked."""
        found = []
        for row, dialect in ((row, dialect) for row in ROWS for dialect in DIALECTS):
            for index, step in enumerate(row.steps):
                try:
                    made = cls._fixture(step)
                except Cannot:
                    break
                found.append({"match": {"userMessage": question(row, dialect), "sequenceIndex": index}, **made})
        return {"fixtures": found}

    @staticmethod
    def _fixture(step: Reply | Fault) -> dict[str, Any]:
        if isinstance(step, Reply):
            return {"response": {"content": step.text}}
        if step.kind in _BROKEN:
            return {**_SAID, **_BROKEN[step.kind]}
        if step.kind == "truncated":
            raise Cannot("where it stops a stream it breaks the connection, so that no stream ends early")
        if step.body is None:
            whole = completed(step)
            after = {} if whole.retry_after is None else {"retryAfter": whole.retry_after}
            return {"response": {"error": {"message": whole.message, "type": "error"}, "status": whole.status, **after}}
        if _streams(step):
            raise Cannot("it garbles a whole body, never a chunk of a stream")
        return {**_SAID, "chaos": {"malformedRate": 1}}


def _streams(step: Fault) -> bool:
    return step.reply is not None or (step.headers or {}).get("content-type", "").startswith("text/event-stream")


def _post(url: str, body: Any) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"}), timeout=10):
        pass


@contextmanager
def serving(command: list[str | Path], url: str, log: Path) -> Iterator[str]:
    """Start a peer, wait until it answers at its ``url``, and end it in the end; Failed says what it said, where it does not."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environments.clean())
    try:
        while not _answers(url):
            if process.poll() is not None:
                raise environments.Failed(f"{command[0]} ended with {process.returncode}\n{log.read_text('utf-8', 'replace')}")
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=10):
            return True
    except OSError:
        return False
