"""The doubles as fixtures: what is latched or left over fails the test, in its call, and masks nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from invcheck import DriftingModel, testing
from invcheck.seeds import derive

Tests = Callable[..., Any]

KINDS = """
import asyncio, pytest, unittest
import invcheck
from invcheck import Fault, ScriptedModel, step


def test_all_used(scripted_model, invcheck_record):
    model = scripted_model("a text", Fault("timeout"))
    assert model("hi").text == "a text"
    with pytest.raises(Exception):
        model("again")
    invcheck_record.effect("told")
    assert [entry["kind"] for entry in invcheck_record.journal] == ["call", "call", "effect"]
    assert invcheck_record.effects == [{"name": "told"}]


def test_unused(scripted_model):
    scripted_model("a", "b")("hi")


@pytest.mark.invcheck(unused="allow")
def test_unused_allowed(scripted_model):
    scripted_model("a", "b")("hi")


def test_unused_optional(scripted_model):
    scripted_model("a", step("b", optional=True))("hi")


@pytest.mark.invcheck(unused="allow")
def test_exhausted_swallowed(scripted_model):
    try:
        scripted_model()("hi")
    except Exception:
        pass


def test_fails_first(scripted_model):
    scripted_model("a", "b")
    assert 1 == 2


def test_skips(scripted_model):
    scripted_model("a")
    pytest.skip("not today")


def test_exhausted_and_skips(scripted_model):
    try:
        scripted_model()("hi")
    except Exception:
        pytest.skip("not today")


@pytest.mark.xfail(strict=True)
def test_expected_to_fail(scripted_model):
    scripted_model("a")


def test_without_a_fixture():
    assert ScriptedModel("a")("hi").text == "a"


def test_without_a_fixture_unused():
    ScriptedModel("a")


def test_testing_inside():
    ScriptedModel("a")("hi")
    with invcheck.testing() as inner:
        ScriptedModel("b")("hi")
    assert len(inner.calls) == 1


@pytest.fixture
def mine():
    return ScriptedModel("a")


def test_own_fixture(mine):
    assert mine("hi").text == "a"


def test_own_fixture_unused(mine):
    pass


def test_async(scripted_model):
    model = scripted_model("a")
    assert asyncio.run(model.acomplete("hi")).text == "a"


@pytest.fixture
def late():
    model = ScriptedModel("a")
    yield model
    try:
        model("too late")
    except Exception:
        pass


def test_late(late):
    late("hi")


def test_next_is_not_touched():
    pass
"""


def test_what_a_test_of_pytest_is_held_to(tests: Tests) -> None:
    """Unused steps and swallowed exhaustion fail the call; ways out work; an earlier failure, skip or xfail keeps its name."""
    told = tests(KINDS)
    assert told.outcomes == {
        "test_all_used": "passed",
        "test_unused": "failure",
        "test_unused_allowed": "passed",
        "test_unused_optional": "passed",
        "test_exhausted_swallowed": "failure",
        "test_fails_first": "failure",
        "test_skips": "skipped",
        "test_exhausted_and_skips": "failure",
        "test_expected_to_fail": "skipped",
        "test_without_a_fixture": "passed",
        "test_without_a_fixture_unused": "failure",
        "test_testing_inside": "passed",
        "test_own_fixture": "passed",
        "test_own_fixture_unused": "failure",
        "test_async": "passed",
        "test_late": "error",
        "test_next_is_not_touched": "passed",
    }, told.text
    assert told.messages["test_unused"].startswith("Failed: SCRIPT_UNUSED: 1 of 2 steps was not used: step 2 ")
    assert told.messages["test_exhausted_swallowed"].startswith("Failed: SCRIPT_EXHAUSTED: ")
    assert told.messages["test_fails_first"].startswith("assert 1 == 2")
    assert "invcheck: wrong as well" in told.text
    assert "SCRIPT_UNUSED: 2 of 2 steps were not used" in told.text
    assert "too late" in told.messages["test_late"] or "SCRIPT_EXHAUSTED" in told.messages["test_late"]


MISTAKEN = """
from invcheck import step


def rude(request):
    raise ValueError("how rude")


def ask(model):
    try:
        return model("hi").text
    except ValueError:
        return "sorry"


def test_swallowed(scripted_model):
    ask(scripted_model(step("a", when=rude)))


def test_asserts(scripted_model):
    assert ask(scripted_model(step("a", when=rude))) == "a"
