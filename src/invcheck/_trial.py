"""Stage: run the app once, under one case and one seed, and give what happened as one JSON document."""

from __future__ import annotations

import inspect
import sys
from _thread import _count as other_threads
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from invcheck import binding, escaped
from invcheck.errors import CheckFileError, InvcheckError, NotJson, Unevaluated
from invcheck.folders import Folders
from invcheck.ledger import probe
from invcheck.record import Record
from invcheck.resolve import resolve
from invcheck.sandbox import box, network, spawning, unheard
from invcheck.snapshot import snapshot
from invcheck.suite import Case, Check
from invcheck.trial import Trial, begin, close, end
from invcheck.vocabulary import Finding, Json, Place, State, Verdict

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim
    from invcheck.sandbox.clock import Clock

_COUNTED = ("attempted", *map(str, State), "asked")

_KEEP = "give the double no keep=, or one that is as large as what it is asked"
_MACHINE = "how much there is differs from machine to machine, so nothing can be said of this trial"

OPTIMIZED = bool(sys.flags.optimize)
"""Whether this Python drops asserts: those of a check, and those that the app itself relies on."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a trial leaves: its observation, and what was latched on the way."""

    observation: dict[str, Json]
    latched: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A check with everything that it names found once: what every one of its trials begins from."""

    check: Check
    function: Callable[..., Any]
    setup: Callable[[Trial], Mapping[str, object] | None] | None
    double: Callable[[], Any] | None
    wanted: Mapping[str, Any]


def subject(check: Check) -> Subject:
    """Find what a check names, without running any of it; InvcheckError where something is not there or does not fit."""
    if OPTIMIZED:
        raise Unevaluated(
            "asserts are switched off in this Python (-O): they would all be kept", code="ASSERTS_OFF", hint="run it without -O"
        )
    with _about(check, "app"):
        function: Any = check.function if check.function is not None else resolve(str(check.app))
    with _about(check, "setup"):
        setup: Any = resolve(check.setup) if isinstance(check.setup, str) else check.setup
    for key, spec in (("ledger", check.ledger), *((f"probes.{name}", spec) for name, spec in check.probes.items())):
        with _about(check, key):
            if spec is not None:
                probe(spec, tmp=None, load=resolve)
    with _about(check, "model"):
        double = _double(check.model) if check.model is not None else None
        if double is not None and check.function is None and setup is None:
            binding.takes_model(function)
    for index, claim in enumerate(check.claims):
        _found(claim, check.claim_places[index] if index < len(check.claim_places) else None)
    if check.function is not None:
        _filled(check.name, function, binding.GIVEN if double is not None else binding.GIVEN - {"model"})
    return Subject(check, function, setup, double, binding.wanted(function))


def _double(spec: Json) -> Callable[[], Any]:
    from invcheck.sources import read  # noqa: PLC0415  # an app without a model does not pay for them

    return read(spec, load=resolve)


def _filled(name: str, function: Callable[..., Any], given: Collection[str]) -> None:
    """Refuse a Python check with a parameter that nothing fills."""
    for each in list(inspect.signature(function).parameters.values())[1:]:
        if each.name not in given and each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            hint = "declare a model" if each.name == "model" else f"after the trial there are {', '.join(sorted(given))}; see trial.input"
            raise CheckFileError(f"nothing fills the parameter {each.name!r} of {name}", code="INPUT_MISMATCH", hint=hint)


def _found(claim: Claim, place: Place | None) -> None:
    """Find what a claim names, before the first trial asks for it."""
    try:
        for name in claim.references():
            resolve(name)
    except InvcheckError as problem:
        problem.place = problem.place or place
        raise


@contextmanager
def _about(check: Check, key: str) -> Iterator[None]:
    """Give an error without a place that of the check's key, or of what in its value the error is about."""
    try:
        yield
    except InvcheckError as problem:
        problem.place = problem.place or _place(check.places, key, str(problem.fields.get("path") or "$"))
        raise


def _place(places: Mapping[str, Place], key: str, path: str) -> Place | None:
    """Where a path of a section stands, else the nearest around it that is known; what a probe names alone has no path."""
    below = [known for known in places if known.startswith(f"{key}.")] if key != "model" else []
    at = below[0] if len(below) == 1 else f"{key}{path[1:]}"
    while at and at not in places:
        at = at[: max(at.rfind("."), at.rfind("["), 0)]
    return places.get(at)


def run(subject: Subject, case: Case, seed: int, folders: Folders) -> Ran:
    """Run a check once for ``case`` under ``seed``, inside the sandbox; what it leaves names none of the ``folders``.

    Whatever the app raises becomes ``$.error``; only KeyboardInterrupt leaves, in a process that a terminal can interrupt.
    """
    record = Record(seed)
    with box.trial(record, clock=subject.check.clock):
        clock = cast("Clock", record.clock)  # the box has just set one
        trial = Trial(record, clock, case=case.id, input=case.input, folder=folders.trial, load=resolve)
        try:
            return _observe(subject, case, trial, record, folders)
        finally:
            close(trial)


