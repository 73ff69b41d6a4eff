"""The judge: one fast answer, findings in order, first causes only, and rows that are never lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invcheck import Between, Calls, Each, Equals, Fields, Implies, Length, Not, Raises, Schema, ScriptUsed, Subset, Type
from invcheck._judge import Judge
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim, Operand, Selector
from invcheck.errors import NetworkBlocked, UsageError
from invcheck.vocabulary import Finding, Json, Place, Verdict


class Lives(Claim):
    """A claim of the tests: kept, or whatever its exception says."""

    key = "lives"
    of: Selector = "$"
    error: Any = None

    def each(self, document: Json) -> Break | None:
        if self.error is not None:
            raise self.error
        return None


class Same(Claim):
    """A claim across runs: every run took the same."""

    key = "same"
    arity = "across"
    of: Selector
    error: Any = None

    def take(self, document: Json) -> Json:
        if self.error is not None:
            raise self.error
        return self.path().values(document)

    def across(self, taken: Sequence[tuple[int, Json]]) -> Break | None:
        seeds = [seed for seed, _ in taken]
        assert seeds == sorted(seeds)
        values = [value for _, value in taken]
        return None if all(value == values[0] for value in values) else Break(self.of.text, "the same", f"{len(values)} runs")


class Odd(Claim):
    """A claim whose break carries everything that a break can carry."""

    key = "odd-one"
    of: Selector = "$.x"
    to: Operand = 1

    def each(self, document: Json) -> Break | None:
        return Break("$.x", "this\nthat", "other", call="call 2 of 1", hint="do so", code=document.get("code"))


def told(claims: Sequence[Claim], document: Json, latched: Sequence[Finding] = (), parse: str | None = None) -> list[tuple[str, Any]]:
    _, findings = Judge(claims, parse=parse).trial(document, latched)
    return [(finding.code, finding.assertion) for finding in findings]


OBSERVATION: dict[str, Any] = {"output": {"n": 1, "ids": ["a"]}, "error": None, "breaches": [], "counts": {"attempted": 1}, "ledger": []}
ERROR = {"type": "ValueError", "message": "no", "where": "shop/qa.py:answer"}


def test_kept() -> None:
    """Where every claim is kept the verdict is kept and nothing is found, fast and slowly."""
    judge = Judge([Between("$.output.n", 0, 1), Calls(1), Lives()])
    assert judge.surely(OBSERVATION)
    assert judge.trial(OBSERVATION) == (Verdict.KEPT, ())


def test_a_broken_claim_says_what_where_and_which() -> None:
    """The finding holds expected, got, path, the claim's own text and its index, in one line for people."""
    verdict, (finding,) = Judge([Calls(1), Between("$.output.n", 2, 3)]).trial(OBSERVATION)
    assert verdict is Verdict.BROKEN
    assert finding == Finding(
        "BETWEEN",
        Verdict.BROKEN,
        "between: of=$.output.n min=2 max=3: expected between 2 and 3, got 1 at $.output.n",
        claim="between: of=$.output.n min=2 max=3",
        path="$.output.n",
        expected="between 2 and 3",
        got="1",
        assertion=1,
    )


def test_everything_that_a_break_carries_is_told() -> None:
    """Call, hint and a code of its own come along; without one the code is the claim's key; the message is one line."""
    _, (finding,) = Judge([Odd()]).trial({"x": 0})
    assert (finding.code, finding.call, finding.hint) == ("ODD_ONE", "call 2 of 1", "do so")
    assert finding.message == "odd-one: expected this that, got other at $.x (call 2 of 1)"
    assert told([Odd()], {"x": 0, "code": "MINE"}) == [("MINE", 0)]
    assert told([Not(Calls(1))], OBSERVATION) == [("NOT_CALLS", 0)]


@pytest.mark.parametrize("error", [ValueError("boom\nat <X object at 0x7f00>"), SystemExit(3), NetworkBlocked("x:443"), AssertionError()])
@pytest.mark.parametrize("turned", [False, True])
def test_a_claim_that_raises_is_errored(error: BaseException, turned: bool) -> None:
    """Never kept and never broken, whatever it raises, under not- too; no address gets into the text."""
    claim: Claim = Lives(error=error)
    verdict, (finding,) = Judge([Not(claim) if turned else claim, Calls(1)]).trial(OBSERVATION)
    assert verdict is Verdict.ERRORED
    assert (finding.code, finding.verdict, finding.assertion) == ("ASSERTION_RAISED", Verdict.ERRORED, 0)
    assert type(error).__name__ in finding.message
    assert "\n" not in finding.message
    assert "0x" not in finding.message