"""


def test_a_mistake_of_the_test_is_told_first(tests: Tests) -> None:
    """With its reason, before what follows from it; beside an assert it is told as what may be why."""
    told = tests(MISTAKEN)
    first = "DOUBLE_RAISED: the test's own when=rude raised ValueError\n  got       ValueError: how rude\n"
    assert told.messages["test_swallowed"].startswith(f"Failed: {first}")
    assert "\nUNJUDGED: SCRIPT_UNUSED: 1 of 1 step was not used" in told.messages["test_swallowed"]
    assert told.messages["test_asserts"].startswith("AssertionError: assert 'sorry' == 'a'")
    assert "invcheck: a mistake of the test itself, which may be why" in told.text


REFUSED = """
import pytest
from invcheck import ScriptedModel, testing


@pytest.fixture(scope="module")
def shared():
    with testing():
        assert ScriptedModel("a")("hi").text == "a"
    return ScriptedModel("a")


def test_one(scripted_model, shared):
    pass


def test_other(shared):
    pass


@pytest.fixture(scope="module")
def escaped():
    kept = []
    return kept


def test_builds(escaped, scripted_model):
    escaped.append(scripted_model("a", "b"))
    escaped[0]("hi")
    escaped[0]("hi")


def test_asks_the_old_one(escaped):
    try:
        escaped[0]("hi")
    except Exception:
        pass


@pytest.mark.invcheck(sed=7)
def test_misspelt():
    pass


@pytest.mark.invcheck("virtual")
def test_placed():
    pass


@pytest.mark.invcheck(unused="never")
def test_unused_word():
    pass


@pytest.mark.invcheck(seed=True)
def test_seed_kind():
    pass


@pytest.mark.invcheck(gate=1)
def test_gate_kind():
    pass


@pytest.mark.invcheck(clock="slow")
def test_clock_kind():
    pass


@pytest.mark.invcheck(allow="tcp:127.0.0.1:5432")
def test_allow_kind():
    pass


@pytest.mark.invcheck(allow=["tcp:db:5432"])
def test_allow_far():
    pass


@pytest.mark.invcheck(clock={"start": "soon"})
def test_clock_start():
    pass


@pytest.mark.invcheck(depth=7)
def test_unknown():
    pass
"""


def test_what_is_refused(tests: Tests) -> None:
    """Doubles that outlive a test, in every test that wants them, and a marker that is wrong: by name, with the way in."""
    told = tests(REFUSED)
    assert {name for name, outcome in told.outcomes.items() if outcome == "passed"} == {"test_builds"}, told.text
    assert told.outcomes["test_asks_the_old_one"] == "failure"
    assert "NOT_IN_TEST: a call reached a ScriptedModel that was built in another trial" in told.messages["test_asks_the_old_one"]
    for name in ("test_one", "test_other"):
        assert "ScriptedModel was built outside of a test" in told.messages[name]
        assert "in a fixture with scope='function'" in told.messages[name]
    says = {
        "test_misspelt": "the marker invcheck has no 'sed'\n  hint: did you mean seed?",
        "test_placed": "the marker invcheck takes keywords only, got 'virtual'",
        "test_unused_word": "unused is 'fail' or 'allow', got 'never'",
        "test_seed_kind": "seed is an integer, got True",
        "test_gate_kind": "gate is True or False, got 1",
        "test_allow_kind": "allow is a list of texts, got 'tcp:127.0.0.1:5432'",
        "test_allow_far": "'tcp:db:5432' allows nothing: only this machine can be allowed",
        "test_clock_kind": "clock is 'virtual', 'real' or {'start': '2031-05-01T12:00:00Z'}, got 'slow'",
        "test_clock_start": "soon",
        "test_unknown": "the marker invcheck has no 'depth'\n  hint: there are: seed, clock, unused, gate, allow",
    }
    assert {name: text for name, text in says.items() if text not in told.text} == {}
    assert {told.outcomes[name] for name in says} == {"error", "failure"}  # the clock's start is read when it starts
    markers = tests(REFUSED, "-k", " or ".join(says))
    noise = ("Traceback", "During handling", "StashKey", "_held.py", "logging.py")  # of ours, or of a plugin's teardown
    assert [word for word in noise if word in markers.text] == []


def test_a_double_at_import_is_refused(tests: Tests) -> None:
    """A module's top is no test: it could be the app's own."""
    told = tests("from invcheck import ScriptedModel\nmodel = ScriptedModel('a')\n\ndef test_it():\n    pass\n")
    assert told.status == 2
    assert "ScriptedModel was built outside of a test" in told.text


UNITTEST = """
import unittest
import invcheck
from invcheck import ScriptedModel


