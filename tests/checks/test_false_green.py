"""What says nothing, or cannot be asked, is never green: told with a code, through the command line."""

from __future__ import annotations

import json

import pytest
from planted import Project

APP = '''
    """An app that asks nobody, and one that does."""


    def app(q):
        return q


    def asks(q, model):
        return model(q).text


    def forgets(document):
        document["output"] == "hello"
'''


def written(expect: str, *, app: str = "b:app", more: str = "") -> str:
    """A check of one claim."""
    return f"check: c\napp: {app}\ncases: [{{input: hello}}]\n{more}\nexpect:\n  - {expect}\n"


@pytest.fixture
def small(project: Project) -> Project:
    """A project with the two apps."""
    project.write({"b.py": APP})
    return project


def test_a_predicate_that_returns_nothing(small: Project) -> None:
    """It has perhaps compared, and forgot to give the answer: errored, under `not-` too."""
    for key in ("predicate", "not-predicate"):
        small.write({"checks/c.yaml": written(f"{key}: b:forgets")})
        ran = small.run()
        assert (ran.status, ran.codes()) == (3, ["PREDICATE_RESULT"])
        assert "return True" in ran.out


UNTAKEN = {
    "no parameter": ("b:app", "model: {drifting: b:forgets}", "hint: name a parameter `model`"),
    "misspelt": ("b:misspelt", "model: {script: [{then-always: x}]}", "hint: did you mean 'model' in place of 'modle'?"),
    "any keyword": ("b:anything", "model: {lanes: {a: [x]}}", "hint: name a parameter `model`"),
}


@pytest.mark.parametrize("name", UNTAKEN)
def test_a_model_that_nobody_takes(name: str, small: Project) -> None:
    """A double that no parameter of the app can receive is refused before anything runs, where it stands."""
    app, model, hint = UNTAKEN[name]
    small.write(
        {
            "b.py": APP + "\n\n    def misspelt(q, modle=None):\n        return q\n\n\n    def anything(q, **more):\n        return q\n",
            "checks/c.yaml": written("equals: {of: $.output, to: hello}", app=app, more=model),
        }
    )
    ran = small.run()
    assert (ran.status, ran.codes()) == (2, ["INPUT_MISMATCH"]), ran.out + ran.err
    assert "checks/c.yaml:4:8" in ran.err
    assert hint in ran.err


def test_a_setup_may_take_the_model(small: Project) -> None:
    """A setup hands it over in its own way."""
    small.write(
        {
            "b.py": APP
            + "\n\n    def setup(trial):\n        return {'ask': trial.model}\n\n\n    def other(q, ask):\n        return ask(q).text\n",
            "checks/c.yaml": written("calls: 1", app="b:other", more="setup: b:setup\nmodel: {script: [hello]}"),
        }
    )
    assert small.run().status == 0


@pytest.mark.parametrize("model", ["{drifting: b:fake}", "{script: [{then-always: x}]}"])
def test_a_double_that_no_trial_asks(model: str, small: Project) -> None:
    """A double that has no step to be left over is missed as well, unless a claim speaks of the calls, or it is optional."""
    lazy = "\n\n    def fake(rng, request):\n        return 'x'\n\n\n    def lazy(q, model):\n        return q\n"
    kept = "equals: {of: $.output, to: hello}"
    small.write({"b.py": APP + lazy, "checks/c.yaml": written(kept, app="b:lazy", more=f"runs: 3\nmodel: {model}")})
    ran = small.run()
    assert (ran.status, ran.codes()) == (1, ["MODEL_UNASKED"]), ran.out + ran.err
    assert "say calls: 0" in ran.out
    small.write({"checks/c.yaml": written("same-across-runs: $.calls", app="b:lazy", more=f"runs: 3\nmodel: {model}")})
    assert small.run().codes() == ["MODEL_UNASKED"]
    small.write({"checks/c.yaml": written("calls: 0", app="b:lazy", more=f"runs: 3\nmodel: {model}")})
    assert small.run().status == 0
    small.write({"checks/c.yaml": written(kept, app="b:lazy", more="model: {script: [{reply: x, optional: true}]}")})
    assert small.run().status == 0


