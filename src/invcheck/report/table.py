"""The table on the terminal, and the findings under it; the one door to tabulate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from invcheck.events import CaseDone
from invcheck.report.explain import explain, name, problem, summary
from invcheck.report.gathered import Report
from invcheck.report.visible import visible
from invcheck.report.width import clusters
from invcheck.vocabulary import Result, Verdict

_WORST = (Verdict.BROKEN, Verdict.ERRORED, Verdict.UNJUDGED, Verdict.KEPT)
_INK = {Verdict.BROKEN: "31", Verdict.ERRORED: "35", Verdict.UNJUDGED: "33", Verdict.KEPT: "32"}
_PLACES, _FILLER = 0x100000, "\U0010fffd"


def render(report: Report, *, verbosity: int = 0, colour: bool = False, problems: bool = True) -> str:
    """Give the whole report as text that ends with a newline.

    ``verbosity`` 0 has one row a check, 1 one row a case and what stays unjudged, -1 no table, -2 the summary alone.
    Without ``problems`` what could not be used is only counted: whoever asks so tells it elsewhere.
    """
    blocks = []
    if verbosity >= 0 and report.cases:
        blocks.append(_by_case(report) if verbosity > 0 else _by_check(report))
    if verbosity > -2:  # noqa: PLR2004  # the levels are told above
        texts = [explain(case.result, verbose=verbosity > 0) for case in report.cases]
        blocks += [text for text in texts if text]
    blocks += [problem(error) for error in report.problems if problems]
    blocks.append(summary(report))
    text = "\n\n".join(blocks) + "\n"
    return _inked(text) if colour else text


def _by_check(report: Report) -> str:
    groups = [list(cases) for _, cases in groupby(report.cases, key=lambda case: case.result.check)]
    rows = []
    for cases in groups:
        results = [case.result for case in cases]
        verdict = next(verdict for verdict in _WORST if any(result.verdict is verdict for result in results))
        rows.append([str(verdict), str(len(results)), *_counts(results), results[0].check])
    return grid(["verdict", "cases", "broken", "errored", "check"], rows, right=(1, 2, 3), optional=3)


def _by_case(report: Report) -> str:
    rows = [_case_row(case) for case in report.cases]
    return grid(["verdict", "broken", "errored", "distinct", "case"], rows, right=(1, 2, 3), optional=2)


def _case_row(case: CaseDone) -> list[str]:
    result = case.result
    return [str(result.verdict), *_counts([result]), "" if result.distinct is None else str(result.distinct), name(result)]


def _counts(results: Sequence[Result]) -> tuple[str, str]:
    runs = sum(result.runs for result in results)
    broken, errored = (sum(result.trials.get(verdict, 0) for result in results) for verdict in (Verdict.BROKEN, Verdict.ERRORED))
    return f"{broken} of {runs}", f"{errored} of {runs}" if errored else ""


def grid(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), optional: int | None = None) -> str:
    """Give rows of text as a table: aligned by columns on the screen, numbers untouched, nothing wrapped.

    ``right`` are the columns that align to the right; the ``optional`` one is left out where it is empty throughout.

    >>> print(grid(["n", "name"], [["1", "表"], ["10", "007"]], right=[0]))
      n  name
    ---  ------
      1  表
     10  007
    """
    from tabulate import tabulate  # noqa: PLC0415  # 60 ms that --version and --help need not pay

    kept = [i for i in range(len(headers)) if i != optional or any(row[i] for row in rows)]
    stand_ins: dict[str, str] = {}
    cells = [[_stood_in(visible(row[i]), stand_ins) for i in kept] for row in rows]
    align = ["right" if i in right else "left" for i in kept]
    text = tabulate(cells, [headers[i] for i in kept], tablefmt="simple", disable_numparse=True, colalign=align)
    back = {ord(sign): cluster for cluster, sign in stand_ins.items()}
    text = text.replace(_FILLER, "").translate(back)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _stood_in(cell: str, stand_ins: dict[str, str]) -> str:
    """Put one private sign a column in the place of every cluster, so that any way of counting gives its width."""
    if cell.isascii():
        return cell
    out = []
    for cluster, width in clusters(cell):
        plain = len(cluster) == width == 1
        sign = cluster if plain else stand_ins.setdefault(cluster, chr(_PLACES + len(stand_ins)))
        out.append(sign + _FILLER * (width - 1))
    return "".join(out)


def _inked(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        word = line.split(" ", 1)[0]
        known = word.lower() in set(Verdict)
        lines.append(f"\x1b[{_INK[Verdict(word.lower())]}m{word}\x1b[0m{line[len(word) :]}" if known else line)
    return "\n".join(lines)
