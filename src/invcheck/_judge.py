"""Stage: hold observations against a check's claims: one fast answer where all are kept, findings where one is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from typing import BinaryIO, NamedTuple

from invcheck import rows
from invcheck.assertions.claim import Claim, inner
from invcheck.assertions.fuse import Fuser, fuse
from invcheck.assertions.implied import NONE, Causes, Moot, asserted, causes
from invcheck.assertions.negation import Not
from invcheck.assertions.question import Question
from invcheck.errors import NotJson, UsageError
from invcheck.jsontext import loads, parse_output
from invcheck.paths import kind
from invcheck.show import one_line, show
from invcheck.vocabulary import Finding, Json, Verdict


class Row(NamedTuple):  # a tuple, because one is made for every row that is kept
    """One recorded row and what was found in it; ``line`` counts from 1, ``row`` is None where the line is no JSON."""

    line: int
    row: Json
    verdict: Verdict
    findings: tuple[Finding, ...] = ()


class Judged(NamedTuple):
    """What an observation came to, and the paths below which nothing can be said of it."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    moot: tuple[Moot, ...] = ()


_KEPT = Judged(Verdict.KEPT, ())


class Judge:
    """Judges the trials, or the recorded rows, of one check.

    With ``parse="json"`` the text at ``$.output`` is read first: its value takes its place, the text moves to
    ``$.output_text``. The documents that are judged are changed in place by that, and by nothing else.

    >>> from invcheck import Between
    >>> judge = Judge([Between("$.output.n", min=1)], parse="json")
    >>> judge.trial({"output": '{"n": 1}'})[0].value, judge.trial({"output": '{"n": 0}'})[0].value
    ('kept', 'broken')
    """

    def __init__(self, claims: Sequence[Claim], *, parse: str | None = None) -> None:
        if parse not in {None, "json"}:
            raise UsageError(f"parse is json or nothing, got {parse!r}")
        questions = [Question(index, claim) for index, claim in enumerate(claims)]
        self.each = [question for question in questions if question.claim.arity == "each"]
        self.across = [question for question in questions if question.claim.arity == "across"]
        self.parses = parse == "json"
        self._raises = any(claim.key == "raises" for claim in claims)
        self._inside = [claim for claim in claims if _expecting(claim)]
        self._script = any(_named(claim, "script-used") for claim in claims)
        self._fused, others = fuse([question.claim for question in self.each], self._before)
        self._others = {question.index for question in self.each if any(question.claim is other for other in others)}

    def surely(self, document: Json) -> bool:
        """Tell fast whether what is implied and all claims with a fused form are kept; False means only that `trial` must look."""
        return self._fused(document)

    def _before(self, fuser: Fuser) -> None:
        """Write the implied claims; the output's text is read as `parse_output` does it."""
        fuser.require('not document.get("breaches")')
        if not self._raises:
            fuser.require('document.get("error") is None')
        else:
            fuser.require(f'not {fuser.const(asserted)}(document.get("error"))')
        if self.parses:
            parse, read = fuser.const(parse_output), fuser.const(loads)
            unless = 'if document.get("error") is not None:\n    pass\nel' if self._raises else ""
            fuser.line(f"""\
{unless}if "output_text" in document:
    if {parse}(document) is not None: return False
else:
    document["output_text"] = text = document["output"]
    document["output"] = None
    document["output"] = {read}(text)""")

    def trial(self, document: Json, latched: Sequence[Finding] = ()) -> tuple[Verdict, tuple[Finding, ...]]:
        """Judge one observation, with what was latched while it was made: the verdict, and the findings in order.

        A claim about what an earlier finding already explains is unjudged: its finding says because of what. A claim
        that raises is errored, under ``not-`` too. Each claim is asked once, so that one with a memory, or a function
        that raises now and then, has one answer.
        """
        return self.judged(document, latched)[:2]

    def judged(self, document: Json, latched: Sequence[Finding] = ()) -> Judged:
        """Judge as `trial` does, and tell below which paths nothing can be said of this observation."""
        return self._judged(document, latched, sure=not latched and self._fused(document))

    def _judged(self, document: Json, latched: Sequence[Finding], *, sure: bool) -> Judged:
        """Judge claim by claim; where all with a fused form are ``sure`` to be kept only the others are asked."""
        if sure and not self._others:
            return _KEPT
        known = NONE if sure else self._causes(document, latched)
        findings, moot = list(known.findings), list(known.moot)
        for question in self.each:
            because = question.moot(moot) if moot else None
            if because is not None:
                findings.append(question.unjudged(because))
                continue
            if question.index not in self._others and (sure or question.surely(document)):
                continue
            finding = question.ask(document)
            if finding is not None:
                findings.append(finding)
                moot += question.settles()
        verdicts = {finding.verdict for finding in findings}
        verdict = next((verdict for verdict in (Verdict.BROKEN, Verdict.ERRORED) if verdict in verdicts), Verdict.KEPT)
        return Judged(verdict, tuple(findings), tuple(moot))

    def start(self) -> Across:
        """Begin the runs of one case, for the claims across them."""
        return Across(self)

    def rows(self, source: BinaryIO | str | PathLike[str], *, document: Callable[[Json], Json] | None = None) -> Iterator[Row]:
        """Judge a file of JSON Lines, row by row; ``document`` turns a row into an observation.

        A line that is no strict JSON, and a row that ``document`` cannot turn, are errored findings; the other rows are
        still judged. Memory holds one row. A file that cannot be opened is a UsageError.
        """
        if not isinstance(source, str | PathLike):
            return self._rows(source, document, nullcontext())
        try:
            file = open(source, "rb")  # noqa: PTH123, SIM115  # pathlib is slow to import; the generator closes it
        except OSError as problem:
            raise UsageError(f"the rows {source} cannot be read: {problem.strerror}", code="MISSING_FILE") from None
        return self._rows(file, document, file)

    def _rows(self, file: BinaryIO, document: Callable[[Json], Json] | None, owned: AbstractContextManager[object]) -> Iterator[Row]:
        fused, made, kept_verdict = self._fused, Row._make, Verdict.KEPT  # bound once: this loop is what a row costs
        others = bool(self._others)
        with owned:
            for line, row, error in rows.read(file):
                if error is not None:
                    yield _unusable(line, None, error)
                    continue
                try:
                    observed = row if document is None else document(row)
                    sure = fused(observed)
                except Exception as problem:  # noqa: BLE001  # a mapping is user code; what it raises is a finding
                    yield _unusable(line, row, problem)
                    continue
                yield self._told_row(line, row, observed, sure=sure) if others or not sure else made((line, row, kept_verdict, ()))

    def _told_row(self, line: int, row: Json, observed: Json, *, sure: bool) -> Row:
        if not isinstance(observed, dict):
            return _unusable(line, row, NotJson(f"an observation is an object, got {kind(observed)} {show(observed)}"))
        return Row(line, row, *self._judged(observed, (), sure=sure)[:2])

    def _causes(self, document: Json, latched: Sequence[Finding]) -> Causes:
        error = document.get("error")
        defect = parse_output(document) if self.parses and error is None else None
        expected = self._raises or (error is not None and any(_expected(claim, document) for claim in self._inside))
        return causes(document, latched, defect, raises=expected, script=self._script)


