"""The other commands, the parser's words, the streams and the progress line."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from invcheck import __version__, suite
from invcheck.cli import console, main, outputs
from invcheck.cli.progress import ProgressLine
from invcheck.errors import CheckFileError, Unevaluated
from invcheck.events import CaseDone, Ended, Listed, Listing, Progress, Started, summarise
from invcheck.report import jsonlines
from invcheck.vocabulary import Place, Result, Verdict

Said = Callable[..., tuple[int, str, str]]

ENDINGS = "  hint: known endings: .jsonl, .json, .xml, .md, .txt\n"
LISTED = (
    Listed("checks/a.yaml::adds", "one", Place("checks/a.yaml", 3, 5), 200, ("slow", "qa")),
    Listed("checks/日本.yaml::x", "a\nb", Place("checks/日本.yaml", 1), 1),
)


def test_list_gives_one_name_a_line(said: Said, fake: Any) -> None:
    """Each name selects its case; control characters are spelled."""
    fake.listing = Listing(LISTED)
    assert said("list") == (0, "checks/a.yaml::adds[one]\nchecks/日本.yaml::x[a\\nb]\n", "")


def test_a_long_list_shows_trials_tags_and_places(said: Said, fake: Any) -> None:
    """With -v it is a table."""
    fake.listing = Listing(LISTED)
    assert said("list", "-v", "-k", "x", "--tag", "t") == (
        0,
        (
            "  trials  tags      place               case\n"
            "--------  --------  ------------------  -------------------------\n"
            "     200  slow, qa  checks/a.yaml:3:5   checks/a.yaml::adds[one]\n"
            "       1            checks/日本.yaml:1  checks/日本.yaml::x[a\\nb]\n"
        ),
        "",
    )
    assert (fake.options.keyword, fake.options.tags) == ("x", ("t",))


def test_a_list_tells_problems_and_has_their_status(said: Said, fake: Any) -> None:
    """A file that cannot be used is told on stderr; the others are listed."""
    fake.listing = Listing(LISTED[:1], (CheckFileError("unknown key", place=Place("b.yaml", 2, 1)),))
    assert said("list") == (2, "checks/a.yaml::adds[one]\n", "CHECK_FILE  b.yaml:2:1: unknown key\n")


RESULTS = [
    Result(f"{n}.yaml::x", "c", Place(f"{n}.yaml"), 0, 2, {"kept": 2 - n, "broken": n}, verdict)
    for n, verdict in enumerate([Verdict.KEPT, Verdict.BROKEN])
]


def shard(folder: Path, name: str, part: tuple[int, int], *cases: int) -> None:
    started = Started(len(cases), 2 * len(cases), 0, part, 2, "p", "K1")
    events = [started, *(CaseDone(n, RESULTS[n]) for n in cases), Ended(summarise([RESULTS[n] for n in cases]))]
    (folder / name).write_text("".join(jsonlines.line(event) or "" for event in events))


def test_merge_makes_one_report_of_shards(said: Said, project: Path) -> None:
    """The merged run is told, written and judged as if it had been one; nothing is remembered."""
    shard(project, "1.jsonl", (1, 2), 1)
    shard(project, "2.jsonl", (2, 2), 0)
    assert said("merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl", "-o", "all.json") == (
        1,
        (
            "verdict      cases    broken  check\n"
            "---------  -------  --------  ---------\n"
            "kept             1    0 of 2  0.yaml::x\n"
            "broken           1    1 of 2  1.yaml::x\n\n"
            "2 cases: 1 kept, 1 broken. 1 of 4 trials broken. Seed 0, gate K1.\n"
        ),
        "",
    )
    assert sorted(path.name for path in project.iterdir()) == ["1.jsonl", "2.jsonl", "all.json", "all.jsonl"]
    assert said("merge", "all.jsonl", "--format", "json")[:2] == (1, (project / "all.json").read_text())
    assert said("merge", "all.jsonl", "--format", "jsonl")[:2] == (1, (project / "all.jsonl").read_text())


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("1.jsonl",), "error: shard 2/2 is missing\n  hint: give the JSON Lines of every shard\n"),
        (("no.jsonl",), "error: no.jsonl cannot be read: No such file or directory\n"),
        (("latin.jsonl",), "error: latin.jsonl cannot be read: it is no UTF-8 text\n"),
        (("cut.jsonl",), "error: cut.jsonl:1: the line is cut off\n"),
        (("1.jsonl", "-o", "x.html"), "error: -o x.html: .html is no report that invcheck writes\n" + ENDINGS),
    ],
)  # fmt: skip
def test_a_merge_that_is_no_whole_is_status_2(said: Said, project: Path, words: tuple[str, ...], stderr: str) -> None:
    """What is wrong is told, and nothing else."""
    shard(project, "1.jsonl", (1, 2), 1)
    (project / "latin.jsonl").write_bytes(b"\xe9\n")
    (project / "cut.jsonl").write_text('{"kind": "run"')
    assert said("merge", *words) == (2, "", stderr)


def test_schema_prints_sorted_json(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted keys, so that a committed copy changes only when the schema does."""
    monkeypatch.setattr(suite, "schema", lambda: {"b": "é", "a": 1}, raising=False)
    assert said("schema") == (0, '{\n  "a": 1,\n  "b": "é"\n}\n', "")


