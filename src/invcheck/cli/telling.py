"""Hand a run's events to whoever listens: the files of ``-o``, stdout, the progress line, and GitHub where it runs us."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from invcheck.cli import actions, console, exits, notes, outputs
from invcheck.cli.progress import ProgressLine
from invcheck.errors import InvcheckError, Unevaluated
from invcheck.events import SOFT, UNEVALUATED, Event, Problem, Progress, Started, worst
from invcheck.report import Report, reach

_SPEAKING = ("table", "md", "github")
"""What tells warnings itself; beside all else they are told on stderr, however quiet a run is asked to be."""


class Telling:
    """Listens to one run: streams JSON Lines as they come, and delivers every other report at the end."""

    def __init__(self, root: Path, files: Sequence[Path], form: str, verbosity: int, environ: Mapping[str, str]) -> None:
        self.root, self.files, self.form, self.verbosity, self.environ = root, files, form, verbosity, environ
        self.events: list[Event] = []
        self._streams: list[TextIO] = [outputs.stream(path) for path in files if outputs.kind(path) == "jsonl"]
        self._progress = ProgressLine(sys.stderr, dumb=environ.get("TERM") == "dumb" or verbosity < 0)

    def take(self, event: Event) -> None:
        """Listen to one event."""
        self._progress.take(event)
        if isinstance(event, Progress):
            return
        self.events.append(event)
        if isinstance(event, Started) and event.layer == SOFT and self.verbosity >= 0:
            console.say(notes.banner(event))
        if not self._streams and self.form != "jsonl":
            return
        from invcheck.report import jsonlines  # noqa: PLC0415  # only where lines are written

        line = jsonlines.line(event) or ""
        for stream in self._streams:
            outputs.append(stream, line)
        if self.form == "jsonl":
            console.data(line)

    def close(self) -> None:
        """Leave no line half done and no file open."""
        self._progress.clear()
        for stream in self._streams:
            stream.close()

    def abandon(self) -> None:
        """Tell the problems of a run that came to no report, so that the error that ended it hides none of them."""
        self.close()
        complain([event.error for event in self.events if isinstance(event, Problem)], self.environ)

    def finish(self) -> int:
        """Deliver every report but the streamed ones, remember what failed, and give the exit status."""
        self.close()
        report = Report.of(self.events)
        left = [path for path in self.files if outputs.kind(path) != "jsonl"]
        status = deliver(report, self.root, left, "" if self.form == "jsonl" else self.form, self.verbosity, self.environ)
        remember(report, self.root)
        return status


def complain(problems: Sequence[InvcheckError], environ: Mapping[str, str]) -> None:
    """Tell a person what could not be used, whatever stdout is for and however quiet a run is asked to be."""
    if not problems:
        return
    from invcheck.report import explain  # noqa: PLC0415  # --help must not load the house

    text = "".join(f"{explain.problem(error)}\n" for error in problems)
    console.write(sys.stderr, actions.fenced(text, "table", environ))


def deliver(report: Report, root: Path, files: Sequence[Path], form: str, verbosity: int, environ: Mapping[str, str]) -> int:
    """Write the files, stdout in ``form`` (nothing for an empty one), problems on stderr, what GitHub takes; give the status.

    A report that cannot be written any more is status 3, but hides no broken claim and no other report.
    """
    status = report.summary.status
    for path in files:
        try:
            outputs.replace(path, outputs.encode(report, outputs.kind(path), verbosity=max(verbosity, 0)))
        except OSError as error:
            console.say(f"error: -o {outputs.shown(path)} cannot be written: {error.strerror}")
            status = worst([status, UNEVALUATED])
    prefix = actions.prefix(root, environ)
    if form:
        colour = console.colour(sys.stdout, environ)
        text = outputs.encode(report, form, verbosity=verbosity, colour=colour, prefix=prefix, problems=False).decode()
        try:
            console.data(actions.fenced(text, form, environ))
        except Unevaluated as error:
            console.say(exits.spoken(error))
            status = worst([status, UNEVALUATED])
    complain(report.problems, environ)
    if form not in _SPEAKING:
        for text in reach.warnings([case.result for case in report.cases]):
            console.say(f"warning: {text}")
    actions.tell(report, form, prefix, environ)
    return status


def remember(report: Report, root: Path) -> None:
    """Keep what failed for ``--last-failed``; a project that is read-only is told of, and no error."""
    from invcheck.cli import state  # noqa: PLC0415  # a merge remembers nothing

    try:
        state.write(root, [case.result for case in report.cases])
    except OSError as error:
        console.say(f"note: --last-failed will not know this run: {state.FILE} cannot be written: {error.strerror}")
