"""`run --audit` as a user runs it: what is accepted, what cannot be, what it says in every form, and the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.audits.conftest import Audited

APP = '''
    """An app that keeps a ledger with a moment in every row."""

    import os
    import time
    import uuid


    def answer(topic, ledger):
        ledger.append({"topic": topic, "created_at": time.time()})
        return {"topic": topic}


    def refuse(topic):
        raise ValueError(topic)


    def tagged(topic):
        return list({"a", "b", "c", topic})


    def both(topic):
        if time.time() > 1_900_000_000:
            return {"id": str(uuid.uuid4())}
        return {"id": "none"}


    def twice(topic):
        late = time.time() > 1_900_000_000
        here = "elsewhere" in os.getcwd()
        return "both" if late and here else "not both"


    def dies(topic):
        if time.time() > 1_900_000_000:
            os._exit(7)
        return topic


    def always_dies(topic):
        os._exit(7)


    def unused(topic):
        number = uuid.uuid4()
        moment = time.time()
        return {"topic": topic, "number": str(number)} if moment else {}
'''


def checks(*functions: str, audit: Sequence[str] | None = None) -> str:
    """A check for each of the app's functions."""
    accepts = {} if audit is None else {"audit": {"ignore": [*audit]}}
    claims = [{"equals": {"of": "$.input", "to": "x"}}]
    made = [{"check": f, "app": f"shop:{f}", "cases": [{"id": "a", "input": "x"}], "expect": claims} | accepts for f in functions]
    return json.dumps({"checks": made})


@pytest.fixture
def app(audited: Audited) -> Audited:
    """The project with its app."""
    audited.write({"shop.py": APP})
    return audited


def test_what_is_accepted_is_no_finding(app: Audited) -> None:
    """A moment in every row of the ledger is left aside, in the journal's copy of the row as well."""
    app.write({"checks/a.yaml": checks("answer", audit=["$.ledger[*].created_at"])})
    assert app.findings() == (0, {"answer": []})


def test_what_is_not_accepted_beside_it_still_is(app: Audited) -> None:
    """Only what the path leads to is left aside."""
    app.write({"checks/a.yaml": checks("answer", audit=["$.ledger[*].topic"])})
    status, told = app.findings()
    assert (status, [finding["path"] for finding in told["answer"]]) == (1, ["$.ledger[0].created_at"])


def test_an_accepted_path_that_leads_nowhere_is_refused(app: Audited) -> None:
    """Status 3, with the path: a word that is misspelt would otherwise seem to accept something."""
    app.write({"checks/a.yaml": checks("answer", audit=["$.ledger[*].created_at", "$.ledger[*].creatd_at"])})
    status, told = app.findings()
    (finding,) = told["answer"]
    assert (status, finding["code"], finding["verdict"], finding["path"]) == (3, "AUDIT_IGNORE", "errored", "$.ledger[*].creatd_at")


def test_a_python_check_accepts_as_well(app: Audited) -> None:
    """The same key, as an argument of `check`."""
    app.write(
        {
            "checks/check_a.py": """
                from invcheck import Equals, check
                import shop

                @check(cases=["x"], expect=[Equals("$.input", "x")], audit={"ignore": ["$.ledger[*].created_at"]})
                def accepts(trial):
                    return shop.answer(trial.input, trial.ledger)

                @check(cases=["x"], expect=[Equals("$.input", "x")])
                def tells(trial):
                    return shop.answer(trial.input, trial.ledger)
            """
        }
    )
    status, told = app.findings()
    assert (status, told["accepts"]) == (1, [])
    (finding,) = told["tells"]
    assert (finding["path"], finding["place"][:2]) == ("$.ledger[0].created_at", ["shop.py", 9])


def test_an_error_is_an_outcome_like_any_other(app: Audited) -> None:
    """An app that raises the same each time, in any folder, is broken for its error alone."""
    app.write({"checks/a.yaml": checks("refuse")})
    status, told = app.findings()
    assert (status, [finding["code"] for finding in told["refuse"]]) == (1, ["APP_RAISED"])


def test_two_axes_that_each_show_are_two_findings(app: Audited) -> None:
    """The clock decides, and the identifier comes in only then: on its own entropy shows nothing, so the clock is named."""
    app.write({"checks/a.yaml": checks("both")})
    _, told = app.findings()
    assert [finding["expected"] for finding in told["both"]] == ["the same whatever the clock is"]


def test_axes_that_show_only_together_are_named_together(app: Audited) -> None:
    """Neither alone changes anything."""
    app.write({"checks/a.yaml": checks("twice")})
    _, told = app.findings()
    (finding,) = told["twice"]
    assert finding["message"].startswith("differs when the clock and the working folder change; `$.output`")