def test_version(said: Said) -> None:
    """One line."""
    assert said("--version") == (0, f"invcheck {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("rnu",), "error: No such command 'rnu'. Did you mean 'run'?\n  hint: `invcheck --help` shows what can be said\n"),
        (("merge",), "error: Missing argument 'FILE'.\n  hint: `invcheck merge --help` shows what can be said\n"),
    ],
)
def test_words_that_name_nothing_are_status_2(said: Said, words: tuple[str, ...], stderr: str) -> None:
    """No rich box, no traceback: one line and a hint."""
    assert said(*words) == (2, "", stderr)


def test_an_unknown_flag_is_status_2_and_names_near_ones(said: Said) -> None:
    """A misspelt flag is told with what it may have meant."""
    status, stdout, stderr = said("run", "--sede", "1")
    assert (status, stdout) == (2, "")
    assert stderr.startswith("error: No such option: --sede")
    assert "--seed" in stderr
    assert stderr.endswith("\n  hint: `invcheck run --help` shows what can be said\n")


def test_no_command_at_all_shows_help_and_is_no_success(said: Said) -> None:
    """An empty variable in a script must not be green."""
    helped = said("--help")
    assert helped[0] == 0
    assert said() == (2, helped[1], "")


def test_help_has_no_ansi_and_names_every_command(said: Said) -> None:
    """Plain text."""
    _, stdout, stderr = said("--help")
    assert "\x1b" not in stdout
    assert stderr == ""
    for command in ("run", "list", "merge", "schema"):
        assert f"\n  {command} " in stdout
        status, text, _ = said(command, "-h")
        assert (status, text.startswith(f"Usage: invcheck {command} ")) == (0, True)


def test_an_abort_of_the_parser_is_an_interrupt(said: Said, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the parser makes of an interrupt is 130 here."""
    monkeypatch.setattr(
        typer.main, "get_command", lambda app: type("C", (), {"main": lambda *a, **k: (_ for _ in ()).throw(typer.Abort)})()
    )
    assert said("run") == (130, "", "interrupted\n")


def test_a_reader_that_goes_away_from_the_parsers_own_help_is_fine(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser ends with a 1 there, which only a broken claim may."""

    def gone(*_words: object, **_rest: object) -> None:
        raise SystemExit(1)

    monkeypatch.setattr(typer.main, "get_command", lambda _app: type("C", (), {"main": gone})())
    assert said("--help") == (0, "", "")


# the process as a whole


def child(*words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("INVCHECK_", "GITHUB_", "LC_", "LANG", "PYTHONIO", "PYTHONUTF8"))
    }
    return subprocess.run([sys.executable, *words], capture_output=True, check=False, env={**clean, **environ})


HEAVY = (
    "pydantic",
    "hypothesis",
    "sqlalchemy",
    "yaml",
    "tabulate",
    "jsonpath_ng",
    "asyncio",
    "rich",
    "junitparser",
    "jsonschema",
    "orjson",
)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["run", "--help"]])
def test_short_commands_import_nothing_heavy(words: list[str]) -> None:
    """--version and --help load the parser and little else."""
    code = (
        f"import sys; from invcheck.cli import main; main({words!r}); sys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))"
    )
    done = child("-c", code)
    assert (done.returncode, done.stderr) == (0, b"")


def test_python_m_invcheck_is_invcheck() -> None:
    """The same words, the same help, the same name."""
    assert child("-m", "invcheck", "--version").stdout == f"invcheck {__version__}\n".encode()
    assert child("-m", "invcheck", "--help").stdout.startswith(b"Usage: invcheck [OPTIONS]")
    assert child("-m", "invcheck", "no").returncode == 2


