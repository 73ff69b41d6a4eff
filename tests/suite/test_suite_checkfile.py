"""A YAML check file: what it may hold becomes checks, and every mistake in it is told with its code and place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from invcheck.assertions import Absent, Calls, Distinct, Fields, Length, SameAcrossRuns, Subset
from invcheck.suite import Case, Check, build
from invcheck.suite.checkfile import read_file
from invcheck.vocabulary import Place

WHOLE = """\
check: answers cite what was retrieved
app: checks.helpdesk.answers:answer
model:
  drifting: checks.helpdesk.fakes:answer   # (rng, request) -> reply; cites only ids that stand in the request
  usage: {input_tokens: 100, output_tokens: 20}
runs: 200
cases:
  - id: refund
    input: {question: "How do I get a refund?", doc_ids: [d1, d2, d3]}
parse: json
expect:
  - fields: {of: $.output, exactly: [answer, cites]}
  - length: {of: $.output.answer, min: 10, max: 200}
  - subset:
      of: $.output.cites[*]
      in: $.input.doc_ids[*]
  - absent: {from: $.output.answer, any: [system prompt, sk-]}
  - calls: 1
  - same-across-runs: $.ledger
  - distinct: {of: $.output_text, at-least: 100}
"""

SMALL = "check: a\napp: shop.qa:answer\ncases: [{id: x}]\nexpect: [{calls: 1}]\n"


def read(root: Path, text: str) -> tuple[list[Check], list[str]]:
    """Read a text as checks/a.yaml: its checks, and its mistakes as CODE line:column."""
    (root / "checks").mkdir(exist_ok=True)
    (root / "checks" / "a.yaml").write_text(text, encoding="utf-8")
    checks, errors = read_file(root, "checks/a.yaml")
    return checks, [f"{error.code} {str(error.place).removeprefix('checks/a.yaml:')}" for error in errors]


def messages(root: Path, text: str) -> list[str]:
    """Read a text as checks/a.yaml and give its mistakes as they are printed."""
    read(root, text)
    return [str(error).removeprefix("checks/a.yaml:") for error in read_file(root, "checks/a.yaml")[1]]


def test_the_whole_shape_is_read(tmp_path: Path) -> None:
    """Every key of a check stands in its field, and every assertion is the class that Python spells."""
    checks, mistakes = read(tmp_path, WHOLE)
    assert mistakes == []
    one = checks[0]
    assert one.id == "checks/a.yaml::answers cite what was retrieved"
    assert (one.app, one.runs, one.parse, one.file) == ("checks.helpdesk.answers:answer", 200, "json", "checks/a.yaml")
    assert one.model == {"drifting": "checks.helpdesk.fakes:answer", "usage": {"input_tokens": 100, "output_tokens": 20}}
    value = {"question": "How do I get a refund?", "doc_ids": ["d1", "d2", "d3"]}
    assert one.cases == (Case("refund", value, Place("checks/a.yaml", 8, 5)),)
    assert one.claims == (
        Fields("$.output", ["answer", "cites"]),
        Length("$.output.answer", 10, 200),
        Subset("$.output.cites[*]", "$.input.doc_ids[*]"),
        Absent("$.output.answer", ["system prompt", "sk-"]),
        Calls(1),
        SameAcrossRuns("$.ledger"),
        Distinct("$.output_text", at_least=100),
    )
    assert [place.line for place in one.claim_places] == [12, 13, 14, 17, 18, 19, 20]
    assert one.place == Place("checks/a.yaml", 1, 1)
    assert one.places["app"] == Place("checks/a.yaml", 2, 6)
    assert build(one.plain()) == one


def test_a_schema_is_sought_from_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is named from the project's folder, and rows of cases from the check file's, wherever one stands."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "answer.json").write_text('{"type": "string"}', "utf-8")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks/rows.jsonl").write_text('"a"\n', "utf-8")
    text = "check: a\napp: shop:app\ncases: {jsonl: rows.jsonl}\nexpect: [{schema: {of: $.output, is: answer.json}}]\n"
    checks, mistakes = read(tmp_path, text)
    assert (mistakes, checks[0].cases[0].input, Path.cwd()) == ([], "a", tmp_path / "here")


def test_the_other_keys_are_read_too(tmp_path: Path) -> None:
    """Tags, ledger, probes, setup, clock, and what may be reached."""
    text = SMALL + (
        "tags: [quick]\nledger: {sqlite: usage.db, query: SELECT 1}\nprobes: {quota: shop.quota:read}\n"
        "setup: shop.qa:setup\nclock: {start: 2030-01-01T00:00:00Z}\nallow: [tcp:localhost:5432, unix:/run/a]\n"
    )
    (one,), mistakes = read(tmp_path, text)
    assert mistakes == []
    assert (one.tags, one.ledger, one.probes) == (("quick",), {"sqlite": "usage.db", "query": "SELECT 1"}, {"quota": "shop.quota:read"})
    assert (one.setup, one.clock) == ("shop.qa:setup", {"start": "2030-01-01T00:00:00Z"})
    assert one.allow == ("tcp:127.0.0.1:5432", "tcp:[::1]:5432", "unix:/run/a")


@pytest.mark.parametrize(
    "spec",
    [
        "model: {script: [hello, {reply: {text: a, finish: null, usage: {input_tokens: 1}}}, {reply: a}, {json: [1]}]}",
        "model: {script: [{fail: rate-limit}, {fail: {kind: server, status: 503, retry-after: 2}}, {raise: 'shop.errors:Down'}]}",
        "model: {script: [{tool-call: {name: find, arguments: {q: a}}}, {tool-call: [{name: a}, {name: b, id: c}]}]}",
        "model: {script: [{call: 'shop.fakes:reply'}]}",
        "model: {script: [{reply: {tool-calls: [{name: a}], thinking: b}, label: first, optional: true}]}",
        "model: {script: [a, {then-always: {fail: timeout}, label: rest}]}",
        "model: {lanes: {triage: [billing], answer: [{json: {}}]}, lane-by: model, attributes: {name: a}}",
        "model: {drifting: {schema: 'shop.models:Answer'}, raises: {timeout: 'shop.errors:Slow'}, returns: 'shop.models:parse'}",
        "model: {drifting: {schema: schemas/answer.json}}",
        "model: {script: [{reply: {refusal: no, chunks: words, latency: 1, pace: 0.5, framing: {newline: crlf, done: false}}}]}",
        "model: {script: [{reply: {blocks: [a, {text: b}, {thinking: c}, {tool-call: {name: d}}, {refusal: e}], chunks: [a, b]}}]}",
        "model: {script: [{reply: {text: ab, chunks: [a, b]}, when: {messages: []}}, {reply: {chunks: 3}, when: refund}]}",
        "model: {script: [{fail: {kind: stall, reply: {text: a}, after: character, seconds: 2}}, {fail: {kind: cut, after: 3, reply: a}}]}",
        "model: {script: [{fail: {kind: server, headers: {retry-after: '2'}, body: <html>}}]}",
        "model: {script: [a], chunks: keyed, latency: 1, pace: 0, cached: true, keep: 10, relax: [empty-text]}",
        "model: {replay: fixtures/a.jsonl}",
        "model: {replay: [a.jsonl, b.jsonl], usage: {input_tokens: 1}}",
        "model: {replay: {file: [a.jsonl], only: [first], ignore: [user], strict: false, optional: true}}",
        "ledger: shop.ledger:rows",
        "ledger: {sql: 'sqlite:///usage.db', query: SELECT 1}",
        "ledger: {jsonl: usage.jsonl}",
        "ledger: {logging: shop.usage, fields: [tokens]}",
        "ledger: {list: 'shop.ledger:ROWS'}",
        "probes: {a: {call: 'shop.quota:read'}}",
        "clock: real",
        "parse: json",
        "parse: null",
        "tags: []",
    ],
)
def test_what_a_check_may_hold(tmp_path: Path, spec: str) -> None:
    """Every spelling that is described is accepted, and reaches the check as it is."""
    checks, mistakes = read(tmp_path, SMALL + spec + "\n")
    assert mistakes == []
    assert len(checks) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run: 3", ["UNKNOWN_KEY 5:1"]),
        ("runs: 0", ["WRONG_TYPE 5:7"]),
        ("runs: '3'", ["WRONG_TYPE 5:7"]),
        ("runs: 2.0", ["WRONG_TYPE 5:7"]),
        ("runs: true", ["WRONG_TYPE 5:7"]),
        ("parse: yaml", ["WRONG_TYPE 5:8"]),
        ("tags: quick", ["WRONG_TYPE 5:7"]),
        ("tags: [1]", ["WRONG_TYPE 5:8"]),
        ("tags: ['']", ["WRONG_TYPE 5:8"]),
        ("allow: [a]", ["ALLOW_INVALID 5:9"]),
        ("allow: ['tcp:127.0.0.1:5432', 'tcp:*:1', tcp:10.0.0.1:2]", ["ALLOW_INVALID 5:31", "ALLOW_INVALID 5:42"]),
        ("allow: tcp:127.0.0.1:5432", ["WRONG_TYPE 5:8"]),
        ("allow: [5432]", ["WRONG_TYPE 5:9"]),
        ("drill: {}", ["KEY_NOT_YET 5:1"]),
        ("prompts: {}", ["KEY_NOT_YET 5:1"]),
        ("smoke: {}", ["UNKNOWN_KEY 5:1"]),
        ("setup: shop.qa.setup", ["REFERENCE_INVALID 5:8"]),
        ("clock: unreal", ["WRONG_TYPE 5:8"]),
        ("clock: 5", ["WRONG_TYPE 5:8"]),
        ("clock: {start: 2030-01-01}", ["WRONG_TYPE 5:16"]),
        ("clock: {start: soon}", ["WRONG_TYPE 5:16"]),
        ("clock: {start: 5}", ["WRONG_TYPE 5:16"]),
        ("ledger: 5", ["WRONG_TYPE 5:9"]),
        ("ledger: {}", ["WRONG_TYPE 5:9"]),
        ("ledger: {sqlit: a}", ["UNKNOWN_KEY 5:10"]),
        ("ledger: {sqlite: a}", ["MISSING_KEY 5:1"]),
        ("ledger: {jsonl: a, query: b}", ["UNKNOWN_KEY 5:20"]),
        ("probes: {a: b}", ["REFERENCE_INVALID 5:13"]),
        ("model: hello", ["WRONG_TYPE 5:8"]),
        ("model: {scrip: []}", ["UNKNOWN_KEY 5:9"]),
        ("model: {script: hello}", ["WRONG_TYPE 5:17"]),
        ("model: {lanes: {}}", ["WRONG_TYPE 5:16"]),
        ("model: {script: [a], lanes: {}}", ["UNKNOWN_KEY 5:22"]),
        ("model: {script: [5]}", ["WRONG_TYPE 5:18"]),
        ("model: {script: [{fial: timeout}]}", ["UNKNOWN_KEY 5:19"]),
        ("model: {script: [{fail: timeouts}]}", ["UNKNOWN_FAULT 5:25"]),
        ("model: {script: [{fail: {kind: timeouts}}]}", ["UNKNOWN_FAULT 5:32"]),
        ("model: {script: [{fail: {kind: server, status: 99}}]}", ["WRONG_TYPE 5:48"]),
        ("model: {script: [{fail: 5}]}", ["WRONG_TYPE 5:25"]),
        ("model: {script: [{reply: {txt: a}}]}", ["UNKNOWN_KEY 5:27"]),
        ("model: {script: [{tool-call: a}]}", ["WRONG_TYPE 5:30"]),
        ("model: {script: [{tool-call: {arguments: []}}]}", ["MISSING_KEY 5:19", "WRONG_TYPE 5:42"]),
        ("model: {script: [{then-always: a}, b]}", ["SCRIPT_INVALID 5:17"]),
        ("model: {script: [{then-always: {then-always: a}}]}", ["SCRIPT_INVALID 5:17"]),
        ("model: {script: [a], usage: {input_tokens: -1}}", ["WRONG_TYPE 5:44"]),
        ("model: {script: [a], usage: {input_tokens: 9007199254740992}}", ["WRONG_TYPE 5:44"]),
        ("model: {script: [a], usage: {input_token: 1}}", ["UNKNOWN_KEY 5:30"]),
        ("model: {script: [{reply: {text: ab, chunks: [a, c]}}]}", ["CHUNKS_DIFFER 5:45"]),
        ("model: {script: [{reply: {text: ab, chunks: [a]}}]}", ["CHUNKS_DIFFER 5:45"]),
        ("model: {script: [{reply: {blocks: [a, {refusal: b}], chunks: [b]}}]}", ["CHUNKS_DIFFER 5:62"]),
        ("model: {script: [{reply: {text: [], chunks: [b]}}]}", ["WRONG_TYPE 5:33"]),
        ("model: {script: [{reply: {chunks: [a, 3]}}]}", ["WRONG_TYPE 5:39"]),
        ("model: {script: [{reply: {chunks: wrods}}]}", ["WRONG_TYPE 5:35"]),
        ("model: {script: [{reply: {latency: -1}}]}", ["WRONG_TYPE 5:36"]),
        ("model: {script: [{reply: {framing: {newline: lfcr}}}]}", ["WRONG_TYPE 5:46"]),
        ("model: {script: [{reply: {text: a, blocks: [b]}}]}", ["REPLY_INVALID 5:44"]),
        ("model: {script: [{reply: {blocks: [{txt: a}]}}]}", ["UNKNOWN_KEY 5:37"]),
        ("model: {script: [{reply: {blocks: [{text: a, refusal: b}]}}]}", ["UNKNOWN_KEY 5:46"]),
        ("model: {script: [{reply: {blocks: [3]}}]}", ["WRONG_TYPE 5:36"]),
        ("model: {script: [{fail: {kind: cut, after: word}}]}", ["WRONG_TYPE 5:44"]),
        ("model: {script: [{fail: {kind: server, headers: {a: 1}}}]}", ["WRONG_TYPE 5:53"]),
        ('model: {script: [{reply: a, when: {"$.a[": 1}}]}', ["WHEN_INVALID 5:35"]),
        ("model: {script: [{reply: a, when: 3}]}", ["WRONG_TYPE 5:35"]),
        ("model: {script: [a], relax: [empty-txt]}", ["UNKNOWN_RULE 5:30"]),
        ("model: {script: [a], keep: 0}", ["WRONG_TYPE 5:28"]),
        ("model: {script: [a], chunks: [a]}", ["WRONG_TYPE 5:30"]),
        ("model: answers.jsonl", ["WRONG_TYPE 5:8"]),
        ("model: {replay: 3}", ["WRONG_TYPE 5:17"]),
        ("model: {replay: []}", ["WRONG_TYPE 5:17"]),
        ("model: {replay: {fil: a.jsonl}}", ["UNKNOWN_KEY 5:18"]),
        ("model: {replay: {file: a.jsonl, only: [3]}}", ["WRONG_TYPE 5:40"]),
        ("model: {drifting: a.b}", ["REFERENCE_INVALID 5:19"]),
        ("model: {drifting: {schema: answer.yaml}}", ["REFERENCE_INVALID 5:28"]),
        ("probes: {a: {logging: shop.usage}}", ["NO_STATE 5:13"]),
        ("model: {drifting: {schem: {}}}", ["UNKNOWN_KEY 5:20"]),
        ("model: {drifting: {schema: {type: string, pattern: a}}}", ["SCHEMA_UNSUPPORTED 5:43"]),
        ("model: {drifting: {schema: {type: object, properties: {a: {type: strin}}}}}", ["SCHEMA_UNSUPPORTED 5:60"]),
    ],
)
def test_a_wrong_key_or_value_is_told_at_its_place(tmp_path: Path, line: str, expected: list[str]) -> None:
    """Each mistake has a code of its own; a misspelt key stands at the key, a wrong value at the value."""
    checks, mistakes = read(tmp_path, SMALL + line + "\n")
    assert mistakes == expected
    assert checks == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["NO_CHECK 1:1"]),
        ("# nothing\n", ["NO_CHECK 1:1"]),
        ("checks: []\n", ["NO_CHECK 1:9"]),
        ("checks: 5\n", ["WRONG_TYPE 1:9"]),
        ("checks: [5]\n", ["WRONG_TYPE 1:10"]),
        ("- a\n", ["WRONG_TYPE 1:1"]),
        ("a\n", ["WRONG_TYPE 1:1"]),
        ("app: a:b\ncases: [{}]\nexpect: [calls]\n", ["MISSING_KEY 1:1", "ASSERTION_INVALID 3:10"]),
        ("check: a\ncases: [{}]\nexpect: [{calls: 1}]\n", ["MISSING_KEY 1:1"]),
        ("check: ''\napp: a:b\ncases: [{}]\nexpect: [{calls: 1}]\n", ["WRONG_TYPE 1:8"]),
        ("check: a\napp: a:b\nexpect: [{calls: 1}]\n", ["NO_CASE 1:1"]),
        ("check: a\napp: a:b\ncases: []\nexpect: [{calls: 1}]\n", ["NO_CASE 3:8"]),
        ("check: a\napp: a:b\ncases: 5\nexpect: [{calls: 1}]\n", ["WRONG_TYPE 3:8"]),
        ("check: a\napp: a:b\ncases: [5]\nexpect: [{calls: 1}]\n", ["WRONG_TYPE 3:9"]),
        ("check: a\napp: a:b\ncases: [{id: true}]\nexpect: [{calls: 1}]\n", ["WRONG_TYPE 3:14"]),
        ("check: a\napp: a:b\ncases: [{id: a, inptu: 1}]\nexpect: [{calls: 1}]\n", ["UNKNOWN_KEY 3:17"]),
        ("check: a\napp: a:b\ncases: [{id: a}, {id: a}]\nexpect: [{calls: 1}]\n", ["DUPLICATE_NAME 3:18"]),
        ("check: a\napp: a:b\ncases: [{}]\n", ["NO_ASSERTION 1:1"]),
        ("check: a\napp: a:b\ncases: [{}]\nexpect:\n", ["NO_ASSERTION 4:1"]),
        ("check: a\napp: a:b\ncases: [{}]\nexpect: []\n", ["NO_ASSERTION 4:9"]),
        ("check: a\napp: a:b\ncases: [{}]\nexpect: {calls: 1}\n", ["WRONG_TYPE 4:9"]),
        ("check: a\ncheck: b\n", ["DUPLICATE_KEY 2:1"]),
        ("check: {a: $.b[*]}\n", ["YAML_SYNTAX 1:15"]),
    ],
)
def test_a_file_that_proves_nothing_is_told(tmp_path: Path, text: str, expected: list[str]) -> None:
    """No check, no case, no assertion: each its own code, and none of it runs."""
    checks, mistakes = read(tmp_path, text)
    assert mistakes == expected
    assert checks == []


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("{subst: {of: $.a, in: $.b}}", ["UNKNOWN_ASSERTION 4:11"]),
        ("{not-distinct: {of: $.a, at-least: 2}}", ["ASSERTION_INVALID 4:25"]),
        ("{subset: {off: $.a, in: $.b}}", ["UNKNOWN_KEY 4:20"]),
        ("{subset: {of: $.a, inn: $.b, allow_empty: true}}", ["UNKNOWN_KEY 4:29", "UNKNOWN_KEY 4:39"]),
        ("{subset: {of: $.a}}", ["MISSING_KEY 4:19"]),
        ("{distinct: {of: $.a, at-least: many}}", ["WRONG_TYPE 4:41"]),
        ("{unique: '$.a[*'}", ["PATH_UNSUPPORTED 4:25"]),
        ("{unique: {of: '$.a[*'}}", ["PATH_UNSUPPORTED 4:30"]),
        ('{unique: "$.\\u0061[*"}', ["PATH_UNSUPPORTED 4:19"]),
        ("{each: {of: $.a, expect: [{unique: $}, {subst: 1}]}}", ["UNKNOWN_ASSERTION 4:50"]),
        ("5", ["WRONG_TYPE 4:10"]),
        ("{calls: 1, waits: 2}", ["WRONG_TYPE 4:10"]),
        ("{}", ["WRONG_TYPE 4:10"]),
    ],
)
def test_a_wrong_assertion_is_told_at_its_place(tmp_path: Path, claim: str, expected: list[str]) -> None:
    """Inside inner assertions too, and inside the text of a path where it is spelled as it is."""
    _, mistakes = read(tmp_path, f"check: a\napp: a:b\ncases: [{{}}]\nexpect: [{claim}]\n")
    assert mistakes == expected


def test_a_message_says_what_was_expected_found_and_meant(tmp_path: Path) -> None:
    """The text that is printed, whole."""
    text = (
        "chek: a\napp: shop\nrunz: 3\nruns: many\ncases: [{}]\nexpect: [{absnt: {}}]\n"
        "ledger: {sqlit: a}\nparse: yml\nmodel: {script: [{fail: timeot}]}\n"
    )
    kinds = (
        "bad-request, unauthorized, forbidden, not-found, conflict, too-large, unprocessable, rate-limit, server, bad-gateway, "
        "unavailable, gateway-timeout, overloaded, timeout, connection, cut, truncated, stream-error, stall"
    )
    assert messages(tmp_path, text) == [
        "1:1: unknown key 'chek'\n  hint: did you mean 'check'?",
        '2:6: expected a reference "module:attribute", such as shop.qa:answer, got "shop"',
        "3:1: unknown key 'runz'\n  hint: did you mean 'runs'?",
        '4:7: expected a whole number, got string "many"',
        "6:11: there is no assertion 'absnt'\n  hint: did you mean absent?",
        "7:10: expected one of sqlite, sql, jsonl, logging, list, call, got the key 'sqlit'\n  hint: did you mean 'sqlite'?",
        '8:8: expected json, got string "yml"',
        f"9:25: expected one of {kinds}, got \"timeot\"\n  hint: did you mean 'timeout'?",
    ]


def test_an_unquoted_path_in_braces_gets_the_hint(tmp_path: Path) -> None:
    """The commonest mistake of all says how to write it."""
    assert messages(tmp_path, "check: a\nexpect:\n  - unique: {of: $.output.cites[*]}\n")[0].endswith(
        "\n  hint: quote a path inside {} or []: '$.output.cites[*]'"
    )


def test_several_checks_stand_in_one_file(tmp_path: Path) -> None:
    """A sound check runs although its neighbour is wrong; two of one name are both left out."""
    entry = "  - check: {}\n    app: {}\n    cases: [{{}}]\n    expect: [{{calls: 1}}]\n"
    text = "checks:\n" + entry.format("a", "a:b") + entry.format("b", "wrong") + entry.format("c", "a:b") + entry.format("c", "a:b")
    checks, mistakes = read(tmp_path, text)
    assert [check.name for check in checks] == ["a"]
    assert mistakes == ["REFERENCE_INVALID 7:10", "DUPLICATE_NAME 14:12"]
    assert checks[0].claim_places == (Place("checks/a.yaml", 5, 14),)


def test_keys_beside_checks_are_refused(tmp_path: Path) -> None:
    """Nothing in a file is read past."""
    assert read(tmp_path, "app: a:b\nchecks:\n  - check: 5\n")[1][0] == "UNKNOWN_KEY 1:1"


def test_a_smoke_file_is_another_commands(tmp_path: Path) -> None:
    """It is never collected, and no mistake either."""
    assert read(tmp_path, "smoke: {anything: 1}\n") == ([], [])


def test_a_file_that_cannot_be_decoded_is_told(tmp_path: Path) -> None:
    """With the place of the byte."""
    (tmp_path / "a.yaml").write_bytes(b"check: \xff")
    checks, errors = read_file(tmp_path, "a.yaml")
    assert (checks, [str(error) for error in errors]) == ([], ["a.yaml:1:8: byte 0xff is no UTF-8\n  hint: save the file as UTF-8"])


def test_reading_a_file_imports_nothing_of_the_users(tmp_path: Path) -> None:
    """References are text here: only a worker resolves them."""
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "a.yaml").write_text(SMALL.replace("shop.qa", "trap"))
    code = (
        "import sys\nfrom pathlib import Path\nfrom invcheck.suite.checkfile import read_file\n"
        "print(len(read_file(Path('.'), 'a.yaml')[0]), 'trap' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


def test_a_fixture_file_in_place_of_a_model_is_told_how(tmp_path: Path) -> None:
    """The hint writes it out."""
    text = "check: a\napp: shop.qa:answer\ncases: [{}]\nexpect: [{calls: 1}]\nmodel: fixtures/a.jsonl\n"
    assert any("hint: write model: {replay: fixtures/a.jsonl}" in message for message in messages(tmp_path, text))
