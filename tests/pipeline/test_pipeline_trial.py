"""What one trial is: its folder, its setup, its probes, its input, and what becomes of whatever is raised in it."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APP = '''
    """An app that does whatever a case asks for."""

    import asyncio
    import json
    import logging
    import os
    import sys
    from pathlib import Path

    SEEN = []


    def echo(word):
        return word


    async def later(word, clock):
        await asyncio.sleep(30)
        return [word, clock.elapsed]


    def greedy(words: list):
        words.append("more")
        SEEN.append("x")
        return words


    def whole(input, extra=None):
        return [input, extra]


    def fail(how):
        if how == "own":
            raise ValueError("no such ticket")
        if how == "foreign":
            json.loads("{")
        if how == "exit":
            sys.exit(3)
        if how == "assert":
            assert how == "never", "the app's own"
        if how == "home":
            raise ValueError(f"see {Path.cwd()}/notes.txt, {Path.home()}/x, {os.environ['TMPDIR']}/y")
        return how


    def paths(word):
        return {str(Path.home()): [os.environ["TMPDIR"], word, 7]}


    def write(ledger, word):
        ledger.append({"word": word})
        logging.getLogger("shop").info("wrote %s", word)
        return len(ledger)
'''

CHECKS = '''
    """Checks in Python: each is one rule of a trial."""

    import asyncio
    import random
    from pathlib import Path

    import shop

    from invcheck import Calls, Case, Effects, Equals, LedgerRows, Not, Raises, SameAcrossRuns, ScriptedModel, Type, Unchanged, Waits, check

    NOTE = Path("note.txt")


    @check(runs=3, expect=[Equals("$.output", [])])
    def the_folder_is_fresh(trial):
        found = [each.name for each in trial.tmp.iterdir()]
        (trial.tmp / "mine").write_text("x")
        NOTE.write_text(str(trial.tmp / "mine"))
        assert trial.tmp.is_dir()
        return found


    @check(expect=[Equals("$.output", [True, False])])
    def the_folder_is_gone(trial):
        left = Path(NOTE.read_text())
        return [left.name == "mine", left.parent.exists()]


    @check(runs=2, cases=["one", "two"], expect=[Equals("$.output", [[], []])])
    def other_folders_are_as_fresh(trial):
        import os

        used = [Path.home() / "used", Path(os.environ["TMPDIR"]) / "used"]
        seen = [list(path.parent.glob("*/link")) + list(path.parent.glob("used*")) for path in used]
        for path in used:
            path.mkdir()
            (path / "link").symlink_to(path)
            path.with_name("used.txt").write_text("x")
        return seen


    @check(expect=[Equals("$.output", "in <tmp>/a")])
    def the_folder_is_never_named(trial):
        return f"in {trial.tmp}/a"


    @check()
    def an_assert_is_broken(trial):
        assert trial.seed < 0, "seeds are not negative"


    @check(expect=[Type("$.output", "string")])
    def the_check_crashes(trial):
        return {}["nothing"]


    @check(expect=[Type("$.output", "string")])
    def the_app_crashes(trial):
        return shop.fail("own")


    @check(expect=[Type("$.output", "string")])
    def the_app_asserts(trial):
        return shop.fail("assert")


    @check(expect=[Equals("$.output", "done"), Waits([60.0])])
    async def waits_for_it(trial):
        await asyncio.sleep(60)
        return "done"


    @check(runs=2, cases=[{"id": "a", "input": {"words": ["one"]}}], expect=[Equals("$.input.words", ["one"]), Equals("$.output", True)])
    def the_input_is_frozen(trial):
        try:
            trial.input["words"].append("two")
        except TypeError:
            return trial.case == "a"


    @check(
        expect=[
            Effects(names=["sent", "pay", "pay"]),
            Equals("$.effects[1].args", ["ann"]),
            Equals("$.effects[2].sum", 7),
            Equals("$.output", 14),
        ]
    )
    def effects_are_entered(trial):
        trial.effect("sent", to="ann", when=[1])

        def pay(who=None, sum=5):
            return 2 * sum

        paid = trial.wrap(pay)
        paid("ann")
        return paid(sum=7)


    @check(expect=[Effects(names=["post"])])
    def a_wrap_can_be_named(trial):
        trial.wrap(lambda: None, "post")()


    @check(
        runs=2,
        expect=[LedgerRows(count=1), Equals("$.ledger[0].n", 2), Equals("$.probes.all.before", [{"n": 1}]), Not(Unchanged("all"))],
        setup=lambda trial: (trial.tmp / "rows.jsonl").write_text('{"n": 1}\\n') and None,
        ledger={"jsonl": "rows.jsonl"},
        probes={"all": {"jsonl": "rows.jsonl"}},
    )
    def rows_that_stand_are_not_the_apps(trial):
        with (trial.tmp / "rows.jsonl").open("a") as rows:
            rows.write('{"n": 2}\\n')


    @check(expect=[Equals("$.probes.late.before", ["a"]), Equals("$.probes.late.after", ["a", "b"]), Equals("$.ledger", [5])])
    def probes_can_be_set_in_the_check(trial):
        rows, state = [4], ["a"]
        trial.watch_ledger(lambda: list(rows))
        trial.probe("late", lambda: list(state))
        rows.append(5)
        state.append("b")


    @check(expect=[Equals("$.output", "TypeError")], ledger=lambda: [])
    def a_probe_leaves_no_list(trial):
        try:
            trial.ledger.append(1)
        except TypeError as error:
            return type(error).__name__


    @check(expect=[LedgerRows(count=1, every={"word": "x"}), Waits([2.5]), Equals("$.output", [1, 1, True])])
    def what_an_app_is_given(trial, ledger, sleep, rng, clock):
        import random as module

        shop.write(ledger, "x")
        sleep(2.5)
        same = module.Random(0).random() != rng.random()
        return [len(trial.ledger), len(ledger), same and clock is trial.clock]


    @check(expect=[Equals("$.output", [7, [], {}])])
    def other_parameters_keep_their_defaults(trial, number=7, *more, **others):
        return [number, list(more), others]


    @check(expect=[Equals("$.output", "nothing")])
    def takes_nothing():
        return "nothing"


    @check(model={"script": ["hello"]}, expect=[Equals("$.output", ["hello", True]), Calls(served=1)])
    def the_double_is_the_trials(trial, model):
        return [model("hi").text, trial.model is not None]


    @check(expect=[Raises("ValueError", calls=0)])
    def an_expected_error(trial):
        shop.fail("own")


    @check(expect=[Equals("$.output", 1)])
    def no_plain_json(trial):
        return {"a": [object()]}


    @check(runs=3, expect=[SameAcrossRuns("$.output")])
    def chance_moves_with_the_seed(trial):
        return random.random()


    @check(cases=[Case("x", 1)], expect=[Equals("$.output", 1)], setup=lambda trial: 1 / 0)
    def a_setup_that_raises(trial):
        return 1


    @check(expect=[Equals("$.output", 1)], setup="shop:fail_setup")
    def a_setup_that_is_missing(trial):
        return 1
'''

YAML = """
    checks:
      - check: the input fills parameters
        app: shop:echo
        cases: [{id: mapping, input: {word: hi}}, {id: first, input: hi}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: an async app
        app: shop:later
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: [hi, 30]}}, {waits: [30]}, {latency: {min: 30, max: 30}}]
      - check: an app that changes its input
        app: shop:greedy
        runs: 3
        cases: [{id: "1", input: {words: [one]}}]
        expect:
          - equals: {of: $.output, to: [one, more]}
          - equals: {of: $.input.words, to: [one]}
      - check: a setup returns arguments
        app: shop:whole
        setup: setups:bring
        cases: [{id: "1", input: {a: 1}}]
        expect: [{equals: {of: $.output, to: [{a: 1}, brought]}}]
      - check: the ledger of a setup is not the app's
        app: shop:write
        setup: setups:write_before
        cases: [{id: "1", input: {word: app}}]
        expect:
          - equals: {of: $.ledger, to: [{word: app}]}
          - equals: {of: $.output, to: 2}
      - check: a log is a ledger
        app: shop:echo
        ledger: {logging: shop, fields: [message]}
        cases: [{id: "1", input: x}]
        expect: [{ledger: {count: 0}}]
      - check: a setup that raises
        app: shop:echo
        setup: setups:fail
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a setup that exits
        app: shop:echo
        setup: setups:leave
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a setup that dials
        app: shop:echo
        setup: setups:dial
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a setup that gives what nobody takes
        app: shop:echo
        setup: setups:bring
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a probe that cannot be read
        app: shop:echo
        ledger: {jsonl: nowhere.jsonl}
        setup: setups:nothing
        cases: [{id: "1", input: {word: hi}}]
        expect: [{ledger: {count: 0}}, {equals: {of: $.output, to: hey}}]
      - check: a state that cannot be read
        app: shop:echo
        probes: {state: {sqlite: nowhere.db, query: select 1}}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hey}}]
      - check: whatever is raised
        app: shop:fail
        cases: [{id: own, input: own}, {id: foreign, input: foreign}, {id: exit, input: exit}, {id: home, input: home}]
        expect: [{type: {of: $.output, is: string}}]
      - check: no folder of this machine
        app: shop:paths
        cases: [{id: "1", input: x}]
        expect: [{equals: {of: $.output, to: {<home>: [<temp>, x, 7]}}}]