@pytest.mark.parametrize(
    "environ",
    [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii:strict"}],
)
def test_output_is_utf8_under_any_locale(environ: dict[str, str]) -> None:
    """Japanese and half a surrogate pair are written whatever the locale says; the half is spelled."""
    code = "from invcheck.cli import console; import sys; console.use_utf8(); "
    code += "console.write(sys.stdout, '\\u65e5\\u672c \\ud800\\n'); console.say('\\xe9')"
    done = child("-c", code, **environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "日本 \\ud800\n".encode(), "é\n".encode())


KILLED = """
import os, signal, sys, types
import invcheck
from invcheck.cli import main
from invcheck.events import CaseDone, Started
from invcheck.vocabulary import Place, Result, Verdict

def run(options, emit):
    emit(Started(2, 2, 0, None, 2, "p", "K1"))
    emit(CaseDone(0, Result("a.yaml::x", "c", Place("a.yaml"), 0, 1, {"kept": 1}, Verdict.KEPT)))
    os.kill(os.getpid(), signal.SIGKILL)

invcheck._pipeline = sys.modules["invcheck._pipeline"] = types.SimpleNamespace(run=run)
main(["run", "-o", "r.jsonl", "-o", "r.json", "--format", "jsonl"])
"""


def test_a_killed_run_leaves_a_valid_prefix(project: Path) -> None:
    """What was told before the kill stands in the file and on stdout, whole lines only; no half report is left."""
    done = child("-c", KILLED)
    assert done.returncode == -signal.SIGKILL
    lines = (project / "r.jsonl").read_text().splitlines(keepends=True)
    assert done.stdout.decode().splitlines(keepends=True) == lines
    assert [type(event).__name__ for event in jsonlines.read(lines, "r.jsonl")] == ["Started", "CaseDone"]
    assert [path.name for path in project.iterdir()] == ["r.jsonl"]


def test_a_reader_that_goes_away_changes_no_status_and_makes_no_noise() -> None:
    """`invcheck ... | head` ends quietly: with the command's own status, never 1, and nothing on stderr."""
    for words, status in ((["--version"], 0), (["--help"], 0)):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([sys.executable, "-m", "invcheck", *words], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (status, b"")


UNDELIVERED = "error: stdout cannot be written: {reason}\n  hint: -q with -o FILE asks for no table\n"


@pytest.mark.parametrize("words", ["--version", "--help", "schema", "list", "run", "run --format jsonl"])
@pytest.mark.parametrize(("where", "reason"), [(">&-", "it is closed"), (">/dev/full", "No space left on device")])
def test_what_cannot_be_delivered_is_an_error(words: str, where: str, reason: str, project: Path) -> None:
    """A stdout that is closed or full loses what was asked for: status 3 with its reason, neither a success nor a broken claim."""
    (project / "checks").mkdir()
    (project / "b.py").write_text("def app(q):\n    return q\n")
    (project / "checks" / "a.yaml").write_text("check: a\napp: b:app\ncases: [{input: 1}]\nexpect: [{calls: 0}]\n")
    command = f"{sys.executable} -m invcheck {words}"
    if words == "--help" and where == ">&-":
        return  # the parser takes a missing stdout for one that wants nothing
    done = subprocess.run(["sh", "-c", f"{command} {where}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, UNDELIVERED.format(reason=reason))
    mute = subprocess.run(["sh", "-c", f"{command} {where} 2>/dev/full"], check=False)
    assert mute.returncode == 3


def test_a_stderr_that_is_full_changes_no_status(project: Path) -> None:
    """Where nobody can be told why, the status still says what kind of thing it was."""
    for words, status in (("run checks/none.yaml", 2), ("--nope", 2), ("run -k 'a b'", 2), ("run", 5)):
        done = subprocess.run(["sh", "-c", f"{sys.executable} -m invcheck {words} 2>/dev/full"], capture_output=True, check=False)
        assert done.returncode == status


def test_a_full_disk_ends_a_streamed_report_in_our_own_words(project: Path, tmp_path: Path) -> None:
    """Lines that cannot be written are told of, status 3; nobody is asked to report a fault of ours."""
    with pytest.raises(Unevaluated, match="No space left on device") as told, outputs.stream(Path("/dev/full")) as stream:
        outputs.append(stream, "line\n")
    assert told.value.code == "OUTPUT_FAILED"
    assert stream.closed


def test_a_pipe_without_a_reader_is_silenced_once() -> None:
    """After the first write that fails, everything goes nowhere, also what is flushed at the end of the process."""
    read, write = os.pipe()
    stream = os.fdopen(write, "w")
    os.close(read)
    console.write(stream, "x")
    console.write(stream, "y" * 100_000)
    stream.close()


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_run_goes_on_when_its_reader_is_gone(fake: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are written and the status is the run's."""
    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(["run", "-o", "r.json"]) == 1
    assert (project / "r.json").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


STARTED = Started(2, 400, 0, None, 2, "p", "K1")


def test_a_long_run_shows_a_line_that_moves_and_goes() -> None:
    """After half a second, ten times a second at most, and gone at the end."""
    times = iter([0.0, 0.4, 0.6, 0.6, 0.65, 0.8, 0.8])
    stream = Terminal()
    line = ProgressLine(stream, now=lambda: next(times))
    for event in (STARTED, Progress(10, 0), Progress(20, 0), Progress(30, 1), Progress(40, 2), Ended(summarise([]))):
        line.take(event)
    line.clear()
    line.clear()
    assert stream.getvalue() == "\r\x1b[K20 of 400 trials\r\x1b[K40 of 400 trials, 2 not kept\r\x1b[K"


@pytest.mark.parametrize(("stream", "dumb"), [(io.StringIO(), False), (Terminal(), True), (None, False)])
def test_no_line_moves_where_nobody_looks(stream: io.StringIO | None, dumb: bool) -> None:
    """Not in a pipe, not on a dumb terminal, not without a stream."""
    times = iter([0.0])
    line = ProgressLine(stream, dumb=dumb, now=lambda: next(times))
    for event in (STARTED, Progress(10, 0)):
        line.take(event)
    line.clear()
    assert stream is None or stream.getvalue() == ""


def test_writing_to_nowhere_is_no_error() -> None:
    """A process without streams has None in their place."""
    console.write(None, "x")
