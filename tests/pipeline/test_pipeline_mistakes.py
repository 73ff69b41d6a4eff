"""What people write wrongly in their first check files: each is told with its place and with what to write instead."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APP = """
    def echo(text):
        return {"text": text, "n": 1}


    def ask(text, model):
        return model(text).text
"""

HEAD = "{check: x, app: 'shop:ask', cases: [{input: a}], expect: [{calls: 1}], "

WRONG = {
    "raises at a fault": (
        HEAD + "model: {script: [{fail: {kind: rate-limit, raises: 'shop:X'}}]}}",
        "UNKNOWN_KEY", "unknown key 'raises'", "'raises' stands in `model`, beside its script",
    ),
    "a label at a reply": (
        HEAD + "model: {script: [{reply: {text: a, label: first}}]}}",
        "UNKNOWN_KEY", "unknown key 'label'", "'label' stands in the step itself, beside what it answers",
    ),
    "runs at the model": (HEAD + "model: {script: [a], runs: 3}}", "UNKNOWN_KEY", "'runs'", "'runs' stands in the check itself"),
    "a model that is a list": (HEAD + "model: [a]}", "WRONG_TYPE", "got array", 'write model: {script: ["a"]}'),
    "a model that is a function": (HEAD + "model: 'shop:fake'}", "WRONG_TYPE", "got string", "write model: {drifting: shop:fake}"),
    "a model that is a text": (HEAD + "model: hello}", "WRONG_TYPE", "got string", 'write model: {script: ["hello"]}'),
    "a model that is a number": (HEAD + "model: 4}", "WRONG_TYPE", "got integer", "such as model: {script: [hello]}"),
    "a status for a fault": (HEAD + "model: {script: [{fail: 429}]}}", "WRONG_TYPE", "got integer 429", "write fail: rate-limit"),
    "a status that none has": (HEAD + "model: {script: [{fail: 299}]}}", "WRONG_TYPE", "got integer 299", "the kinds are bad-request"),
    "a step that is a number": (HEAD + "model: {script: [42]}}", "WRONG_TYPE", "got", 'a step that answers with text is in quotes: "42"'),
    "a script that is a text": (HEAD + "model: {script: hi}}", "WRONG_TYPE", 'got string "hi"', "write script: [hi]"),
    "a case that is its input": (
        "{check: x, app: 'shop:echo', cases: [bob], expect: [{calls: 0}]}", "WRONG_TYPE", "got string", "write - input: bob"
    ),
    "cases that are a file": (
        "{check: x, app: 'shop:echo', cases: rows.jsonl, expect: [{calls: 0}]}", "WRONG_TYPE", "got", "write cases: {jsonl: rows.jsonl}"
    ),
    "cases that are a text": (
        "{check: x, app: 'shop:echo', cases: bob, expect: [{calls: 0}]}", "WRONG_TYPE", "got string", "such as cases: [{id: first"
    ),
    "a claim that is not in a list": (
        "{check: x, app: 'shop:echo', cases: [{input: a}], expect: {calls: 0}}", "WRONG_TYPE", "got object", 'write expect: [{"calls": 0}]'
    ),
    "raises of a bare type": (HEAD.replace("calls: 1", "raises: ValueError") + "}", "WRONG_TYPE", "raises needs", "such as raises: {type"),
    "raises without calls": (
        HEAD.replace("{calls: 1}", "{raises: {type: ValueError}}") + "}", "MISSING_KEY", "raises needs calls", "gives up at once would pass"
    ),
    "waits of one number": (HEAD.replace("calls: 1", "waits: 0.5") + "}", "WRONG_TYPE", "a list of number", "such as waits: [0.5, 1.0]"),
    "effects of one name": (HEAD.replace("calls: 1", "effects: refund") + "}", "WRONG_TYPE", "a list of text", "such as effects: [reserve"),
    "a field in no mapping": (HEAD.replace("calls: 1", "length: 5") + "}", "WRONG_TYPE", "length needs", "such as length: {of:"),
}  # fmt: skip

LATE = """
    checks:
      - {check: schema, app: "shop:echo", cases: [{input: a}], expect: [{schema: {of: $.output, is: "nope:M"}}]}
      - {check: predicate, app: "shop:echo", cases: [{input: a}], expect: [{calls: 0}, {predicate: "shop:eco"}]}
      - {check: turned, app: "shop:echo", cases: [{input: a}], expect: [{not-predicate: "shop:zz"}]}
      - {check: within, app: "shop:echo", cases: [{input: a}], expect: [{each: {of: $.output, expect: {predicate: "shop:qq"}}}]}