def test_an_error_of_ours_keeps_its_code() -> None:
    """A claim that meets an error of invcheck is errored with that error's code and hint."""
    _, (finding,) = Judge([Lives(error=UsageError("no such model", code="MISSING_MODEL", hint="look"))]).trial(OBSERVATION)
    assert (finding.code, finding.verdict, finding.hint, finding.got) == ("MISSING_MODEL", Verdict.ERRORED, "look", "no such model")


class Interrupted(dict[str, Any]):
    """A document in which somebody presses Ctrl-C."""

    def get(self, key: str, default: Any = None) -> Any:
        raise KeyboardInterrupt


def test_an_interrupt_is_let_through() -> None:
    """Only KeyboardInterrupt leaves the judge, from the fast answer and from each place that asks a claim."""
    judge = Judge([Lives(error=KeyboardInterrupt())])
    with pytest.raises(KeyboardInterrupt):
        Judge([]).surely(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        judge.trial(OBSERVATION)
    with pytest.raises(KeyboardInterrupt):
        judge.trial(OBSERVATION, [Finding("X", Verdict.BROKEN, "x")])
    with pytest.raises(KeyboardInterrupt):
        Judge([Same("$.output", error=KeyboardInterrupt())]).start().trial(0, OBSERVATION)


def test_broken_wins_over_errored() -> None:
    """A trial with both is broken, and both are told, in the order of the claims."""
    verdict, findings = Judge([Lives(error=ValueError()), Calls(2)]).trial(OBSERVATION)
    assert verdict is Verdict.BROKEN
    assert [finding.verdict for finding in findings] == [Verdict.ERRORED, Verdict.BROKEN]


@pytest.mark.parametrize("claim", [Type("$.output", "array"), Schema("$.output", {"type": "array"}), Fields("$.output", ["m"])])
def test_below_a_broken_structure_nothing_is_judged(claim: Claim) -> None:
    """Later claims at or below its path are moot, claims elsewhere and claims before it are not."""
    claims = [Length("$.output.ids", min=2), claim, Length("$.output.ids", min=2), Subset("$.output.ids[*]", ["b"]), Calls(2)]
    assert told(claims, OBSERVATION) == [
        ("LENGTH", 0), (claim.key.upper(), 1), ("UNJUDGED", 2), ("UNJUDGED", 3), ("CALLS", 4)
    ]  # fmt: skip


def test_a_structure_that_raises_settles_too() -> None:
    """What could not be judged is no ground for later claims either; a turned structure is none."""

    class Frail(Lives):
        key = "frail"
        structural = True

    assert told([Frail("$.output", error=ValueError()), Length("$.output.ids", min=2)], OBSERVATION) == [
        ("ASSERTION_RAISED", 0),
        ("UNJUDGED", 1),
    ]
    assert told([Not(Type("$.output", "object")), Length("$.output.ids", min=2)], OBSERVATION) == [("NOT_TYPE", 0), ("LENGTH", 1)]


# implied claims


def test_a_breach_is_a_finding_though_everything_was_swallowed() -> None:
    """A breach makes the trial red with what was wanted and from where, before all other findings."""
    breach = {"wanted": "api.example.org:443", "where": "shop/qa.py:12"}
    document = {**OBSERVATION, "breaches": [breach, breach]}
    assert not Judge([]).surely(document)
    verdict, (finding, other) = Judge([Calls(2)]).trial(document)
    assert verdict is Verdict.BROKEN
    assert (finding.code, finding.path, finding.got) == ("NETWORK", "$.breaches[0]", "api.example.org:443")
    assert finding.message == "api.example.org:443 was wanted, shop/qa.py:12 (2 times)"
    assert "did you forget a double?" in str(finding.hint)
    assert other.code == "CALLS"
    _, (bare,) = Judge([]).trial({**OBSERVATION, "breaches": [{"kind": "x"}]})
    assert bare.got == '{"kind": "x"}'


def test_an_unexpected_error_is_one_finding() -> None:
    """The app's error is the cause: claims on the output are moot, claims on calls are not, unused steps are its effect."""
    document = {**OBSERVATION, "output": None, "error": ERROR}
    unused = Finding("SCRIPT_UNUSED", Verdict.BROKEN, "step 1 was not used")
    claims = [Length("$.output.ids", min=2), Length("$.output_text", min=1), Calls(2)]
    assert told(claims, document, [unused], "json") == [("APP_RAISED", None), ("UNJUDGED", 0), ("UNJUDGED", 1), ("CALLS", 2)]
    _, (finding, *_) = Judge(claims).trial(document)
    assert finding.message == "the app raised ValueError: no in shop/qa.py:answer"
    assert (finding.path, finding.expected, finding.got) == ("$.error", "no error", "ValueError: no")
    _, (bare,) = Judge([]).trial({"error": {"type": "KeyError", "message": None, "where": None}})
    assert (bare.message, bare.got) == ("the app raised KeyError", "KeyError")


def test_an_expected_error_is_the_claims_business() -> None:
    """With `raises` in the check, also inside of another claim, an error is no finding of its own and no text is missed."""
    document = {**OBSERVATION, "output": None, "error": ERROR}
    expected = Raises("ValueError", calls=1)
    for claims in (
        [expected],
        [Implies(Equals("$.error.message", "no"), [expected])],
        [Implies(Equals("$.error.message", "no"), expected)],
    ):
        judge = Judge(claims, parse="json")
        assert judge.surely(document) is (claims == [expected])
        assert judge.trial(document) == (Verdict.KEPT, ())
    assert told([Raises("KeyError", calls=1)], document, parse="json") == [("RAISES", 0)]
    assert told([Not(Raises("KeyError", calls=1))], document) == [("APP_RAISED", None)]
    assert Judge([expected, Equals("$.output.n", 1)], parse="json").trial({**OBSERVATION, "output": '{"n": 1}'})[1][0].code == "RAISES"


def test_an_error_is_expected_by_what_is_claimed_alone() -> None:
    """What would follow from a condition that is not kept, or stands for items, expects no error of the trial."""
    document = {**OBSERVATION, "output": None, "error": ERROR}
    expected = Raises("ValueError", calls=1)
    said, unsaid = Equals("$.error.message", "no"), Equals("$.error.message", "yes")
    for claim in (
        Implies(unsaid, expected),
        Implies(said, Implies(unsaid, expected)),
        Each("$.calls[*].none[*]", expected, allow_empty=True),
    ):
        assert told([claim], document) == [("APP_RAISED", None)]
    assert told([Implies(said, Implies(said, expected))], document) == []
    assert told([Implies(expected, said)], document) == []


def test_what_explains_an_error_is_told_instead_of_it() -> None:
    """An exhausted script and a blocked network are causes; the error that carried them out is not a second one."""
    exhausted = Finding("SCRIPT_EXHAUSTED", Verdict.BROKEN, "call 2 of 1")
    double = {**OBSERVATION, "error": {**ERROR, "type": "ScriptedModelError"}}
    assert told([], double, [exhausted]) == [("SCRIPT_EXHAUSTED", None)]
    assert told([], double) == [("APP_RAISED", None)]
    network = {**OBSERVATION, "error": {**ERROR, "type": "NetworkBlocked"}, "breaches": [{"wanted": "x:1"}]}
    assert told([], network) == [("NETWORK", None)]
    assert told([], {**network, "error": ERROR}) == [("NETWORK", None), ("APP_RAISED", None)]


@pytest.mark.parametrize(
    ("assertion", "message", "code", "verdict", "text"),
    [
        (True, "one cite", "ASSERT", Verdict.BROKEN, "an assert in the check does not hold: one cite"),
        (True, "", "ASSERT", Verdict.BROKEN, "an assert in the check does not hold"),
        (False, "no", "CHECK_RAISED", Verdict.ERRORED, "the check itself raised AssertionError: no in checks/check_a.py:cites"),
    ],
)
def test_an_error_of_the_check_itself(assertion: bool, message: str, code: str, verdict: Verdict, text: str) -> None:
    """A plain assert in a check is a broken claim, any other error of it is errored; both know their line."""
    error = {
        "type": "AssertionError",
        "message": message,
        "where": "checks/check_a.py:cites",
        "in_check": {"line": 7, "assertion": assertion},
    }
    got, (finding, moot) = Judge([Length("$.output", min=9)]).trial({**OBSERVATION, "error": error})
    assert (moot.code, moot.because) == ("UNJUDGED", code)
    assert (got, finding.code, finding.verdict, finding.message) == (verdict, code, verdict, text)
    assert finding.place == Place("checks/check_a.py", 7)
    _, (nowhere,) = Judge([]).trial({"error": {**error, "where": None}})
    assert nowhere.place is None


def test_a_text_that_does_not_parse_is_one_finding() -> None:
    """Claims on the value are moot, claims on the raw text and elsewhere are judged."""
    document = {**OBSERVATION, "output": "{oops"}
    claims = [Type("$.output", "object"), Length("$.output.ids", min=1), Length("$.output_text", min=9), Calls(1)]
    verdict, findings = Judge(claims, parse="json").trial(document)
    assert verdict is Verdict.BROKEN
    assert [(finding.code, finding.assertion) for finding in findings] == [
        ("PARSE_FAILED", None), ("UNJUDGED", 0), ("UNJUDGED", 1), ("LENGTH", 2)
    ]  # fmt: skip
    assert findings[0].message == "the output is no strict JSON: this is no JSON"
    assert (findings[0].path, findings[0].expected, findings[0].got) == ("$.output_text", "one strict JSON text", '"{oops"')
    _, (placed,) = Judge([], parse="json").trial({"output": "sorry"})
    assert placed.message.endswith("this is no JSON at line 1, column 1")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"a": NaN}', 5, None])
