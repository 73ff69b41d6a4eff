"""How a finding is spoken: what was expected, what was found, where, and the command that shows it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from invcheck.errors import InvcheckError
from invcheck.events import Started, Summary
from invcheck.report.gathered import Report
from invcheck.report.provenance import replayed, resting
from invcheck.report.reach import reached, warnings
from invcheck.report.visible import cut, quoted, visible
from invcheck.vocabulary import Finding, Result, Verdict, case_name

AUDITS = frozenset({"AUDIT", "AUDIT_IGNORE", "AUDIT_LOST"})
"""Codes of what an audit says of a case: of no trial that was counted."""

VALUE_LIMIT = 2_000
"""Code points of one spoken value; what is longer keeps both of its ends."""


def name(result: Result) -> str:
    """Give the full name of a case, as the command line selects it."""
    return case_name(result.check, result.case)


def replay(result: Result, finding: Finding) -> str:
    """Give the shell command that shows a finding again.

    A finding of one trial carries that trial's seed and one run; one across runs (it has no seed) all of them, and one
    that its trial alone does not show all up to it. A hash seed of the user's own goes before it.

    >>> from invcheck.vocabulary import Place
    >>> result = Result("checks/qa.yaml::no ids", "a", Place("checks/qa.yaml"), 0, 200, {}, Verdict.BROKEN)
    >>> replay(result, Finding("SUBSET", Verdict.BROKEN, "", seed=137))
    "invcheck run 'checks/qa.yaml::no ids[a]' --seed 137 --runs 1"
    """
    seed, runs = (result.seed, result.runs) if finding.seed is None else (finding.seed, 1)
    if finding.seed is not None and not finding.alone:
        seed, runs = result.seed, finding.seed - result.seed + 1
    hashes = f"PYTHONHASHSEED={result.extra['hash_seed']} " if "hash_seed" in result.extra else ""
    audit = " --audit" if finding.code in AUDITS else ""
    return f"{hashes}invcheck run {quoted(name(result))} --seed {seed} --runs {runs}{audit}"


def rows(result: Result, finding: Finding) -> Iterator[tuple[str, str]]:
    """Give what is known of a finding as labels and texts, in the order in which it is read."""
    if finding.because is not None:
        yield "because", finding.because
    elif finding.claim is not None and finding.expected is None and finding.got is None:
        yield "message", finding.message
    spoken = (("expected", finding.expected), ("got", finding.got), ("path", finding.path), ("call", finding.call))
    yield from ((label, text) for label, text in spoken if text is not None)
    if finding.code not in AUDITS:
        yield "trials", _trials(result, finding)
    if left := sum(other.because == (finding.claim or finding.code) for other in result.findings):
        yield "unjudged", f"{plural(left, 'claim')} because of it"
    if finding.place is not None:
        yield "place", str(finding.place)
    if finding.hint is not None:
        yield "hint", finding.hint
    yield "replay", replay(result, finding)


def _trials(result: Result, finding: Finding) -> str:
    if finding.seed is None:
        return f"across all {result.runs}, seeds from {result.seed}"
    return f"{finding.count} of {result.runs}, first with seed {finding.seed}"


def heading(finding: Finding) -> str:
    """Give the one line that names a finding: its code, then the claim, or the message where no claim stands."""
    said = finding.message.split("\n")[0] if finding.claim is None else finding.claim
    return f"{finding.code}  {said}".rstrip()


def told(result: Result, *, verbose: bool = False) -> list[Finding]:
    """Give the findings that are worth telling: broken and errored ones.

    What stays unjudged is among them with ``verbose``, and where nothing of a case was judged.
    """
    whole = verbose or result.verdict is Verdict.UNJUDGED
    return [finding for finding in result.findings if whole or finding.verdict in (Verdict.BROKEN, Verdict.ERRORED)]


def explain(result: Result, *, verbose: bool = False) -> str:
    """Give a case's findings as indented text, each line safe to show; empty where there is nothing to tell.

    With ``verbose`` also what stays unjudged, and the calls of the first trial with a finding.
    """
    findings = told(result, verbose=verbose)
    if not findings:
        return ""
    lines = [f"{result.verdict.upper()}  {visible(name(result))}"]
    for finding in findings:
        mark = "" if finding.verdict is result.verdict else f" ({finding.verdict})"
        lines += [f"  {visible(heading(finding))}{mark}", *(f"    {line}" for line in body(result, finding))]
    return "\n".join([*lines, *(_calls(result) if verbose else ())])


def _calls(result: Result) -> Iterator[str]:
    """What the model was asked in the first trial with a finding, and what it answered."""
    calls = result.extra.get("calls", ())
    if calls:
        yield f"  calls of the trial with seed {result.extra['seed']}"
    for n, call in enumerate(calls, start=1):
        yield f"    {n:<8}  {visible(call['asked'])}"
        if call["got"]:
            yield f"    {'':<8}  {visible(call['got'])}"


def body(result: Result, finding: Finding, clean: Callable[[str], str] = visible) -> Iterator[str]:
    """Give the labelled lines of a finding, each through ``clean``, a text of several lines aligned under its first."""
    if finding.claim is None:
        yield from (clean(line) for line in finding.message.split("\n")[1:])
    for label, text in rows(result, finding):
        if label == "replay":  # a command that is cut is no command
            yield f"{label:<8}  {text}"
            continue
        first, *rest = cut(text, VALUE_LIMIT).split("\n")
        yield f"{label:<8}  {clean(first)}"
        yield from (f"{'':<8}  {clean(line)}" for line in rest)


def problem(error: InvcheckError) -> str:
    """Give what could not be used, with its place first and its hint last."""
    where = f"{error.place}: " if error.place else ""
    lines = [visible(line) for line in f"{where}{error.message}".split("\n")]
    if error.hint:
        lines.append(f"  hint: {visible(error.hint)}")
    return "\n".join([f"{error.code}  {lines[0]}", *lines[1:]])


def summary(report: Report) -> str:
    """Give the run in one line: cases by verdict, how many trials broke, seed, shard and the gate's layer.

    >>> from invcheck.events import summarise
    >>> summary(Report(Started(0, 0, 7, (2, 3), 4, "", "K1"), (), (), summarise([])))
    '0 cases: the shard 2/3 holds none of 4. Seed 7, gate K1.'
    """
    started, total = report.started, report.summary
    kept = (case.result for case in report.cases if case.result.verdict is Verdict.KEPT)
    left = sum(finding.verdict is Verdict.UNJUDGED for result in kept for finding in result.findings)
    results = [case.result for case in report.cases]
    rests = resting(results) if any(map(replayed, results)) else None
    return " ".join([*_sentences(started, total, left, rests), *reached(results), *(f"Warning: {text}." for text in warnings(results))])


def _sentences(started: Started, total: Summary, left: int, rests: tuple[int, int] | None) -> Iterator[str]:
    counts = ((total.kept, "kept"), (total.broken, "broken"), (total.errored, "errored"), (total.unjudged, "unjudged"))
    spoken = ", ".join(f"{count} {word}" for count, word in counts if count)
    if not total.cases and started.shard and started.total and not started.selected:
        spoken = f"the shard {started.shard[0]}/{started.shard[1]} holds none of {started.total}"
    yield f"{plural(total.cases, 'case')}{': ' if spoken else ''}{spoken}."
    if total.trials:
        errored = f", {total.errored_trials} errored" if total.errored_trials else ""
        yield f"{total.broken_trials} of {plural(total.trials, 'trial')} broken{errored}."
    if left:
        yield f"{plural(left, 'claim')} of kept cases left unjudged (-v tells which)."
    if rests:
        yield f"{rests[0]} of {plural(rests[1], 'claim')} {'rests' if rests[1] == 1 else 'rest'} on recorded replies."
    if total.problems:
        yield f"{plural(total.problems, 'problem')} with what was asked for."
    if total.interrupted:
        yield "Interrupted."
    elif total.stopped:
        yield f"Stopped early, {started.selected - total.cases} more were planned."
    if started.layer:
        shard = f", shard {started.shard[0]}/{started.shard[1]}" if started.shard and total.cases else ""
        yield f"Seed {started.seed}{shard}, gate {started.layer}."


def plural(count: int, word: str) -> str:
    """Give a count with its word.

    >>> plural(1, "case"), plural(0, "case")
    ('1 case', '0 cases')
    """
    return f"{count} {word}{'' if count == 1 else 's'}"
