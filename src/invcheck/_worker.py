"""What a confined worker does when it is asked: collect a file, prepare a check, run the trials of a case.

A worker is a fresh process that was confined before it imported any user code; see `engines`. It never imports pydantic
for itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from invcheck import _collect, _judge, _trial, binding, record, results, suite
from invcheck.assertions.implied import breached, unasked
from invcheck.canonical import digest
from invcheck.engines import channel
from invcheck.engines.spare import Spare
from invcheck.errors import CheckFileError, InvcheckError, NetworkBlocked, Unevaluated
from invcheck.folders import Folders
from invcheck.sandbox import ambient, box, clock, network
from invcheck.suite import Case, Check
from invcheck.tally import Tally, key
from invcheck.vocabulary import Finding, Json, Place, Verdict, spot

Emit = Callable[[Json], None]
Named = TypeVar("Named", Case, Check)


def collect(task: Json, emit: Emit) -> Json:  # noqa: ARG001  # every handler takes both
    """Import one Python check file: its checks as plain JSON, and what is wrong with it."""
    checks, found = _python(task["file"])
    problems, fit = list(found), []
    for check in checks:
        try:
            _trial.subject(check)
        except InvcheckError as problem:
            problems.append(_placed(problem, check))
        except NetworkBlocked:
            problems += _breaches(check.file)
        else:
            fit.append(check.plain())
    source = digest(Path(task["file"]).read_text("utf-8", "replace")) if checks else ""
    return {"checks": fit, "problems": [_problem(problem) for problem in problems], "source": source}


def prepare(task: Json, emit: Emit) -> Json:  # noqa: ARG001  # every handler takes both
    """Find what one check refers to and bind its inputs, without running anything: what is wrong with it."""
    check = _check(task)
    problems: list[InvcheckError] = []
    try:
        subject = _trial.subject(check)
    except InvcheckError as problem:
        problems.append(problem)
    except NetworkBlocked:
        pass  # it was noted, as what is swallowed is: both are told below
    else:
        names = binding.GIVEN if check.model is not None else binding.GIVEN - {"model"}
        for case in check.cases:
            problems += _bound(check, case, subject.function, names)
    problems += _breaches(check.file)
    return {"problems": [_problem(_placed(problem, check)) for problem in problems]}


def _bound(check: Check, case: Case, function: Callable[..., object], names: frozenset[str]) -> list[InvcheckError]:
    try:
        binding.fits(function, case.input, names, open_ended=check.setup is not None)
    except InvcheckError as problem:
        return [_at(problem, case.place or check.place)]
    return []


def _breaches(file: str) -> list[InvcheckError]:
    """What reached for the network while user code was being imported."""
    return [
        CheckFileError(
            f"while this file was loaded, {finding.message}", code="NETWORK", place=_within(file, finding.place), hint=finding.hint
        )
        for finding in breached(network.pending())
    ]


def _within(file: str, place: Place | None) -> Place:
    return place if place is not None and place.file == file else Place(file)


def case(task: Json, emit: Emit) -> Json:
    """Run every trial of one case of one check, and judge each: a `Result` as plain JSON.

    The first trial of every finding is run once more by itself, in the process as it was before the first one: where it
    shows nothing then, the app has kept state from trial to trial, which the finding tells.
    """
    folders = _folders()
    first = folders.standing()
    check, chosen = _chosen(task)
    subject = _trial.subject(check)
    imported = folders.standing()  # what modules made for themselves stays for all trials
    across, tally = _judge.Judge(check.claims, parse=check.parse).start(), Tally()

    def trial(seed: int) -> tuple[_trial.Ran, Verdict, tuple[Finding, ...]]:
        ran = _trial.run(subject, chosen, seed, folders)
        verdict, findings = across.trial(seed, ran.observation, ran.latched)
        outside = network.pending()  # of the judges themselves: no trial was in hand
        return (ran, Verdict.BROKEN, (*findings, *_wanted(outside))) if outside else (ran, verdict, findings)

    with Spare(lambda seed: [list(key(finding)) for finding in trial(seed)[2]], wanted=task["runs"] > 1) as spare:
        for seed in range(task["seed"], task["seed"] + task["runs"]):
            ran, verdict, findings = trial(seed)
            tally.add(seed, verdict, findings, ran.observation)
            folders.clear(imported)
            emit({"ran": seed})
        network.merge()  # what came after the last trial
        for seed in tally.seeds(after=task["seed"]):
            tally.again(seed, spare.ask(seed))
            folders.clear(imported)
    network.skip()  # what these trials noted was told when they ran first
    tally.across(across.finish(complete=task["complete"]))
    tally.across(tuple(map(_belated, record.late())))
    if not tally.asked and not tally.found:
        tally.across(unasked(check.model, check.claims))
    folders.clear(first)
    return results.plain(tally.result(check, chosen, task["seed"], folders))


def observe(task: Json, emit: Emit) -> Json:  # noqa: ARG001  # every handler takes both
    """Run one trial of a case with everything around it as ``flips`` say: what may be compared, and its steps where it is traced."""
    from invcheck.audits import documents  # noqa: PLC0415  # only an audit pays for these
    from invcheck.sandbox import flips, trace  # noqa: PLC0415  # likewise

    folders, asked = _folders(Path(task["root"])), task["flips"]
    ambient.install(str(folders.root), other=task["root"])
    steps, first = trace.Steps(folders.document), folders.standing()
    with flips.applied(asked), trace.traced(steps) if asked["trace"] else nullcontext():
        check, chosen = _chosen(task)
        ran = _trial.run(_trial.subject(check), chosen, task["seed"], folders)
    folders.clear(first)  # where a temp name is taken the library draws another one: the next run would have other names
    return {"document": documents.compared(ran.observation), "steps": steps.taken}


def _ahead(task: Json) -> None:
    """Import what an audit runs untraced, once for all cases of this worker; what is wrong with it is found again with each."""
    if task["do"] == "observe" and not task["flips"]["trace"]:
        from invcheck.sandbox import flips  # noqa: PLC0415  # only an audit pays for it

        with flips.around(task["flips"]), suppress(Exception, NetworkBlocked):
            _trial.subject(_check(task))
        network.pending()


def _wanted(breaches: list[dict[str, Json]]) -> list[Finding]:
    """Give the findings of attempts to leave the sandbox that stand in no observation."""
    return [replace(finding, path=None) for finding in breached(breaches)]


def _belated(came: tuple[int, Finding | dict[str, Json]]) -> Finding:
    """Give what came after a trial as a finding of that trial."""
    seed, what = came
    return replace(what if isinstance(what, Finding) else _wanted([what])[0], seed=seed)


def _folders(other: Path | None = None) -> Folders:
    return Folders(Path.cwd(), Path(os.environ["TMPDIR"]), monotonic=clock.real_monotonic, other=other)


def _check(task: Json) -> Check:
    if "python" not in task:
        return suite.build(task["check"])
    checks, _ = _python(task["python"])
    return _same(checks, "name", task["name"])


def _chosen(task: Json) -> tuple[Check, Case]:
    check = _check(task)
    return check, _same(check.cases, "id", task["case"])


def _same(found: Iterable[Named], attribute: str, name: str) -> Named:
    """What was collected by another worker stands here too, unless the file is another each time it is imported."""
    for each in found:
        if getattr(each, attribute) == name:
            return each
    raise Unevaluated(
        f"{name!r} was collected, and is not there when the file is imported again",
        code="CHECK_LOST",
        hint="what a check file declares must not depend on chance, time or what ran before",
    )


@cache
def _python(file: str) -> tuple[tuple[Check, ...], tuple[InvcheckError, ...]]:
    checks, problems = _collect.python_checks(Path(file), Path.cwd())
    breaches = _breaches(file)
    told = [problem for problem in problems if not (breaches and problem.fields.get("blocked"))]  # it is one of them
    return tuple(checks), (*told, *breaches)


def _placed(problem: InvcheckError, check: Check) -> InvcheckError:
    return problem if problem.place else _at(problem, check.place)


def _at(problem: InvcheckError, place: Place) -> InvcheckError:
    return type(problem)(problem.message, code=problem.code, place=place, hint=problem.hint, **problem.fields)


def _problem(problem: InvcheckError) -> Json:
    message = _folders().spelt(problem.message)
    return {"code": problem.code, "message": message, "hint": problem.hint, "place": spot(problem.place), "exit": problem.exit}


def main() -> None:
    """Serve until the supervisor closes the channel."""
    root = Path.cwd()
    sys.path.insert(0, str(root))
    box.install(root)
    # a case runs apart: what it leaves in the app's modules must not reach the next one, in whatever order they come
    channel.serve({"collect": collect, "prepare": prepare, "case": case, "observe": observe}, apart={"case", "observe"}, first=_ahead)


if __name__ == "__main__":
    main()
