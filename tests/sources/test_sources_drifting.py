"""Drift: repeatable from a seed, in any interleaving, on a generator whose draws are choices."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import DriftingModel, Fault, ScriptedModel, Verdict, testing
from invcheck.choices import WIDEST, ReplayChoices, ReplaySource, SeededSource
from invcheck.errors import DoubleError
from invcheck.record import Record, opened
from invcheck.sources.rng import ChosenRandom
from invcheck.vocabulary import Counts

DOCUMENTS = ["d1", "d2", "d3"]
OPENINGS = ["Yes. ", "In short: ", "As the documents say, ", "Good question. "]


class DriftyLLM:
    """A user's own fake: one instance owns one generator, which the sandbox never replaces."""

    def __init__(self, seed: int = 7) -> None:
        self.rng = random.Random(seed)

    def answer(self, request: Any) -> dict[str, Any]:
        """Draw, in this order: 1 to 3 citations, which, the opening, 0 to 3 paddings."""
        count = self.rng.randint(1, 3)
        cites = self.rng.sample(DOCUMENTS, count)
        opening = self.rng.choice(OPENINGS)
        padding = self.rng.randint(0, 3)
        return {"answer": f"{opening}{request['prompt']} is answered there.{' Truly.' * padding}", "cites": cites}


def _distinct(ask: Callable[[str], str], questions: list[str]) -> int:
    return len({ask(questions[n % len(questions)]) for n in range(200)})


def test_a_users_own_fake_drifts_as_its_own_generator_does() -> None:
    """One Random(7), 200 calls: 134 distinct whole replies to one question, 182 to five in turn; a new instance per call: 1."""
    with testing():
        one = DriftingModel(DriftyLLM().answer)
        assert _distinct(lambda question: one(question).text, ["How?"]) == 134
        five = DriftingModel(DriftyLLM().answer)
        assert _distinct(lambda question: five(question).text, ["How?", "When?", "Where?", "Who?", "Why?"]) == 182
        fresh = DriftingModel(lambda _rng, request: DriftyLLM().answer(request))
        assert _distinct(lambda question: fresh(question).text, ["How?"]) == 1
        assert all(set(json.loads(call.outcome.text)["cites"]) <= set(DOCUMENTS) for call in one.calls)  # type: ignore[union-attr]  # all were served


def fake(rng: random.Random, request: Any) -> str:
    """A fake that uses what it is given."""
    return f"{request['prompt']} {rng.randint(0, 10**6)} {rng.random()} {rng.sample(range(20), 3)} {rng.gauss(0, 1)}"


def _replies(trial: int, order: list[str], **how: Any) -> dict[tuple[str, int], str]:
    with testing(seed=trial):
        double = DriftingModel(fake, **how)
        seen: dict[str, int] = {}
        replies = {}
        for question in order:
            replies[question, seen.setdefault(question, 0)] = double(question).text
            seen[question] += 1
        return replies


@given(st.integers(0, 2**32), st.permutations(["a", "a", "b", "b", "c"]))
def test_the_same_seed_gives_the_same_replies_in_any_order(seed: int, order: list[str]) -> None:
    """A reply is keyed by request and occurrence: no other call, and no order, moves it."""
    assert _replies(seed, order) == _replies(seed, ["a", "a", "b", "b", "c"])


def test_another_seed_gives_other_replies_and_calls_differ() -> None:
    """The negative twin: another seed, another occurrence and another lane each draw anew."""
    one, other = _replies(1, ["a", "a"]), _replies(2, ["a", "a"])
    assert len({*one.values(), *other.values()}) == 4
    assert _replies(1, ["a", "a"], seed=2) == other
    with testing(seed=1):
        double = DriftingModel(fake, lanes=["x", "y"])
        assert double.lane("x")("a").text != double.lane("y")("a").text


def test_interleaved_tasks_change_nothing() -> None:
    """Five questions asked at once get what they get one by one."""

    async def all_at_once() -> list[str]:
        replies = await asyncio.gather(*(double.acomplete(question) for question in "abcde"))
        return [reply.text for reply in replies]

    with testing(seed=3):
        double = DriftingModel(fake)
        at_once = asyncio.run(all_at_once())
    assert at_once == list(_replies(3, list("abcde")).values())


def test_every_decision_is_a_logged_choice() -> None:
    """The log is one list of integers per call, small for small decisions, and replays to the same replies."""

    def cites(rng: random.Random, _request: Any) -> str:
        return f"{rng.choice(OPENINGS)}{rng.sample(DOCUMENTS, rng.randint(1, 3))}"

    with testing(seed=11):
        double = DriftingModel(cites)
        replies = [double("q").text for _ in range(5)]
        log = double.choices
    assert len(log) == 5
    assert all(0 <= value < 4 for call in log for value in call)
    with testing(seed=99):
        assert [ReplayModel("q").text for ReplayModel in [DriftingModel(cites, choices=ReplayChoices(log))] * 5] == replies
        assert DriftingModel(cites, choices=ReplayChoices([]))("q").text == "Yes. ['d1']"


def failing(rng: Any, request: Any) -> Fault:
    if request["prompt"] != "f":
        raise KeyError("x")
    return Fault("timeout")


@pytest.mark.parametrize("build", [DriftingModel, lambda fake: ScriptedModel(lambda request: fake(None, request))])
def test_a_fake_that_fails_by_mistake_is_a_finding(build: Any) -> None:
    """What no raise statement raised is a mistake of the fake, which an app that expects failures would hide."""

    def mistaken(rng: Any, request: Any) -> str:
        return request.nopee  # type: ignore[no-any-return]  # the mistake

    record = Record()
    with opened(record):
        double = build(mistaken)
        with pytest.raises(AttributeError):
            double("q")
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("DOUBLE_RAISED", Verdict.ERRORED)]


