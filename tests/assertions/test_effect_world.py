"""Waits, ledger, effects and unchanged: kept, broken, vacuous, under `not-`, with the scenarios' values."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import Effects, LedgerRows, Not, Unchanged, Waits, build
from invcheck.errors import UsageError
from invcheck.paths import compile_path

ROWS = [
    {"feature": "qa", "ok": True, "tokens": 120, "cost": 0.1, "tenant": "acme"},
    {"feature": "qa", "ok": True, "tokens": 120, "cost": 0.2, "tenant": "acme"},
    {"feature": "qa", "ok": False, "tokens": 120, "cost": 0.3, "tenant": "acme"},
]
DOCUMENT = {
    "waits": [0.5, 1.0, 2.0],
    "ledger": ROWS,
    "effects": [{"name": "search", "query": "x"}, {"name": "ticket", "id": 7}],
    "input": {"tenant": "acme", "budget": 360, "text": "x"},
    "none": [],
}


@pytest.mark.parametrize(
    ("kept", "broken", "where"),
    [
        (Waits([0.5, 1, 2]), Waits([0.5, 1.0]), ("$.waits", "[0.5, 1.0]", "[0.5, 1.0, 2.0]")),
        (Waits([0.5, 1, 2]), Waits([0.5, 1.5, 2]), ("$.waits[1]", "1.5, as in [0.5, 1.5, 2]", "1.0, in [0.5, 1.0, 2.0]")),
        (Waits(count=3), Waits(count={"max": 2}), ("$.waits", "at most 2 waits", "3 waits: [0.5, 1.0, 2.0]")),
        (Waits(min=0.5, max=2), Waits(max=1.5), ("$.waits[2]", "at most 1.5 seconds", "2.0")),
        (Waits(min=0), Waits(min=0.6, max=8), ("$.waits[0]", "0.6 to 8 seconds", "0.5")),
        (Waits(total=3.5), Waits(total={"min": 4}), ("$.waits", "at least 4 in sum", "3.5")),
        (LedgerRows(3), LedgerRows(count=1), ("$.ledger", "1 row", None)),
        (LedgerRows(every={"feature": "qa"}), LedgerRows(every={"ok": True}), ("$.ledger[2].ok", "true", "false")),
        (
            LedgerRows(every={"tenant": "$.input.tenant"}),
            LedgerRows(every={"tenant": "$.input.text"}),
            ("$.ledger[0].tenant", None, '"acme"'),
        ),
        (LedgerRows(sum={"cost": 0.6}), LedgerRows(sum={"cost": 0.7}), ("$.ledger[*].cost", "exactly 0.7 in sum", "0.6")),
        (
            LedgerRows(sum={"tokens": "$.input.budget"}),
            LedgerRows(sum={"tokens": {"max": 300}}),
            ("$.ledger[*].tokens", "at most 300 in sum", "360"),
        ),
        (
            LedgerRows(sum={"tokens": {"min": 1, "max": 360}}),
            LedgerRows(sum={"tokens": 0}),
            ("$.ledger[*].tokens", "exactly 0 in sum", "360"),
        ),
        (
            Effects(["search", "ticket"]),
            Effects(["ticket", "search"]),
            ("$.effects[0]", '"ticket", as in ["ticket", "search"]', '"search", in ["search", "ticket"]'),
        ),
        (Effects(count=2), Effects(count=0), ("$.effects", "0 effects", '2 effects: ["search", "ticket"]')),
        (Effects(every={"name": {"contains": "e"}}), Effects(every={"name": "search"}), ("$.effects[1].name", '"search"', '"ticket"')),
    ],
)
def test_kept_broken_and_their_opposites(kept: Any, broken: Any, where: Any) -> None:
    """What the app did is counted, compared and summed exactly; the finding names the first thing that is wrong."""
    assert kept.each(DOCUMENT) is None
    assert Not(kept).each(DOCUMENT).got == "it holds"
    found = broken.each(DOCUMENT)
    assert found.path == where[0]
    assert where[1] is None or found.expected == where[1]
    assert where[2] is None or found.got == where[2]
    opposite = Not(broken).each(DOCUMENT)
    assert opposite is None or (opposite.got == "it holds" and opposite.path not in (found.path, None))  # another value keeps it


def test_a_sum_is_that_of_the_decimals() -> None:
    """Ten times 0.1 is 1, whatever binary fractions say."""
    rows = [{"cost": 0.1}] * 10
    assert LedgerRows(sum={"cost": 1}).each({"ledger": rows}) is None
    assert Waits(total=0.3).each({"waits": [0.1, 0.2]}) is None
    assert LedgerRows(sum={"cost": "$.total"}).each({"ledger": rows, "total": 1.5}).expected == "exactly 1.5 ($.total) in sum"


@pytest.mark.parametrize(
    ("claim", "change", "path", "code"),
    [
        (Waits([]), {"waits": None}, "$.waits", "WRONG_TYPE"),
        (Waits([1]), {"waits": [True]}, "$.waits[0]", "WRONG_TYPE"),
        (Waits(max=1), {"waits": []}, "$.waits", "EMPTY_SELECTION"),
        (LedgerRows(1), {"ledger": {}}, "$.ledger", "WRONG_TYPE"),
        (LedgerRows(every={"ok": True}), {"ledger": []}, "$.ledger", "EMPTY_SELECTION"),
        (LedgerRows(sum={"cost": 0}), {"ledger": []}, "$.ledger", "EMPTY_SELECTION"),
        (LedgerRows(sum={"price": 1}), {}, "$.ledger[0].price", "EMPTY_SELECTION"),
        (LedgerRows(sum={"price": 1}), {"ledger": [5]}, "$.ledger[0].price", "EMPTY_SELECTION"),
        (LedgerRows(sum={"feature": 1}), {}, "$.ledger[0].feature", "WRONG_TYPE"),
        (LedgerRows(sum={"tokens": "$.gone"}), {}, "$.gone", "EMPTY_SELECTION"),
        (LedgerRows(sum={"tokens": "$.input.text"}), {}, "$.input.text", "WRONG_TYPE"),
        (LedgerRows(every={"nope": 1}), {}, "$.ledger[0]", "EMPTY_SELECTION"),
        (Effects([]), {"effects": 5}, "$.effects", "WRONG_TYPE"),
        (Effects(every={"name": "x"}), {"effects": []}, "$.effects", "EMPTY_SELECTION"),
    ],
)
def test_what_cannot_be_judged_is_undecided(claim: Any, change: Any, path: Any, code: Any) -> None:
    """Of nothing, or of another type, neither the claim nor its opposite is kept."""
    for asked in (claim, Not(claim)):
        broken = asked.each(DOCUMENT | change)
        assert (broken.path, broken.code, broken.decided) == (path, code, False)


@pytest.mark.parametrize("claim", [Waits(count=0), LedgerRows(0), Effects([])])
def test_a_missing_list_is_undecided(claim: Any) -> None:
    """No list is no empty list."""
    assert claim.each({}).code == "EMPTY_SELECTION"


@pytest.mark.parametrize(
    "claim",
    [
        Waits([]),
        Waits(count=0, total=0),
        Waits(max=8, allow_empty=True),
        LedgerRows(0),
        LedgerRows(every={"ok": True}, allow_empty=True),
        LedgerRows(sum={"cost": 0}, allow_empty=True),
        Effects([]),
        Effects(count=0),
        Effects(every={"name": "x"}, allow_empty=True),
    ],
)
def test_nothing_where_nothing_is_meant(claim: Any) -> None:
    """A count of none, an empty list, and each of none where that is said to be fine."""
    assert claim.each({"waits": [], "ledger": [], "effects": []}) is None


def test_no_rows_are_shown_as_none() -> None:
    """A finding about too few says how many there are."""
    assert LedgerRows(1).each({"ledger": []}).got == "0 rows"
    assert Effects(["a"]).each({"effects": [5]}).path == "$.effects[0]"


@pytest.mark.parametrize(
    ("plain", "at", "says"),
    [
        ({"waits": {}}, ("waits",), "say at least one of equals, count, min, max, total"),
        ({"waits": {"min": 3, "max": 1}}, ("waits", "max"), "min 3 is above max 1"),
        ({"waits": {"total": {}}}, ("waits", "total"), "needs a number or {min, max}, got {}"),
        ({"ledger": {"allow-empty": True}}, ("ledger",), "say at least one of count, every, sum"),
        ({"ledger": {"every": {}}}, ("ledger", "every"), "every must be a mapping"),
        ({"ledger": {"sum": {}}}, ("ledger", "sum"), "sum needs at least one field"),
        ({"ledger": {"sum": {"cost": "1"}}}, ("ledger", "sum"), "the sum of cost: it must be a number"),
        ({"ledger": {"sum": {"cost": {"least": 1}}}}, ("ledger", "sum"), "the sum of cost needs a number"),
        ({"ledger": {"sum": {"cost": "$.x[*]"}}}, ("ledger", "sum"), "$.x[*] may be many values"),
        ({"effects": {"every": {}}}, ("effects", "every"), "every must be a mapping"),
        ({"effects": {"allow-empty": True}}, ("effects",), "say at least one of names, count, every"),
    ],
)
def test_claims_that_say_nothing_or_cannot_be_kept_are_refused(plain: Any, at: Any, says: Any) -> None:
    """They are mistakes of the check, told at their place."""
    with pytest.raises(UsageError) as caught:
        build(plain)
    assert (caught.value.code, caught.value.fields["at"]) == ("ASSERTION_INVALID", at)
    assert says in caught.value.message


def test_each_looks_at_its_own_part() -> None:
    """A parse failure does not make them moot."""
    claims = [Waits([]), LedgerRows(1), Effects([]), Unchanged("x")]
    assert [claim.reads() for claim in claims] == [(compile_path(f"$.{part}"),) for part in ("waits", "ledger", "effects", "probes")]


def test_unchanged() -> None:
    """The same before and after; else the first place that differs, at any depth."""
    probes = {"quota": {"before": [{"used": 100}], "after": [{"used": 100}]}, "odd name": {"before": 1, "after": 2}}
    assert Unchanged("quota").each({"probes": probes}) is None
    assert Not(Unchanged("quota")).each({"probes": probes}).got == "it holds"
    found = Unchanged("odd name").each({"probes": probes})
    assert (found.path, found.expected, found.got) == ("$.probes['odd name'].after", "1, as before the app ran", "2")
    assert Not(Unchanged("odd name")).each({"probes": probes}) is None


@pytest.mark.parametrize(
    ("document", "path", "says"),
    [
        ({"probes": {"b": 1, "a": 1}}, "$.probes.quota", "no such probe; there are: a, b"),
        ({"probes": {}}, "$.probes.quota", "no such probe; there are: none"),
        ({}, "$.probes.quota", "no such probe; there are: none"),
        (5, "$.probes.quota", "no such probe; there are: none"),
        ({"probes": {"quota": {"after": 1}}}, "$.probes.quota.before", "nothing"),
        ({"probes": {"quota": {"before": 1}}}, "$.probes.quota.after", "nothing"),
        ({"probes": {"quota": 5}}, "$.probes.quota.before", "nothing"),
    ],
)
def test_a_probe_that_is_not_there_is_undecided(document: Any, path: Any, says: Any) -> None:
    """A misspelt probe is no unchanged one; the finding names the probes that exist."""
    for claim in (Unchanged("quota"), Not(Unchanged("quota"))):
        broken = claim.each(document)
        assert (broken.path, broken.decided) == (path, False)
        assert says in broken.got
