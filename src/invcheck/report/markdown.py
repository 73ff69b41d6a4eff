"""The report as Markdown, for a step summary or a comment; text of any origin is shown and never rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from invcheck.report.explain import explain, name, plural, problem, summary
from invcheck.report.gathered import Report
from invcheck.report.visible import visible
from invcheck.vocabulary import Result, Verdict

LIMIT = 1024 * 1024
"""Bytes that one step's summary may have; what is larger is not shown at all."""

_SIGNS = re.compile(r"([\\`*_\[\]#|~$])")


def encode(report: Report, *, limit: int = LIMIT) -> bytes:
    """Give the report as Markdown of at most ``limit`` bytes; what had to be left out is said at its end."""
    out = f"## invcheck: {'kept' if report.summary.status == 0 else 'not kept'}\n\n{literal(summary(report))}\n".encode(
        "utf-8", "backslashreplace"
    )
    blocks = [block.encode("utf-8", "backslashreplace") for block in _blocks(report)]
    for done, block in enumerate(blocks):
        note = f"\n{plural(len(blocks) - done, 'further part')} did not fit into {limit} bytes.\n".encode()
        last = done == len(blocks) - 1
        if len(out) + len(block) + (0 if last else len(note)) > limit:
            return out + note if len(out) + len(note) <= limit else out[:0]
        out += block
    return out


def _blocks(report: Report) -> Iterator[str]:
    yield from (f"\n<pre>{escape(problem(error))}</pre>\n" for error in report.problems)
    red = [case.result for case in report.cases if case.result.verdict is not Verdict.KEPT]
    if red:
        yield "\n| verdict | broken | case |\n|---|---|---|\n"
        yield from map(_row, red)
    yield from (f"\n<pre>{escape(text)}</pre>\n" for result in red if (text := explain(result)))


def _row(result: Result) -> str:
    return f"| {result.verdict} | {result.trials.get(Verdict.BROKEN, 0)} of {result.runs} | {literal(name(result))} |\n"


def literal(text: str) -> str:
    r"""Give text that Markdown shows as it is: no markup or table cell can come of it.

    >>> literal("a_b | <script>")
    'a\\_b \\| &lt;script&gt;'
    """
    return escape(_SIGNS.sub(r"\\\1", visible(text)), quote=False)