class Under(unittest.TestCase):
    def test_used(self):
        assert ScriptedModel("a")("hi").text == "a"

    def test_unused(self):
        ScriptedModel("a")

    def test_fails_first(self):
        ScriptedModel("a")
        self.assertEqual(1, 2)

    def test_skips(self):
        ScriptedModel("a")
        self.skipTest("not today")

    def test_swallows_and_skips(self):
        try:
            ScriptedModel()("hi")
        except Exception:
            self.skipTest("not today")

    def test_entered(self):
        self.enterContext(invcheck.testing())
        ScriptedModel("a")("hi")

    def test_entered_unused(self):
        self.enterContext(invcheck.testing())
        ScriptedModel("a")

    @invcheck.testing(seed=7)
    def test_decorated(self):
        assert ScriptedModel("a")("hi").text == "a"

    @invcheck.testing(seed=7)
    def test_decorated_unused(self):
        ScriptedModel("a")
"""
ENTERED = {
    "test_entered": "passed",
    "test_entered_unused": "failure",
    "test_decorated": "passed",
    "test_decorated_unused": "failure",
}


def test_a_testcase_under_pytest(tests: Tests) -> None:
    """A unittest.TestCase is held to the same, and what it reports itself stays the failure."""
    told = tests(UNITTEST)
    assert told.outcomes == {
        "test_used": "passed",
        "test_unused": "failure",
        "test_fails_first": "failure",
        "test_skips": "skipped",
        "test_swallows_and_skips": "failure",
        **ENTERED,
    }, told.text
    assert "1 != 2" in told.messages["test_fails_first"]
    assert "SCRIPT_EXHAUSTED" in told.messages["test_swallows_and_skips"]
    assert "invcheck: wrong as well" in told.text


def test_plain_unittest(tmp_path: Path) -> None:
    """Without pytest a double needs `invcheck.testing()`, as a context of the test or around it; else it is refused."""
    (tmp_path / "test_it.py").write_text(UNITTEST, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "unittest", "-v", "test_it"], capture_output=True, text=True, check=False, cwd=tmp_path)
    said = {line.split(" ", 1)[0]: line.rpartition(" ... ")[2] for line in done.stderr.splitlines() if " ... " in line}
    refused = {"test_used": "ERROR", "test_unused": "ERROR", "test_fails_first": "ERROR", "test_skips": "ERROR"}
    words = {"passed": "ok", "failure": "FAIL"}
    assert said == {**refused, "test_swallows_and_skips": "skipped 'not today'", **{name: words[how] for name, how in ENTERED.items()}}
    assert "ScriptedModel was built outside of a test" in done.stderr


SEEDS = """
import pytest


def fake(rng, request):
    return str(rng.random())


@pytest.mark.parametrize("n", [1, 2])
def test_by_name(drifting_model, invcheck_record, n):
    print("DRAWN", n, invcheck_record.seed, drifting_model(fake)("hi").text)


@pytest.mark.invcheck(seed=7)
def test_by_marker(drifting_model, invcheck_record):
    print("DRAWN", 7, invcheck_record.seed, drifting_model(fake)("hi").text)
"""

GROUPED = SEEDS.replace("import pytest\n", "import pytest\n\npytestmark = pytest.mark.xdist_group('g')\n")


def _drawn(text: str) -> list[str]:
    return sorted({line for line in text.splitlines() if line.startswith("DRAWN")})


def test_seeds_are_the_same_in_any_order(tests: Tests) -> None:
    """A test's replies depend on its name or its marker: not on order, selection, or the worker that runs it."""
    alone = _drawn(tests(SEEDS, "-rP").text)
    with testing(seed=7):
        seven = DriftingModel(lambda rng, request: str(rng.random()))("hi").text
    seeds = [derive(0, f"test_it.py::test_by_name[{n}]") for n in (1, 2)]
    assert [line.split()[1:3] for line in alone] == [["1", str(seeds[0])], ["2", str(seeds[1])], ["7", "7"]]
    assert alone[2].split()[3] == seven
    assert len({line.split()[3] for line in alone}) == 3
    for args in (("--randomly-seed=1",), ("--randomly-seed=2",), ("-n", "2"), ("-n", "2", "--dist", "loadgroup")):
        assert _drawn(tests(GROUPED if "loadgroup" in args else SEEDS, "-rP", *args).text) == alone