def _observe(subject: Subject, case: Case, trial: Trial, record: Record, folders: Folders) -> Ran:
    output: object = None
    error: dict[str, Json] | None = None
    start, began = trial.clock.elapsed, False
    with unheard.listening() as heard:  # until the threads have come to rest: one may fail after the app's return
        try:
            arguments = _prepared(subject, case, trial)
            begin(trial)
        except InvcheckError as problem:
            record.latch(_errored(problem.code, f"before the app ran: {problem.message}", problem.hint))
        except BaseException as problem:  # noqa: BLE001  # a setup may raise anything, and is told apart from the app
            told = escaped.told(problem, folders, None)
            where = f" in {told['where']}" if told["where"] else ""
            record.latch(_errored("SETUP_RAISED", f"the setup raised {told['type']}: {told['message'] or '(no message)'}{where}"))
        else:
            start, began = trial.clock.elapsed, True
            output, error = _driven(subject, arguments, record, folders)
        elapsed = trial.clock.elapsed - start
        if other_threads():
            from invcheck.sandbox.threads import settle  # noqa: PLC0415  # an app without threads does not pay for it

            settle(record)
    if network.forked() or spawning.any_started():
        from invcheck.sandbox import children  # noqa: PLC0415  # nor does an app without children for these

        children.settle(record)
    if heard:
        record.latch(escaped.in_threads(heard, folders))
    ran = _document(case, trial, record, output=output, error=error, elapsed=elapsed, began=began)
    record.close()
    return Ran(folders.document(ran.observation), ran.latched)


def _prepared(subject: Subject, case: Case, trial: Trial) -> dict[str, Any]:
    """Everything up to the app's first line: probes, double, setup, arguments."""
    check = subject.check
    if check.ledger is not None:
        trial.watch_ledger(check.ledger)
    for name, spec in check.probes.items():
        trial.probe(name, spec)
    if subject.double is not None:
        trial.model = subject.double()
    extra = (subject.setup(trial) or {}) if subject.setup is not None else {}
    given = _given(subject, trial)
    if check.function is None:
        return binding.arguments(subject.function, snapshot(case.input), {**given, **extra})
    # a Python check takes the trial first, then whatever it names of what an app would be given
    names = list(inspect.signature(check.function).parameters)
    return {**dict.fromkeys(names[:1], trial), **{name: given[name] for name in names[1:] if name in given}}


def _given(subject: Subject, trial: Trial) -> dict[str, Any]:
    """What the sandbox has for the parameters that are so named; `model` is a port where its annotation is a Protocol."""
    given: dict[str, Any] = {}
    for name, annotation in subject.wanted.items():
        if name != "model":
            given[name] = getattr(trial, name)
        elif trial.model is not None:
            from invcheck.faces import bind  # noqa: PLC0415  # as the sources

            given[name] = bind(trial.model, annotation)
    return given


def _driven(subject: Subject, arguments: dict[str, Any], record: Record, folders: Folders) -> tuple[object, dict[str, Json] | None]:
    try:
        output = subject.function(**arguments)
        if inspect.isawaitable(output) or inspect.isasyncgen(output):
            output = _awaited(output)
        if inspect.isgenerator(output):  # an app that streams works while it is read
            output = list(output)
    except BaseException as error:  # noqa: BLE001  # whatever leaves the app is what happened: it is judged, not handled
        if isinstance(error, MemoryError) and not escaped.said(error):
            record.latch(_errored("OUT_OF_MEMORY", "there was not as much memory as the app asked for", _MACHINE))
        return None, escaped.told(error, folders, subject.check.file if subject.check.function is not None else None)
    return output, None


def _awaited(output: Any) -> object:
    import asyncio  # noqa: PLC0415  # 57 ms that a synchronous app does not pay

    async def wait() -> object:
        given = await output if inspect.isawaitable(output) else output
        return [item async for item in given] if inspect.isasyncgen(given) else given

    return asyncio.run(wait())


def _errored(code: str, message: str, hint: str | None = None) -> Finding:
    return Finding(code, Verdict.ERRORED, message, hint=hint)


def _document(case: Case, trial: Trial, record: Record, *, output: object, error: Json, elapsed: float, began: bool) -> Ran:
    seen = end(trial)
    network.merge()  # before the document is made, which may be another's copy
    for what, path, problem in seen.problems if began else ():
        message = f"{what}: {problem.message}"
        record.latch(Finding(problem.code, Verdict.ERRORED, message, path=path, hint=problem.hint))
    try:
        plain = snapshot(output, strict=True)
    except NotJson as problem:
        plain = snapshot(output)
        where = "$.output" + str(problem.fields.get("path", "$"))[1:]
        record.latch(
            Finding(
                "OUTPUT_NOT_JSON", Verdict.BROKEN, f"the app's output is no plain JSON: {problem.message}", path=where, hint=problem.hint
            )
        )
    if record.forgotten:
        record.latch(_errored("HISTORY_FORGOTTEN", f"{record.forgotten} calls were forgotten, so they were not judged", _KEEP))
    findings = tuple(record.findings())
    document: dict[str, Json] = {
        "invcheck": 1,
        "input": case.input,
        "output": plain,
        "error": error,
        "calls": record.calls,
        "counts": _counts(record.calls),
        "usage": _usage(record.calls),
        "ledger": record.ledger,
        "effects": record.effects,
        "waits": record.waits,
        "elapsed": elapsed,
        "journal": record.journal,
        "breaches": record.breaches,
        "ambient": [{"source": source, "where": where, "count": count} for (source, where), count in sorted(record.ambient.items())],
        "probes": seen.probes,
        "unused": [finding.message for finding in findings if finding.code == "SCRIPT_UNUSED"],
    }
    return Ran(document, findings)


def _counts(calls: list[dict[str, Json]]) -> dict[str, Json]:
    counts = dict.fromkeys(_COUNTED, 0)
    for call in calls:
        counts["attempted"] += 1
        counts["asked"] += not call["attempt"]
        counts[call["state"]] += 1
    return counts


def _usage(calls: list[dict[str, Json]]) -> dict[str, int]:
    total = {"input_tokens": 0, "output_tokens": 0}
    for call in calls:
        if call["state"] == "served":
            for name, tokens in ((call["outcome"] or {}).get("usage") or {}).items():
                if tokens is not None:
                    total[name] = total.get(name, 0) + tokens
    return total
