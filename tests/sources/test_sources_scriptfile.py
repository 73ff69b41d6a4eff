"""A script in a file of its own: the double that it makes, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from invcheck import testing
from invcheck.errors import CheckFileError
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
        ("s.json", '{"script": ["a"], "script": []}', "s.json", 'the key "script" stands twice'),
        ("s.json", "{}\n{}", "s.json:2:1", "text stands after the value"),
        ("none.yaml", None, "none.yaml", "it cannot be read: No such file or directory"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, name: str, text: str | None, place: str, told: str) -> None:
    """File, line and column, the path of the step with its index, and the reason."""
    path = tmp_path / name if text is None else written(tmp_path, text, name)
    with pytest.raises(CheckFileError) as wrong:
        script(path, name, load=str)
    assert (str(wrong.value.place), wrong.value.exit) == (place, 2)
    assert told in wrong.value.message


def test_bytes_that_are_no_utf_8_are_told_with_their_place(tmp_path: Path) -> None:
    """As for every file that is read."""
    (tmp_path / "s.yaml").write_bytes(b"script:\n- \xff")
    with pytest.raises(CheckFileError, match="byte 0xff is no UTF-8"):
        script(tmp_path / "s.yaml", "s.yaml", load=str)
