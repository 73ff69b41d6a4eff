"""Stage: hold observations against a check's claims: one fast answer where all are kept, findings where one is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path as File
from typing import BinaryIO, NamedTuple

from invcheck import rows
from invcheck.assertions.claim import Break, Claim, Not
from invcheck.assertions.fuse import fuse
from invcheck.assertions.implied import EVERYTHING, Causes, causes
from invcheck.errors import InvcheckError, NotJson, UsageError
from invcheck.freeze import one_line
from invcheck.jsontext import parse_output
from invcheck.paths import Path
from invcheck.vocabulary import Finding, Json, Verdict


class Row(NamedTuple):  # a tuple, because one is made for every row that is kept
    """One recorded row and what was found in it; ``line`` counts from 1, ``row`` is None where the line is no JSON."""

    line: int
    row: Json
    verdict: Verdict
    findings: tuple[Finding, ...] = ()


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
        self.claims = tuple(claims)
        self.parses = parse == "json"
        self._raises = any(_expects_error(claim) for claim in claims)
        self._script = any(_named(claim, "script-used") for claim in claims)
        self._fused = fuse([claim for claim in claims if claim.arity == "each"])

    def kept(self, document: Json) -> bool:
        """Tell fast whether everything is surely kept; False means only that `trial` must look."""
        if document.get("breaches"):
            return False
        if document.get("error") is not None:
            if not self._raises:
                return False
        elif self.parses and parse_output(document) is not None:
            return False
        return self._fused(document)

    def trial(self, document: Json, latched: Sequence[Finding] = ()) -> tuple[Verdict, tuple[Finding, ...]]:
        """Judge one observation, with what was latched while it was made: the verdict, and the findings in order.

        A claim about what an earlier finding already explains is unjudged, and gives no finding of its own. A claim
        that raises is errored, under ``not-`` too.
        """
        if not latched and self.kept(document):
            return Verdict.KEPT, ()
        findings, _ = self._judged(document, latched)
        verdicts = {finding.verdict for finding in findings}
        return next((verdict for verdict in (Verdict.BROKEN, Verdict.ERRORED) if verdict in verdicts), Verdict.KEPT), findings

    def start(self) -> Across:
        """Begin the runs of one case, for the claims across them."""
        return Across(self)

    def rows(self, source: BinaryIO | str | PathLike[str], *, document: Callable[[Json], Json] | None = None) -> Iterator[Row]:
        """Judge a file of JSON Lines, row by row; ``document`` turns a row into an observation.

        A line that is no strict JSON, and a row that ``document`` cannot turn, are errored findings; the other rows are
        still judged. Memory holds one row. A file that cannot be opened is a UsageError.
        """
        if isinstance(source, str | PathLike):
            try:
                file = File(source).open("rb")  # noqa: SIM115  # what is raised while rows are judged is another matter
            except OSError as problem:
                raise UsageError(f"the rows {source} cannot be read: {problem.strerror}", code="MISSING_FILE") from None
            with file:
                yield from self.rows(file, document=document)
            return
        for line, row, error in rows.read(source):
            if error is None:
                try:
                    observed = row if document is None else document(row)
                    kept = self.kept(observed)
                except Exception as problem:  # noqa: BLE001  # a mapping is user code; what it raises is a finding
                    yield _unusable(line, row, problem)
                    continue
                yield Row(line, row, Verdict.KEPT) if kept else Row(line, row, *self.trial(observed))
            else:
                yield _unusable(line, None, error)

    def moot(self, document: Json, latched: Sequence[Finding] = ()) -> tuple[Path, ...]:
        """Give the paths below which nothing can be said of this observation, since a finding explains it."""
        return () if not latched and self.kept(document) else self._judged(document, latched)[1]

    def _judged(self, document: Json, latched: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Path, ...]]:
        known = self._causes(document, latched)
        findings, moot = list(known.findings), list(known.moot)
        for index, claim in enumerate(self.claims):
            if claim.arity != "each" or is_moot(claim, moot):
                continue
            finding = _asked(index, claim, document)
            if finding is not None:
                findings.append(finding)
                if claim.structural:
                    moot += claim.reads()[:1]
        return tuple(findings), tuple(moot)

    def _causes(self, document: Json, latched: Sequence[Finding]) -> Causes:
        defect = parse_output(document) if self.parses and document.get("error") is None else None
        return causes(document, latched, defect, raises=self._raises, script=self._script)


class Across:
    """What the claims across runs remember of the runs of one case."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._claims = [(index, claim) for index, claim in enumerate(judge.claims) if claim.arity == "across"]
        self._taken: dict[int, list[tuple[int, Json]]] = {index: [] for index, _ in self._claims}
        self._raised: dict[int, Finding] = {}
        self._skipped: set[int] = set()

    def add(self, seed: int, document: Json, latched: Sequence[Finding] = ()) -> None:
        """Remember one trial; a claim about what a finding of that trial explains will be unjudged."""
        if not self._claims:
            return
        moot = self._judge.moot(document, latched)
        for index, claim in self._claims:
            if is_moot(claim, moot):
                self._skipped.add(index)
                continue
            try:
                self._taken[index].append((seed, claim.take(document)))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # whatever a claim raises is told, never a pass
                self._raised.setdefault(index, _raised(index, claim, error))

    def finish(self, *, complete: bool = True) -> tuple[Finding, ...]:
        """Judge the runs, in order of seeds; with fewer runs than the check asks for nothing is said."""
        findings: list[Finding] = list(self._raised.values())
        for index, claim in self._claims:
            if complete and index not in self._skipped and index not in self._raised:
                taken = sorted(self._taken[index], key=lambda pair: pair[0])
                findings += filter(None, [_asked(index, claim, taken)])
        return tuple(sorted(findings, key=lambda finding: finding.assertion or 0))


