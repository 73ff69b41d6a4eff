"""A script in a file of its own: the double that it makes, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from invcheck import testing
from invcheck.errors import CheckFileError
from invcheck.resolve import resolve
from invcheck.sources.scriptfile import script


def written(folder: Path, text: str, name: str = "s.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "script:\n  - hello\n  - reply: {text: bil, finish: length}\n"),
        ("s.json", '{\n\t"script": ["hello", {"reply": {"text": "bil", "finish": "length"}}]\n}'),
    ],
)
def test_yaml_and_json_make_the_same_double(tmp_path: Path, name: str, text: str) -> None:
    """A JSON file may be indented by tabs, which YAML does not know."""
    make = script(written(tmp_path, text, name), name, load=str)
    with testing():
        model = make()
        assert [model("hi").text, model("hi").finish] == ["hello", "length"]


@pytest.mark.parametrize(
    ("name", "text", "place", "told"),
    [
        ("s.yaml", "script:\n  - hello\n  - replly: hi\n", "s.yaml:3:5", '$.script[1].replly: there is no "replly" here'),
        (
            "s.yaml",
            "script:\n  - reply: {text: a, usage: {input_tokens: -1}}\n",
            "s.yaml:2:29",
            "$.script[0].reply.usage: usage.input_tokens is an integer from 0 to 2**53 - 1, got int -1",
        ),
        (
            "s.yaml",
            "script:\n- reply:\n    text: Hello!\n    chunks: [Hel, lo]\n",
            "s.yaml:4:13",
            '$.script[0].reply.chunks: the chunks join to the text, and "!" is missing at their end',
        ),
        ("s.yaml", "lanes:\n  a:\n  - fail: rate-limmit\n", "s.yaml:3:11", "'rate-limmit' is no kind of fault; did you mean 'rate-limit'?"),
        ("s.yaml", "script:\n- tool-call: {arguments: {}}\n", "s.yaml:2:14", "$.script[0].tool-call.name: text is needed here, got null"),
        ("s.yaml", "", "s.yaml:1:1", "$: a mapping is needed here, got null"),
        ("s.yaml", "script: [a\n", "s.yaml:2:1", "this is no YAML"),
        ("s.json", '{\n\t"script": [{"fail": "no"}]\n}', "s.json:2:22", "'no' is no kind of fault"),
        ("s.json", '{"script": ["a"],\n "script": []}', "s.json:2:2", 'the key "script" stands twice in one object: first in line 1'),
        ("s.json", '{"script": ["a"', "s.json:1:16", "this is no JSON: the text ends, and a comma or ] is needed"),
        ("s.json", '{"script": ["\\ud83d\\ude00", 3]}', "s.json:1:29", "$.script[1]: a mapping is needed here, got 3"),
        ("s.yaml", "lanes: {a: [x]}\nlane-by: nosuch:fn\n", "s.yaml:2:10", "there is no module 'nosuch'"),
        ("s.yaml", "script: [x]\nraises:\n  timeout: nosuch:fn\n", "s.yaml:3:12", "there is no module 'nosuch'"),
        ("s.yaml", "script:\n- x\n- raise: nosuch:fn\n", "s.yaml:3:10", "there is no module 'nosuch'"),
        ("s.yaml", "script: [x]\nreturns: 'json:nosuch'\n", "s.yaml:2:10", "json has no 'nosuch'"),
        ("s.json", '{"script": [{"call":\t"nosuch:fn"}]}', "s.json:1:22", "there is no module 'nosuch'"),
        ("s.yaml", "replay:\n  file: none.jsonl\n", "s.yaml:2:9", "the fixture file none.jsonl cannot be read"),
        ("s.json", "{}\n{}", "s.json:2:1", "text stands after the value"),
        ("none.yaml", None, "none.yaml", "it cannot be read: No such file or directory"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, name: str, text: str | None, place: str, told: str) -> None:
    """File, line and column, the path of the step with its index, and the reason."""
    path = tmp_path / name if text is None else written(tmp_path, text, name)
    with pytest.raises(CheckFileError) as wrong:
        script(path, name, load=resolve)
    assert (str(wrong.value.place), wrong.value.exit) == (place, 2)
    assert told in wrong.value.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("model:\n  script: [a]\n", "drop the key model: the file holds what stands below it in a check file"),
        ("- hello\n- bye\n", "put the steps below a key, as script: [...]"),
        ("script: [a]\nlatancy: 2\n", "did you mean latency?"),
    ],
)
def test_what_was_meant_is_told(tmp_path: Path, text: str, hint: str) -> None:
    """A piece of a check file, steps alone, and a misspelt key."""
    with pytest.raises(CheckFileError) as wrong:
        script(written(tmp_path, text), "s.yaml", load=str)
    assert wrong.value.hint == hint


def test_bytes_that_are_no_utf_8_are_told_with_their_place(tmp_path: Path) -> None:
    """As for every file that is read."""
    (tmp_path / "s.yaml").write_bytes(b"script:\n- \xff")
    with pytest.raises(CheckFileError, match="byte 0xff is no UTF-8"):
        script(tmp_path / "s.yaml", "s.yaml", load=str)


def test_what_is_wrong_in_a_recording_is_told_by_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by that of the script which names its file."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, '{"invcheck": 2}\n', "f.jsonl")
    with pytest.raises(CheckFileError, match="the version of this format is 1") as wrong:
        script(written(tmp_path, "replay: f.jsonl\n"), "s.yaml", load=str)
    assert str(wrong.value.place) == "f.jsonl:1"


def test_every_text_of_json_is_one_of_a_script(tmp_path: Path) -> None:
    """Also where YAML would not read it: halves of pairs in escapes, control characters, long keys."""
    text = '{"script": ["\\ud83d\\ude00\x7f\\u0000"], "attributes": {"' + "k" * 2000 + '": "\\/"}}'
    make = script(written(tmp_path, text, "s.json"), "s.json", load=str)
    with testing():
        assert make()("hi").text == "\U0001f600\x7f\0"
