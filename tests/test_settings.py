"""Settings: strict, from one file, and a mistake names its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from invcheck.errors import ConfigError
from invcheck.settings import Settings, load, project

EVERYTHING = """\
paths = ["checks", "more"]
runs = 20
seed = 7
jobs = 2
tags = ["quick"]
output = ["reports/run.jsonl"]
trial-seconds = 5
cpu-seconds = 2.5
keyword = "refund"
max-failures = 3
allow-empty = true
audit = true
format = "junit"
quiet = 1
verbose = 2

[gate]
require = "kernel"
memory = "1.5GiB"
keep-env = ["SHOP_SIGNING_KEY"]
allow = ["unix:/run/shop.sock", "tcp:localhost:5432"]
"""


def write(root: Path, text: str, name: str = "invcheck.toml") -> None:
    """Put a settings file into a project."""
    (root / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("tool = 'invcheck'\n", "pyproject.toml:1:1", "tool is a table, got 'invcheck'"),
        ("[tool]\ninvcheck = 5\n", "pyproject.toml:2:1", "tool.invcheck is a table, got 5"),
        ("[tool]\ninvcheck = []\n", "pyproject.toml:2:1", "tool.invcheck is a table, got []"),
    ],
)
def test_a_table_is_a_table(text: str, place: str, message: str, tmp_path: Path) -> None:
    """Whatever else stands in its place has a line, and is no fault of ours."""
    write(tmp_path, text, "pyproject.toml")
    error = refused(tmp_path)
    assert (error.code, str(error.place), error.message) == ("WRONG_TYPE", place, message)


@pytest.mark.parametrize("name", ["pyproject.toml", "invcheck.toml"])
@pytest.mark.parametrize("ask", [load, project])
def test_settings_that_cannot_be_read_are_told(
    name: str, ask: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is set there is not known, so nothing runs without it; only where it is named is the file not needed."""
    write(tmp_path, "[tool.invcheck]\n", name)

    def read_bytes(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    if ask is project and name == "invcheck.toml":
        assert project(tmp_path) == tmp_path
        return
    with pytest.raises(ConfigError, match="this file cannot be read: Permission denied") as caught:
        ask(tmp_path)
    assert (caught.value.code, str(caught.value.place)) == ("UNREADABLE_FILE", name)


def refused(root: Path) -> ConfigError:
    """Give the error that a project's settings are refused with."""
    with pytest.raises(ConfigError) as caught:
        load(root)
    return caught.value


def test_without_settings_the_defaults_hold(tmp_path: Path) -> None:
    """No file, a pyproject.toml of others, and one that only names invcheck, are all the same."""
    assert load(tmp_path) == Settings()
    write(tmp_path, "[tool.ruff]\nline-length = 100\n", "pyproject.toml")
    assert load(tmp_path) == Settings()
    write(tmp_path, "[project]\nname = 'a'\ndependencies = ['invcheck']\n", "pyproject.toml")
    assert load(tmp_path) == Settings()
    assert (Settings().paths, Settings().seed, Settings().trial_seconds, Settings().gate_require) == ((), 0, 60.0, None)


@pytest.mark.parametrize("name", ["invcheck.toml", "pyproject.toml"])
def test_both_files_hold_the_same_settings(tmp_path: Path, name: str) -> None:
    """In pyproject.toml they stand below tool.invcheck."""
    text = EVERYTHING
    if name == "pyproject.toml":
        text = "[tool.invcheck]\n" + EVERYTHING.replace("[gate]", "[tool.invcheck.gate]")
    write(tmp_path, text, name)
    assert load(tmp_path) == Settings(
        ("checks", "more"), 20, 7, 2, ("quick",), ("reports/run.jsonl",), 5.0, "kernel", ("SHOP_SIGNING_KEY",),
        ("tcp:127.0.0.1:5432", "tcp:[::1]:5432", "unix:/run/shop.sock"),
        cpu_seconds=2.5, gate_memory=1_610_612_736, keyword="refund", max_failures=3, allow_empty=True,
        audit=True, format="junit", quiet=1, verbose=2, file=name,
    )  # fmt: skip


def test_a_dotted_key_is_the_same_as_a_table(tmp_path: Path) -> None:
    """TOML has several spellings of one thing."""
    write(tmp_path, 'gate.require = "kernel"\n')
    assert load(tmp_path).gate_require == "kernel"


def test_two_files_with_settings_are_refused(tmp_path: Path) -> None:
    """Nobody would know which one holds."""
    write(tmp_path, "runs = 1\n")
    write(tmp_path, "[tool.invcheck]\nruns = 2\n", "pyproject.toml")
    assert refused(tmp_path).code == "TWO_SETTINGS"


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("seed = 1\nrunz = 1\n", "UNKNOWN_KEY", "invcheck.toml:2:1", "did you mean 'runs'?"),
        ("trial_seconds = 1\n", "UNKNOWN_KEY", "invcheck.toml:1:1", "did you mean 'trial-seconds'?"),
        ("[gate]\nrequires = 'kernel'\n", "UNKNOWN_KEY", "invcheck.toml:2:1", "did you mean 'gate.require'?"),
        ("'zzz' = 1\n", "UNKNOWN_KEY", "invcheck.toml:1:1", None),
        ("[zzz]\na = 1\n", "UNKNOWN_KEY", "invcheck.toml:1:1", None),
        ("[other]\nb = 1\n[zzz.a]\na = 1\n", "UNKNOWN_KEY", "invcheck.toml:1:1", None),
        ("  runs = '1'\n", "WRONG_TYPE", "invcheck.toml:1:3", None),
        ("runs = true\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("runs = 0\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("seed = -1\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("paths = 'checks'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("paths = [1]\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("trial-seconds = 0\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("trial-seconds = inf\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("cpu-seconds = -1\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.memory = 2\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.memory = '2GB'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.memory = '127MiB'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("[gate]\nmemory = 'much'\n", "WRONG_TYPE", "invcheck.toml:2:1", None),
        ("keyword = 1\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("max-failures = 0\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("allow-empty = 1\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("format = 'html'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("quiet = true\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("verbose = -1\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate = 1\n", "UNKNOWN_KEY", "invcheck.toml:1:1", None),
        ("seed = 1\n gate . require = 'soft'\n", "WRONG_TYPE", "invcheck.toml:2:2", None),
        ("gate = {require = 'soft'}\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.keep-env = 'SHOP'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.allow = 'tcp:127.0.0.1:5432'\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("seed = 1\n[gate]\nallow = ['127.0.0.1:5432']\n", "ALLOW_INVALID", "invcheck.toml:3:1", "write tcp:127.0.0.1:5432"),
        ("gate.keep-env = ['SHOP', 'OPENAI_API_KEY']\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.keep-env = ['https_proxy']\n", "WRONG_TYPE", "invcheck.toml:1:1", None),
        ("gate.keep_env = ['SHOP']\n", "UNKNOWN_KEY", "invcheck.toml:1:1", "did you mean 'gate.keep-env'?"),
        ("runs = \n", "TOML_SYNTAX", "invcheck.toml:1:8", None),
        ("runs = 1\nruns = 2\n", "TOML_SYNTAX", None, None),
        ("runs = 'a\n", "TOML_SYNTAX", None, None),
        ("a = '''", "TOML_SYNTAX", None, None),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, text: str, code: str, place: str | None, hint: str | None) -> None:
    """Key and line, what the key takes, and the nearest key that exists."""
    write(tmp_path, text)
    error = refused(tmp_path)
    assert error.code == code
    if place is not None:
        assert str(error.place) == place
    if hint is not None:
        assert error.hint == hint


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[tool.other]\na = 1\n[tool.invchek]\ngate.require = 'kernel'\n", "pyproject.toml:3:1"),
        ("[tool.Invcheck.gate]\nrequire = 'kernel'\n", "pyproject.toml:1:1"),
        ("[tool.inv-check]\n", "pyproject.toml:1:1"),
        ("[invcheck]\nruns = 1\n", "pyproject.toml:1:1"),
        ("[tools.invcheck]\nruns = 1\n", "pyproject.toml:1:1"),
        ("[tool]\n invchekc = {runs = 1}\n", "pyproject.toml:2:2"),
        ("tool.inv_check.runs = 1\n", "pyproject.toml:1:1"),
        ("[tool.invcheck]\nruns = 1\n[tool.incvheck]\nruns = 2\n", "pyproject.toml:3:1"),
    ],
)
def test_a_misspelt_table_is_told(tmp_path: Path, text: str, place: str) -> None:
    """Settings that nobody reads would be switched off in silence."""
    write(tmp_path, text, "pyproject.toml")
    error = refused(tmp_path)
    assert (error.code, str(error.place), error.hint) == ("UNKNOWN_KEY", place, "did you mean [tool.invcheck]?")


@pytest.mark.parametrize("text", ["[tool.invoke]\na = 1\n", "[tool]\n", "tool = 1\n", "[project]\nname = 'x'\n", "# inv\n[broken\n"])
def test_what_is_not_ours_is_left_alone(tmp_path: Path, text: str) -> None:
    """Other tools' tables, and a file that is no TOML and does not speak of us: whoever reads it will say so."""
    write(tmp_path, text, "pyproject.toml")
    assert load(tmp_path).file is None


def test_a_mistake_in_pyproject_is_found_in_its_own_table(tmp_path: Path) -> None:
    """A key of the same name in another tool's table is passed over."""
    write(tmp_path, "[tool.other]\nrunz = 1\n[[tool.list]]\nrunz = 1\n[ tool . invcheck ]\nrunz = 1\n", "pyproject.toml")
    error = refused(tmp_path)
    assert str(error) == "pyproject.toml:6:1: unknown key 'runz'\n  hint: did you mean 'runs'?"


def test_a_wrong_type_shows_what_was_found(tmp_path: Path) -> None:
    """Expected and got stand in one line."""
    write(tmp_path, 'runs = "many"\n')
    assert str(refused(tmp_path)) == "invcheck.toml:1:1: runs takes a whole number from 1, got 'many'"


def test_a_settings_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    """TOML is UTF-8."""
    (tmp_path / "invcheck.toml").write_bytes(b"# \xff\n")
    with pytest.raises(Exception, match="is no UTF-8") as caught:
        load(tmp_path)
    assert caught.value.code == "NOT_UTF8"  # type: ignore[attr-defined]  # an error of ours


def test_a_pyproject_that_speaks_of_us_and_is_no_toml_is_refused(tmp_path: Path) -> None:
    """Whatever it asks of us would be passed over in silence."""
    write(tmp_path, "[tool.invcheck]\nruns = \n", "pyproject.toml")
    error = refused(tmp_path)
    assert (error.code, error.place is not None and error.place.line) == ("TOML_SYNTAX", 2)


def test_a_key_that_no_search_finds_is_told_with_its_file(tmp_path: Path) -> None:
    """TOML lets a quoted key hold escapes, as no one writes them: the mistake is told all the same, without a line."""
    write(tmp_path, '"\\u0072uns" = "many"\n')
    assert str(refused(tmp_path)) == "invcheck.toml: runs takes a whole number from 1, got 'many'"
