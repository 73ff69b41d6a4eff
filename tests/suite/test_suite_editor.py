"""The JSON Schema for editors: it takes what a run takes, and marks what a run refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from invcheck.assertions import KEYS, claim_class
from invcheck.suite import schema
from invcheck.suite.checkfile import read_file
from invcheck.yamltext import read

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)
SMALL = "check: a\napp: shop.qa:answer\ncases: [{id: x}]\n"


def accepted(text: str) -> bool:
    """Whether the schema takes a check file's text."""
    return VALIDATOR.is_valid(read(text, "a.yaml")[0])


def test_it_is_a_schema() -> None:
    """Draft 2020-12 itself has nothing against it."""
    Draft202012Validator.check_schema(SCHEMA)


def test_every_assertion_and_its_opposite_is_known() -> None:
    """Only claims across runs have no opposite."""
    known = SCHEMA["$defs"]["Assertion"]["else"]["properties"]
    assert set(known) == {*KEYS, *(f"not-{key}" for key in KEYS if claim_class(key).arity == "each")}


def test_everything_is_described() -> None:
    """Each assertion and each spec has one sentence, in the words of the file."""
    definitions = SCHEMA["$defs"]
    assert [name for name, each in definitions.items() if not each.get("description", "").endswith(".")] == []
    assertions = definitions["Assertion"]["else"]["properties"]
    assert [key for key, each in assertions.items() if not each.get("description", "").endswith(".")] == []
    assert "``" not in str(assertions)


@pytest.mark.parametrize("file", sorted(Path("checks").glob("*.yaml")), ids=str)
def test_the_examples_fit(file: Path) -> None:
    """Our own checks are the examples."""
    assert read_file(Path(), file.as_posix())[1] == []
    assert [error.message for error in VALIDATOR.iter_errors(read(file.read_text("utf-8"), file.name)[0])] == []


@pytest.mark.parametrize(
    "text",
    [
        SMALL + "expect: [{calls: 1}, {not-calls: {served: 2}}, script-used, {is-json: null}, {unique: $.a}]",
        SMALL + "expect: [{each: {of: '$.a[*]', expect: [{subset: {of: $, in: [1]}}]}}]",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [a, {fail: timeout}, {then-always: {json: 1}}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{reply: {blocks: [a, {tool-call: {name: b}}], chunks: [a]}, when: {c: 1}}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{fail: {kind: cut, reply: a, after: character}}], relax: [empty-text]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{reply: {chunks: 3, framing: {newline: cr}}}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {replay: a.jsonl}",
        SMALL + "expect: [{calls: 1}]\nmodel: {replay: {file: [a.jsonl], only: [b]}}",
        SMALL + "expect: [{calls: 1}]\nledger: {jsonl: a}\nclock: real\nprobes: {a: 'b:c'}\ntags: [x]",
        SMALL + "expect: [{calls: 1}]\nallow: [tcp:127.0.0.1:80, 'tcp:[::1]:80', tcp:localhost:80, unix:/run/a b]",
        "check: a\napp: a:b\ncases: {jsonl: rows.jsonl}\nexpect: [{calls: 1}]",
        "checks: [{check: a, app: 'a:b', cases: [{}], expect: [{calls: 1}]}]",
        "smoke: {}",
    ],
)
def test_it_takes_what_a_run_takes(text: str) -> None:
    """Also short forms, opposites and inner assertions."""
    assert accepted(text)


@pytest.mark.parametrize(
    "text",
    [
        SMALL + "expect: []",
        SMALL,
        SMALL + "expect: [{callz: 1}]",
        SMALL + "expect: [{subset: {of: $.a, inn: $.b}}]",
        SMALL + "expect: [{subset: {of: $.a}}]",
        SMALL + "expect: [{calls: 1, waits: []}]",
        SMALL + "expect: [{unique: output}]",
        SMALL + "expect: [{not-distinct: {of: $.a, at-least: 1}}]",
        SMALL + "expect: [{calls: 1}]\nrun: 5",
        SMALL + "expect: [{calls: 1}]\nruns: 0",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{fail: timeouts}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{reply: {chunks: wrods}}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [{reply: {blocks: [{txt: a}]}}]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {script: [a], relax: [empty-txt]}",
        SMALL + "expect: [{calls: 1}]\nmodel: {replay: {fil: a.jsonl}}",
        SMALL + "expect: [{calls: 1}]\nmodel: {replay: []}",
        SMALL + "expect: [{calls: 1}]\nallow: tcp:127.0.0.1:80",
        SMALL + "expect: [{calls: 1}]\nallow: ['tcp:*:80']",
        SMALL + "expect: [{calls: 1}]\nallow: [unix:run/a]",
        "check: a\napp: shop\ncases: [{}]\nexpect: [{calls: 1}]",
        "checks: []",
    ],
)
def test_it_marks_what_a_run_refuses(text: str) -> None:
    """Misspelt keys, wrong types, and files that prove nothing."""
    assert not accepted(text)
