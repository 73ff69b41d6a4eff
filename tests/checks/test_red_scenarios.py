"""What must be red: the help desk, copied and broken in one place, and the whole command over it."""

from __future__ import annotations

import re

import pytest
from planted import Project

TWICE = """
    check: the same ticket twice in one request
    app: checks.helpdesk.triage:triage_all
    model:
      script: [{script}]
    cases:
      - input: {{tickets: [card declined, card declined]}}
    expect:
      - calls: 1
"""
CACHED = "        if ticket not in known:\n            known[ticket] = label(ticket, client)"
UNCACHED = "        known[ticket] = label(ticket, client)"

ANSWERS = """
    check: answers cite what was retrieved
    app: checks.helpdesk.answers:answer
    model:
      drifting: {fake}
      {usage}
    runs: {runs}
    cases:
      - id: refund
        input: {{question: "How do I get a refund?", doc_ids: [d1, d2, d3]}}
    parse: json
    expect:
      - {claim}
"""


def test_a_broken_cache_and_a_script_of_one(helpdesk: Project) -> None:
    """The second call finds the script over: SCRIPT_EXHAUSTED, "call 2 of 1"; with the cache the check is kept."""
    helpdesk.write({"checks/twice.yaml": TWICE.format(script="billing")})
    assert helpdesk.run().status == 0
    helpdesk.plant("checks/helpdesk/triage.py", CACHED, UNCACHED)
    ran = helpdesk.run()
    assert ran.status == 1
    assert "call 2 of 1" in ran.line("SCRIPT_EXHAUSTED")
    assert ran.codes() == ["SCRIPT_EXHAUSTED", "CALLS"]
    assert ran.line("got       call 2").endswith('which asked "card declined"')
    assert ran.out.count("invcheck run 'checks/twice.yaml::the same ticket twice in one request[1]' --seed 0 --runs 1") == 2


def test_a_broken_cache_and_a_script_that_fails_for_ever(helpdesk: Project) -> None:
    """`calls`: expected 1, got 2, and the second call is named with its error."""
    helpdesk.write({"checks/twice.yaml": TWICE.format(script="billing, {then-always: {fail: unavailable}}")})
    helpdesk.plant("checks/helpdesk/triage.py", CACHED, UNCACHED)
    ran = helpdesk.run()
    assert ran.status == 1
    assert "CALLS" in ran.codes()
    said = ran.out.split("CALLS")[1]
    assert re.search(r"expected +1 attempted\n", said)
    assert re.search(r"got +2 attempted, 1 served, 1 failed, 0 cancelled, 0 refused; call 2 failed: ModelFault", said)
    assert re.search(r"call +call 2 of 1\n", said)


def test_a_call_too_many_behind_except_exception(helpdesk: Project) -> None:
    """The app swallows the error and returns; the trial is red all the same, and the extra request is recorded."""
    helpdesk.write(
        {
            "checks/helpdesk/greedy.py": '''
                """Asks for a second opinion, and does not mind when there is none."""

                from checks.helpdesk.llm import ChatModel, Message


                def ask(question: str, model: ChatModel) -> str:
                    first = model.complete([Message("user", question)])
                    try:
                        return model.complete([Message("user", "Are you sure?")]).text
                    except Exception:
                        return first.text
            ''',
            "checks/greedy.yaml": """
                check: one question is one call
                app: checks.helpdesk.greedy:ask
                model: {script: ["Yes."]}
                cases: [{input: {question: Is it open}}]
                expect:
                  - equals: {of: $.output, to: "Yes."}
                  - calls: {attempted: 2, served: 1, refused: 1}
                  - requests: {count: 2, last: {messages: [{content: "Are you sure?"}]}}
            """,
        }
    )
    ran = helpdesk.run()
    assert ran.status == 1
    assert ran.codes() == ["SCRIPT_EXHAUSTED"]
    assert "call 2 of 1" in ran.line("SCRIPT_EXHAUSTED")


