"""The calls of a failing trial, beside its findings: what the model was asked, and what it answered."""

from __future__ import annotations

import json

import pytest

from tests.pipeline.conftest import Shop, Told

FILES = {
    "shop.py": """
        def ask(text, model):
            out = []
            for n in range(int(text)):
                try:
                    out.append(model(f"question {n}").text)
                except Exception as error:
                    out.append(str(error))
            return out


        def fails(request):
            raise KeyError("gone")
    """,
    "checks/a.yaml": """
        checks:
          - check: five
            app: shop:ask
            cases: [{id: a, input: "5"}]
            model:
              script:
                - hello
                - {fail: rate-limit}
                - {tool-call: {name: search, arguments: {q: refund}}}
                - {call: "shop:fails"}
            expect: [{calls: 4}]
          - check: many
            app: shop:ask
            cases: [{id: a, input: "22"}]
            model: {script: [{then-always: ok}]}
            expect: [{calls: 1}]
          - check: kept
            app: shop:ask
            cases: [{id: a, input: "1"}]
            model: {script: [ok]}
            expect: [{calls: 1}]
    """,
}

FIVE = """\
  calls of the trial with seed 0
    1         "question 0"
              "hello"
    2         "question 1"
              fault rate-limit
    3         "question 2"
              search({"q": "refund"})
    4         "question 3"
              raised KeyError
    5         "question 4"
              refused: ScriptedModelError"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run, at length."""
    shared.write(FILES)
    return shared.told("-v", "-o", "told.json")


def test_verbose_shows_the_calls_of_the_first_failing_trial(told: Told) -> None:
    """A reply by its text or its tool calls, a fault by its kind, anything else by what became of it."""
    assert FIVE in told.out
    assert told.out.count("calls of the trial") == 2


def test_many_calls_are_counted(told: Told) -> None:
    """Twenty are shown."""
    assert '    20        "question 19"\n              "ok"\n    21        and 2 more\n' in told.out


def test_they_stand_in_no_compared_bytes(told: Told, shared: Shop) -> None:
    """Only the streamed report and the table at length hold them; a kept case has none."""
    assert told.cases["kept[a]"]["extra"] == {}
    assert told.cases["five[a]"]["extra"]["calls"][0] == {"asked": '"question 0"', "got": '"hello"'}
    assert "question" not in json.dumps([case for case in json.loads(shared.file("told.json"))["cases"] if "many" in case["check"]])
    assert "calls of the trial" not in shared.run().out
