"""The judge over a recording: `python judge.py rows|observations FILE RESULT`, the same eight claims, public classes."""

from __future__ import annotations

import json
import sys
from typing import Any

from eight import BANNED

from invcheck import Absent, Between, Calls, Each, Equals, Fields, Length, Subset, Type
from invcheck._judge import Judge
from invcheck.vocabulary import Verdict

Json = Any

EIGHT = {  # the first of the eight, that the output parses, is the judge's own
    "schema": [
        Fields("$.output", exactly=["answer", "cites"]),
        Type("$.output.answer", "string"),
        Type("$.output.cites", "array"),
        Type("$.output.cites[*]", "string", allow_empty=True),
    ],
    "answer_len": [Length("$.output.answer", min=10, max=200)],
    "cites_len": [Length("$.output.cites", min=1, max={"length-of": "$.input.doc_ids"})],
    "cites_subset": [Subset("$.output.cites[*]", "$.input.doc_ids[*]", allow_empty=True)],
    "banned": [Absent("$.output.answer", any=list(BANNED))],
    "calls": [Calls(1)],
    "ledger": [
        Each(
            "$.ledger[*]",
            [
                Equals("$.feature", "qa"),
                Equals("$.ok", True),
                Type("$.input_tokens", "integer"),
                Between("$.input_tokens", min=0),
                Type("$.output_tokens", "integer"),
                Between("$.output_tokens", min=0),
            ],
        )
    ],
}


def observation(row: Json) -> Json:
    """Turn a row of the recording's own format into what the claims read."""
    return {
        "input": {"doc_ids": row["doc_ids"]},
        "output": row["output"],
        "counts": {"attempted": row["calls"]},
        "ledger": row["ledger"],
    }


def main(shape: str, file: str, result: str) -> None:
    """Judge the file and leave the result."""
    names = [name for name, claims in EIGHT.items() for _ in claims]
    judge = Judge([claim for claims in EIGHT.values() for claim in claims], parse="json")
    failing, number = {}, 0
    for _, row, _, findings in judge.rows(file, document=observation if shape == "rows" else None):
        number += 1
        broken = [found for found in findings if found.verdict is not Verdict.UNJUDGED] if findings else ()
        if broken:
            ident = row["id"] if shape == "rows" else row["input"]["id"]
            failing[ident] = sorted({"parse" if found.assertion is None else names[found.assertion] for found in broken})
    with open(result, "w", encoding="utf-8") as out:  # noqa: PTH123  # pathlib is slow to import
        json.dump({"n": number, "failing": failing}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