def test_the_fast_answer_is_as_strict(text: Any) -> None:
    """Duplicate keys, NaN and what is no text are refused by both ways, also when they are asked again."""
    judge, document = Judge([], parse="json"), {"output": text}
    for _ in range(2):
        assert not judge.surely(document)
        assert told([], document, parse="json") == [("PARSE_FAILED", None)]
    assert told([], {}, parse="json") == [("PARSE_FAILED", None)]


def test_a_text_is_parsed_once() -> None:
    """Judging twice finds the value where the first time put it."""
    judge, document = Judge([Equals("$.output", {"n": 1}), Length("$.output_text", min=8, max=8)], parse="json"), {"output": '{"n": 1}'}
    for _ in range(2):
        assert judge.surely(document)
        assert judge.trial(document, [Finding("X", Verdict.BROKEN, "x")])[1][1:] == ()
    assert document == {"output": {"n": 1}, "output_text": '{"n": 1}'}


def test_parse_is_json_or_nothing() -> None:
    """Another word is refused when the judge is made."""
    with pytest.raises(UsageError, match="parse is json or nothing, got 'yaml'"):
        Judge([], parse="yaml")


def test_latched_findings_are_told_first() -> None:
    """What a double latched makes the trial red, though the app swallowed it and every claim is kept."""
    latched = Finding("SCRIPT_EXHAUSTED", Verdict.BROKEN, "call 2 of 1")
    assert Judge([Calls(1)]).trial(OBSERVATION, [latched]) == (Verdict.BROKEN, (latched,))


