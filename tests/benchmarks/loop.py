"""The hand-written loop over a recording: `python loop.py all|first rows|observations FILE RESULT`.

`all` keeps the eight verdicts of every record, `first` stops at a record's first failure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from eight import first, verdicts

Json = Any


def rows(file: str) -> Iterator[tuple[str, str, list[str], int, list[Json]]]:
    """Read what the checks need of a recording in its own format."""
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123  # as below
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["output"], row["doc_ids"], row["calls"], row["ledger"]


def observations(file: str) -> Iterator[tuple[str, str, list[str], int, list[Json]]]:
    """Read the same of a recording of observations."""
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123  # as below
        for line in lines:
            row = json.loads(line)
            yield row["input"]["id"], row["output"], row["input"]["doc_ids"], row["counts"]["attempted"], row["ledger"]


def main(mode: str, shape: str, file: str, result: str) -> None:
    """Judge the file by hand and leave the result."""
    number, failing = 0, {}
    records = (rows if shape == "rows" else observations)(file)
    if mode == "first":
        for ident, *values in records:
            number += 1
            try:
                first(*values)
            except (AssertionError, ValueError):
                failing[ident] = []
    else:
        for ident, output, doc_ids, calls, ledger in records:
            number += 1
            wrong = [name for name, kept in verdicts(output, doc_ids, calls, ledger).items() if not kept]
            if wrong:
                failing[ident] = wrong
    with open(result, "w", encoding="utf-8") as out:  # noqa: PTH123  # pathlib is slow to import
        json.dump({"n": number, "failing": failing}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