"""

SETUPS = '''
    """Setups."""

    import socket
    import sys


    def bring(trial):
        return {"extra": "brought"}


    def nothing(trial):
        pass


    def write_before(trial):
        trial.ledger.append({"word": "setup"})


    def fail(trial):
        raise LookupError(f"no fixture in {trial.tmp}")


    def leave(trial):
        sys.exit(1)


    def dial(trial):
        socket.create_connection(("fixtures.example.invalid", 80))
'''


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run over all of it."""
    shared.write(
        {
            "shop.py": APP,
            "setups.py": SETUPS,
            "checks/check_trial.py": CHECKS,
            "checks/trial.yaml": YAML,
        }
    )
    return shared.told()


KEPT = [
    "the_folder_is_fresh[default]",
    "the_folder_is_gone[default]",
    "other_folders_are_as_fresh[1]",
    "other_folders_are_as_fresh[2]",
    "the_folder_is_never_named[default]",
    "waits_for_it[default]",
    "the_input_is_frozen[a]",
    "effects_are_entered[default]",
    "a_wrap_can_be_named[default]",
    "rows_that_stand_are_not_the_apps[default]",
    "probes_can_be_set_in_the_check[default]",
    "a_probe_leaves_no_list[default]",
    "what_an_app_is_given[default]",
    "the_double_is_the_trials[default]",
    "other_parameters_keep_their_defaults[default]",
    "takes_nothing[default]",
    "an_expected_error[default]",
    "the input fills parameters[mapping]",
    "the input fills parameters[first]",
    "an async app[1]",
    "an app that changes its input[1]",
    "a setup returns arguments[1]",
    "the ledger of a setup is not the app's[1]",
    "a log is a ledger[1]",
    "no folder of this machine[1]",
]