def test_what_was_not_run_is_not_judged() -> None:
    """After an errored latch (a setup that raised, overlapping calls) nothing can be said of any claim."""
    latched = Finding("SETUP_RAISED", Verdict.ERRORED, "the setup raised")
    claims = [Calls(9), Lives(error=ValueError())]
    verdict, (first, *left) = Judge(claims, parse="json").trial({**OBSERVATION, "output": "{}"}, [latched])
    assert (verdict, first) == (Verdict.ERRORED, latched)
    assert [(each.verdict, each.assertion, each.because) for each in left] == [(Verdict.UNJUDGED, n, "SETUP_RAISED") for n in (0, 1)]
    assert left[0].message == "calls: 9: unjudged because of SETUP_RAISED"


def test_a_failed_probe_mutes_what_it_would_have_read() -> None:
    """Once the app was run, claims on the ledger and on probes are moot, the others are judged; before that, all are moot."""
    after = Finding("PROBE_FAILED", Verdict.ERRORED, "no such table", path="$.ledger")
    before = Finding("PROBE_FAILED", Verdict.ERRORED, "no such table")
    claims = [Length("$.ledger", min=1), Equals("$.probes.quota.after", 1), Calls(9)]
    assert told(claims, OBSERVATION, [after]) == [("PROBE_FAILED", None), ("UNJUDGED", 0), ("UNJUDGED", 1), ("CALLS", 2)]
    assert told(claims, OBSERVATION, [before]) == [("PROBE_FAILED", None), *(("UNJUDGED", n) for n in range(3))]