def test_a_run_that_dies_only_when_something_is_flipped_is_a_difference(app: Audited) -> None:
    """How it died is told, with the axis."""
    app.write({"checks/a.yaml": checks("dies")})
    _, told = app.findings()
    (finding,) = told["dies"]
    assert finding["expected"] == "the same whatever the clock is"
    assert (finding["path"], finding["got"]) == ("$", '"it comes to its end", then "the worker died: exit 7"')


def test_a_case_that_cannot_be_run_cannot_be_audited(app: Audited) -> None:
    """It is errored for both reasons, and nothing is called different."""
    app.write({"checks/a.yaml": checks("always_dies")})
    status, told = app.findings()
    assert (status, [finding["code"] for finding in told["always_dies"]]) == (3, ["WORKER_DIED", "AUDIT_LOST"])


def test_a_read_without_an_effect_is_not_blamed(app: Audited) -> None:
    """The clock is read on the line after, and decides nothing: the identifier's line is named, and it alone."""
    app.write({"checks/a.yaml": checks("unused")})
    _, told = app.findings()
    (finding,) = told["unused"]
    assert (finding["expected"], finding["place"]) == ("the same whatever the entropy is", ["shop.py", 44, None])


def test_every_form_tells_it(app: Audited) -> None:
    """The table, JUnit, annotations and the canonical report; the command that shows it again asks for an audit."""
    app.write({"checks/a.yaml": checks("tagged")})
    ran = app.run("--audit", "-o", "r.xml", "-o", "r.json", "-o", "r.md")
    message = "differs when the hash seed changes; `$.output`; iteration over a set at shop.py:18"
    assert ran.line("AUDIT") == f"AUDIT  {message}"
    assert ran.line("place") == "place     shop.py:18"
    assert ran.line("replay") == "replay    invcheck run 'checks/a.yaml::tagged[a]' --seed 0 --runs 1 --audit"
    assert ran.status == 1
    assert "differs when the hash seed changes" in (app.root / "r.xml").read_text(encoding="utf-8")
    assert "differs when the hash seed changes" in (app.root / "r.md").read_text(encoding="utf-8")
    (case,) = json.loads((app.root / "r.json").read_text(encoding="utf-8"))["cases"]
    (finding,) = case["findings"]
    assert (finding["code"], finding["expected"], finding["path"]) == ("AUDIT", "the same whatever the hash seed is", "$.output")
    github = app.run("--audit", "--format", "github")
    assert f"file=shop.py,line=18,title=checks/a.yaml%3A%3Atagged[a]::AUDIT  {message}" in github.out


def test_the_bytes_are_the_same_for_any_number_of_workers_and_any_split(app: Audited) -> None:
    """One worker, three, and two shards put together again."""
    app.write({"checks/a.yaml": checks("answer", "tagged", "both", "refuse", "twice")})
    app.run("--audit", "-o", "one.json", "-q")
    app.run("--audit", "-o", "three.json", "-q", "-j", "3")
    for shard in ("1/2", "2/2"):
        app.run("--audit", "-q", "--shard", shard, "-o", f"{shard[0]}.jsonl")
    app.command("invcheck merge 1.jsonl 2.jsonl -o merged.json -q")
    one, three, merged = ((app.root / f"{name}.json").read_bytes() for name in ("one", "three", "merged"))
    assert b"AUDIT" in one
    assert one == three == merged


def test_without_the_flag_nothing_is_audited(app: Audited) -> None:
    """A run is what it was."""
    app.write({"checks/a.yaml": checks("tagged")})
    assert app.run("-q").status == 0


def test_an_app_that_is_installed_is_the_projects_in_any_folder(app: Audited, tmp_path: Path) -> None:
    """Its files are found through the project's own folder, also where the app runs elsewhere: errors and lines say so."""
    app.write(
        {
            "src/kit.py": "def fails(topic):\n    raise ValueError(topic)\n",
            "checks/check_a.py": f"""
                import sys
                sys.path.insert(0, {str(app.root / "src")!r})
                from invcheck import Raises, check
                import kit

                @check(cases=["x"], expect=[Raises("ValueError", calls=0)])
                def installed(trial):
                    return kit.fails(trial.input)
            """,
        }
    )
    assert app.findings() == (0, {"installed": []})


def test_a_temp_folders_name_comes_from_entropy_alone(app: Audited) -> None:
    """Runs that share a worker find none of the folders that an earlier one left, whose names they would have to pass by."""
    names = "import tempfile\nfrom pathlib import Path\n\ndef {}(topic):\n    return Path(tempfile.mkdtemp()).name\n"
    app.write({"shop.py": names.format("first") + names.format("second"), "checks/a.yaml": checks("first", "second")})
    _, told = app.findings("-j", "2")
    assert [[finding["expected"] for finding in found] for found in told.values()] == [["the same whatever the entropy is"]] * 2