def test_an_error_that_a_fake_throws_is_meant() -> None:
    """In a lambda people raise by throwing into a generator; a step may be an exception of any kind."""
    with testing():
        double = ScriptedModel(lambda _: (_ for _ in ()).throw(RuntimeError("boom")), KeyError("x"), AssertionError, OSError)
        for kind in (RuntimeError, KeyError, AssertionError, OSError):
            with pytest.raises(kind):
                double("x")


def _asserts(request: Any) -> None:
    assert request["prompt"] == "other"


@pytest.mark.parametrize(
    "fake",
    [
        lambda _: open("/nowhere"),  # noqa: PTH123, SIM115  # what is opened is not there
        lambda _: os.environ["INVCHECK_NOWHERE"],
        lambda _: json.loads("not json"),
        lambda _: random.Random(1).choice([]),
        lambda _: next(iter([])),
        lambda request: request.update(x=1),
        _asserts,
    ],
)
def test_what_fails_of_itself_in_a_fake_is_a_finding(fake: Any) -> None:
    """A file that is not there, a library's refusal, an empty iterator, a frozen request, a broken assert: nobody raised them."""
    record = Record()
    with opened(record):
        double = ScriptedModel(fake)
        with pytest.raises(Exception, match=r".*"):
            double("q")
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("DOUBLE_RAISED", Verdict.ERRORED)]


def test_a_fake_may_answer_with_a_fault_or_raise() -> None:
    """A fault is data, an exception the app's; both count as failed, and drift never leaves anything over."""
    with testing():
        double = DriftingModel(failing)
        with pytest.raises(TimeoutError):
            double("f")
        with pytest.raises(KeyError):
            double("r")
        assert double.counts == Counts(failed=2)
        assert (double.pending, double.leftover()) == (0, [])


def test_usage_of_a_drifting_double_can_be_fixed() -> None:
    """A default for usage makes tokens equal whatever was answered."""
    with testing():
        double = DriftingModel(fake, usage={"input_tokens": 100, "output_tokens": 20})
        usages = {double("q").usage for _ in range(5)}
        assert [(u.input_tokens, u.output_tokens) for u in usages if u] == [(100, 20)]


def test_a_fake_is_called_with_what_it_takes() -> None:
    """(rng, request), (request), () and callable objects; anything else is refused when the double is built."""

    class Model:
        def __call__(self, rng: random.Random, request: Any) -> str:
            return f"object {rng.choice('a')} {request['prompt']}"

    with testing():
        assert DriftingModel(Model())("q").text == "object a q"
        assert DriftingModel(lambda request: request["prompt"])("q").text == "q"
        assert DriftingModel(lambda: "none")("q").text == "none"
        for wrong, says in [(Model, "the class Model"), (3, "got int"), ("text", "got str"), (lambda a, b, c: "", "takes other arguments")]:
            with pytest.raises(DoubleError, match=says):
                DriftingModel(wrong)


# the generator


@given(st.integers(0, 2**32))
def test_every_method_of_the_generator_stays_in_its_range(seed: int) -> None:
    """The generator keeps the promises of random.Random, for large ranges too."""
    rng = ChosenRandom(SeededSource(seed))
    assert 0 <= rng.random() < 1
    assert 1 <= rng.uniform(1, 2) <= 2
    assert 5 <= rng.randint(5, 9) <= 9
    assert 0 <= rng.randrange(10**30) < 10**30
    assert len(rng.randbytes(9)) == 9
    assert 0 <= rng.getrandbits(70) < 2**70
    assert sorted(rng.sample(range(9), 9)) == list(range(9))
    assert rng.choices("ab", [0, 1], k=3) == ["b"] * 3
    items = list(range(5))
    rng.shuffle(items)
    assert sorted(items) == list(range(5))
    assert rng.getrandbits(0) == 0
    with pytest.raises(ValueError, match="non-negative"):
        rng.getrandbits(-1)


def test_a_log_of_zeros_draws_the_first_of_everything() -> None:
    """Option 0 is the benign one: the least number, the first item, 0.0."""
    rng = ChosenRandom(ReplaySource([]))
    assert (rng.randint(1, 3), rng.choice("abc"), rng.random(), rng.sample("abc", 1), rng.randrange(10**20)) == (1, "a", 0.0, ["a"], 0)


def test_a_float_is_one_choice_among_all_that_random_gives() -> None:
    """random() is one choice of 2**53; a choice of one option costs none; what falls beyond a large range is drawn again."""
    source = ReplaySource([WIDEST // 2])
    rng = ChosenRandom(source)
    assert rng.random() == 0.5
    assert rng.choice("a") == "a"
    assert source.log == [WIDEST // 2]
    above = ReplaySource([2**32 - 1, 2**22 - 1, 0, 0])
    assert ChosenRandom(above)._randbelow(2**53 + 1) == 0
    assert len(above.log) == 4


@pytest.mark.parametrize("use", [lambda rng: rng.seed(1), lambda rng: rng.getstate(), lambda rng: rng.setstate(())])
def test_the_generator_cannot_be_reseeded(use: Any) -> None:
    """A fake that reseeds it would step out of the double's seed without a word, so it is refused."""
    with pytest.raises(TypeError, match="belongs to the double"):
        use(ChosenRandom(ReplaySource([])))


def test_a_callable_that_shows_no_signature_is_given_the_request() -> None:
    """As those of C code: nobody can say what its parameter is called, so it is not taken for a generator of chance."""

    class Opaque:
        __signature__ = 0

        def __call__(self, request: Any) -> str:
            return f"you said {request['prompt']}"

    with testing():
        assert DriftingModel(Opaque())("hi").text == "you said hi"
