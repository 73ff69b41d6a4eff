"""One row of the wire benchmark: N chat completions through OpenAI's client, over a canned body or over a double.

`sdks.py mock|double whole|stream N`: the same client, HTTP library and bytes; what differs is who answers.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processes import run  # the rows are scripts that stand beside each other

BAR = 1.5

TEXT = "You get a refund by mail, within 30 days of the order; the order's number is all that we need."
ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "How do I get a refund?"}]}


def ask(client: Any, kind: str, number: int) -> None:
    """Ask as an app does, and look at what came."""
    for _ in range(number):
        if kind == "whole":
            said = client.chat.completions.create(**ASKED).choices[0].message.content
        else:
            said = "".join(part.choices[0].delta.content or "" for part in client.chat.completions.create(**ASKED, stream=True))
        if said != TEXT:
            raise SystemExit(f"this is not what was to be said: {said!r}")


def mock(kind: str, number: int) -> None:
    """Answer with the bytes that a double gives, out of the HTTP library's own mock."""
    import httpx2
    import openai

    from invcheck import ScriptedModel, testing

    with testing():
        model = ScriptedModel(TEXT, chunks="words")
        with httpx2.Client(transport=model.transport(module=httpx2)) as client:
            got = client.post("http://double.invalid/v1/chat/completions", json={**ASKED, "stream": kind == "stream"})
    headers, body = dict(got.headers), got.content
    over = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=body))
    ask(openai.OpenAI(api_key="k", base_url="http://double.invalid/v1", http_client=httpx2.Client(transport=over)), kind, number)


def double(kind: str, number: int) -> None:
    """Answer from a script."""
    from invcheck import ScriptedModel, testing

    with testing():
        ask(ScriptedModel(chunks="words").then_always(TEXT).openai(), kind, number)


def measure(size: int, times: int) -> bool:
    """Print CPU a call, a double against a canned body; False where the bar is missed by a factor of two."""
    print(f"{'wire':<14}{'mock us':>9}{'double us':>11}{'CPU ratio':>11}{'bar':>6}")
    good = True
    for kind in ("whole", "stream"):
        taken: dict[str, list[float]] = {"mock": [], "double": []}
        for _ in range(times):
            for how, row in taken.items():
                row.append((_cpu(how, kind, size) - _cpu(how, kind, 1)) / (size - 1))
        canned, asked = (statistics.median(row) for row in taken.values())
        ratio = statistics.median(b / a for a, b in zip(taken["mock"], taken["double"], strict=True))
        print(f"{kind:<14}{canned * 1e6:>9.1f}{asked * 1e6:>11.1f}{ratio:>11.2f}{BAR:>6.1f}")
        good &= ratio <= 2 * BAR
    return good


def _cpu(how: str, kind: str, number: int) -> float:
    return run([sys.executable, str(Path(__file__).resolve()), how, kind, str(number)]).cpu


if __name__ == "__main__":
    how, kind, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    (mock if how == "mock" else double)(kind, number)
