"""One row of the drift benchmark: a fake model, a trivial app and eight claims, N seeds from a first one.

`drift.py bare|trial sync|async FIRST N`: the same work in a bare loop, or as trials of invcheck in this process.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

IDS = ["d1", "d2", "d3"]
WORDS = ("Refunds go back to the card. ", "Open the order page. ", "Support will call. ", "See the cited policy. ")
INPUT = {"question": "How do I get a refund?", "doc_ids": IDS}


def fake(rng: random.Random, request: dict[str, Any]) -> str:
    """Answer with one to five sentences and some of the documents that stand in the request."""
    text = "".join(rng.choice(WORDS) for _ in range(rng.randint(1, 5)))
    return json.dumps({"answer": text[:190], "cites": rng.sample(list(request["documents"]), rng.randint(1, 3))})


def app(question: str, doc_ids: list[str], model: Callable[..., Any], ledger: list[Any]) -> str:
    """Ask once and book it."""
    reply = str(model(question=question, documents=doc_ids))
    ledger.append({"feature": "qa", "ok": True, "input_tokens": len(question), "output_tokens": len(reply) // 4})
    return reply


async def async_app(question: str, doc_ids: list[str], model: Any, ledger: list[Any]) -> str:
    """Ask once and book it, on an event loop."""
    reply = str(await _answer(model, question, doc_ids))
    ledger.append({"feature": "qa", "ok": True, "input_tokens": len(question), "output_tokens": len(reply) // 4})
    return reply


def _answer(model: Any, question: str, doc_ids: list[str]) -> Awaitable[Any]:
    ask: Awaitable[Any] = model.acomplete(question=question, documents=doc_ids)
    return ask


class Bare:
    """The fake without invcheck: one seeded generator, one count."""

    def __init__(self, seed: int) -> None:
        self.rng, self.calls = random.Random(seed), 0

    def __call__(self, **request: Any) -> str:
        self.calls += 1
        return fake(self.rng, request)

    async def acomplete(self, **request: Any) -> str:
        """Answer as a coroutine."""
        return self(**request)


def by_hand(seed: int, kind: str) -> None:
    """One trial as one would write it: run, parse, eight asserts."""
    model, ledger = Bare(seed), []  # type: ignore[var-annotated]  # rows of JSON
    text = app(**INPUT, model=model, ledger=ledger) if kind == "sync" else asyncio.run(async_app(**INPUT, model=model, ledger=ledger))  # type: ignore[arg-type]  # as a case gives it
    value = json.loads(text)
    assert set(value) == {"answer", "cites"}
    assert isinstance(value["answer"], str)
    assert 10 <= len(value["answer"]) <= 200
    assert 1 <= len(value["cites"]) <= len(IDS)
    assert set(value["cites"]) <= set(IDS)
    assert not any(banned in value["answer"] for banned in ("system prompt", "sk-"))
    assert model.calls == 1
    assert all(row["feature"] == "qa" and row["ok"] is True for row in ledger)


def trials(kind: str, first: int, number: int) -> None:
    """The same as trials: sandbox, double, observation, judge."""
    import tempfile

    from invcheck import Absent, Calls, Fields, LedgerRows, Length, Subset, Type, _judge, _trial
    from invcheck.sandbox import box
    from invcheck.suite import Case, Check
    from invcheck.vocabulary import Place, Verdict

    root = Path(__file__).resolve().parents[2]
    box.install(str(root), armed=False)
    claims = (
        Fields("$.output", ["answer", "cites"]),
        Type("$.output.answer", "string"),
        Length("$.output.answer", 10, 200),
        Length("$.output.cites", 1, 3),
        Subset("$.output.cites[*]", "$.input.doc_ids[*]"),
        Absent("$.output.answer", any=["system prompt", "sk-"]),
        Calls(1),
        LedgerRows(count=1, every={"feature": "qa", "ok": True}),
    )
    case = Case("refund", INPUT)
    check = Check(
        name="drift", file="drift.py", place=Place("drift.py"), cases=(case,), claims=claims, parse="json",
        app="drift:app" if kind == "sync" else "drift:async_app", model={"drifting": "drift:fake"},
    )  # fmt: skip
    subject, judge = _trial.subject(check), _judge.Judge(claims, parse="json")
    tmp = Path(tempfile.gettempdir())
    for seed in range(first, first + number):
        ran = _trial.run(subject, case, seed, root=root, tmp=tmp)
        verdict, findings = judge.trial(ran.observation, ran.latched)
        if verdict is not Verdict.KEPT:
            raise SystemExit(f"seed {seed}: {findings}")


if __name__ == "__main__":
    how, kind, first, number = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if how == "bare":
        for seed in range(first, first + number):
            by_hand(seed, kind)
    else:
        trials(kind, first, number)
