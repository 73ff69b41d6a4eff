"""The order of the stages, and nothing else knows it: discover, collect, choose, prepare, run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from invcheck import _collect, _plan, results, suite
from invcheck.assertions.implied import breached
from invcheck.engines import confined
from invcheck.engines.limits import Limits
from invcheck.errors import CheckFileError, InvcheckError, Refused, Unevaluated
from invcheck.events import CaseDone, Ended, Event, Listing, Problem, Progress, RunOptions, Summary, summarise
from invcheck.suite import Check
from invcheck.vocabulary import Finding, Json, Place, Result, Verdict, placed

ENTRY = ("-m", "invcheck._worker")

Emit: TypeAlias = Callable[[Event], None]


@dataclass(slots=True)
class Course:
    """What the stages hand on: the options, the workers, and what is known so far."""

    options: RunOptions
    emit: Emit
    pool: confined.Pool
    files: _collect.Found = field(default_factory=_collect.Found)
    checks: list[Check] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    problems: list[InvcheckError] = field(default_factory=list)
    plan: _plan.Plan | None = None
    audited: list[tuple[Finding, ...]] = field(default_factory=list)
    done: list[Result] = field(default_factory=list)
    stopped: bool = False

    def problem(self, error: InvcheckError) -> None:
        """Tell of something that cannot be used, and go on."""
        self.problems.append(error)
        self.emit(Problem(error))


def discover(course: Course) -> None:
    """Find the check files that the paths name."""
    course.files = _collect.discover(_plan.files(course.options.paths), course.options.root)
    for problem in course.files.problems:
        course.problem(problem)


def collect(course: Course) -> None:
    """Read YAML files here, and have Python files imported by confined workers."""
    for path in course.files.yaml:
        checks, mistakes = _collect.yaml_checks(path, course.options.root)
        course.checks += checks
        for mistake in mistakes:
            course.problem(mistake)
    tasks = [{"do": "collect", "file": str(path), "allow": list(course.options.allow)} for path in course.files.python]
    for index, answer in _answers(course, tasks):
        for problem in _problems(answer, str(course.files.python[index])):
            course.problem(problem)
        done = answer.get("done") or {}
        course.checks += [suite.build(plain) for plain in done.get("checks", ())]
        course.sources[str(course.files.python[index])] = done.get("source", "")
    course.checks.sort(key=lambda check: (check.file, check.place.line or 0))


def choose(course: Course) -> None:
    """Select cases and shard them; a selection of nothing is refused unless a problem explains it."""
    general = course.options.allow
    course.checks = [replace(check, allow=tuple(sorted({*general, *check.allow}))) for check in course.checks]
    unread = {problem.place.file for problem in course.problems if problem.place}
    course.plan = _plan.plan(course.checks, course.options, unread=unread, sources=course.sources)
    for problem in course.plan.problems:
        course.problem(problem)


def prepare(course: Course) -> None:
    """Have every chosen YAML check's references resolved and inputs bound; a check that does not fit is left out."""
    plan = _planned(course)
    chosen = {unit.check.id: unit.check for unit in plan.units if not unit.check.python}
    checks = list(chosen.values())
    unfit: set[str] = set()
    for index, answer in _answers(course, [{"do": "prepare", "check": check.plain(), "allow": list(check.allow)} for check in checks]):
        for problem in _problems(answer, checks[index].file):
            course.problem(problem)
            unfit.add(checks[index].id)
    course.plan = replace(plan, units=tuple(unit for unit in plan.units if unit.check.id not in unfit))


def begin(course: Course) -> None:
    """Tell what will be run, and behind what walls."""
    course.emit(_planned(course).started(course.pool.layer, course.pool.reason))


def audit(course: Course) -> None:
    """Where that is asked for, find what in each case's result comes of what surrounds it; told with the case's own findings."""
    if not course.options.audit:
        return
    from invcheck import _audit  # noqa: PLC0415  # most runs are none

    units = _planned(course).units

    def ask(tasks: list[Json]) -> Iterator[tuple[int, Json]]:
        return ((index, message) for index, message in course.pool.run(tasks) if "event" not in message)

    subjects = [_audit.Subject(_task(unit), unit.check.accepts, unit.check.places.get("audit")) for unit in units]
    course.audited = _audit.audit(subjects, ask, course.options.root)


def run_trials(course: Course) -> None:
    """Run and judge every case in the workers; results are told in plan order, whoever was first."""
    plan, options = _planned(course), course.options
    waiting: dict[int, Result] = {}
    following = failed = trials = 0
    for index, message in course.pool.run(_task(unit) for unit in plan.units):
        if "event" in message:
            trials += 1
            course.emit(Progress(trials, failed))
            continue
        waiting[index] = _with(_result(plan.units[index], message), course.audited[index] if course.audited else ())
        while following in waiting:
            result = waiting.pop(following)
            course.done.append(result)
            course.emit(CaseDone(plan.units[following].n, result))
            following += 1
            failed += result.verdict is not Verdict.KEPT
            if options.fail_fast_after is not None and failed >= options.fail_fast_after:
                course.stopped = following < len(plan.units)
                return
    _whole(following, len(plan.units), "case")


STAGES = (discover, collect, choose, prepare, begin, audit, run_trials)


def run(options: RunOptions, emit: Emit) -> Summary:
    """Run what the options select, tell everything as events, and give what it came to.

    Usage errors and refusals are raised before the first case; an interrupt ends the run with what was told so far.
    """
    with _course(options, emit) as course:
        interrupted = False
        try:
            for stage in STAGES:
                stage(course)
        except KeyboardInterrupt:
            interrupted = True
            course.pool.abandon()
        summary = summarise(course.done, course.problems, stopped=course.stopped, interrupted=interrupted)
    emit(Ended(summary))
    return summary