"""

PYTHON = """
    from invcheck import Calls, check


    @check
    def bare(trial):
        assert trial


    @check(expect=Calls(0))
    def alone(trial):
        return 1


    @check(expect=["calls"])
    def word(trial):
        return 1


    @check(expect=[{"tool-call": 1}])
    def mapping(trial):
        return 1


    @check("my name", expect=[Calls(0)])
    def by_position(trial):
        return 1


    @check(expect=[Calls(0)], tags=5, probes=[1], name=7)
    def others(trial):
        return 1


    @check(expect=[Calls(0)], cases=[{"id": "a", "input": 1, "note": "x"}])
    def strange_case(trial):
        return 1


    @check(expect=[Calls(0)])
    def fine(trial):
        return 1
"""


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_says_what_to_write_instead(name: str, shop: Shop) -> None:
    """Each is one problem, with the hint that mends it."""
    text, code, said, hint = WRONG[name]
    shop.write({"shop.py": APP, "checks/a.yaml": text + "\n"})
    (problem,) = shop.told().problems
    assert (problem["code"], problem["place"]["file"]) == (code, "checks/a.yaml")
    assert said in problem["message"]
    assert hint in problem["hint"]


def test_what_a_claim_names_is_found_before_any_trial(shop: Shop) -> None:
    """A model or function that is not there is told at load, at the claim, also where it stands inside of another."""
    shop.write({"shop.py": APP, "checks/a.yaml": LATE})
    told = shop.told()
    assert [(each["code"], each["place"]["line"]) for each in told.problems] == [("REFERENCE_MISSING", line) for line in (2, 3, 4, 5)]
    assert told.problems[0]["message"].startswith("there is no module 'nope'")
    assert told.problems[1]["hint"] == "did you mean 'echo'?"
    assert (told.cases, told.status) == ({}, 2)


NAMED = """
    checks:
      - check: lanes
        app: "shop:ask"
        model:
          lanes: {a: [x]}
          lane-by: nosuch:fn
        cases: [{input: a}]
        expect: [{calls: 1}]
      - check: raise
        app: "shop:ask"
        model: {script: [x, {raise: "shop:nosuch"}]}
        cases: [{input: a}]
        expect: [{calls: 1}]
      - check: replay
        app: "shop:ask"
        model: {cached: true, replay: none.jsonl}
        cases: [{input: a}]
        expect: [{calls: 1}]
      - check: probes
        app: "shop:echo"
        probes: {a: {list: "shop:APP"}, b: {call: "shop:nosuch"}}
        cases: [{input: a}]
        expect: [{calls: 0}]
      - check: ledger
        app: "shop:echo"
        ledger:
          list: "nosuch:rows"
        cases: [{input: a}]
        expect: [{calls: 0}]
      - check: no model
        app: "shop:echo"
        model: {script: [x]}
        cases: [{input: a}]
        expect: [{calls: 0}]
