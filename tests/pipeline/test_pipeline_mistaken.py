"""A mistake of the test itself: the trial is errored, and what the app made of it is neither kept nor broken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.conftest import Shop, Told

APP = """
    import json


    def ask(model):
        return model("hi").text


    def swallow(model):
        try:
            return ask(model)
        except Exception:
            return "sorry"


    def streamed(model):
        asked = model.openai().chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": "hi"}])
        return "".join(chunk.choices[0].delta.content or "" for chunk in asked)


    def whole(model):
        return model.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).id


    def insists(model):
        first = swallow(model)
        try:
            return first + model({"messages": [{"role": "tool", "tool_call_id": "c9", "content": "x"}]}).text
        except Exception:
            return first


    def unread(model):
        model.stream("hi")
        return "done"


    def breaks(model):
        return json.loads(model("hi").text)
"""

FAKES = """
    def nothing(request):
        return None


    def rude(request):
        raise ValueError("how rude")
"""

CHECKS = """
    checks:
      - check: unreached
        app: shop:streamed
        model: {script: [{fail: {kind: cut, reply: a text, after: 100000}}]}
        cases: [{id: a, input: {}}]
        expect: [{calls: 1}]
      - check: unread
        app: shop:unread
        model: {script: [a text]}
        cases: [{id: a, input: {}}]
        expect: [{calls: 1}]
      - check: refused
        app: shop:whole
        model: {script: [{fail: {kind: bad-request, message: the prompt is too long}}]}
        cases: [{id: a, input: {}}]
        expect: [{calls: 1}]
      - check: standard
        app: shop:breaks
        model: {script: [no json]}
        cases: [{id: a, input: {}}]
        expect: [{calls: 1}]
"""

PYTHON = """
    import fakes
    import shop
    from invcheck import Calls, Case, ScriptedModel, check, step


    @check(cases=[Case("a")], expect=[Calls(1)])
    def swallowed(trial):
        return shop.swallow(ScriptedModel(step("x", when=fakes.nothing)))


    @check(cases=[Case("a")], expect=[Calls(1)])
    def raised(trial):
        return shop.ask(ScriptedModel(step("x", when=fakes.rude)))


    @check(cases=[Case("a")], expect=[Calls(1)], parse="json")
    def parsed(trial):
        return shop.swallow(ScriptedModel(step("x", when=fakes.rude)))


    @check(cases=[Case("a")], expect=[Calls(1)])
    def asserted(trial):
        assert shop.swallow(ScriptedModel(step("x", when=fakes.rude))) == "x"


    @check(cases=[Case("a")], expect=[Calls(2)])
    def insisted(trial):
        return shop.insists(ScriptedModel(step("x", when=fakes.rude)))
"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them."""
    shared.write({"shop.py": APP, "fakes.py": FAKES, "checks/a.yaml": CHECKS, "checks/check_b.py": PYTHON})
    return shared.told()


def _seen(told: Told, name: str) -> list[tuple[str, str, Any]]:
    return [(each["code"], each["verdict"], each.get("claim")) for each in told.cases[f"{name}[a]"]["findings"]]


@pytest.mark.parametrize(
    ("name", "code", "follows"),
    [
        ("swallowed", "DOUBLE_RAISED", ["SCRIPT_UNUSED"]),
        ("raised", "DOUBLE_RAISED", ["APP_RAISED"]),
        ("asserted", "DOUBLE_RAISED", ["ASSERT"]),
        ("parsed", "DOUBLE_RAISED", ["SCRIPT_UNUSED", "PARSE_FAILED"]),
        ("unreached", "FAULT_UNREACHED", ["APP_RAISED"]),
    ],
)
def test_what_the_app_makes_of_a_mistake_is_unjudged(name: str, code: str, follows: list[str], told: Told) -> None:
    """The trial is errored by the mistake alone; what follows from it, and every claim, is unjudged because of it."""
    first, *left = _seen(told, name)
    assert first == (code, "errored", None)
    assert left == [("UNJUDGED", "unjudged", claim) for claim in [*follows, "calls: 1"]]
    assert {each["because"] for each in told.cases[f"{name}[a]"]["findings"][1:]} == {code}
    assert told.verdict(f"{name}[a]") == "errored"


def test_a_mistake_alone_means_the_third_exit_status(told: Told, shared: Shop) -> None:
    """Could not be judged: neither kept nor broken."""
    assert told.status == 1
    assert [shared.told("-k", name).status for name in ("swallowed", "unreached")] == [3, 3]


def test_what_is_wrong_by_itself_stays_broken(told: Told) -> None:
    """A request that no provider takes is the app's own, whatever the test got wrong before."""
    assert ("REQUEST_PROTOCOL", "broken", None) in _seen(told, "insisted")
    assert ("UNJUDGED", "unjudged", "SCRIPT_UNUSED") in _seen(told, "insisted")
    assert told.verdict("insisted[a]") == "broken"


def test_the_error_of_a_test_s_own_function_is_told(told: Told) -> None:
    """With its text, be it the test's or ours."""
    told_of = {name: told.cases[f"{name}[a]"]["findings"][0]["got"] for name in ("swallowed", "raised")}
    assert told_of == {
        "swallowed": "TypeError: a predicate gives True, False or a text that says what is wrong, not NoneType",
        "raised": "ValueError: how rude",
    }


def test_a_library_s_error_is_told_by_the_call(told: Told) -> None:
    """What the SDK says differs between its versions, so the call's outcome is told; another error's call was served."""
    refused, standard = (told.one(f"{name}[a]")["message"] for name in ("refused", "standard"))
    assert refused == (
        "the app raised BadRequestError in shop.py:whole after call 1, which failed with bad-request 400: the prompt is too long"
    )
    assert standard == "the app raised JSONDecodeError in shop.py:breaks"


def test_a_stream_that_nobody_read_is_the_hint(told: Told) -> None:
    """The app has called, as it sees it."""
    found = told.one("unread[a]")
    assert (found["code"], found["verdict"]) == ("SCRIPT_UNUSED", "broken")
    assert found["hint"] == "a stream was opened and never read: iterate it, or await its result"
