"""What the judges' findings mean: a table for people, and whatever is not as a tier promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.egress.harness import WAYS

Found = dict[str, dict[str, dict[str, Any]]]
"""Round ("free" or a tier) -> way -> what was seen and told of it."""

_MISSING = "missing: "


def table(found: Found) -> str:
    """Give a row for each way and a column for each round."""
    rows = [["way", *("without walls" if name == "free" else name for name in found)]]
    rows += [[name, *(_cell(found, round_, name) for round_ in found)] for name in found["free"]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _cell(found: Found, round_: str, name: str) -> str:
    row, free = found[round_][name], found["free"][name]
    if free["told"].startswith(_MISSING):
        return free["told"].removeprefix(_MISSING) if round_ == "free" else "-"
    if WAYS[name].works:
        return "works" if _works(row) else "BREAKS"
    if round_ == "free":
        return ", ".join(row["seen"]) or "NOT SEEN"
    return "LEAK" if row["seen"] else "stopped, told" if row["noted"] else "stopped"


def _works(row: dict[str, Any]) -> bool:
    return bool(row.get("told") == "worked" or row.get("verdict") == "kept")


def missing(found: Found) -> list[str]:
    """Give the ways that could not be taken here, with the reason."""
    rows = ((name, row["told"]) for name, row in found["free"].items())
    return [f"{name}: {told.removeprefix(_MISSING)}" for name, told in rows if told.startswith(_MISSING)]


def faults(found: Found) -> Iterator[str]:
    """Tell whatever is not as promised: a way that proves nothing, one that leads out, one that is not told, one that is shut."""
    for name, free in found["free"].items():
        if free["told"].startswith(_MISSING):
            continue
        way = WAYS[name]
        if not (_works(free) if way.works else free["seen"]):
            yield f"{name}: without walls no listener saw it, so it proves nothing ({free['told']})"
        for tier in found.keys() - {"free"}:
            row = found[tier][name]
            if way.works and not _works(row):
                yield f"{name}: it does not work in {tier} ({'; '.join([*row.get('noted', ()), *row.get('others', ())])})"
            if row["seen"] and _promised(tier, hidden=way.hidden, local=way.local):
                yield f"{name}: it leaks in {tier}, as {', '.join(row['seen'])}"
            if not (way.works or row["noted"] or way.quiet) and tier in ("K1", "K2"):
                yield f"{name}: it is stopped in {tier} and told by nobody"


def _promised(tier: str, *, hidden: bool, local: bool) -> bool:
    """Whether a tier promises to stop a way: K1 and K2 every one, no static filter a Unix socket, no hook native code."""
    return not hidden or tier in ("K1", "K2") or (tier == "K3" and not local)