@pytest.mark.parametrize("name", KEPT)
def test_a_rule_of_a_trial_holds(name: str, told: Told) -> None:
    """Each of these checks claims one rule of a trial, and is kept."""
    assert (told.verdict(name), told.codes(name)) == ("kept", [])


def line_of(text: str, files: Shop, name: str) -> int:
    """The line of a file that holds a text."""
    return next(number for number, line in enumerate(files.file(name).splitlines(), 1) if text in line)


def test_a_plain_assert_is_a_claim(told: Told, shared: Shop) -> None:
    """It is broken, with the assert's own line."""
    found = told.one("an_assert_is_broken[default]")
    assert told.verdict("an_assert_is_broken[default]") == "broken"
    assert (found["code"], found["message"]) == (
        "ASSERT",
        "an assert in the check does not hold: seeds are not negative",
    )
    assert found["place"] == [
        "checks/check_trial.py",
        line_of("assert trial.seed < 0", shared, "checks/check_trial.py"),
        None,
    ]


def test_a_crash_of_the_check_itself_is_no_verdict(told: Told, shared: Shop) -> None:
    """It is errored, with its line."""
    found = told.one("the_check_crashes[default]")
    assert (found["code"], found["verdict"]) == ("CHECK_RAISED", "errored")
    assert found["place"] == [
        "checks/check_trial.py",
        line_of('{}["nothing"]', shared, "checks/check_trial.py"),
        None,
    ]