def list_cases(options: RunOptions) -> Listing:
    """Give what `run` would run, in plan order, and what could not be used; no trial is run."""
    with _course(options, lambda _event: None) as course:
        for stage in STAGES[: STAGES.index(prepare)]:
            stage(course)
        return Listing(_planned(course).listed(), tuple(course.problems))


class _course:  # noqa: N801  # reads as a word at its two uses
    """A course whose workers end with the block."""

    def __init__(self, options: RunOptions, emit: Emit) -> None:
        self.pool = confined.Pool(
            ENTRY,
            jobs=options.jobs,
            require_kernel=options.require_kernel,
            cap_seconds=options.trial_seconds,
            limits=Limits(memory=options.memory, cpu_seconds=options.cpu_seconds),
            root=options.root,
            keep_env=options.keep_env,
        )
        self.course = Course(options, emit, self.pool)

    def __enter__(self) -> Course:
        return self.course

    def __exit__(self, *_exc: object) -> None:
        self.pool.close()


def _planned(course: Course) -> _plan.Plan:
    if course.plan is None:
        raise Unevaluated("no plan was made before it was needed", code="INTERNAL")
    return course.plan


def _answers(course: Course, tasks: list[Json]) -> Iterator[tuple[int, Json]]:
    """Every task's last message, in the order of the tasks."""
    last = {index: message for index, message in course.pool.run(tasks) if "event" not in message}
    _whole(len(last), len(tasks), "answer")
    return iter(sorted(last.items()))


def _whole(came: int, asked: int, what: str) -> None:
    """Make sure that nothing was lost on the way: a case that nobody judged is no case that is kept."""
    if came != asked:
        raise Unevaluated(f"{what} {came + 1} of {asked} did not come back from the workers", code="INTERNAL")


def _problems(answer: Json, file: str) -> list[InvcheckError]:
    if "done" in answer:
        return [_error(problem) for problem in answer["done"]["problems"]]
    if "failed" in answer:
        return [_error(answer["failed"])]
    return [CheckFileError(f"while this file was loaded, {_lost(answer)}", code="LOAD_DIED", place=Place(file))]


def _lost(answer: Json) -> str:
    """How a task was lost, in words."""
    if "died" in answer:
        return f"the worker died: {answer['died']}"
    where = f", in {answer['where']}" if answer.get("where") else ""
    if "used" in answer:
        return f"{answer['words']}{where.rpartition(', line ')[0] or where}"  # a line of a loop is chance
    return f"nothing was heard for {answer['capped']:g} seconds{where}"


_USED_UP = {
    "memory": ("TRIAL_MEMORY", "raise gate.memory in the settings where the app really needs more"),
    "cpu": ("TRIAL_CPU", "raise cpu-seconds in the settings where the app really needs longer"),
    "processes": ("TRIAL_PROCESSES", "an app that starts one process for each thing it does needs a pool"),
}
_KINDS = {2: CheckFileError, 3: Unevaluated, 4: Refused}


def _error(problem: Json) -> InvcheckError:
    kind = _KINDS.get(problem.get("exit", 3), Unevaluated)
    return kind(problem["message"], code=problem["code"], place=placed(problem.get("place")), hint=problem.get("hint"))


def _task(unit: _plan.Unit) -> Json:
    """What a worker must know of one case: of its check, which may have thousands, no other goes along."""
    alone = replace(unit.check, cases=(unit.case,))
    check = {"python": unit.check.file, "name": unit.check.name} if unit.check.python else {"check": alone.plain()}
    allow = list(unit.check.allow)
    return {"do": "case", **check, "case": unit.case.id, "seed": unit.seed, "runs": unit.runs, "complete": unit.complete, "allow": allow}


def _result(unit: _plan.Unit, message: Json) -> Result:
    """What came back from a worker; a worker that died or was stopped is a case that could not be judged."""
    if "done" in message:
        return replace(results.build(message["done"]), allowed=unit.check.allow)
    findings = breached(message.get("breaches") or [])
    if "failed" in message:
        failed = message["failed"]
        findings.append(Finding(failed["code"], Verdict.ERRORED, failed["message"], hint=failed.get("hint")))
    elif "died" in message:
        findings.append(Finding("WORKER_DIED", Verdict.ERRORED, f"in a trial of this case {_lost(message)}"))
    elif "used" in message:
        code, hint = _USED_UP[message["used"]]
        findings.append(Finding(code, Verdict.ERRORED, f"in a trial of this case {_lost(message)}", hint=hint))
    else:
        hint = "raise trial-seconds in the settings where the app really needs longer"
        findings.append(Finding("TRIAL_TIMEOUT", Verdict.ERRORED, f"in a trial of this case {_lost(message)}", hint=hint))
    verdict = Verdict.BROKEN if any(finding.verdict is Verdict.BROKEN for finding in findings) else Verdict.ERRORED
    return Result(
        check=unit.check.id,
        case=unit.case.id,
        place=unit.case.place or unit.check.place,
        seed=unit.seed,
        runs=unit.runs,
        trials={verdict.value: unit.runs},
        verdict=verdict,
        findings=tuple(findings),
        tags=unit.check.tags,
        allowed=unit.check.allow,
    )


def _with(result: Result, findings: tuple[Finding, ...]) -> Result:
    """Give a result with what an audit found: what differs is broken, whatever its trials came to."""
    if not findings:
        return result
    worst = Verdict.BROKEN if any(finding.verdict is Verdict.BROKEN for finding in findings) else Verdict.ERRORED
    verdict = result.verdict if result.verdict is Verdict.BROKEN else worst
    return replace(result, findings=(*result.findings, *findings), verdict=verdict)
