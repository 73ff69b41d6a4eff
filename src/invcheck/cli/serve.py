"""``invcheck serve``: a double on a loopback port, from a script file, until it is interrupted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from invcheck.double import Double
    from invcheck.faces.server import Served
    from invcheck.record import Record

File = Annotated[str, typer.Argument(help="A script, as `model` in a check file: YAML, or JSON.", metavar="FILE", show_default=False)]
Port = Annotated[str | None, typer.Option("--port", help="The port; 0 is one that is free.", metavar="N", show_default=False)]
Silence = Annotated[
    str | None,
    typer.Option(
        "--silence",
        help="Real seconds that a time-out, a silence or a wait lasts at most; 2 by default.",
        metavar="SECONDS",
        show_default=False,
    ),
]
PrintEnv = Annotated[bool, typer.Option("--print-env", help="Print the variables that providers' clients read.", show_default=False)]


def serve(file: File, port: Port = None, silence: Silence = None, print_env: PrintEnv = False) -> Callable[[], int]:
    """Serve a scripted double on 127.0.0.1, for drills and local development: no model, and never for users.

    It speaks OpenAI's chat completions and responses and Anthropic's messages, until Ctrl-C. Here time is real: latency and
    pace are waited for. Exit status: 0, 1 where a call was refused, 2 usage, 3 where the script itself failed, where calls
    overlapped or a wait was cut; steps that nobody used are told only.
    """
    said = {"port": port, "silence": silence, "print_env": print_env}
    return lambda: execute(file, said, os.environ, Path.cwd())


def execute(file: str, said: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> int:
    """Serve until a signal comes, and give the exit status; errors of ours are raised."""
    import signal  # noqa: PLC0415  # --help must not load the house
    import sys  # noqa: PLC0415  # as above

    from invcheck import record, settings  # noqa: PLC0415  # as above
    from invcheck.cli import console, reading, signals  # noqa: PLC0415  # as above
    from invcheck.faces.server import SILENCE, Server  # noqa: PLC0415  # as above
    from invcheck.resolve import resolve  # noqa: PLC0415  # as above
    from invcheck.sandbox.serverloop import RealWaits  # noqa: PLC0415  # as above
    from invcheck.sources.scriptfile import script  # noqa: PLC0415  # as above

    given = reading.Given(said, environ)
    given.no_strangers()
    port = given.one("port", reading.port, "a port from 0 to 65535", 0)
    silence = given.one("silence", seconds, "seconds from 0, such as 2.5", SILENCE)
    sys.path.insert(0, str(settings.project(here)))  # a script's references start there, as those of a check do
    make = script(here / file, file, load=resolve)
    held = record.Record()
    held.clock = RealWaits(held, silence)
    with record.opened(held), signals.interrupting(signal.SIGINT):
        double = make()
        try:
            with Server(double, port=port, silence=silence, real=True) as served:
                if given.switch("print_env"):
                    console.data("".join(f"export {name}={value}\n" for name, value in served.environ.items()))
                console.say(banner(file, served))
                wait()
        except KeyboardInterrupt:
            pass  # how a server ends
        return told(held, double)


def seconds(text: str) -> float | None:
    """Read seconds from 0, in plain digits with or without a fraction."""
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else None


def wait() -> None:
    """Wait for the signal that ends this process."""
    import signal  # noqa: PLC0415  # as above

    signal.pause()


def banner(file: str, served: Served) -> str:
    """Give what a person is told who has a double served."""
    return (
        f"a double, not a model: every reply comes from {file}, loopback only, until Ctrl-C\n"
        f"  OpenAI     {served.openai}\n"
        f"  Anthropic  {served.anthropic}"
    )


def told(held: Record, double: Double) -> int:
    """Tell what became of the calls, what was wrong and what is left over, and give the exit status."""
    from invcheck.cli import console  # noqa: PLC0415  # as above
    from invcheck.events import BROKEN, UNEVALUATED, worst  # noqa: PLC0415  # as above
    from invcheck.report.visible import visible  # noqa: PLC0415  # as above
    from invcheck.vocabulary import State, Verdict  # noqa: PLC0415  # as above

    counts = double.counts
    ended = ", ".join(f"{count} {state}" for state in State if (count := getattr(counts, state)))
    console.say(f"{counts.attempted} call{'' if counts.attempted == 1 else 's'}{': ' if ended else ''}{ended}.")
    for finding in held.latches:
        console.say(visible(f"{finding.code}  {finding.message}"))
        if finding.hint:
            console.say(visible(f"  hint: {finding.hint}"))
    for finding in double.leftover():
        console.say(visible(f"note: {finding.message}"))
    return worst(BROKEN if finding.verdict is Verdict.BROKEN else UNEVALUATED for finding in held.latches)
