"""`@check`: a function becomes a check and stays a function; what is wrong with it is told, not raised."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from invcheck.assertions import Subset, Unique
from invcheck.errors import UsageError
from invcheck.suite import Case, Check, build, check, declared
from invcheck.suite.declare import forget, registered
from invcheck.vocabulary import Place

CLAIM = Subset("$.output.cites[*]", "$.input.doc_ids[*]")


def made(**options: Any) -> tuple[Check, list[tuple[str, str]]]:
    """Declare a check with a claim, and give it with the codes and messages of its mistakes."""

    @check(**{"expect": [CLAIM], **options})
    def cites(trial: Any) -> Any:
        return trial

    found = declared(cites)
    assert found is not None
    forget(Path(__file__))
    return found[0], [(error.code, error.message) for error in found[1]]


def mistakes(function: Callable[..., Any]) -> list[str]:
    """Give the codes of what is wrong with a declared function."""
    found = declared(function)
    assert found is not None
    return [error.code for error in found[1]]


def test_a_check_stays_an_ordinary_function() -> None:
    """It can be called, and only carries what was declared."""

    @check(runs=200, cases=[{"id": "refund", "input": {"q": 1}}], expect=[CLAIM], tags=["qa"], parse="json")
    def answers(trial: Any) -> Any:
        return trial

    assert answers(5) == 5
    found = declared(answers)
    assert found is not None
    one, wrong = found
    assert wrong == ()
    assert (one.name, one.runs, one.tags, one.parse, one.function) == ("answers", 200, ("qa",), "json", answers)
    assert one.cases == (Case("refund", {"q": 1}),)
    assert one.claims == (CLAIM,)
    assert one.python
    assert declared(made) is None
    assert registered(Path(__file__)) == [found]
    forget(Path(__file__))
    assert registered(Path(__file__)) == []


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        (["a", {"q": 1}], [("1", "a"), ("2", {"q": 1})]),
        ([{"id": "x", "input": None}, {"input": 5}], [("x", None), ("2", 5)]),
        ([{"id": "x"}, {"input": 1, "more": 2}], [("1", {"id": "x"}), ("2", {"input": 1, "more": 2})]),
        ([Case("z", (1, 2))], [("z", [1, 2])]),
        ((str(number) for number in range(2)), [("1", "0"), ("2", "1")]),
    ],
)
def test_cases_are_values_mappings_or_case_objects(cases: Any, expected: list[tuple[str, object]]) -> None:
    """A mapping of id and input is a case, any other value is an input; tuples are arrays."""
    one, wrong = made(cases=cases)
    assert wrong == []
    assert [(case.id, case.input) for case in one.cases] == expected


def test_a_check_without_cases_has_one() -> None:
    """It is called default and its input is null."""
    assert made()[0].cases == (Case("default"),)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"cases": []}, "NO_CASE", "the check has no case: cases is empty"),
        ({"cases": "abc"}, "WRONG_TYPE", "cases must be a list of cases, got str"),
        ({"cases": {"id": 1}}, "WRONG_TYPE", "cases must be a list of cases, got dict"),
        ({"cases": 5}, "WRONG_TYPE", "cases must be a list of cases, got int"),
        ({"cases": [object()]}, "ROW_INVALID", "case 1: the input is no plain JSON: $ is builtins.object, which is no plain JSON"),
        ({"cases": [{"id": "a", "input": 1}, Case("a", 2)]}, "DUPLICATE_NAME", "two cases have the id 'a'"),
        ({"cases": [{"id": "", "input": 1}]}, "WRONG_TYPE", "a case's id must be a text of one line that is not empty, got ''"),
        ({"cases": [Case(" ", 1)]}, "WRONG_TYPE", "a case's id must be a text of one line that is not empty, got ' '"),
        ({"cases": [Case(5, 1)]}, "WRONG_TYPE", "a case's id must be a text of one line that is not empty, got 5"),
        ({"runs": 0}, "WRONG_TYPE", "runs must be a whole number from 1, got 0"),
        ({"runs": True}, "WRONG_TYPE", "runs must be a whole number from 1, got True"),
        ({"runs": "5"}, "WRONG_TYPE", "runs must be a whole number from 1, got '5'"),
        ({"tags": "qa"}, "WRONG_TYPE", "tags must be a list of texts, got 'qa'"),
        ({"tags": [1]}, "WRONG_TYPE", "tags must be a list of texts, got [1]"),
        ({"parse": "yaml"}, "WRONG_TYPE", "parse must be 'json' or None, got 'yaml'"),
        ({"expect": ["calls"]}, "UNKNOWN_ASSERTION", "expect[0] is str 'calls', not an assertion"),
        ({"expect": []}, "NO_ASSERTION", "the check has no assertion"),
    ],
)
def test_a_mistake_is_kept_with_its_code(options: dict[str, Any], code: str, message: str) -> None:
    """The function can still be imported, and the file's other checks run."""
    assert made(**options)[1] == [(code, message)]


def test_all_mistakes_of_a_check_are_kept() -> None:
    """One never hides another."""
    codes = [code for code, _ in made(cases=[], runs=0, tags="x", parse="x", expect=[])[1]]
    assert sorted(codes) == ["NO_ASSERTION", "NO_CASE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"]