def test_an_output_that_is_no_json_mutes_claims_on_it() -> None:
    """Its own finding is the cause; a missing text is no second one."""
    latched = Finding("OUTPUT_NOT_JSON", Verdict.BROKEN, "a socket", path="$.output")
    assert told([Length("$.output", min=9)], {**OBSERVATION}, [latched], "json") == [("OUTPUT_NOT_JSON", None), ("UNJUDGED", 0)]


def test_unused_steps_are_a_finding_unless_a_claim_speaks_of_them() -> None:
    """Unused replies break a trial by default; with script-used in the check, turned or not, the claim decides."""
    unused = Finding("SCRIPT_UNUSED", Verdict.BROKEN, "step 1 was not used")
    document = {**OBSERVATION, "unused": ["step 1"], "counts": {"attempted": 1, "refused": 0}}
    assert told([Calls(1)], document, [unused]) == [("SCRIPT_UNUSED", None)]
    assert told([ScriptUsed()], document, [unused]) == [("SCRIPT_USED", 0)]
    assert told([Not(ScriptUsed())], document, [unused]) == []
    assert Judge([Not(ScriptUsed())]).trial(document, [unused]) == (Verdict.KEPT, ())


# across runs


def test_across_runs_in_order_of_seeds() -> None:
    """What each run took is judged together, sorted by seed, whoever came first."""
    judge = Judge([Calls(1), Same("$.output.n")])
    across = judge.start()
    for seed in (3, 1, 2):
        across.trial(seed, OBSERVATION)
    assert across.finish() == ()
    across.trial(0, {**OBSERVATION, "output": {"n": 2}})
    (finding,) = across.finish()
    assert (finding.code, finding.assertion, finding.got, finding.seed) == ("SAME", 1, "4 runs", None)
    assert judge.trial(OBSERVATION) == (Verdict.KEPT, ())


def test_across_fewer_runs_nothing_is_said() -> None:
    """A claim over all runs is told as unjudged when there were fewer."""
    across = Judge([Same("$.output.n")]).start()
    across.trial(0, OBSERVATION)
    across.trial(1, {**OBSERVATION, "output": {"n": 2}})
    assert [finding.code for finding in across.finish(complete=False)] == ["UNJUDGED"]
    assert [finding.code for finding in across.finish()] == ["SAME"]


def test_across_a_run_that_a_finding_explains_nothing_is_said() -> None:
    """A run whose output a finding explains leaves claims across outputs unjudged, and others not."""
    across = Judge([Same("$.output"), Same("$.ledger"), Type("$.output", "object")]).start()
    across.trial(0, OBSERVATION)
    across.trial(1, {**OBSERVATION, "output": [], "ledger": [1]})
    assert [(finding.code, finding.assertion, finding.because) for finding in across.finish()] == [
        ("UNJUDGED", 0, 'type: of=$.output is="object"'),
        ("SAME", 1, None),
    ]
    assert [finding.code for finding in across.finish(complete=False)] == ["UNJUDGED", "UNJUDGED"]
    latched = Judge([Same("$.output")]).start()
    latched.trial(0, OBSERVATION, [Finding("LANE_OVERLAP", Verdict.ERRORED, "two at once")])
    latched.trial(1, {**OBSERVATION, "output": 2})
    assert [(finding.code, finding.because) for finding in latched.finish()] == [("UNJUDGED", "LANE_OVERLAP")]


def test_across_claims_that_raise_are_errored() -> None:
    """What take raises is told once, also with fewer runs."""
    across = Judge([Same("$.output", error=ValueError("no"))]).start()
    for seed in range(2):
        across.trial(seed, OBSERVATION)
    for complete in (False, True):
        (finding,) = across.finish(complete=complete)
        assert (finding.code, finding.verdict) == ("ASSERTION_RAISED", Verdict.ERRORED)


def test_without_claims_across_nothing_is_remembered() -> None:
    """A check without such claims pays nothing for them."""
    across = Judge([Lives(error=ValueError())]).start()
    across.trial(0, OBSERVATION)
    assert across.finish() == ()


# recorded rows


def lines(*rows: Any) -> BytesIO:
    return BytesIO(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))