def is_moot(claim: Claim, moot: Sequence[Path]) -> bool:
    """Tell whether a claim reads at or below one of the paths; below the root lies every claim."""
    return EVERYTHING in moot or any(path.covers(read) for path in moot for read in claim.reads())


def _asked(index: int, claim: Claim, subject: Json) -> Finding | None:
    """Ask one claim about an observation, or about what it took of the runs."""
    try:
        broken = claim.each(subject) if claim.arity == "each" else claim.across(subject)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a predicate may raise anything, SystemExit and NetworkBlocked too
        return _raised(index, claim, error)
    return None if broken is None else _finding(index, claim, broken)


def _finding(index: int, claim: Claim, broken: Break) -> Finding:
    text = claim.describe()
    where = f" at {broken.path}" if broken.path else ""
    call = f" ({broken.call})" if broken.call else ""
    return Finding(
        broken.code or claim.key.upper().replace("-", "_"),
        Verdict.BROKEN,
        one_line(f"{text}: expected {broken.expected}, got {broken.got}{where}{call}"),
        claim=text,
        path=broken.path,
        expected=broken.expected,
        got=broken.got,
        call=broken.call,
        hint=broken.hint,
        assertion=index,
    )


def _raised(index: int, claim: Claim, error: BaseException) -> Finding:
    text, code, hint = claim.describe(), "ASSERTION_RAISED", None
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, InvcheckError):
        told, code, hint = error.message, error.code, error.hint
    return Finding(
        code, Verdict.ERRORED, one_line(f"{text}: could not be judged: {told}"), claim=text, got=one_line(told), hint=hint, assertion=index
    )


def _unusable(line: int, row: Json, error: Exception) -> Row:
    if isinstance(error, NotJson) and row is None:
        code, told = "ROW_INVALID", error.message
    else:
        code, told = "ROW_UNMAPPED", f"the row cannot be turned into an observation: {type(error).__name__}: {error}"
    return Row(line, row, Verdict.ERRORED, (Finding(code, Verdict.ERRORED, one_line(f"line {line}: {told}"), got=one_line(told)),))


def _expects_error(claim: Claim) -> bool:
    if claim.key == "raises":
        return True
    inner = [each for name in claim.nested for each in getattr(claim, name) or ()]
    return any(map(_expects_error, inner))


def _named(claim: Claim, key: str) -> bool:
    return claim.key == key or (isinstance(claim, Not) and claim.claim.key == key)
