"""One row of the drift benchmark: a fake model, a trivial app and the eight claims, N seeds from a first one.

`drift.py bare|trial sync|async FIRST N`: the same fake and app in a bare loop with the eight checks by hand, or as the
trials of one case, run as a worker runs them.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from eight import verdicts  # the rows are scripts that stand beside each other
from gen import DriftyModel  # as above
from processes import run  # as above

Json = Any

BAR = 5.0

INPUT = {
    "question": "How do I handle order 17?",
    "doc_ids": [f"kb/refund/{number * 2654435761 % 2**32:08x}-{number:02d}" for number in range(8)],
}


def fake(rng: random.Random, request: Json) -> str:
    """Answer with drifting words and some of the documents that stand in the request; no fault is planted here."""
    return DriftyModel(rng, rate=0).answer(request["doc_ids"])


def app(question: str, doc_ids: list[str], model: Any, ledger: list[Json]) -> str:
    """Ask the model once and enter one row into the ledger."""
    raw = str(model(question=question, doc_ids=doc_ids))
    ledger.append(_row(question, doc_ids, raw))
    return raw


async def async_app(question: str, doc_ids: list[str], model: Any, ledger: list[Json]) -> str:
    """Do the same on an event loop."""
    raw = str(await model.acomplete(question=question, doc_ids=doc_ids))
    ledger.append(_row(question, doc_ids, raw))
    return raw


def _row(question: str, doc_ids: list[str], raw: str) -> Json:
    return {"feature": "qa", "ok": True, "input_tokens": len(question) + 40 * len(doc_ids), "output_tokens": len(raw) // 3}


class Bare:
    """The fake without invcheck: one seeded generator, one count."""

    def __init__(self, seed: int) -> None:
        self.rng, self.calls = random.Random(seed), 0

    def __call__(self, **request: Any) -> str:
        """Answer."""
        self.calls += 1
        return fake(self.rng, request)

    async def acomplete(self, **request: Any) -> str:
        """Answer as a coroutine."""
        return self(**request)


def bare(kind: str, first: int, number: int) -> None:
    """Run and judge every seed as one would without a tool."""
    question, doc_ids = str(INPUT["question"]), list(INPUT["doc_ids"])
    for seed in range(first, first + number):
        model = Bare(seed)
        ledger: list[Json] = []
        raw = app(question, doc_ids, model, ledger) if kind == "sync" else asyncio.run(async_app(question, doc_ids, model, ledger))
        kept = verdicts(raw, doc_ids, model.calls, ledger)
        if len(kept) != 8 or not all(kept.values()):  # the eight checks
            raise SystemExit(f"seed {seed}: {kept}")


def trials(kind: str, first: int, number: int) -> None:
    """Run and judge every seed as a worker does: sandbox, double, observation, claims, tally."""
    import os
    import tempfile

    from judge import EIGHT

    from invcheck import _worker
    from invcheck.sandbox import box
    from invcheck.suite import Case, Check
    from invcheck.vocabulary import Place

    box.install(Path.cwd(), armed=False)
    check = Check(
        name="drift",
        file="drift.py",
        place=Place("drift.py"),
        cases=(Case("one", INPUT),),
        runs=number,
        claims=tuple(claim for claims in EIGHT.values() for claim in claims),
        parse="json",
        app=f"{__name__}:{'app' if kind == 'sync' else 'async_app'}",
        model={"drifting": f"{__name__}:fake"},
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        task = {"check": check.plain(), "case": "one", "seed": first, "runs": number, "complete": True}
        result = _worker.case(task, lambda _: None)
    if result["trials"] != {"kept": number, "broken": 0, "errored": 0, "unjudged": 0} or (number > 1 and result["distinct"] < number // 2):
        raise SystemExit(f"not every trial was kept, or the fake does not drift: {result}")


def measure(size: int, times: int) -> bool:
    """Print CPU a seed, trials against the bare loop; False where the bar is missed by a factor of two."""
    print(f"{'drift':<14}{'bare us':>9}{'trial us':>10}{'CPU ratio':>11}{'bar':>6}{'at 100,000 / at 10':>20}")
    good = True
    for kind in ("sync", "async"):
        taken: dict[tuple[str, int], list[float]] = {("bare", 10): [], ("trial", 10): [], ("trial", 100_000): []}
        for _ in range(times):
            for (how, first), row in taken.items():
                row.append((_cpu(how, kind, first, size) - _cpu(how, kind, first, 1)) / (size - 1))
        loop, trial, late = (statistics.median(row) for row in taken.values())
        ratio = statistics.median(b / a for a, b in zip(taken["bare", 10], taken["trial", 10], strict=True))
        print(f"{kind:<14}{loop * 1e6:>9.1f}{trial * 1e6:>10.1f}{ratio:>11.2f}{BAR:>6.1f}{late / trial:>20.2f}")
        good &= ratio <= 2 * BAR and late <= 2 * trial
    return good


def _cpu(how: str, kind: str, first: int, number: int) -> float:
    return run([sys.executable, str(Path(__file__).resolve()), how, kind, str(first), str(number)]).cpu


if __name__ == "__main__":
    how, kind, first, number = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    (bare if how == "bare" else trials)(kind, first, number)
