"""What is claimed of every trial, unasked: nothing left the sandbox, nothing unexpected was raised, the text parses.

The first cause is the finding; claims about what it left behind are unjudged, never kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from invcheck import record
from invcheck.consequences import settled
from invcheck.errors import NotJson
from invcheck.paths import Path, compile_path
from invcheck.show import one_line, show
from invcheck.vocabulary import Finding, Json, Place, Verdict

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

EVERYTHING = compile_path("$")
OUTPUT = (compile_path("$.output"), compile_path("$.output_text"))
_PROBED = (compile_path("$.ledger"), compile_path("$.probes"))

_MOST = 8
"""How many findings of attempts to leave the sandbox one trial has at the most."""


class Moot(NamedTuple):
    """A path below which nothing can be said, and the finding that explains why: by its claim, else by its code."""

    path: Path
    because: str


@dataclass(frozen=True, slots=True)
class Causes:
    """What broke before any claim was asked, and what is moot because of it."""

    findings: tuple[Finding, ...]
    moot: tuple[Moot, ...]


NONE = Causes((), ())


def causes(document: Json, latched: Sequence[Finding], defect: NotJson | None, *, raises: bool, script: bool) -> Causes:
    """Judge the implied claims of one observation.

    ``defect`` is what is wrong with the output's text. With ``raises`` a claim of the check expects an error, with
    ``script`` one speaks of unused replies, so that neither is implied. An assert of the check itself is never expected.
    """
    breaches = document.get("breaches") or []
    error = None if raises and not asserted(document.get("error")) else document.get("error")
    if not latched and not breaches and error is None and defect is None:
        return NONE
    known = [finding for finding in latched if not (finding.code == "SCRIPT_UNUSED" and (script or error is not None))]
    findings: list[Finding] = [*breached(breaches), *known]
    moot = [Moot(path, finding.code) for finding in known for path in _moot(finding)]
    if error is not None:
        why = _explained(error, findings, breaches) or _raised(error, document.get("calls") or [])
        findings += [why] if why not in findings else []
        # a check that crashed has not driven the app as it would
        moot += [Moot(path, why.code) for path in ((EVERYTHING,) if why.code == "CHECK_RAISED" else OUTPUT)]
    elif defect is not None:
        if not any(finding.code == "OUTPUT_NOT_JSON" for finding in known):
            findings.append(_unparsed(document, defect))
        moot.append(Moot(OUTPUT[0], findings[-1].code if findings[-1].code == "PARSE_FAILED" else "OUTPUT_NOT_JSON"))
    return Causes(tuple(settled(findings)), tuple(moot))


def _moot(finding: Finding) -> Iterator[Path]:
    if finding.code in ("PROBE_FAILED", "PROBE_MISSING") and finding.path is not None:  # it failed when all was over
        yield from _PROBED
    elif finding.code == "OUTPUT_NOT_JSON":
        yield from OUTPUT
    elif finding.verdict is Verdict.ERRORED:  # the app was not run, or not as it would be: nothing can be said of it
        yield EVERYTHING


def asserted(error: Json) -> bool:
    """Tell whether an error is an assert of the check itself that does not hold."""
    inside = error.get("in_check") if isinstance(error, dict) else None
    return isinstance(inside, dict) and bool(inside.get("assertion"))


def _explained(error: Json, findings: Sequence[Finding], breaches: Sequence[Json]) -> Finding | None:
    """Give the finding that already says why this error left the app, so that it is no second cause.

    Native code and programs that were refused say so in words of their own, which reach the app where it asked.
    """
    if error.get("where") and not error.get("in_check") and any(breach.get("where") == error["where"] for breach in breaches):
        return next(finding for finding in findings if finding.code == "NETWORK")
    fits = {"NetworkBlocked": lambda code: code == "NETWORK", "ScriptedModelError": lambda code: code != "NETWORK"}.get(error["type"])
    return next((finding for finding in findings if fits and fits(finding.code)), None)


def breached(breaches: Sequence[Json]) -> list[Finding]:
    """Give the findings of attempts to leave the sandbox: one for each thing that was wanted, with how often and from where."""
    wanted: dict[tuple[Json, Json], list[int]] = {}
    for index, breach in enumerate(breaches):
        wanted.setdefault((breach.get("what"), breach.get("wanted")), []).append(index)
    findings = [_breached(breaches, indices) for indices in wanted.values()]
    if len(findings) > _MOST:
        last = findings[_MOST - 1]
        findings[_MOST - 1 :] = [replace(last, message=f"{last.message}; and {len(findings) - _MOST} more were wanted")]
    return findings


def _breached(breaches: Sequence[Json], indices: list[int]) -> Finding:
    """Give the finding of the breaches that wanted the same: the first of them, and how many there were."""
    told = record.breached(breaches[indices[0]])
    times = sum(breaches[index].get("count", 1) for index in indices)
    others = len({(breaches[index].get("where"), breaches[index].get("line")) for index in indices}) - 1
    more = f", from {others} more places" if others else ""
    often = f" ({times} times{more})" if times > 1 else ""
    return replace(told, message=f"{told.message}{often}", path=f"$.breaches[{indices[0]}]", count=1)


def _raised(error: Json, calls: Sequence[Json]) -> Finding:
    got = f"{error['type']}: {error['message']}" if error.get("message") else str(error["type"])
    where = f" in {error['where']}" if error.get("where") else ""
    inside = error.get("in_check")
    if not inside:
        call = None if error.get("message") else _last(calls)
        text = one_line(f"the app raised {got}{where}{f' after {call}' if call else ''}")
        return Finding("APP_RAISED", Verdict.BROKEN, text, path="$.error", expected="no error", got=one_line(got))
    place = Place(str(error["where"]).rpartition(":")[0], inside["line"]) if error.get("where") else None
    if inside["assertion"]:
        said, values = inside.get("text"), inside.get("values")
        text = f"an assert in the check does not hold: {error.get('message') or said or ''}".removesuffix(": ")
        expected = one_line(said or "the assert holds")
        return Finding(
            "ASSERT", Verdict.BROKEN, one_line(text), path="$.error", expected=expected, got=one_line(values or got), place=place
        )
    return Finding(
        "CHECK_RAISED", Verdict.ERRORED, one_line(f"the check itself raised {got}{where}"), path="$.error", got=one_line(got), place=place
    )


def _last(calls: Sequence[Json]) -> str | None:
    """The last call where it was not served, in words: they say what a library's error has, in words of its own."""
    if not calls or calls[-1].get("state") in ("served", "cancelled"):
        return None
    spoken, outcome = f"call {calls[-1].get('n', 0) + 1}", calls[-1].get("outcome")
    if not isinstance(outcome, Mapping):
        return f"{spoken}, which was refused"
    status = f" {outcome['status']}" if outcome.get("status") else ""
    said = f": {outcome['message']}" if outcome.get("message") else ""
    return one_line(f"{spoken}, which failed with {outcome.get('fault') or outcome.get('raised')}{status}{said}")


