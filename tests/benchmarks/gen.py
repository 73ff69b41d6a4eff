"""The benchmark's work: a fake model whose wording drifts, a tiny app around it, and recordings of it.

    python gen.py FOLDER N [N ...]

writes for each N ``rows_N.jsonl`` (a format of its own), ``observations_N.jsonl`` (the same as invcheck's observations)
and ``planted_N.json``. The stream is one seeded sequence, so a shorter file is a prefix of a longer one. What is planted
comes from the generator: no check is involved in it.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from eight import BANNED

RATE = 0.02

# ruff: noqa: RUF001  # Chinese is written with Chinese punctuation
CHINESE = (
    "退款会在三到五个工作日内原路返回，",
    "请先在订单页点击“申请售后”，",
    "电子发票可以在开票记录里下载；",
    "如果物流超过四十八小时没有更新，",
    "客服会主动联系你确认收货地址，",
    "预售商品以页面标注的发货时间为准，",
    "补充说明：",
    "优惠券不退回但积分会恢复。",
    "这样理解：",
    "简单说，",
)
ENGLISH = (
    "Refunds go back to the original card in three to five working days, ",
    'open the order page and choose "Return"; ',
    "an e-invoice can be downloaded from billing history, ",
    "if tracking has not moved for 48 hours, ",
    "support will call to confirm the address.\n",
    "pre-orders ship on the date shown on the page, ",
    "In short: ",
    "coupons are not returned but points are; ",
    "note that ",
    "see the cited policy. ",
)
TOPICS = ("refund", "delivery", "invoice", "coupon", "privacy", "warranty")
CHECK_OF = {
    "truncated": "parse",
    "fenced": "parse",
    "extra_field": "schema",
    "missing_field": "schema",
    "cites_is_string": "schema",
    "too_short": "answer_len",
    "too_long": "answer_len",
    "no_cites": "cites_len",
    "too_many_cites": "cites_len",
    "invented_cite": "cites_subset",
    "banned_text": "banned",
    "double_call": "calls",
    "ledger_feature": "ledger",
    "ledger_not_ok": "ledger",
    "ledger_negative": "ledger",
}
KINDS = tuple(CHECK_OF)

_dumps = json.JSONEncoder(ensure_ascii=False).encode
_compact = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

Json = Any


class DriftyModel:
    """Wording, length, number and order of citations differ on every call; ``kind`` names a planted fault, if any."""

    def __init__(self, rng: random.Random, rate: float = RATE) -> None:
        self.rng, self.rate, self.calls = rng, rate, 0
        self.kind: str | None = None

    def answer(self, doc_ids: list[str]) -> str:
        """Give the text of one reply."""
        rng = self.rng
        self.calls += 1
        self.kind = kind = KINDS[int(rng.random() * len(KINDS))] if rng.random() < self.rate else None
        text = self._text(kind)
        cites = rng.sample(doc_ids, 1 + int(rng.random() * len(doc_ids)))
        if kind == "no_cites":
            cites = []
        elif kind == "too_many_cites":
            cites = [*doc_ids, doc_ids[0]]
        elif kind == "invented_cite":
            cites[-1] = "kb/" + TOPICS[0] + "/never-retrieved-0000"
        elif kind == "banned_text":
            banned = BANNED[int(rng.random() * len(BANNED))]
            text = banned + text[: len(text) - len(banned)]
        return self._spelled(kind, text, cites)

    def _text(self, kind: str | None) -> str:
        rng = self.rng
        size = 120 + int(rng.random() * 81)
        if kind == "too_short":
            size = int(rng.random() * 10)
        elif kind == "too_long":
            size = 201 + int(rng.random() * 120)
        phrases = CHINESE if rng.random() < 0.5 else ENGLISH
        parts: list[str] = []
        have = 0
        while have < size:
            parts.append(phrases[int(rng.random() * 10)])
            have += len(parts[-1])
        return "".join(parts)[:size]

    @staticmethod
    def _spelled(kind: str | None, text: str, cites: list[str]) -> str:
        reply: dict[str, Json] = {"answer": text, "cites": cites}
        if kind == "extra_field":
            reply["confidence"] = 0.93
        elif kind == "missing_field":
            del reply["cites"]
        elif kind == "cites_is_string":
            reply["cites"] = cites[0]
        raw = _dumps(reply)
        if kind == "truncated":
            return raw[: len(raw) // 2]
        return f"```json\n{raw}\n```" if kind == "fenced" else raw


def app(model: DriftyModel, question: str, doc_ids: list[str], ledger: list[Json]) -> str:
    """Ask the model once and enter one row into the ledger: the app under test."""
    raw = model.answer(doc_ids)
    row = {"feature": "qa", "ok": True, "input_tokens": len(question) + 40 * len(doc_ids), "output_tokens": len(raw) // 3}
    if model.kind == "double_call":
        model.calls += 1
    elif model.kind == "ledger_feature":
        row["feature"] = "search"
    elif model.kind == "ledger_not_ok":
        row["ok"] = False
    elif model.kind == "ledger_negative":
        row["output_tokens"] = -1
    ledger.append(row)
    return raw


def record(rng: random.Random, ident: int, rate: float = RATE) -> tuple[dict[str, Json], str | None]:
    """Drive the app once: what was recorded, and the planted fault if any."""
    model, ledger = DriftyModel(rng, rate), []
    topic = TOPICS[int(rng.random() * 6)]
    doc_ids = [f"kb/{topic}/{int(rng.random() * 0xFFFFFFFF):08x}-{i:02d}" for i in range(4 + int(rng.random() * 9))]
    question = f"How do I handle order {ident % 500}?"
    raw = app(model, question, doc_ids, ledger)
    row = {"id": f"r{ident:06d}", "question": question, "doc_ids": doc_ids, "output": raw, "calls": model.calls, "ledger": ledger}
    return row, model.kind


def observation(row: dict[str, Json]) -> dict[str, Json]:
    """Give a row as the observation that a trial of the same app would leave; the output is still text."""
    usage = {name: sum(entry[name] for entry in row["ledger"]) for name in ("input_tokens", "output_tokens")}
    request = {"messages": [{"role": "user", "content": row["question"]}], "doc_ids": row["doc_ids"]}
    outcome = {"text": row["output"], "finish": "stop", "usage": usage, "tool_calls": []}
    states = range(row["calls"])
    return {
        "invcheck": 1,
        "input": {"id": row["id"], "question": row["question"], "doc_ids": row["doc_ids"]},
        "output": row["output"],
        "error": None,
        "calls": [
            {"n": n, "lane": None, "method": None, "request": request, "outcome": outcome, "state": "served", "error": None} for n in states
        ],
        "counts": {"attempted": row["calls"], "served": row["calls"], "failed": 0, "cancelled": 0, "refused": 0},
        "usage": usage,
        "ledger": row["ledger"],
        "effects": [],
        "waits": [],
        "elapsed": 0,
        "journal": [*({"kind": "call", "n": n, "lane": None} for n in states), *({"kind": "row", "row": entry} for entry in row["ledger"])],
        "breaches": [],
        "ambient": [],
        "probes": {},
    }


def write(folder: Path, size: int) -> None:
    """Write the three files of one size."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, planted = random.Random(20240607), {}
    rows, observations = (folder / f"{name}_{size}.jsonl" for name in ("rows", "observations"))
    with rows.open("w", encoding="utf-8", newline="\n") as plain, observations.open("w", encoding="utf-8", newline="\n") as observed:
        for ident in range(size):
            row, kind = record(rng, ident, RATE if ident else 0)
            if kind:
                planted[row["id"]] = CHECK_OF[kind]
            plain.write(_dumps(row) + "\n")
            observed.write(_compact(observation(row)) + "\n")
    (folder / f"planted_{size}.json").write_text(json.dumps({"n": size, "planted": planted}), encoding="utf-8")


if __name__ == "__main__":
    for number in sys.argv[2:]:
        write(Path(sys.argv[1]), int(number))
