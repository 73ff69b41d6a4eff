"""The judge over a recording: `python judge.py rows|observations FILE RESULT`, the same eight claims, public classes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gen import BANNED

from invcheck import Absent, Calls, Length, Schema, Subset
from invcheck._judge import Judge
from invcheck.vocabulary import Verdict

Json = Any

_COUNT = {"type": "integer", "minimum": 0}
REPLY = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "cites": {"type": "array", "items": {"type": "string"}}},
    "required": ["answer", "cites"],
    "additionalProperties": False,
}
ENTRY = {
    "type": "object",
    "properties": {"feature": {"const": "qa"}, "ok": {"const": True}, "input_tokens": _COUNT, "output_tokens": _COUNT},
    "required": ["feature", "ok", "input_tokens", "output_tokens"],
}
CLAIMS = {  # the first of the eight, that the output parses, is the judge's own
    "schema": Schema("$.output", REPLY),
    "answer_len": Length("$.output.answer", min=10, max=200),
    "cites_len": Length("$.output.cites", min=1, max={"length-of": "$.input.doc_ids"}),
    "cites_subset": Subset("$.output.cites[*]", "$.input.doc_ids[*]", allow_empty=True),
    "banned": Absent("$.output.answer", any=list(BANNED)),
    "calls": Calls(1),
    "ledger": Schema("$.ledger[*]", ENTRY),
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
    names = list(CLAIMS)
    judge = Judge(list(CLAIMS.values()), parse="json")
    failing, line = {}, 0
    for row in judge.rows(file, document=observation if shape == "rows" else None):
        line = row.line
        if row.verdict is not Verdict.KEPT:
            ident = row.row["id"] if shape == "rows" else row.row["input"]["id"]
            failing[ident] = ["parse" if found.assertion is None else names[found.assertion] for found in row.findings]
    Path(result).write_text(json.dumps({"n": line, "failing": failing}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