def _unparsed(document: Json, defect: NotJson) -> Finding:
    line, column = defect.fields.get("line"), defect.fields.get("column")
    where = f" at line {line}, column {column}" if line else ""
    return Finding(
        "PARSE_FAILED",
        Verdict.BROKEN,
        one_line(f"the output is no strict JSON: {defect.message}{where}"),
        path="$.output_text",
        expected="one strict JSON text",
        got=show(document.get("output_text")),
    )


def unasked(model: Json, claims: Sequence[Claim]) -> tuple[Finding, ...]:
    """Miss the calls of a check's double that no trial asked, and that has no step which could be left over.

    A claim that looks at the calls of a trial has said already what they are to be; across trials they may all be none.
    """
    if model is None or not _open_ended(model):
        return ()
    if any(part.covers(read) for claim in claims if claim.arity == "each" for read in claim.reads() for part in _CALLED):
        return ()
    hint = "say calls: 0 where the app must not ask; else hand the model to whatever asks"
    return (Finding("MODEL_UNASKED", Verdict.BROKEN, "no trial asked the model", path="$.calls", expected="a call", got="none", hint=hint),)


_CALLED = (compile_path("$.calls"), compile_path("$.counts"))


def _open_ended(model: Json) -> bool:
    """Whether a double drifts, replays, or holds nothing but steps for ever: a script without a step says that nothing is asked."""
    if "drifting" in model or "replay" in model:
        return True
    steps = [step for script in model.get("lanes", {None: model.get("script")}).values() for step in script]
    return bool(steps) and all(isinstance(step, Mapping) and "then-always" in step for step in steps)