PYTHON = "from invcheck import Equals, Raises, check\n\n\n"
NEVER = {
    "an assert in a function that is not called": (
        PYTHON + "@check()\ndef c(trial):\n    def never():\n        assert trial.seed == 7\n\n    return 1\n",
        2,
        "NO_ASSERTION",
        "checks/check_c.py:4",
    ),
    "an assert in a class that is not used": (
        PYTHON + "@check()\ndef c(trial):\n    class Never:\n        def look(self):\n            assert trial.seed == 7\n\n    return 1\n",
        2,
        "NO_ASSERTION",
        "checks/check_c.py:4",
    ),
    "an assert of a pair": (
        PYTHON + "@check()\ndef c(trial):\n    assert (1 == 2, 'not equal')\n",
        2,
        "ASSERT_ALWAYS_HOLDS",
        "checks/check_c.py:6:5",
    ),
    "an assert of a text": (
        PYTHON + "@check(expect=[Equals('$.output', 1)])\ndef c(trial):\n    assert 'equal'\n    return 1\n",
        2,
        "ASSERT_ALWAYS_HOLDS",
        "checks/check_c.py:6:5",
    ),
    "a check without its decorator": (
        PYTHON + "@check()\ndef c(trial):\n    assert trial.seed == 0\n\n\ndef check_b(trial):\n    assert 1 == 2\n",
        2,
        "UNDECORATED",
        "checks/check_c.py:9:1",
    ),
    "an assert that a claim expects": (
        PYTHON + "@check(expect=[Raises('AssertionError', calls=0)])\ndef c(trial):\n    assert trial.seed == 7\n",
        1,
        "ASSERT",
        "checks/check_c.py:6",
    ),
    "an error in a thread": (
        PYTHON
        + "@check(expect=[Equals('$.output', 1)])\ndef c(trial):\n    import threading\n    def work():\n        raise KeyError('sku')\n"
        "\n    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n    return 1\n",
        1,
        "THREAD_RAISED",
        "a thread of the app ended with KeyError: 'sku' in checks/check_c.py:work",
    ),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_never_fails_in_a_python_check(name: str, small: Project) -> None:
    """A check that cannot be red, and an error that nobody hears of, are told."""
    text, status, code, told = NEVER[name]
    small.write({"checks/check_c.py": text})
    ran = small.run()
    assert (ran.status, ran.codes()) == (status, [code]), ran.out + ran.err
    assert told in ran.out + ran.err


def test_what_does_fail_in_a_python_check(small: Project) -> None:
    """An assert in a function that is called, a helper that is handed a trial, an error that the app's own assert raises."""
    text = """
        from invcheck import Raises, check


        def drive(trial):
            return b_app(trial.input)


        def check_output(trial, output):
            assert output == trial.input


        def b_app(value):
            return value


        @check(cases=["a"])
        def one(trial):
            def verify(output):
                assert output == trial.input

            verify(drive(trial))


        @check(cases=["a"])
        def two(trial):
            check_output(trial, drive(trial))
            assert trial.seed == 0
    """
    small.write({"checks/check_c.py": text})
    ran = small.run()
    assert ran.status == 0, ran.out + ran.err


def test_a_misspelt_tag_beside_a_good_one(small: Project) -> None:
    """What it was to select is not run: told, and the rest is run."""
    small.write({"checks/c.yaml": written("calls: 0", more="tags: [slow]")})
    ran = small.run("--tag", "slow", "--tag", "slwo")
    assert (ran.status, ran.codes()) == (2, ["UNKNOWN_TAG"]), ran.out + ran.err
    assert "no check has the tag 'slwo'" in ran.err
    assert "hint: did you mean 'slow'?" in ran.err
    assert "1 kept" in ran.out
    assert small.run("--tag", "slow").status == 0
    assert small.run("checks/c.yaml", "--tag", "slow", "--tag", "elsewhere").status == 0


def test_misspelt_settings(small: Project) -> None:
    """A gate that is required in a table that nobody reads is not required."""
    small.write({"checks/c.yaml": written("calls: 0"), "pyproject.toml": "[tool.invchek]\ngate.require = 'kernel'\n"})
    ran = small.run()
    assert (ran.status, ran.out) == (2, "")
    assert "pyproject.toml:1:1: unknown table 'tool.invchek'\n  hint: did you mean [tool.invcheck]?" in ran.err


IDLE = {
    "not-contains: {in: $.waits, any: [1]}": (1, "EMPTY_SELECTION"),
    "not-tool-call: {name: x}": (1, "EMPTY_SELECTION"),
    "not-tool-call: {name: x, count: 2}": (1, "EMPTY_SELECTION"),
    "tool-call: {name: x, count: 0}": (1, "EMPTY_SELECTION"),
    "tokens: {max: 5}": (1, "EMPTY_SELECTION"),
    "cost: {max: 1, prices: {input: 1, output: 1}}": (1, "EMPTY_SELECTION"),
    "not-cost: {min: 1, prices: {input: 1, output: 1}}": (1, "EMPTY_SELECTION"),
    "script-used": (1, "EMPTY_SELECTION"),
    "regex: {of: $.output, pattern: 'z*'}": (2, "ASSERTION_INVALID"),
    "regex: {of: $.output, pattern: 'h|'}": (2, "ASSERTION_INVALID"),
    "regex: {of: $.output, pattern: '^z*'}": (2, "ASSERTION_INVALID"),
    "contains: {in: $.output, pattern: '^z*'}": (2, "ASSERTION_INVALID"),
    "absent: {from: $.output, pattern: '(?!)'}": (2, "ASSERTION_INVALID"),
    "not-regex: {of: $.output, pattern: '[^\\s\\S]'}": (2, "ASSERTION_INVALID"),
    "schema: {of: $.output, is: {type: string, format: emial}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {type: ['null', boolean, number, string, array, object]}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {anyOf: [{type: 'null'}, {}]}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {required: [a]}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {properties: {a: {type: integer}}}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {items: {type: integer}}}": (2, "BAD_SCHEMA"),
    "schema: {of: $.output, is: {maximum: 5}}": (2, "BAD_SCHEMA"),
}


def test_claims_about_nothing(small: Project) -> None:
    """A claim that every text, every value or no call at all would keep is broken, or refused when it is read."""
    files = [f"checks/c{number:02}.yaml" for number in range(len(IDLE))]
    small.write({file: written(claim) for file, claim in zip(files, IDLE, strict=True)})
    ran = small.run("--format", "jsonl")
    told = {}
    for event in map(json.loads, ran.out.splitlines()):
        if event["kind"] == "case":
            told[event["check"].partition("::")[0]] = (1, event["findings"][0]["code"]) if event["findings"] else (0, "kept")
        elif event["kind"] == "problem":
            told[event["place"]["file"]] = (2, event["code"])
    assert {claim: told.get(file) for file, claim in zip(files, IDLE, strict=True)} == IDLE
