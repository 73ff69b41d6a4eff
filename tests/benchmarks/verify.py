"""Hold a result against what was planted: the same records, each with the one planted check."""

from __future__ import annotations

import json
from pathlib import Path


def verify(result: Path, planted: Path) -> str:
    """Give '' where exactly the planted records were found, else what is wrong; an empty list of checks names none."""
    found, expected = (json.loads(file.read_text(encoding="utf-8")) for file in (result, planted))
    if found["n"] != expected["n"]:
        return f"saw {found['n']} of {expected['n']} records"
    got, want = found["failing"], expected["planted"]
    if got.keys() != want.keys():
        return f"{len(got)} failing records, planted {len(want)}, for example {sorted(got.keys() ^ want.keys())[:3]}"
    wrong = [ident for ident, names in got.items() if names and names != [want[ident]]]
    return f"{len(wrong)} records with other checks, for example {wrong[0]}: {got[wrong[0]]}, not {want[wrong[0]]}" if wrong else ""