@pytest.mark.parametrize(
    ("name", "got"),
    [
        ("the_app_crashes[default]", "ValueError: no such ticket"),
        ("the_app_asserts[default]", "AssertionError: the app's own"),
        ("whatever is raised[own]", "ValueError: no such ticket"),
        ("whatever is raised[foreign]", "JSONDecodeError"),
        ("whatever is raised[exit]", "SystemExit: 3"),
        ("whatever is raised[home]", "ValueError: see notes.txt, <home>/x, <temp>/y"),
    ],
)
def test_a_crash_of_the_app_is_broken(name: str, got: str, told: Told) -> None:
    """Whatever the app raises is broken; the text stands only where its own code raised, and no line ever."""
    found = told.one(name)
    assert (found["code"], found["verdict"], found["got"]) == (
        "APP_RAISED",
        "broken",
        got,
    )
    assert found["message"] == f"the app raised {got} in shop.py:fail"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "a_setup_that_raises[x]",
            "the setup raised ZeroDivisionError: division by zero in checks/check_trial.py:<lambda>",
        ),
        (
            "a setup that raises[1]",
            "the setup raised LookupError: no fixture in <tmp> in setups.py:fail",
        ),
        ("a setup that exits[1]", "the setup raised SystemExit: 1 in setups.py:leave"),
    ],
)
def test_a_setup_that_raises_is_no_verdict(name: str, said: str, told: Told) -> None:
    """It is errored, and what was to be judged is unjudged."""
    found = told.one(name)
    assert (found["code"], found["verdict"], found["message"]) == (
        "SETUP_RAISED",
        "errored",
        said,
    )


def test_a_setup_that_dials_is_broken(told: Told) -> None:
    """Reaching for the network is a broken claim in the setup too."""
    name = "a setup that dials[1]"
    assert (told.verdict(name), told.codes(name)) == (
        "broken",
        ["NETWORK", "SETUP_RAISED"],
    )
    assert told.cases[name]["findings"][0]["got"] == "fixtures.example.invalid:80"


def test_a_setup_that_gives_too_much_is_no_verdict(told: Told) -> None:
    """Its argument fits no parameter: errored before the app ran."""
    found = told.one("a setup that gives what nobody takes[1]")
    assert (found["code"], found["verdict"]) == ("INPUT_MISMATCH", "errored")
    assert found["message"] == "before the app ran: the setup gives 'extra', and echo(word) has no such parameter"


def test_a_ledger_that_is_not_there_is_no_verdict(told: Told) -> None:
    """What it would say is errored; what the app returned is judged all the same."""
    name = "a probe that cannot be read[1]"
    found = [(each["code"], each["verdict"], each.get("path")) for each in told.cases[name]["findings"]]
    assert found == [
        ("PROBE_MISSING", "errored", "$.ledger"),
        ("UNJUDGED", "unjudged", None),
        ("EQUALS", "broken", "$.output"),
    ]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        (
            "a state that cannot be read[1]",
            "PROBE_MISSING",
            "before the app ran: nowhere.db does not exist",
        ),
    ],
)
def test_a_state_that_cannot_be_read_is_no_verdict(name: str, code: str, said: str, told: Told) -> None:
    """The app is not run without it, so nothing is said of its output."""
    found = told.one(name)
    assert (found["code"], found["verdict"], found["message"]) == (
        code,
        "errored",
        said,
    )


def test_an_output_that_is_no_json_is_broken(told: Told) -> None:
    """An object without a form is no JSON: one finding with its path, and no second one of the claims about it."""
    found = told.one("no_plain_json[default]")
    assert (found["code"], found["verdict"], found["path"]) == (
        "OUTPUT_NOT_JSON",
        "broken",
        "$.output.a[0]",
    )


def test_chance_is_seeded(told: Told) -> None:
    """The negative twin: under three seeds the app's own chance differs, and the claim across runs says so."""
    found = told.one("chance_moves_with_the_seed[default]")
    assert (found["code"], found["verdict"]) == ("SAME_ACROSS_RUNS", "broken")
    assert told.cases["chance_moves_with_the_seed[default]"]["distinct"] == 3


def test_a_missing_setup_leaves_the_rest(told: Told) -> None:
    """It is one problem of the file; every other check of it was run."""
    (problem,) = told.problems
    assert (problem["code"], problem["message"]) == (
        "REFERENCE_MISSING",
        "shop has no 'fail_setup' (for 'shop:fail_setup')",
    )
    assert problem["place"]["file"] == "checks/check_trial.py"
    assert len(told.cases) == 42


def test_no_result_names_a_folder_of_this_machine(told: Told, shared: Shop) -> None:
    """Neither the project's folder nor a temp folder stands in what is told."""
    for text in (told.out, told.err, shared.file("told.jsonl")):
        assert str(shared.root) not in text
        assert "invcheck-" not in text
