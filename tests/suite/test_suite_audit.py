"""The key `audit` of a check: what may differ from run to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from invcheck import Equals
from invcheck.suite import Check, build, check, declared
from invcheck.suite.checkfile import read_file
from invcheck.suite.declare import forget

SMALL = "check: a\napp: shop:answer\ncases: [{id: x, input: 1}]\nexpect: [{equals: {of: $.output, to: 1}}]\n"


def read(root: Path, audit: str) -> tuple[list[Check], list[tuple[str, str]]]:
    """The checks of a file with that key, and its mistakes by code and place."""
    (root / "a.yaml").write_text(f"{SMALL}audit: {audit}\n", encoding="utf-8")
    checks, mistakes = read_file(root, "a.yaml")
    return checks, [(mistake.code, f"{mistake.place.line}:{mistake.place.column}" if mistake.place else "") for mistake in mistakes]


def declare(audit: Any) -> tuple[Check, list[tuple[str, str]]]:
    """A Python check with that argument, and its mistakes by code and message."""

    @check(expect=[Equals("$.output", 1)], audit=audit)
    def answers(trial: object) -> int:
        return 1

    made = declared(answers)
    forget(Path(__file__))
    assert made is not None
    return made[0], [(mistake.code, mistake.message) for mistake in made[1]]


def test_paths_that_may_differ_are_read(tmp_path: Path) -> None:
    """In order, from both kinds of file, and they travel with the check."""
    paths = ("$.ledger[*].created_at", "$..uuid")
    (one,), mistakes = read(tmp_path, "{ignore: ['$.ledger[*].created_at', $..uuid]}")
    assert (one.accepts, mistakes) == (paths, [])
    assert build(one.plain()).accepts == paths
    assert declare({"ignore": list(paths)})[0].accepts == paths


@pytest.mark.parametrize("audit", ["{}", "null", "{ignore: []}"])
def test_nothing_may_differ_where_nothing_is_said(audit: str, tmp_path: Path) -> None:
    """As without the key."""
    (one,), mistakes = read(tmp_path, audit)
    assert (one.accepts, mistakes) == ((), [])
    assert declare(None)[0].accepts == ()


@pytest.mark.parametrize(
    ("audit", "mistakes"),
    [
        ("{ignore: [$]}", [("PATH_UNSUPPORTED", "5:18")]),
        ("{ignore: [$.a, '$.b[']}", [("PATH_UNSUPPORTED", "5:28")]),
        ("{ignore: $.a}", [("WRONG_TYPE", "5:17")]),
        ("{ignore: [1]}", [("WRONG_TYPE", "5:18")]),
        ("{ignores: [$.a]}", [("UNKNOWN_KEY", "5:9")]),
        ("[$.a]", [("WRONG_TYPE", "5:8")]),
    ],
)
def test_a_mistake_of_a_file_has_its_place(audit: str, mistakes: list[tuple[str, str]], tmp_path: Path) -> None:
    """Also one in the middle of a path; no check is made of such a file."""
    assert read(tmp_path, audit) == ([], mistakes)


@pytest.mark.parametrize("audit", [["$.a"], "$.a", {"ignore": "$.a"}, {"ignore": [1]}, {"ignores": ["$.a"]}, {"ignore": ["$.a"], "b": 1}])
def test_an_argument_of_another_shape_is_told(audit: Any) -> None:
    """With what it should look like."""
    _, mistakes = declare(audit)
    assert mistakes == [("WRONG_TYPE", f"audit must be a mapping with a list, got {audit!r}")]


def test_a_path_that_cannot_be_read_is_told() -> None:
    """With what the path itself has to say."""
    made, mistakes = declare({"ignore": ["$.a", "$"]})
    assert made.accepts == ("$.a",)
    assert [message for _, message in mistakes] == ["$ accepts every difference, and an audit of nothing finds nothing"]