def test_rows_are_judged_one_by_one() -> None:
    """Each row has its line, itself, a verdict and findings; a bad line costs only itself."""
    judge = Judge([Between("$.output.n", 1, 2)], parse="json")
    rows = list(judge.rows(lines({"output": '{"n": 1}'}, {"output": '{"n": 3}'}, b"{oops", {"output": "x"}, {"output": '{"n": 2}'})))
    assert [(row.line, row.verdict.value, [finding.code for finding in row.findings]) for row in rows] == [
        (1, "kept", []),
        (2, "broken", ["BETWEEN"]),
        (3, "errored", ["ROW_INVALID"]),
        (4, "broken", ["PARSE_FAILED", "UNJUDGED"]),
        (5, "kept", []),
    ]
    assert rows[2].row is None
    assert rows[2].findings[0].message == "line 3: this is no JSON"
    assert rows[1].row == {"output": {"n": 3}, "output_text": '{"n": 3}'}


def test_rows_go_through_a_mapping() -> None:
    """Rows in a format of their own are turned into observations; a row that cannot be is errored, with its reason."""
    judge = Judge([Calls(1)])
    rows = list(judge.rows(lines({"n": 1}, {"n": 2}, {"m": 1}, [1]), document=lambda row: {"counts": {"attempted": row["n"]}}))
    assert [(row.verdict.value, row.row) for row in rows] == [
        ("kept", {"n": 1}),
        ("broken", {"n": 2}),
        ("errored", {"m": 1}),
        ("errored", [1]),
    ]
    assert rows[2].findings[0].code == "ROW_UNMAPPED"
    assert rows[2].findings[0].message == "line 3: the row cannot be turned into an observation: KeyError: 'n'"


def test_a_row_that_is_no_object_is_no_observation() -> None:
    """Without a mapping a row is an observation, which is an object."""
    (row,) = Judge([]).rows(lines([1]))
    assert (row.verdict, row.row) == (Verdict.ERRORED, [1])
    assert row.findings[0].message == "line 1: an observation is an object, got array [1]"


def test_rows_from_a_file(tmp_path: Path) -> None:
    """A path is opened and closed; one that cannot be opened is a usage error at once."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"counts":{"attempted":1}}\n')
    for source in (file, str(file)):
        assert [row.verdict for row in Judge([Calls(1)]).rows(source)] == [Verdict.KEPT]
    with pytest.raises(UsageError, match="cannot be read: No such file") as caught:
        Judge([]).rows(tmp_path / "none.jsonl")
    assert caught.value.code == "MISSING_FILE"


def test_a_callers_file_stays_open() -> None:
    """A file that was handed over open is the caller's to close."""
    file = lines({})
    assert len(list(Judge([]).rows(file))) == 1
    assert not file.closed


# the law of the fast answer

documents = st.fixed_dictionaries(
    {
        "output": st.sampled_from(["{}", '{"n": 1}', '{"n": 2, "ids": ["a"]}', '{"n": true, "ids": []}', "[]", "no", None]),
        "counts": st.fixed_dictionaries({"attempted": st.integers(0, 2)}),
    },
    optional={
        "error": st.sampled_from([None, ERROR]),
        "breaches": st.sampled_from([[], [{"wanted": "x:1"}]]),
        "ledger": st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([0, 1, True, "x", None]), max_size=2), max_size=3),
    },
)
claims = st.sampled_from(
    [
        Between("$.output.n", 1, 1),
        Length("$.output.ids", min=1),
        Subset("$.output.ids[*]", ["a", "b"], allow_empty=True),
        Type("$.output", "object"),
        Fields("$.output", ["n"], ["ids"]),
        Schema("$.ledger[*]", {"type": "object", "properties": {"a": {"enum": [0, 1]}}, "required": ["a"]}),
        Each("$.ledger[*]", [Equals("$.a", 1)], allow_empty=True),
        Each("$.ledger[*]", [Type("$.a", "integer"), Not(Equals("$.b", 1))]),
        Not(Calls(2)),
        Calls(1),
        Raises("ValueError", calls=1),
        Implies(Calls(1), Equals("$.output.n", 1)),
        Lives(),
        Lives(error=ValueError()),
    ]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(claims, max_size=4), documents, st.sampled_from([None, "json"]))
def test_the_fast_answer_never_hides_a_finding(chosen: list[Claim], document: Json, parse: str | None) -> None:
    """Where the fused function says kept, judging claim by claim finds nothing."""
    judge = Judge(chosen, parse=parse)
    slow = judge._judged(document, (), sure=False)
    if judge.surely(document):
        assert not [found for found in slow.findings if found.assertion not in judge._others]
    assert judge.judged(document)[:2] == slow[:2]
