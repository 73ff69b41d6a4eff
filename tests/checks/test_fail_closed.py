"""Whatever cannot be judged is told, with its own code, its place and its exit status; the other checks still run."""

from __future__ import annotations

import pytest
from planted import Project

APP = '''
    """A shop with one function."""


    def answer(question: str) -> dict:
        return {"answer": "Within 30 days.", "cites": ["d1"]}


    def ask(question: str, model) -> str:
        return model(question).text
'''
GOOD = """
    check: good
    app: shop:answer
    cases: [{input: {question: Refund}}]
    expect:
      - fields: {of: $.output, exactly: [answer, cites]}
"""


def bad(**changes: str) -> str:
    """A check that would be good, with one of its parts replaced."""
    parts = {
        "app": "app: shop:answer",
        "cases": "cases: [{input: {question: Refund}}]",
        "expect": "expect: [{type: {of: $.output, is: object}}]",
        "more": "",
    }
    return "\n".join(["check: bad", *(text for text in (parts | changes).values() if text)]) + "\n"


CASES = {
    "misspelt key": (
        bad(expect="expct: [{type: {of: $.output, is: object}}]"),
        2,
        "UNKNOWN_KEY",
        "checks/bad.yaml:4:1",
        "did you mean 'expect'?",
    ),
    "misspelt key of an assertion": (
        bad(expect="expect: [{type: {off: $.output, is: object}}]"),
        2,
        "UNKNOWN_KEY",
        "checks/bad.yaml:4:18",
        "did you mean of?",
    ),
    "unknown assertion": (
        bad(expect="expect: [{subste: {of: $.output}}]"),
        2,
        "UNKNOWN_ASSERTION",
        "checks/bad.yaml:4:11",
        "did you mean subset?",
    ),
    "no assertion": (bad(expect="expect: []"), 2, "NO_ASSERTION", "checks/bad.yaml:4:9", ""),
    "no case": (bad(cases="cases: []"), 2, "NO_CASE", "checks/bad.yaml:3:8", ""),
    "missing file": (bad(cases="cases: {jsonl: none.jsonl}"), 2, "MISSING_FILE", "checks/bad.yaml:3:16", ""),
    "truncated JSONL": (bad(cases="cases: {jsonl: cut.jsonl}"), 2, "ROW_INVALID ROW_INVALID", "checks/cut.jsonl:2", ""),
    "wrong type of a key": (bad(more="runs: many"), 2, "WRONG_TYPE", "checks/bad.yaml:5:7", ""),
    "unsupported path": (bad(expect='expect: [{type: {of: "$.output..", is: object}}]'), 2, "PATH_UNSUPPORTED", "checks/bad.yaml:4:", ""),
    "path that matches nothing": (
        bad(expect="expect: [{type: {of: $.output.anser, is: string}}]"),
        1,
        "EMPTY_SELECTION",
        "checks/bad.yaml:4:10",
        "allow-empty: true",
    ),
    "wrong type of a value": (bad(expect="expect: [{length: {of: $.output, min: 1}}]"), 1, "WRONG_TYPE", "checks/bad.yaml:4:10", ""),
    "unused reply": (
        bad(app="app: shop:ask", expect="expect: [{equals: {of: $.output, to: one}}]", more="model: {script: [one, two]}"),
        1,
        "SCRIPT_UNUSED",
        "",
        "",
    ),
    "truncated ledger": (
        bad(more="ledger: {jsonl: usage.jsonl}"),
        3,
        "PROBE_FAILED",
        "usage.jsonl:2:",
        "truncated",
    ),
    "missing ledger": (
        bad(more="ledger: {sqlite: usage.sqlite, query: SELECT 1}"),
        3,
        "PROBE_MISSING",
        "usage.sqlite does not exist",
        "relative to the trial's own folder",
    ),
    "missing app": (
        bad(app="app: shop:answr"),
        2,
        "REFERENCE_MISSING",
        "checks/bad.yaml:2:6",
        "did you mean 'answer'?",
    ),
    "input that does not fit": (
        bad(cases="cases: [{input: {qestion: Refund}}]"),
        2,
        "INPUT_MISMATCH",
        "checks/bad.yaml:3:9",
        "did you mean 'question'?",
    ),
    "key that stands twice": (
        bad(more="check: worse"),
        2,
        "DUPLICATE_KEY",
        "checks/bad.yaml:5:1",
        "",
    ),
    "crashing assertion": (bad(expect='expect: [{predicate: "rules:crash"}]'), 3, "ASSERTION_RAISED", "checks/bad.yaml:4:10", ""),
}


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with one good check."""
    project.write(
        {
            "shop.py": APP,
            "rules.py": "def crash(document):\n    raise ZeroDivisionError\n",
            "checks/good.yaml": GOOD,
            "usage.jsonl": '{"tokens": 1}\n{"tok',
            "checks/cut.jsonl": '{"input": {"question": "Refund?"}}\n{"input": {"question": "Ref',
        }
    )
    return project


def test_the_good_check_alone_is_kept(shop: Project) -> None:
    """The project as it stands: status 0."""
    ran = shop.run()
    assert (ran.status, ran.codes()) == (0, [])
    assert "1 case: 1 kept." in ran.out


@pytest.mark.parametrize("name", CASES)
def test_each_kind_is_told(name: str, shop: Project) -> None:
    """Its status, its code, its place and its hint; and the good check is run and kept beside it."""
    text, status, code, place, hint = CASES[name]
    shop.write({"checks/bad.yaml": text})
    ran = shop.run()
    assert ran.status == status, ran.out + ran.err
    assert ran.codes() == code.split(), ran.err
    assert place in ran.out + ran.err
    assert hint in ran.out + ran.err
    assert "1 kept" in ran.out
    assert "Traceback" not in ran.out + ran.err


def test_a_python_check_that_raises(shop: Project) -> None:
    """What the check's own code raises is errored, a plain assert broken, a file that does not import a problem."""
    shop.write(
        {
            "checks/check_bad.py": """
                from invcheck import check


                @check()
                def raising(trial):
                    assert trial.seed == 0
                    raise KeyError("sku")
            """
        }
    )
    ran = shop.run()
    assert (ran.status, ran.codes()) == (3, ["CHECK_RAISED"])
    shop.plant("checks/check_bad.py", "trial.seed == 0", "trial.seed == 1, 'another seed'")
    ran = shop.run()
    assert (ran.status, ran.codes()) == (1, ["ASSERT"])
    assert "another seed" in ran.line("ASSERT")
    shop.plant("checks/check_bad.py", "import check", "import chck")
    ran = shop.run()
    assert (ran.status, ran.codes()) == (2, ["IMPORT_RAISED"])
    assert "IMPORT_RAISED  checks/check_bad.py:1" in ran.err
    assert "1 kept" in ran.out


def test_an_empty_selection(shop: Project) -> None:
    """A selection that holds no case is status 5, unless it may be empty."""
    assert shop.run("-k", "nothing").status == 5
    assert shop.run("-k", "nothing", "--allow-empty").status == 0


def test_broken_wins_over_usage(shop: Project) -> None:
    """A broken claim and a check file that cannot be read: 1 over 2."""
    shop.write({"checks/bad.yaml": CASES["misspelt key"][0], "checks/red.yaml": CASES["wrong type of a value"][0]})
    ran = shop.run()
    assert ran.status == 1
    assert sorted(ran.codes()) == ["UNKNOWN_KEY", "WRONG_TYPE"]