def test_a_plain_assert_is_a_claim_too() -> None:
    """Also inside an inner function, or where AssertionError is raised by hand."""

    @check()
    def plain(trial: Any) -> None:
        assert trial.input is None

    @check()
    def inner(trial: Any) -> Any:
        def look() -> None:
            assert trial

        return look()

    @check()
    def by_hand(trial: Any) -> None:
        if trial:
            raise AssertionError

    @check()
    def nothing(trial: Any) -> Any:
        return trial

    assert [mistakes(each) for each in (plain, inner, by_hand, nothing)] == [[], [], [], ["NO_ASSERTION"]]
    forget(Path(__file__))


def test_an_assert_counts_where_it_stands() -> None:
    """It is looked for, not waited for: whether a trial reaches it is not known, which the README says."""

    @check()
    def seldom(trial: Any) -> None:
        if trial.input == "never":
            assert trial.input is None

    assert mistakes(seldom) == []
    assert "is seen, not that a trial reaches it" in " ".join((Path(__file__).parents[2] / "README.md").read_text("utf-8").split())
    forget(Path(__file__))


def test_asserts_that_python_strips_are_no_claims() -> None:
    """Under -O a check of plain asserts would prove nothing, so it is refused."""
    code = (
        "from invcheck.suite import check, declared\n"
        "@check()\ndef one(trial):\n    assert trial\n"
        "print([error.code for error in declared(one)[1]])\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['NO_ASSERTION']\n"


def test_only_functions_can_be_checks() -> None:
    """A class or an instance is refused at once."""
    with pytest.raises(UsageError, match="@check stands above a function, got type"):
        check()(int)


def test_options_are_kept_as_they_are() -> None:
    """Functions for ledger, probes and setup are the check's own business."""

    def rows() -> list[int]:
        return [1]

    one, wrong = made(
        ledger=rows, probes={"quota": rows}, setup=rows, clock={"start": "2030-01-01T00:00:00Z"}, model={"script": ["a"]}, name="n"
    )
    assert wrong == []
    assert (one.name, one.ledger, one.probes, one.setup) == ("n", rows, {"quota": rows}, rows)
    plain = one.plain()
    assert plain["ledger"] == {"$object": "builtins.function"}
    assert plain["model"] == {"script": ["a"]}
    again = build(plain)
    assert (again.name, again.claims, again.function, again.python, again.cases) == ("n", (), None, True, one.cases)


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_what_a_check_allows_is_kept_in_one_spelling(kind: Callable[..., Any]) -> None:
    """Sorted, once each, and a process that did not import the file knows it too."""
    one, wrong = made(allow=kind(["unix:/run/a", "tcp:localhost:80"]))
    assert (one.allow, wrong) == (("tcp:127.0.0.1:80", "tcp:[::1]:80", "unix:/run/a"), [])
    assert build(one.plain()).allow == one.allow


@pytest.mark.parametrize(
    ("allow", "told"),
    [
        ("tcp:127.0.0.1:80", "allow must be a list of texts, got 'tcp:127.0.0.1:80'"),
        ([5432], "allow must be a list of texts, got [5432]"),
        (["tcp:127.0.0.1:80", "tcp:127.0.0.1:*"], "'tcp:127.0.0.1:*' allows nothing: it names one port, from 1 to 65535"),
    ],
)
def test_what_allows_nothing_is_told(allow: Any, told: str) -> None:
    """With the text itself, and not instead of other mistakes."""
    _, wrong = made(allow=allow, runs=0)
    assert {message for _, message in wrong} == {"runs must be a whole number from 1, got 0", told}


def test_a_yaml_check_travels_as_json() -> None:
    """What `plain` gives is JSON, and `build` gives an equal check."""
    one = Check(
        name="a",
        file="checks/a.yaml",
        place=Place("checks/a.yaml", 1, 1),
        cases=(Case("c", {"x": [1]}, Place("checks/a.yaml", 3, 5)), Case("d")),
        app="shop.qa:answer",
        runs=3,
        tags=("t",),
        claims=(CLAIM, Unique("$.output.cites[*]")),
        claim_places=(Place("checks/a.yaml", 5, 5), Place("checks/a.yaml", 6, 5)),
        parse="json",
        model={"script": ["a"]},
        ledger="shop.ledger:rows",
        probes={"quota": {"call": "shop.quota:read"}},
        setup="shop.qa:setup",
        clock="real",
        allow=("tcp:127.0.0.1:5432",),
        places={"app": Place("checks/a.yaml", 2, 6)},
    )
    assert build(one.plain()) == one
    assert one.id == "checks/a.yaml::a"
    assert not one.python


def test_nothing_that_a_worker_needs_loads_pydantic() -> None:
    """Declaring, rebuilding and collecting Python checks stay free of it, and of the YAML reader."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from invcheck import _collect, binding, resolve, suite\n"
        "from invcheck.assertions import Subset\n"
        "@suite.check(expect=[Subset('$.a[*]', '$.b[*]')])\ndef one(trial): return trial\n"
        "plain = suite.declared(one)[0].plain()\n"
        "suite.build({**plain, 'app': 'json:loads'})\n"
        "binding.fits(resolve.resolve('json:dumps'), {'obj': 1}, open_ended=True)\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'pydantic', 'yaml', 'difflib', 'jsonpath_ng', 'asyncio'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