"""


def test_what_a_model_or_a_probe_names_is_told_where_it_stands(shop: Shop) -> None:
    """Line and column of the name itself, or of what is nearest around it."""
    shop.write({"shop.py": APP.replace("def echo", "APP = []\n\n\n    def echo", 1), "checks/a.yaml": NAMED})
    problems = [each["place"] for each in shop.told().problems]
    assert [(each["line"], each["column"]) for each in problems] == [(6, 16), (11, 33), (16, 35), (21, 47), (27, 13), (32, 12)]


@pytest.fixture(scope="module")
def python(shared: Shop) -> Told:
    """One run of a file of Python checks, most of them wrong."""
    shared.write({"checks/check_a.py": PYTHON})
    return shared.told()


def test_a_mistake_of_one_python_check_costs_no_other(python: Told) -> None:
    """Each is told with its own line and hint, and the sound one runs."""
    assert list(python.cases) == ["fine[default]"]
    assert [(each["place"]["line"], each["code"], each.get("hint")) for each in python.problems] == [
        (4, "BARE_CHECK", "write @check(...), such as @check(expect=[Calls(1)])"),
        (9, "WRONG_TYPE", "write expect=[Calls(...)]"),
        (14, "UNKNOWN_ASSERTION", "from invcheck import Calls, and write Calls(...)"),
        (19, "UNKNOWN_ASSERTION", "from invcheck import ToolCalled, and write ToolCalled(...)"),
        (24, "WRONG_TYPE", "write @check(name='my name', ...)"),
        (29, "WRONG_TYPE", None),
        (29, "WRONG_TYPE", None),
        (29, "WRONG_TYPE", "such as probes={'quota': read_quota}"),
        (34, "UNKNOWN_KEY", "a case is {id, input}; without `input` it is the input itself"),
    ]


def test_a_misspelt_field_in_python_is_told_with_all_fields(shop: Shop) -> None:
    """The nearest field and the list of them."""
    shop.write({"checks/check_a.py": "from invcheck import Length, check\n\nlong = Length('$.output', mn=3)\n"})
    (problem,) = shop.told().problems
    assert (problem["message"], problem["place"]["line"]) == ("Length has no field 'mn'", 3)
    assert problem["hint"] == "did you mean 'min'? its fields are of, min, max, allow_empty"


def test_a_row_with_a_key_too_many_names_it(shop: Shop) -> None:
    """Beside id and input nothing else stands; without input the row is the input."""
    shop.write(
        {
            "shop.py": APP,
            "checks/rows.jsonl": '{"id": "a", "input": 1, "note": 2}\n',
            "checks/rows.csv": "id,input,note\na,1,2\n",
            "checks/a.yaml": "{check: x, app: 'shop:echo', cases: {jsonl: rows.jsonl}, expect: [{calls: 0}]}\n",
            "checks/b.yaml": "{check: x, app: 'shop:echo', cases: {csv: rows.csv}, expect: [{calls: 0}]}\n",
        }
    )
    wrong = [each for each in shop.told().problems if each["code"] == "UNKNOWN_KEY"]
    assert [(each["place"]["file"], each["message"]) for each in wrong] == [
        ("checks/rows.jsonl", "line 1: unknown key 'note'"),
        ("checks/rows.csv", "line 2: unknown key 'note'"),
    ]


def test_an_empty_project_is_told_how_to_begin(shop: Shop) -> None:
    """The hint holds a check file that can be pasted, and it is sound."""
    for words in ((), ("checks",)):
        err = shop.run(*words).err
        assert "begin with checks/first.yaml: " in err
    text = err.partition("checks/first.yaml: ")[2].splitlines()[0]
    shop.write({"shop/qa.py": "def answer(text):\n    return text\n", "checks/first.yaml": text + "\n"})
    assert shop.told().status == 0


def test_who_stands_in_checks_stands_in_the_project(shop: Shop) -> None:
    """Without settings too: apps are found beside the folder, and the names are those of the project."""
    shop.write({"shop.py": APP, "checks/deep/a.yaml": "{check: x, app: 'shop:echo', cases: [{input: a}], expect: [{calls: 0}]}\n"})
    for folder in ("checks", "checks/deep"):
        inside = Shop(shop.root / folder)
        assert inside.command("invcheck list").out == "checks/deep/a.yaml::x[1]\n"
    assert Shop(shop.root / "checks").run("deep/a.yaml").status == 0
