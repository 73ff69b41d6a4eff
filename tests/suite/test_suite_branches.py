"""What an editor says of a file: a mistake is told where it stands, at any depth, and not as the failure of every branch."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from invcheck.suite import schema
from invcheck.suite.branches import chosen

SOUND: dict[str, Any] = {"check": "x", "app": "shop:ask", "cases": [{"input": 1}], "expect": [{"calls": 1}]}


def faults(document: Any) -> list[tuple[str, str]]:
    """Give where the schema says that something is wrong, and which of its words say so."""
    found = jsonschema.Draft202012Validator(schema()).iter_errors(document)
    return [("/".join(map(str, error.absolute_path)), str(error.validator)) for error in found]


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({**SOUND, "exect": []}, ("", "additionalProperties")),
        ({"checks": [{**SOUND, "runs": 0}]}, ("checks/0/runs", "minimum")),
        ({"checks": [SOUND], "more": 1}, ("", "additionalProperties")),
        ({**SOUND, "cases": [{"inputt": 1}]}, ("cases/0", "additionalProperties")),
        ({**SOUND, "model": {"script": ["a", {"fail": {"kind": "rate-limt"}}]}}, ("model/script/1/fail/kind", "enum")),
        ({**SOUND, "model": {"script": [{"reply": {"text": 5}}]}}, ("model/script/0/reply/text", "type")),
        ({**SOUND, "model": ["a"]}, ("model", "type")),
        ({**SOUND, "model": {"scrpt": []}}, ("model", "anyOf")),
        ({**SOUND, "ledger": {"sqlite": "a.db", "querry": "q"}}, ("ledger", "additionalProperties")),
        ({**SOUND, "expect": [{"length": {"of": "$.a", "mx": 1}}]}, ("expect/0/length", "additionalProperties")),
        ({**SOUND, "expect": [{"calls": {"servd": 1}}]}, ("expect/0/calls", "additionalProperties")),
        ({**SOUND, "expect": [{"calls": {"max": "3"}}]}, ("expect/0/calls/max", "type")),
        ({**SOUND, "expect": ["script-usd"]}, ("expect/0", "enum")),
        (
            {**SOUND, "expect": [{"each": {"of": "$.a", "expect": [{"between": {"off": "$"}}]}}]},
            ("expect/0/each/expect/0/between", "additional"),
        ),
        ({"smoke": {}, "check": "x"}, ("", "additionalProperties")),
        ([], ("", "type")),
    ],
)
def test_a_mistake_is_told_where_it_stands(document: Any, where: tuple[str, str]) -> None:
    """The first word of the schema about it names the innermost place."""
    found = faults(document)
    assert any(path == where[0] and word.startswith(where[1]) for path, word in found)
    assert all(path.startswith(where[0]) for path, _ in found)


def test_sound_files_are_sound() -> None:
    """One check, several, and a file of another command."""
    for document in (
        SOUND,
        {"checks": [SOUND, SOUND]},
        {"smoke": {"any": 1}},
        {**SOUND, "model": None},
        {**SOUND, "expect": ["script-used"]},
    ):
        assert faults(document) == []


def test_branches_that_nothing_tells_apart_stay_a_union() -> None:
    """Two objects without a required key, or two branches of one type, are judged one after the other."""
    objects = [{"type": "object"}, {"type": "object", "minProperties": 1}]
    texts = [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 0}]
    for union in (objects, texts, [{}]):
        assert chosen({"anyOf": union}, {}) == {"anyOf": union}