class Across:
    """What the claims across runs remember of the runs of one case."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._taken: dict[int, list[tuple[int, Json]]] = {question.index: [] for question in judge.across}
        self._raised: dict[int, Finding] = {}
        self._skipped: dict[int, str] = {}

    def trial(self, seed: int, document: Json, latched: Sequence[Finding] = ()) -> tuple[Verdict, tuple[Finding, ...]]:
        """Judge one trial, as the judge itself does, and remember it.

        A claim across runs about what a finding of that trial explains will be unjudged.
        """
        verdict, findings, moot = self._judge.judged(document, latched)
        self._take(seed, document, moot)
        return verdict, findings

    def _take(self, seed: int, document: Json, moot: Sequence[Moot]) -> None:
        for question in self._judge.across:
            because = question.moot(moot)
            if because is not None:
                self._skipped.setdefault(question.index, because)
                continue
            taken, raised = question.take(document)
            if raised is not None:
                self._raised.setdefault(question.index, raised)
            self._taken[question.index].append((seed, taken))

    def finish(self, *, complete: bool = True) -> tuple[Finding, ...]:
        """Judge the runs, in order of seeds; with fewer runs than the check asks for the claims are unjudged."""
        findings: list[Finding | None] = []
        for question in self._judge.across:
            index = question.index
            if index in self._raised:
                findings.append(self._raised[index])
            elif index in self._skipped:
                findings.append(question.unjudged(self._skipped[index]))
            elif not complete:
                findings.append(question.unjudged("fewer runs than the check asks for", "leave out --runs, or make it larger"))
            else:
                findings.append(question.ask_across(sorted(self._taken[index], key=lambda pair: pair[0])))
        return tuple(filter(None, findings))


def _unusable(line: int, row: Json, error: Exception) -> Row:
    code = "ROW_INVALID" if isinstance(error, NotJson) else "ROW_UNMAPPED"
    told = error.message if isinstance(error, NotJson) else f"the row cannot be turned into an observation: {type(error).__name__}: {error}"
    return Row(line, row, Verdict.ERRORED, (Finding(code, Verdict.ERRORED, one_line(f"line {line}: {told}"), got=one_line(told)),))


def _expecting(claim: Claim) -> bool:
    """Tell whether a claim may expect an error in some trials: of those that put others together only a condition speaks of the trial."""
    return claim.key == "implies" and any(each.key == "raises" or _expecting(each) for each in _parts(claim))


def _expected(claim: Claim, document: Json) -> bool:
    """Tell whether this trial's error is expected: of what follows from a condition that is not kept nothing is claimed."""
    if claim.key == "raises":
        return claim.each(document) is None
    if not _expecting(claim):
        return False
    condition = _parts(claim, "if_")
    return all(Question(0, each).ask(document) is None for each in condition) and any(_expected(each, document) for each in _parts(claim))


def _parts(claim: Claim, *names: str) -> list[Claim]:
    return [each for name in names or sorted(claim.nested) for each in inner(getattr(claim, name))]


def _named(claim: Claim, key: str) -> bool:
    return claim.key == key or (isinstance(claim, Not) and claim.claim.key == key)
