"""Flags over variables over settings over defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from invcheck import settings
from invcheck.cli import options
from invcheck.cli.console import colour
from invcheck.cli.reading import _FLAGS
from invcheck.errors import UsageError
from invcheck.events import RunOptions


class Stream:
    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def ask(here: Path, flags: Mapping[str, Any] | None = None, **environ: str) -> options.Asked:
    return options.ask(flags or {}, environ, here)


def test_the_defaults(tmp_path: Path) -> None:
    """Without flags, variables or settings: the checks folder, each check's own runs, seed 0, one worker."""
    assert ask(tmp_path) == options.Asked(RunOptions(tmp_path), (), "table", 0)


FLAGS = {
    "keyword": "a", "tag": ["t", "u"], "runs": "3", "seed": "4", "jobs": "5", "shard": "2/3", "max_failures": "6",
    "allow_empty": True, "audit": True, "require_kernel": True, "output": ["r.json"], "format": "md", "quiet": 1, "verbose": 3,
}  # fmt: skip
VARIABLES = {
    "INVCHECK_KEYWORD": "a", "INVCHECK_TAG": "t u", "INVCHECK_RUNS": "3", "INVCHECK_SEED": "4", "INVCHECK_JOBS": "5",
    "INVCHECK_SHARD": "2/3", "INVCHECK_MAX_FAILURES": "6", "INVCHECK_ALLOW_EMPTY": "yes", "INVCHECK_AUDIT": "1",
    "INVCHECK_REQUIRE_KERNEL": "1",
    "INVCHECK_OUTPUT": "r.json", "INVCHECK_FORMAT": "md", "INVCHECK_QUIET": "1", "INVCHECK_VERBOSE": "3",
}  # fmt: skip


def wanted(root: Path) -> options.Asked:
    run = RunOptions(
        root,
        (),
        "a",
        ("t", "u"),
        runs=3,
        seed=4,
        jobs=5,
        shard=(2, 3),
        fail_fast_after=6,
        allow_empty=True,
        audit=True,
        require_kernel=True,
    )
    return options.Asked(run, (root / "r.json",), "md", 2)


def test_every_flag_has_a_twin_in_the_environment(tmp_path: Path) -> None:
    """The same value by flag and by variable gives the same options; a flag wins."""
    assert ask(tmp_path, FLAGS) == ask(tmp_path, None, **VARIABLES) == wanted(tmp_path)
    other = {
        name: {"INVCHECK_TAG": "x", "INVCHECK_OUTPUT": "x.md", "INVCHECK_FORMAT": "json"}.get(name, "1/1" if "SHARD" in name else "1")
        for name in VARIABLES
    }
    assert ask(tmp_path, FLAGS, **other) == wanted(tmp_path)


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    """CI systems set variables to nothing; that is no value."""
    assert ask(tmp_path, None, **dict.fromkeys([*VARIABLES, "INVCHECK_PATHS", "INVCHECK_FAIL_FAST", "INVCHECK_LAST_FAILED"], "")) == ask(
        tmp_path
    )


def test_several_values_stand_in_a_variable_as_a_shell_reads_words(tmp_path: Path) -> None:
    """Names hold blanks and brackets, so quotes keep them together."""
    asked = ask(tmp_path, None, INVCHECK_PATHS="'checks/a.yaml::two words[x]' checks/b.yaml")
    assert asked.options.paths == ("checks/a.yaml::two words[x]", "checks/b.yaml")


@pytest.mark.parametrize(
    ("flags", "environ", "stop"),
    [
        ({"fail_fast": True}, {}, 1),
        ({"fail_fast": True, "max_failures": "4"}, {}, 1),
        ({}, {"INVCHECK_FAIL_FAST": "true"}, 1),
        ({}, {"INVCHECK_FAIL_FAST": "0"}, None),
        ({}, {"INVCHECK_FAIL_FAST": "off", "INVCHECK_MAX_FAILURES": "2"}, 2),
    ],
)
def test_when_a_run_stops_early(tmp_path: Path, flags: dict[str, Any], environ: dict[str, str], stop: int | None) -> None:
    """-x is one failure; the smaller number counts."""
    assert ask(tmp_path, flags, **environ).options.fail_fast_after == stop


