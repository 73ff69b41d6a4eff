"""What a person reads of a failure: the words fit the language of the check, its grammar, and say what to do."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APP = """
    import asyncio
    import socket


    def ask(text, model):
        return model(text).text


    def twice(text, model):
        model(text)
        return model(text).text


    def silent(text, model=None):
        return text


    def sdk(text, model):
        return model.chat.completions.create(messages=[]).choices[0]


    async def waits_for_ever(text):
        one, other = socket.socketpair()
        await asyncio.get_running_loop().sock_recv(one, 1)


    def drift(rng):
        return "x"
"""

CHECKS = """
    checks:
      - {check: unused, app: "shop:silent", cases: [{id: a, input: x}], model: {script: [a]}, expect: [{calls: 0}]}
      - {check: over, app: "shop:twice", cases: [{id: a, input: x}], model: {script: [a]}, expect: [{calls: 2}]}
      - {check: sdk, app: "shop:sdk", cases: [{id: a, input: x}], model: {script: [{reply: a, optional: true}]}, expect: [{calls: 0}]}
      - {check: nothing, app: "shop:silent", cases: [{id: a, input: x}], expect: [{unique: "$.ledger[*]"}]}
      - {check: drift, app: "shop:ask", cases: [{id: a, input: x}], model: {drifting: "shop:drift"}, expect: [{calls: 1}]}
"""

PYTHON = """
    from invcheck import Calls, Fault, ScriptedModel, check


    @check(expect=[Calls(1)])
    def misspelt(trial):
        ScriptedModel(Fault("ratelimit"))


    @check()
    def names(trial):
        wanted = {"cites": ["d1"]}
        found = ["d2"]
        assert found == wanted["cites"], "other documents"


    @check()
    def several_lines(trial):
        text = "abc"
        assert (
            len(text)
            == 4
        )
"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them."""
    shared.write({"shop.py": APP, "checks/a.yaml": CHECKS, "checks/check_a.py": PYTHON})
    return shared.told()


def test_unused_steps_are_counted_in_words_that_agree(told: Told) -> None:
    """One step was, one call is expected; the hint serves both languages."""
    found = told.one("unused[a]")
    assert (found["message"], found["expected"]) == ('1 of 1 step was not used: step 1 ("a")', "1 call")
    assert found["hint"] == "remove the step, or mark it optional: true (optional=True in Python)"


def test_a_script_that_is_over_is_told_by_the_call(told: Told) -> None:
    """The call's ordinal comes first, and no step is spoken of where none is left."""
    found = told.one("over[a]")
    assert (found["code"], found["message"]) == ("SCRIPT_EXHAUSTED", "call 2 of 1: the script is over")
    assert found["hint"] == "add a step, or let then-always (then_always() in Python) answer where more calls are fine"


def test_an_empty_selection_hints_in_both_languages(told: Told) -> None:
    """The field as YAML spells it, and as Python does."""
    assert told.one("nothing[a]")["hint"] == "say allow-empty: true (allow_empty=True in Python) where nothing is fine"


def test_an_app_that_asks_a_client_is_told_of_ports(told: Told) -> None:
    """A double has no SDK's surface; the error says what it has."""
    found = told.one("sdk[a]")
    assert found["code"] == "APP_RAISED"
    assert "ScriptedModel has no attribute 'chat': a double is called, as model(request)" in found["message"]
    assert "model.port(Protocol)" in found["message"]


def test_a_drift_of_a_generator_alone_is_refused(told: Told) -> None:
    """One parameter is the request; one that is called rng would be handed it silently."""
    (problem,) = [problem for problem in told.problems if "drift" in problem["message"]]
    assert problem["message"] == "drift takes rng alone, and a function of one parameter is given the request"
    assert (problem["hint"], problem["place"]["line"]) == ("write (rng, request)", 6)


def test_a_check_that_crashes_is_errored_alone(told: Told) -> None:
    """A misspelt kind of fault is refused when the step is queued, and no claim is held against the app for it."""
    found = told.one("misspelt[default]")
    assert (found["code"], found["verdict"]) == ("CHECK_RAISED", "errored")
    assert "did you mean 'rate-limit'?" in found["message"]
    assert told.verdict("misspelt[default]") == "errored"


def test_an_assert_shows_its_text_and_the_values_of_its_names(told: Told) -> None:
    """What was claimed and with which values, in one line each; the message stands in the heading."""
    found = told.one("names[default]")
    assert found["message"] == "an assert in the check does not hold: other documents"
    assert (found["expected"], found["got"]) == ("found == wanted['cites']", 'found = ["d2"], wanted = {"cites": ["d1"]}')
    found = told.one("several_lines[default]")
    assert (found["expected"], found["got"]) == ("len(text) == 4", 'text = "abc"')
    assert found["message"] == "an assert in the check does not hold: len(text) == 4"


def test_a_stuck_trial_names_the_setting_and_the_coroutine(shop: Shop) -> None:
    """The setting as it is spelled, and where an async app waits for what may still come."""
    shop.write(
        {
            "shop.py": APP,
            "invcheck.toml": "trial-seconds = 2\n",
            "checks/a.yaml": "{check: stuck, app: 'shop:waits_for_ever', cases: [{id: a, input: x}], expect: [{calls: 0}]}\n",
        }
    )
    found = shop.told().one("stuck[a]")
    assert (found["code"], found["hint"]) == ("TRIAL_TIMEOUT", "raise trial-seconds in the settings where the app really needs longer")
    assert "in shop.py:waits_for_ever, line 24" in found["message"]