FORGOTTEN = '''
    """A model that somebody forgot to hand over: it dials the provider itself."""

    import socket


    def ask(question: str) -> str:
        {body}


    def _dial() -> str:
        with socket.create_connection(("models.example.invalid", 8443), timeout=1) as line:
            return line.recv(100).decode()
'''
SWALLOWED = """try:
            return _dial()
        except BaseException:
            return "We are open." """


@pytest.mark.parametrize("body", ["return _dial()", SWALLOWED], ids=["raised", "swallowed"])
def test_a_forgotten_double(body: str, helpdesk: Project) -> None:
    """A socket to a name that cannot resolve is red, swallowed or not: check, host, port and line are named."""
    helpdesk.write(
        {
            "checks/helpdesk/hours.py": FORGOTTEN.format(body=body),
            "checks/hours.yaml": """
                check: opening hours are told
                app: checks.helpdesk.hours:ask
                cases: [{id: today, input: {question: Is it open}}]
                expect:
                  - type: {of: $.input.question, is: string}
            """,
        }
    )
    line = next(
        number
        for number, text in enumerate((helpdesk.root / "checks/helpdesk/hours.py").read_text().splitlines(), 1)
        if "create_connection" in text
    )
    ran = helpdesk.run()
    assert ran.status == 1
    assert ran.codes() == ["NETWORK"]
    said = ran.line("NETWORK")
    assert "models.example.invalid:8443" in said
    assert "checks/helpdesk/hours.py" in said
    assert ran.line("place").split()[1] == f"checks/helpdesk/hours.py:{line}"
    assert "did you forget a double?" in ran.line("hint")
    assert ran.line("BROKEN") == "BROKEN  checks/hours.yaml::opening hours are told[today]"


def test_an_invented_citation(helpdesk: Project) -> None:
    """Expected a subset, got what, where, with which seed; the command that is shown shows it again."""
    helpdesk.write(
        {
            "checks/inventing.py": """
                import json


                def answer(rng, request):
                    second = "d9" if rng.random() < 0.1 else "d2"
                    return json.dumps({"answer": "Within 30 days.", "cites": ["d1", second]})
            """,
            "checks/answers.yaml": ANSWERS.format(
                fake="checks.inventing:answer",
                usage="usage: {input_tokens: 100, output_tokens: 20}",
                runs=200,
                claim='subset: {of: "$.output.cites[*]", in: "$.input.doc_ids[*]"}',
            ),
        }
    )
    ran = helpdesk.run()
    assert ran.status == 1
    assert ran.codes() == ["SUBSET"]
    assert '["d1", "d2", "d3"]' in ran.line("expected")
    assert "d9" in ran.line("got")
    assert ran.line("path").split() == ["path", "$.output.cites[1]"]
    trials = re.fullmatch(r"trials +(\d+) of 200, first with seed (\d+)", ran.line("trials"))
    assert trials
    count, seed = map(int, trials.groups())
    assert 5 <= count <= 40
    replay = ran.line("replay").removeprefix("replay").strip()
    assert replay == f"invcheck run 'checks/answers.yaml::answers cite what was retrieved[refund]' --seed {seed} --runs 1"
    again = helpdesk.command(replay)
    assert (again.status, again.codes()) == (1, ["SUBSET"])
    for label in ("expected", "got", "path", "replay"):
        assert again.line(label) == ran.line(label)


def test_usage_that_is_not_fixed(helpdesk: Project) -> None:
    """Without a fixed usage the tokens follow the words, and the ledger is not the same across runs."""
    claim = "same-across-runs: $.ledger"
    fixed = ANSWERS.format(fake="checks.helpdesk.fakes:answer", usage="usage: {input_tokens: 100, output_tokens: 20}", runs=20, claim=claim)
    helpdesk.write({"checks/answers.yaml": fixed})
    assert helpdesk.run().status == 0
    helpdesk.plant("checks/answers.yaml", "usage: {input_tokens: 100, output_tokens: 20}", "usage: null")
    ran = helpdesk.run()
    assert ran.status == 1
    assert ran.codes() == ["SAME_ACROSS_RUNS"]
    assert ran.line("path").split()[1].startswith("$.ledger[0].")
    assert ran.line("trials") == "trials    across all 20, seeds from 0"
    assert ran.line("replay").endswith("--seed 0 --runs 20")
