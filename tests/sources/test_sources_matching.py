"""What a step may expect of its request, what becomes of a request that it does not, and what is told then."""

from __future__ import annotations

import functools
import pickle
import re
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import ScriptedModel, VerificationError, step, testing
from invcheck.errors import ScriptedModelError, ScriptInvalid
from invcheck.freeze import frozen
from invcheck.record import Record, opened
from invcheck.request import Request
from invcheck.sources.matching import Difference, matcher
from invcheck.vocabulary import Counts, Json, Verdict

CHAT: Json = {
    "model": "small",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "I want a refund"}],
    "limit": 8,
    "tools": [],
}

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text().filter(lambda t: t[:1] != "$"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
requests = st.dictionaries(st.text(min_size=1).filter(lambda t: t[0] != "$"), json, min_size=1, max_size=4)


class Like:
    """A matcher as other libraries have them: it equals what it likes."""

    def __init__(self, pattern: str, said: str = "") -> None:
        self.pattern, self.said = pattern, said

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.search(self.pattern, other) is not None

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return self.said or f"Like({self.pattern!r})"


class Meta(type):
    """Lets the class itself be a matcher."""

    def __eq__(cls, other: object) -> bool:
        return isinstance(other, str)

    __hash__ = type.__hash__


class AnyText(metaclass=Meta):
    """Equals every text."""


class Hard:
    """A matcher that raises, and cannot even say what it is."""

    def __eq__(self, other: object) -> bool:
        raise LookupError("hard")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        raise LookupError("hard")


class Loud:
    """Equal to nothing; its words hold its address."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


class Size(Enum):
    SMALL = "small"


class Both:
    """Can be called, and knows what it equals: that is what it is asked."""

    def __eq__(self, other: object) -> bool:
        return other == "small"

    __hash__ = object.__hash__

    def __call__(self, text: str) -> bool:
        return False


def saying(said: Any, kind: type = object) -> Any:
    """A class of values whose own __eq__ says just this."""
    return type(
        f"Says{kind.__name__}", (kind,), {"__eq__": lambda self, other: said, "__hash__": kind.__hash__, "__repr__": lambda self: "own"}
    )


class Longer:
    """A predicate with a state."""

    def __init__(self, than: int) -> None:
        self.than = than

    def __call__(self, text: str) -> bool:
        return len(text) > self.than


def differs(when: object, request: Json = CHAT) -> tuple[str, str, str] | None:
    """Where a request first differs, what was expected, and what is there."""
    found = matcher(when).difference(Request(request))
    return None if found is None else (found.path, found.expected, found.got)


@given(requests)
def test_every_request_is_what_it_is(request: Json) -> None:
    """A request matches itself, as literals and as one literal, and so does each part of it."""
    plain = {key: {"literal": value} for key, value in request.items()}
    assert differs(plain, request) is None
    for key in request:
        assert differs({key: {"literal": request[key]}}, request) is None


@given(requests, st.data())
def test_a_changed_leaf_is_found_at_its_place(request: Json, data: Any) -> None:
    """Change one field: the difference names it, and all others agree."""
    key = data.draw(st.sampled_from(sorted(request)))
    want = {name: {"literal": value} for name, value in request.items()} | {key: {"literal": {"other": request[key]}}}
    found = matcher(want).difference(Request(request))
    assert found is not None
    assert (found.agrees, found.leaves) == (len(request) - 1, len(request))
    assert matcher({key: {"literal": 1}}).difference(Request({"x": 1} if key != "x" else {"y": 1})) is not None


@pytest.mark.parametrize(
    "when",
    [
        "refund",
        {"model": "small"},
        {"limit": 8.0, "tools": []},
        {"messages": [{"role": "system"}, {"content": {"contains": "refund"}}]},
        {"messages": ({"role": Like("^sys")}, {})},
        {"$.messages[-1].content": Like("refund$")},
        {"$.messages[1].content": re.compile("ref+und")},
        {"$.messages[*].role": ["system", "user"]},
        {"$.messages[*].role": lambda roles: roles == ["system", "user"]},
        {"$.messages[?@.role == 'user'].content": ["I want a refund"]},
        {"$.limit": lambda limit: limit < 9},
        {"model": str.islower},
        {"model": AnyText},
        {"model": Both()},
        {"model": {"small", "large"}.__contains__},
        {"model": Longer(3).__call__},
        {"model": Size.SMALL, "limit": Decimal(8)},
        {"messages": [{"content": Longer(3)}, {"content": functools.partial(lambda a, b: a in b, "refund")}]},
        lambda request: request["limit"] == 8,
        lambda request: "refund" in request.last_user,
        Longer(3),
    ],
)
def test_what_is_as_expected_is_taken(when: object) -> None:
    """Literals, parts at any depth, paths, objects with an __eq__, patterns and predicates."""
    assert differs(when) is None


@pytest.mark.parametrize(
    ("when", "difference"),
    [
        ("thanks", ("$.messages[1].content", 'a text with "thanks"', '"I want a refund"')),
        ({"model": "large"}, ("$.model", '"large"', '"small"')),
        ({"limit": True}, ("$.limit", "true", "8")),
        ({"limit": "8"}, ("$.limit", '"8"', "8")),
        ({"user": None}, ("$.user", "null", "nothing there")),
        ({"messages": [{"role": "user"}]}, ("$.messages", "a list of 1", "a list of 2")),
        ({"tools": {"a": 1}}, ("$.tools", "an object with a", "[]")),
        ({"model": {}}, ("$.model", "an object with any fields", '"small"')),
        ({"user": {"id": 1}}, ("$.user", "an object with id", "nothing there")),
        ({"user": [1]}, ("$.user", "a list of 1", "nothing there")),
        ({"limit": [8]}, ("$.limit", "a list of 1", "8")),
        ({"messages": [{}, {"role": "user", "content": Like("^a")}]}, ("$.messages[1].content", "Like('^a')", '"I want a refund"')),
        ({"model": {"contains": "x"}}, ("$.model", 'a text with "x"', '"small"')),
        ({"limit": {"contains": "x"}}, ("$.limit", 'a text with "x"', "8")),
        ({"model": {"literal": "$5"}}, ("$.model", '"$5"', '"small"')),
        ({"model": re.compile("^x")}, ("$.model", 'a text like "^x"', '"small"')),
        ({"limit": re.compile("8")}, ("$.limit", 'a text like "8"', "8")),
        ({"limit": AnyText}, ("$.limit", "AnyText", "8")),
        ({"model": Like("x", "x" * 70)}, ("$.model", "x" * 60 + "...", '"small"')),
        ({"model": Like("x", "x" * 60)}, ("$.model", "x" * 60, '"small"')),
        ({"model": Loud()}, ("$.model", "Loud", '"small"')),
        ({"$.messages[-1].role": "system"}, ("$.messages[1].role", '"system"', '"user"')),
        ({"$.messages[5].role": "user"}, ("$.messages[5].role", '"user"', "nothing there")),
        ({"$.messages[*].role": ["user"]}, ("$.messages[*].role", "a list of 1", "a list of 2")),
        ({"$.messages[*].role": ["system", "tool"]}, ("$.messages[*].role[1]", '"tool"', '"user"')),
        ({"model": str.isupper}, ("$.model", "isupper says True", '"small"')),
        ({"$.limit": lambda limit: f"{limit} is too much"}, ("$.limit", "<lambda> says True", "8 is too much")),
        ({"model": Longer(9)}, ("$.model", "Longer says True", '"small"')),
        (lambda request: "limits" in request or "no limits", ("$", "<lambda> says True", "no limits")),
    ],
)
def test_the_first_difference_is_told(when: object, difference: tuple[str, str, str]) -> None:
    """Its path, what was expected there and what is there, each short, none with an address."""
    assert differs(when) == difference


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"prompt": "hi"}, "$.prompt"),
        ({"limit": 8, "question": "hi"}, "$.question"),
        ({"limit": 8}, "$"),
        ({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "bye"}]}, "$.messages[0].content"),
        ({"my rows": [1, {"role": "user", "content": "hi"}, "x"]}, "$['my rows'][1].content"),
    ],
)
def test_a_text_is_sought_where_the_user_last_spoke(request_: Json, path: str) -> None:
    """The path is that of Request.last_user."""
    assert differs("bye", request_) == (path, 'a text with "bye"', '""' if path == "$" else '"hi"')


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("", 'when is "", which every request holds'),
        ({}, "when is {}, which every request matches"),
        (True, "when is true; it is a text, a mapping, a function, or an object with __eq__"),
        (["a"], 'when is ["a"]; it is'),
        (7, "when is 7; it is"),
        (object(), "object is no expectation: it equals itself alone"),
        (int, "int is no expectation"),
        ({"model": object()}, "object is no expectation"),
        ({"model": [{"a": int}]}, "int is no expectation"),
        ({5: "a"}, "when has the key 5, and a request has text keys only"),
        ({"model": {5: "a"}}, "when has the key 5"),
        ({"model": "$5"}, 'when has the value "$5", which looks like a path; spell a literal one'),
        ({"model": {"contains": ""}}, 'contains needs a text that is not empty, got ""'),
        ({"model": {"contains": 5}}, "contains needs a text that is not empty, got 5"),
        ({"$.a[": 5}, "when has the key '$.a[': JSONPath not supported at column"),
        ({"$.messages[*].role": "user"}, "which can select several values: compare a list"),
        ({"$..role": {"contains": "user"}}, "which can select several values"),
    ],
)
def test_what_can_never_or_always_fit_is_refused_when_queued(when: object, reason: str) -> None:
    """ScriptInvalid with index and reason, and the queue stays as it was."""
    with testing():
        model = ScriptedModel("a")
        with pytest.raises(ScriptInvalid) as caught:
            model.set_responses(["x", step("b", when=when)])
        assert reason in caught.value.message
        assert caught.value.fields["index"] == 1
        with pytest.raises(ScriptInvalid):
            model.reply("b", when=when)
        assert model("hi").text == "a"


def test_a_request_that_is_not_expected_is_refused_and_the_step_kept() -> None:
    """First in, first out: nothing is skipped; the next request that fits takes the step, and the refusal is latched."""
    record = Record()
    with opened(record):
        model = ScriptedModel().reply("a", when={"model": "small"}, label="first").fail("timeout", when="bye").reply("c")
        with pytest.raises(ScriptedModelError) as caught:
            model({"model": "large"})
        assert (model.pending, model.counts) == (3, Counts(refused=1))
        assert model({"model": "small"}).text == "a"
        with pytest.raises(Exception, match="timed out"):
            model("good bye")
        assert model("anything").text == "c"
        assert model.counts == Counts(served=2, failed=1, refused=1)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.code == "STEP_MISMATCH"
    assert error.message == 'call 1 is not what step 1 (first) expects: at $.model expected "small", got "large"'
    assert error.fields["step"] == 0
    found = record.findings()
    assert [(each.code, each.verdict, each.path, each.expected, each.got, each.call) for each in found] == [
        ("STEP_MISMATCH", Verdict.BROKEN, "$.calls[0].request.model", '"small"', '"large"', "call 1")
    ]


def test_an_except_in_the_app_does_not_hide_a_refusal() -> None:
    """The end of the test tells it, and the step that was left over."""
    with pytest.raises(VerificationError, match="STEP_MISMATCH: call 1 is not what") as caught, testing():  # noqa: PT012  # what is raised is raised by its end
        model = ScriptedModel(step("a", when="bye"))
        with pytest.raises(ScriptedModelError):
            model("hi")
    assert [each.code for each in caught.value.findings] == ["STEP_MISMATCH", "SCRIPT_UNUSED"]


def told(model: ScriptedModel, request: Json) -> str:
    """The message of a call that is refused."""
    with pytest.raises(ScriptedModelError) as caught:
        model(request)
    return caught.value.message


def test_the_step_that_would_have_fitted_is_named() -> None:
    """The first one that expects this request; steps that expect nothing fit all, and are none."""
    with opened(Record()):
        model = ScriptedModel(
            step("a", when="hi"), "b", step("c", when={"n": 2}), step("d", when={"n": 3}, label="third"), step("e", when={"n": 3})
        )
        assert told(model, {"n": 3}).endswith('at $ expected a text with "hi", got ""; step 4 (third) expects it')


def test_else_the_nearest_step_is_named() -> None:
    """The first of those of which most agrees, with the place where it differs; none where nothing agrees."""
    wants = [{"n": 2, "m": 2}, {"n": 2, "m": 1, "o": 9}, {"n": 2, "m": 1, "o": 8}, {"n": 2, "m": 3}]
    with opened(Record()):
        model = ScriptedModel(step("a", when="hi"), *(step("b", when=want) for want in wants), "d")
        near = told(model, {"n": 2, "m": 1, "o": 3})
        assert near.endswith('; the nearest other is step 3 ("b"), which differs first at $.o')
        assert near.count("\n") == 0
        assert told(model, {"n": 7}).endswith('expected a text with "hi", got ""')


def test_steps_of_other_lanes_are_candidates_too() -> None:
    """A request that went to the wrong lane is told where it belongs, also where its own script is over."""
    record = Record()
    with opened(record):
        model = ScriptedModel(lanes={"a": [step("x", when="hi")], "b": ["z", step("y", when="bye")]}, lane_by="to")
        assert told(model, {"to": "a", "prompt": "bye"}) == (
            'call 1 on lane "a" is not what step 1 ("x") expects: at $.prompt expected a text with "hi", got "bye"; '
            'step 2 ("y") of lane "b" expects it'
        )
        model({"to": "a", "prompt": "hi"})
        assert told(model, {"to": "a", "prompt": "bye"}).endswith('the script is over; step 2 ("y") of lane "b" expects it')
        assert told(model, {"to": "a", "prompt": "so"}).endswith(
            'the script is over; the nearest unmatched step is step 1 ("z") of lane "b"'
        )
    assert [(each.code, each.got) for each in record.latches] == [
        ("STEP_MISMATCH", '"bye"'),
        ("SCRIPT_EXHAUSTED", 'call 2, which asked "bye"'),
    ]


def test_what_answers_for_ever_may_expect_something_too() -> None:
    """then_always with a step that says when."""
    with opened(Record()):
        model = ScriptedModel("a").then_always(step("b", when={"n": 1}))
        model("x")
        assert told(model, {"n": 2}).startswith('call 2 is not what step 2 ("b") expects: at $.n expected 1, got 2')
        assert model({"n": 1}).text == "b"
        assert model.always_used == 1


@pytest.mark.parametrize(
    ("when", "kind", "name"),
    [
        (lambda request: request["limit"] < 9, KeyError, "<lambda>"),
        ({"$.n": Longer(3)}, TypeError, "Longer"),
        ({"n": Hard()}, LookupError, "Hard"),
        (Hard(), LookupError, "Hard"),
        (lambda request: 1, TypeError, "<lambda>"),
        ({"n": lambda n: None}, TypeError, "<lambda>"),
    ],
)
def test_a_mistake_of_the_test_itself_is_no_mismatch(when: object, kind: type[Exception], name: str) -> None:
    """What a predicate or an __eq__ raises goes into the app as it is, and is errored at the end; the step is kept."""
    record = Record()
    with opened(record):
        model = ScriptedModel(step("a", when=when, optional=True))
        with pytest.raises(kind) as caught:
            model({"n": 1})
        assert type(caught.value) is kind
        assert caught.value.__cause__ is None
        assert (model.pending, model.counts) == (1, Counts(failed=1))
    assert [(each.code, each.verdict, each.message) for each in record.findings()] == [
        ("DOUBLE_RAISED", Verdict.ERRORED, f"the test's own when={name} raised {kind.__name__}")
    ]


def test_an_answer_that_is_no_answer_is_explained() -> None:
    """A predicate that forgets its return would else refuse everything."""
    with opened(Record()), pytest.raises(TypeError, match="a predicate gives True, False or a text that says what is wrong, not NoneType"):
        ScriptedModel(step("a", when=lambda _: None))("hi")


def test_a_candidate_that_raises_is_no_mistake() -> None:
    """It is not its turn: it may rely on what its own request holds."""
    record = Record()
    with opened(record):
        model = ScriptedModel(step("a", when={"n": 1}, optional=True), step("b", when=lambda request: request["m"] == 1, optional=True))
        assert told(model, {"n": 2}) == 'call 1 is not what step 1 ("a") expects: at $.n expected 1, got 2'
    assert [each.code for each in record.findings()] == ["STEP_MISMATCH"]


def test_a_predicate_sees_the_frozen_request() -> None:
    """It cannot change what was recorded."""
    with opened(Record()), pytest.raises(TypeError, match="frozen"):
        ScriptedModel(step("a", when=lambda request: request.update(n=2)))({"n": 1})


def test_a_value_is_compared_as_it_stands_in_a_request() -> None:
    """What an app hands over as a date or a set became JSON, and so does what is expected."""
    assert differs({"day": date(2030, 1, 1), "ids": {1, 2}}, {"day": "2030-01-01", "ids": {"$set": [1, 2]}}) is None
    assert differs({"day": date(2030, 1, 1)}, {"day": "2030-01-02"}) == ("$.day", "datetime.date(2030, 1, 1)", '"2030-01-02"')


def test_a_matcher_may_be_compared_with_frozen_json() -> None:
    """Requests are frozen views, which equal plain JSON."""
    assert matcher({"a": {"b": [1]}}).difference(Request(frozen({"a": {"b": [1]}}))) is None
    assert matcher({"a": 1}).difference(Request({"a": 2})) == Difference("$.a", "1", "2", 0, 1)


@pytest.mark.parametrize("stream", [False, True])
def test_a_step_holds_its_expectation_on_every_face(stream: bool) -> None:
    """Asked for whole or in chunks, the same request is refused."""
    with opened(Record()):
        model = ScriptedModel(step("a", when="hi"))
        with pytest.raises(ScriptedModelError) as caught:
            model.stream("bye").final() if stream else model("bye")
        assert caught.value.code == "STEP_MISMATCH"
        assert (model.stream("hi").final() if stream else model("hi")).text == "a"


OWN = [
    (str, "small"),
    (str, "$.model"),
    (int, 8),
    (float, 8.0),
    (dict, {"a": 1}),
    (list, [8]),
    (tuple, (8,)),
    (frozenset, {8}),
    (bytes, b"8"),
]


@pytest.mark.parametrize(("kind", "value"), OWN, ids=lambda each: getattr(each, "__name__", str(each)))
@pytest.mark.parametrize("said", [True, False])
def test_an_eq_of_its_own_goes_before_what_a_value_is(kind: type, value: Any, said: bool) -> None:
    """Of a text, a number or a container as well, at the top, in a mapping, at a path and in a list: no snapshot overrules it."""
    want = saying(said, kind)(value)
    for when in (want, {"held": want}, {"$.held": want}, {"$.*": want}, {"in": [want]}, {"in": {"deep": want}}):
        asked = {"held": "small", "in": [1] if isinstance(when, dict) and isinstance(when.get("in"), list) else {"deep": "small"}}
        found = matcher(when).difference(Request(asked))
        assert (found is None) is said, when
        assert found is None or found.expected == "own"


def test_an_enum_is_its_value_unless_it_has_an_eq_of_its_own() -> None:
    """At the top as well, where a text is sought; a class that says what it equals is asked, whatever the value is."""

    class Nothing(Enum):
        SMALL = "small"

        def __eq__(self, other: object) -> bool:
            return False

        __hash__ = Enum.__hash__

    class Word(StrEnum):
        SMALL = "small"

    class Parts(Enum):
        ALL = {"model": Size.SMALL}  # noqa: RUF012  # a member of an enumeration

    assert (
        differs({"model": Size.SMALL}) is differs({"model": Word.SMALL}) is differs(Parts.ALL) is differs({"$.model": Size.SMALL}) is None
    )
    assert differs({"model": Nothing.SMALL}) == ("$.model", repr(Nothing.SMALL), '"small"')
    assert differs(Size.SMALL, {"prompt": "a small one"}) is differs(Word.SMALL, {"prompt": "a small one"}) is None
    assert differs(Nothing.SMALL, {"prompt": "a small one"}) is not None
    with pytest.raises(ValueError, match="which can select several values"):
        matcher({"$.*": Size.SMALL})


@pytest.mark.parametrize("kind", [str, int, list])
def test_a_subclass_without_an_eq_of_its_own_is_what_it_is(kind: type) -> None:
    """It is compared as its kind: a boolean is no number, and what stands in a list may be a matcher."""
    value = {str: "small", int: 1, list: [Like("^s"), 1]}[kind]
    want = type("Mine", (kind,), {})(value)
    assert differs({"held": want}, {"held": ["small", 1.0] if kind is list else value}) is None
    assert differs({"held": want}, {"held": [["small", True]] if kind is list else True}) is not None


@pytest.mark.parametrize(
    ("said", "fits"),
    [(NotImplemented, None), (1, True), (0, False), (Decimal(0), False)],
)
def test_what_an_eq_says_is_yes_no_or_nothing(said: object, fits: bool | None) -> None:
    """NotImplemented leaves it to the plain JSON of the value; what is no bool but knows whether it is true is one."""
    assert (differs({"model": saying(said, str)("small")}) is None) is (fits is not False)
    assert (differs({"model": saying(said, str)("large")}) is None) is (fits is True)


@pytest.mark.parametrize("said", ["yes", [], ["no"], object(), None])
def test_an_eq_that_says_neither_is_a_mistake(said: object) -> None:
    """As where an expression of a query comes from ``==``, which is true as every object is: it must match nothing."""
    if said is None:
        assert differs({"model": saying(None)()}) is not None
        return
    with pytest.raises(TypeError, match="__eq__ gives True, False or NotImplemented, not"), testing():
        ScriptedModel(step("a", when={"model": saying(said)()}))({"model": "small"})