@pytest.mark.parametrize(
    ("flags", "environ", "message"),
    [
        ({"seed": "x"}, {}, "--seed takes a whole number from 0, got 'x'"),
        ({"seed": ""}, {}, "--seed takes a whole number from 0, got ''"),
        ({"seed": "-1"}, {}, "--seed takes a whole number from 0, got '-1'"),
        ({}, {"INVCHECK_SEED": "1.5"}, "INVCHECK_SEED takes a whole number from 0, got '1.5'"),
        ({"runs": "0"}, {}, "--runs takes a whole number from 1, got '0'"),
        ({}, {"INVCHECK_RUNS": "many"}, "INVCHECK_RUNS takes a whole number from 1, got 'many'"),
        ({"jobs": "all"}, {}, "-j takes a whole number from 1, or auto, got 'all'"),
        ({}, {"INVCHECK_JOBS": "0"}, "INVCHECK_JOBS takes a whole number from 1, or auto, got '0'"),
        ({"shard": "0/2"}, {}, "--shard takes i/n with i from 1 to n, got '0/2'"),
        ({"shard": "3/2"}, {}, "--shard takes i/n with i from 1 to n, got '3/2'"),
        ({}, {"INVCHECK_SHARD": "1"}, "INVCHECK_SHARD takes i/n with i from 1 to n, got '1'"),
        ({"max_failures": "0"}, {}, "--max-failures takes a whole number from 1, got '0'"),
        ({}, {"INVCHECK_MAX_FAILURES": "x"}, "INVCHECK_MAX_FAILURES takes a whole number from 1, got 'x'"),
        ({"format": "html"}, {}, "--format takes one of table, jsonl, json, junit, md, github, got 'html'"),
        ({}, {"INVCHECK_FORMAT": "x"}, "INVCHECK_FORMAT takes one of table, jsonl, json, junit, md, github, got 'x'"),
        ({}, {"INVCHECK_ALLOW_EMPTY": "maybe"}, "INVCHECK_ALLOW_EMPTY takes 1 or 0, got 'maybe'"),
        ({}, {"INVCHECK_FAIL_FAST": "2"}, "INVCHECK_FAIL_FAST takes 1 or 0, got '2'"),
        ({}, {"INVCHECK_LAST_FAILED": "x"}, "INVCHECK_LAST_FAILED takes 1 or 0, got 'x'"),
        ({}, {"INVCHECK_REQUIRE_KERNEL": "kernel"}, "INVCHECK_REQUIRE_KERNEL takes 1 or 0, got 'kernel'"),
        ({}, {"INVCHECK_QUIET": "x"}, "INVCHECK_QUIET takes a whole number from 0, got 'x'"),
        ({}, {"INVCHECK_VERBOSE": "-1"}, "INVCHECK_VERBOSE takes a whole number from 0, got '-1'"),
        ({}, {"INVCHECK_TAG": "it's"}, 'INVCHECK_TAG holds a quote that is not closed: "it\'s"'),
        ({}, {"INVCHECK_PATHS": "'"}, 'INVCHECK_PATHS holds a quote that is not closed: "\'"'),
        ({}, {"INVCHECK_OUTPUT": "'"}, 'INVCHECK_OUTPUT holds a quote that is not closed: "\'"'),
        ({}, {"INVCHECK_SEDE": "1"}, "INVCHECK_SEDE is no variable of invcheck"),
    ],
)
def test_a_value_that_cannot_be_read_names_who_said_it(
    tmp_path: Path, flags: dict[str, Any], environ: dict[str, str], message: str
) -> None:
    """Status 2, with the flag or the variable and what it takes."""
    with pytest.raises(UsageError) as caught:
        ask(tmp_path, flags, **environ)
    assert (caught.value.message, caught.value.exit) == (message, 2)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("INVCHECK_SEDE", "did you mean INVCHECK_SEED?"),
        ("INVCHECK_OTHER_TOOLS_LOGGING", "every option's twin is INVCHECK_ and its long name"),
    ],
)
def test_a_misspelt_variable_is_told_what_it_may_have_meant(tmp_path: Path, name: str, hint: str) -> None:
    """It would otherwise change silently what a run means."""
    with pytest.raises(UsageError) as caught:
        ask(tmp_path, None, **{name: "1"})
    assert caught.value.hint == hint


def test_settings_stand_under_flags_and_variables(tmp_path: Path) -> None:
    """A project's own values hold where nobody says anything else; its files are relative to it."""
    (tmp_path / "invcheck.toml").write_text(
        'paths = ["own"]\nruns = 2\nseed = 3\njobs = 4\ntags = ["t"]\noutput = ["r.json"]\ntrial-seconds = 5\ncpu-seconds = 2\n'
        '[gate]\nrequire = "kernel"\nmemory = "512MiB"\nkeep-env = ["SHOP_KEY"]\n'
    )
    (tmp_path / "below").mkdir()
    run = RunOptions(
        tmp_path,
        ("own",),
        tags=("t",),
        runs=2,
        seed=3,
        jobs=4,
        require_kernel=True,
        trial_seconds=5.0,
        cpu_seconds=2.0,
        memory=512 << 20,
        keep_env=("SHOP_KEY",),
    )
    assert ask(tmp_path / "below") == options.Asked(run, (tmp_path / "r.json",), "table", 0)
    asked = ask(tmp_path / "below", {"seed": "9", "output": ["x.md"]}, INVCHECK_RUNS="8", INVCHECK_TAG="u")
    assert (asked.options.seed, asked.options.runs, asked.options.tags, asked.outputs) == (9, 8, ("u",), (tmp_path / "below" / "x.md",))


SETTINGS = """
keyword = "a"
tags = ["t", "u"]
runs = 3
seed = 4
jobs = 5
max-failures = 6
allow-empty = true
audit = true
gate.require = "kernel"
output = ["r.json"]
format = "md"
quiet = 1
verbose = 3
"""


