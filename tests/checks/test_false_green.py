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
