"""Claims of which an earlier finding leaves nothing to say: they are told as such, everywhere, and change no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.conftest import Shop, Told

APP = """
    def shape(text):
        if text == "raise":
            raise ValueError("no")
        return {"text": text, "n": 1}


    def setup(trial):
        raise KeyError("gone")
"""

CHECKS = """
    checks:
      - check: structure
        app: shop:shape
        cases: [{id: wrong, input: x}]
        expect:
          - calls: 0
          - schema: {of: $.output, is: {type: object, required: [m]}}
          - equals: {of: $.output.text, to: y}
          - equals: {of: $.output.text, to: x}
          - waits: []
      - check: raised
        app: shop:shape
        runs: 2
        cases: [{id: wrong, input: raise}]
        expect:
          - same-across-runs: $.output
          - equals: {of: $.output.text, to: y}
          - calls: 0
      - check: unset
        app: shop:shape
        setup: shop:setup
        cases: [{id: wrong, input: x}]
        expect: [{calls: 0}, {waits: []}]
"""

SCHEMA = 'schema: of=$.output is={"type": "object", "required": ["m"]}'


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them, in every report."""
    shared.write({"shop.py": APP, "checks/a.yaml": CHECKS})
    return shared.told("-o", "told.json", "-o", "told.xml", "-o", "told.md")


def test_a_broken_structure_names_what_it_leaves_unjudged(told: Told) -> None:
    """Claims below it, kept ones too, are findings of their own that name it; the verdict is the structure's."""
    found = told.cases["structure[wrong]"]["findings"]
    assert [(each["code"], each["verdict"], each["assertion"], each.get("because")) for each in found] == [
        ("SCHEMA", "broken", 1, None),
        ("UNJUDGED", "unjudged", 2, SCHEMA),
        ("UNJUDGED", "unjudged", 3, SCHEMA),
    ]
    assert told.verdict("structure[wrong]") == "broken"
    assert told.cases["structure[wrong]"]["trials"] == {"kept": 0, "broken": 1, "errored": 0, "unjudged": 0}


def test_an_error_names_what_it_leaves_unjudged(told: Told) -> None:
    """Claims on the output of an app that raised, across runs as well; each once, with the number of trials."""
    found = told.cases["raised[wrong]"]["findings"]
    assert [(each["code"], each.get("assertion"), each.get("because"), each["count"]) for each in found] == [
        ("APP_RAISED", None, None, 2),
        ("UNJUDGED", 1, "APP_RAISED", 2),
        ("UNJUDGED", 0, "APP_RAISED", 1),
    ]


def test_what_was_not_run_leaves_every_claim_unjudged(told: Told) -> None:
    """A setup that raised is errored, and every claim of the check names it."""
    assert [(each["code"], each.get("because")) for each in told.cases["unset[wrong]"]["findings"]] == [
        ("SETUP_RAISED", None),
        ("UNJUDGED", "SETUP_RAISED"),
        ("UNJUDGED", "SETUP_RAISED"),
    ]
    assert told.status == 1


def test_the_table_counts_them_and_lists_them_on_demand(told: Told, shared: Shop) -> None:
    """Under the finding that explains them; -v says which."""
    assert told.out.count("    unjudged  2 claims because of it\n") == 3
    assert "UNJUDGED" not in told.out
    out = shared.run("-v", "-k", "structure").out
    assert f'  UNJUDGED  equals: of=$.output.text to="y" (unjudged)\n    because   {SCHEMA}\n' in out


def test_every_report_tells_them(told: Told, shared: Shop) -> None:
    """The canonical bytes hold each with what explains it; JUnit and Markdown count them under the cause."""
    assert told.status == 1
    cases = json.loads((Path(shared.root) / "told.json").read_text())["cases"]
    whole = [finding for case in cases for finding in case["findings"] if finding["code"] == "UNJUDGED"]
    assert len(whole) == 6
    assert {finding["because"] for finding in whole} == {SCHEMA, "APP_RAISED", "SETUP_RAISED"}
    for report in ("told.xml", "told.md"):
        assert shared.file(report).count("2 claims because of it") == 3


FEWER = """
    checks:
      - {check: only, app: shop:shape, runs: 2, cases: [{id: a, input: x}], expect: [{same-across-runs: $.output}]}
      - {check: both, app: shop:shape, runs: 2, cases: [{id: a, input: x}], expect: [{same-across-runs: $.output}, {calls: 0}]}
"""

PYTHON = """
    from invcheck import SameAcrossRuns, check

    @check(runs=2, expect=[SameAcrossRuns("$.output")])
    def only(trial):
        return 1

    @check(runs=2, expect=[SameAcrossRuns("$.output")])
    def asserted(trial):
        assert trial
        return 1
"""


def test_a_case_of_which_nothing_was_judged_is_unjudged(shop: Shop) -> None:
    """With fewer runs than a check asks for, claims across them say so; where there are no others the exit status is 3."""
    shop.write({"shop.py": APP, "checks/a.yaml": FEWER, "checks/check_b.py": PYTHON})
    fewer = shop.told("--runs", "1")
    because = "fewer runs than the check asks for"
    for name, verdict in (("only[a]", "unjudged"), ("both[a]", "kept"), ("only[default]", "unjudged"), ("asserted[default]", "kept")):
        (finding,) = fewer.cases[name]["findings"]
        assert (finding["code"], finding["because"], fewer.verdict(name)) == ("UNJUDGED", because, verdict)
    assert fewer.status == 3
    assert fewer.out.count("  UNJUDGED  same-across-runs: $.output") == 2
    both = shop.told("--runs", "1", "-k", "both")
    assert both.status == 0
    assert "0 of 1 trial broken. 1 claim of kept cases left unjudged (-v tells which)." in both.out
    whole = shop.told()
    assert whole.status == 0
    assert "unjudged" not in whole.out
    assert [case["findings"] for case in whole.cases.values()] == [[], [], [], []]