def test_every_flag_that_may_hold_for_each_run_has_a_key_in_the_settings(tmp_path: Path) -> None:
    """The same value by flag and by key gives the same options; only what speaks of one run has no key."""
    (tmp_path / "invcheck.toml").write_text(SETTINGS)
    assert ask(tmp_path, {"shard": "2/3"}) == ask(tmp_path, FLAGS) == ask(tmp_path, None, **VARIABLES) == wanted(tmp_path)
    assert {*_FLAGS} - {*FLAGS} == {"paths", "fail_fast", "last_failed", "port", "silence", "print_env"}


@pytest.mark.parametrize(
    ("text", "flags", "environ", "is_"),
    [
        ("allow-empty = true", {}, {"INVCHECK_ALLOW_EMPTY": "0"}, {"allow_empty": False}),
        ("gate.require = 'kernel'", {}, {"INVCHECK_REQUIRE_KERNEL": "off"}, {"require_kernel": True}),
        ("gate.require = 'kernel'", {"require_kernel": True}, {"INVCHECK_REQUIRE_KERNEL": "off"}, {"require_kernel": True}),
        ("max-failures = 1", {"max_failures": "5"}, {}, {"fail_fast_after": 5}),
        ("max-failures = 5", {"fail_fast": True}, {}, {"fail_fast_after": 1}),
        ("quiet = 2", {"verbose": 1}, {}, {"verbosity": 1}),
        ("quiet = 2", {}, {"INVCHECK_QUIET": "0"}, {"verbosity": 0}),
        ("verbose = 1", {"quiet": 1}, {"INVCHECK_QUIET": "2"}, {"verbosity": -1}),
        ("format = 'md'", {"format": "table"}, {}, {"format": "table"}),
    ],
)
def test_a_flag_wins_over_a_variable_and_a_variable_over_a_key(
    tmp_path: Path, text: str, flags: dict[str, Any], environ: dict[str, str], is_: dict[str, Any]
) -> None:
    """Also where what it says is no; but what the project requires of the gate no variable takes back."""
    (tmp_path / "invcheck.toml").write_text(text)
    asked = ask(tmp_path, flags, **environ)
    assert {name: getattr(asked if hasattr(asked, name) else asked.options, name) for name in is_} == is_


def test_a_merge_reads_the_settings_and_refuses_strangers(tmp_path: Path) -> None:
    """As any command does; the files of a run are not the files of a merge."""
    (tmp_path / "invcheck.toml").write_text(SETTINGS)
    assert options.reporting({}, {}, tmp_path) == ((), "md", 2)
    with pytest.raises(UsageError, match="INVCHECK_FROMAT is no variable of invcheck"):
        options.reporting({}, {"INVCHECK_FROMAT": "json"}, tmp_path)


def test_the_project_is_the_nearest_folder_with_settings_else_where_we_stand(tmp_path: Path) -> None:
    """A pyproject.toml counts only when it speaks of invcheck."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert settings.project(deep) == deep
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'invcheck-user'\n")
    assert settings.project(deep) == deep
    (tmp_path / "pyproject.toml").write_text("[tool.invcheck]\n")
    assert settings.project(deep) == tmp_path
    (tmp_path / "a" / "invcheck.toml").write_text("")
    assert settings.project(deep) == tmp_path / "a"


def test_selectors_are_seen_from_where_one_stands_then_from_the_project(tmp_path: Path) -> None:
    """From a folder below: its own files, the project's (as replay commands name them), absolute ones; the name stays as it is."""
    (tmp_path / "invcheck.toml").write_text("")
    below = tmp_path / "checks" / "deep"
    below.mkdir(parents=True)
    (below / "a.yaml").write_text("")
    given = ["a.yaml::x [y]", "checks/deep/a.yaml", str(below / "a.yaml"), "../", ".", "missing.yaml::../x"]
    assert ask(below, {"paths": given}).options.paths == (
        "checks/deep/a.yaml::x [y]", "checks/deep/a.yaml", "checks/deep/a.yaml", "checks", "checks/deep", "checks/deep/missing.yaml::../x",
    )  # fmt: skip


def test_a_selector_outside_of_the_project_is_refused(tmp_path: Path) -> None:
    """Nothing outside of the project's folder is run."""
    with pytest.raises(UsageError, match=r"'\.\./x\.yaml' lies outside of the project"):
        ask(tmp_path, {"paths": ["../x.yaml"]})


@pytest.mark.parametrize(
    ("environ", "terminal", "wanted_colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": ""}, False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_colours_are_written(environ: dict[str, str], terminal: bool, wanted_colour: bool) -> None:
    """NO_COLOR forbids, FORCE_COLOR (but 0) demands, else a terminal that is not dumb decides."""
    assert colour(Stream(terminal), environ) is wanted_colour  # type: ignore[arg-type]  # it has what is asked of it
    assert not colour(None, {})
