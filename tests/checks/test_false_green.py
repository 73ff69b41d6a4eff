"""What says nothing, or cannot be asked, is never green: told with a code, through the command line."""

from __future__ import annotations

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
    small.write({"checks/c.yaml": written("calls: 0", app="b:lazy", more=f"runs: 3\nmodel: {model}")})
    assert small.run().status == 0
    small.write({"checks/c.yaml": written(kept, app="b:lazy", more="model: {script: [{reply: x, optional: true}]}")})
    assert small.run().status == 0
