"""The README is true: its files and commands are run, and nothing that there is is left out."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from invcheck import Reply, Trial, check, testing
from invcheck.assertions import KEYS
from invcheck.faults import KINDS, ModelFault
from invcheck.settings import FORMATS, KNOWN, load
from invcheck.sources import build
from invcheck.yamltext import read as yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(README.split())
MARKED = re.compile(r"<!-- (?P<kind>file|run): (?P<what>.*?)(?:, exit (?P<status>\d+))? -->\n```\w+\n(?P<body>.*?)```\n", re.DOTALL)
BLOCK = re.compile(r"(?P<marker><!-- [^\n]* -->\n)?```(?P<language>\w+)\n(?P<body>.*?)```\n", re.DOTALL)


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "invcheck"
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False)


def _spoken(text: str) -> str:
    """What a command prints, without what depends on the kernel."""
    return re.sub(r"gate [\w-]+", "gate ...", text)


def _write(folder: Path, *, only: str = "") -> None:
    """Write the files that the README shows: all of them, or of its check files the one."""
    (folder / "checks").mkdir(parents=True)
    for part in MARKED.finditer(README):
        name = part["what"]
        if part["kind"] == "file" and (not only or name == only or not name.startswith("checks/")):
            (folder / name).write_text(part["body"], encoding="utf-8")


def test_what_the_readme_shows_is_what_happens(tmp_path: Path) -> None:
    """The command of the README, run over the files before it, prints what it says, with the status it names."""
    _write(tmp_path, only="checks/answers.yaml")
    runs = [part for part in MARKED.finditer(README) if part["kind"] == "run"]
    for part in runs:
        done = _run(part["what"], tmp_path)
        first, _, expected = part["body"].partition("\n")
        assert first == f"$ {part['what']}"
        assert (_spoken(done.stdout), done.returncode) == (_spoken(expected), int(part["status"]))
    assert len(runs) == 1


def test_every_other_check_of_the_readme_is_kept(tmp_path: Path) -> None:
    """Every check file that the README shows is sound, and what it claims holds."""
    _write(tmp_path)
    files = sorted(path.name for path in (tmp_path / "checks").iterdir() if path.name != "answers.yaml")
    assert files == ["check_answers.py", "more.yaml", "usage.yaml"]
    done = _run(shlex.join(["invcheck", "run", *(f"checks/{name}" for name in files)]), tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert "4 cases: 4 kept." in done.stdout


def test_the_replay_line_of_the_readme_replays(tmp_path: Path) -> None:
    """The replay command that the first example prints shows the same finding for that one trial."""
    _write(tmp_path, only="checks/answers.yaml")
    command = re.search(r"replay +(invcheck run .*)\n", README)
    assert command is not None
    done = _run(command[1], tmp_path)
    assert done.returncode == 1
    assert 'got       "d9"' in done.stdout
    assert "1 of 1 trial broken" in done.stdout


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_assertion_stands_in_the_readme(key: str) -> None:
    """Every assertion is named in the README as a check file spells it."""
    assert re.search(rf"`{re.escape(key)}\b", README)


@pytest.mark.parametrize("command", ["run", "list", "merge", "schema", "serve"])
def test_every_command_stands_in_the_readme(command: str) -> None:
    """Every command is in the README's table and answers `--help`."""
    assert f"| `invcheck {command}" in README
    assert _run(f"invcheck {command} --help", ROOT).returncode == 0


def test_the_python_of_the_readme_runs() -> None:
    """Every Python block that is no file of its own runs as it stands."""
    blocks = [block["body"] for block in BLOCK.finditer(README) if block["language"] == "python" and not block["marker"]]
    assert blocks
    for body in blocks:
        exec(compile(body, "README.md", "exec"), {})


def test_the_script_of_the_readme_answers_as_it_says() -> None:
    """Every kind of step that the README spells in YAML is answered as its line says."""
    text = next(block["body"] for block in BLOCK.finditer(README) if block["language"] == "yaml" and "then-always" in block["body"])
    names = {"fakes:echo": lambda request: request["prompt"], "fakes:Unavailable": ZeroDivisionError, "fakes:SlowDown": SlowDown}
    with testing():
        model = build(yaml(text, "README.md")[0]["model"], load=names.__getitem__)
        said = [_asked(model, f"turn {n} of a refund") for n in range(13)]
        replies = [call.outcome for call in model.calls if isinstance(call.outcome, Reply)]
        assert (replies[2].finish, replies[3].thinking, replies[4].tool_calls[0].name) == ("length", "Hm.", "search")
    assert said == [
        "a text", '{"answer": "Yes.", "cites": ["d1"]}', "bill", "By mail.", "", "turn 5 of a refund",
        "ModelConnectionError", "SlowDown", "ModelConnectionError", "found", "ZeroDivisionError", "last", "ModelTimeout",
    ]  # fmt: skip


class SlowDown(Exception):
    """An app's own exception, whose parameters say what it wants of a fault."""

    def __init__(self, message: str, retry_after: float) -> None:
        assert (message, retry_after) == ("too many requests", 2)
        super().__init__(message)


def _asked(model: Any, text: str) -> str:
    try:
        said: str = model(text).text
    except Exception as error:  # noqa: BLE001  # which one it is, is what the test asks
        return type(error).__name__
    return said


def test_the_lanes_of_the_readme_answer_for_themselves() -> None:
    """The lanes that the README spells in a sentence are a double whose agents do not take each other's steps."""
    spec = re.search(r"`(\{lanes: .*?\})` in place of `script`", WORDS)
    assert spec is not None
    with testing():
        model = build(yaml(spec[1], "README.md")[0], load=str)
        assert [model(agent=agent).text for agent in ("critic", "writer")] == ["too long", "a draft"]


@pytest.mark.parametrize("drifting", ["fakes:careless", "shop:Answer", "schemas/answer.json"])
def test_the_drifting_models_of_the_readme_can_be_built(drifting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function, a schema's name and a schema's file are each named in the README, and a double is made of each."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/answer.json").write_text(json.dumps(schema), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"fakes:careless": lambda rng, request: "x", "shop:Answer": schema}
    assert drifting in README
    with testing():
        assert build({"drifting": drifting if drifting == "fakes:careless" else {"schema": drifting}}, load=names.__getitem__)("hi").text


def test_every_kind_of_fault_stands_in_the_readme() -> None:
    """Every kind is named, with its status where it has one; so is everything that the exception has."""
    for name, kind in KINDS.items():
        assert f"`{name}` {kind.status}" in WORDS if kind.status else f"`{name}`" in WORDS
    assert issubclass(KINDS["timeout"].exception, TimeoutError)
    assert issubclass(KINDS["connection"].exception, ConnectionError)
    assert all(f"`.{name}`" in README for name in vars(ModelFault("m")))


def test_every_argument_and_attribute_stands_in_the_readme() -> None:
    """The two tables name every argument of `@check(...)` and everything that a trial has, and nothing else."""
    tables = README[README.index("| argument | takes |") : README.index("After the trial, a check may take")].split("\n\n")
    named = [{name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)", line.split("|")[1])} for table in tables[:2]]
    public = {name for name in dir(Trial) if not name.startswith("_")}
    assert named == [set(inspect.signature(check).parameters) - {"bare"}, public | {"case", "seed", "clock", "model"}]


def test_the_classes_are_called_as_the_readme_says() -> None:
    """A class is its key without hyphens, but for the two that the README names."""
    others = {key: name for key, (_, name) in KEYS.items() if name != "".join(map(str.capitalize, key.split("-")))}
    assert others == {"ledger": "LedgerRows", "tool-call": "ToolCalled"}
    assert "`LedgerRows` for `ledger` and `ToolCalled` for `tool-call`" in WORDS


def test_every_format_of_stdout_stands_in_the_readme() -> None:
    """What `--format` takes is named where the README speaks of it."""
    sentence = WORDS[WORDS.index("`--format`") :].split(".")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == {*FORMATS} - {"table"}


def test_the_settings_of_the_readme_are_all_settings(tmp_path: Path) -> None:
    """The table can be read as it stands, and it shows every key."""
    table = next(block["body"] for block in BLOCK.finditer(README) if block["language"] == "toml")
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert load(tmp_path).gate_require == "kernel"
    assert {line.split(" = ")[0] for line in table.splitlines()[1:]} == {*KNOWN}


def test_what_the_readme_says_of_folders_and_state_is_so(tmp_path: Path) -> None:
    """A relative file lands in the project, what a module keeps is there in the next trial, and a finding tells so."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "app.py").write_text(
        "import pathlib\nseen = []\n\n\ndef app(x):\n    seen.append(x)\n    pathlib.Path('note.txt').touch()\n    return len(seen)\n",
        "utf-8",
    )
    (tmp_path / "checks/rows.jsonl").write_text('{"id": "a", "input": {"x": 1}}\n{"id": "b", "x": 2}\n', "utf-8")
    (tmp_path / "schema.json").write_text('{"const": 1}', "utf-8")
    text = "check: c\napp: app:app\nruns: 3\ncases: {jsonl: rows.jsonl}\nexpect: [{schema: {of: $.output, is: schema.json}}]\n"
    (tmp_path / "checks/c.yaml").write_text(text, "utf-8")
    done = _run("invcheck run", tmp_path)
    assert (tmp_path / "note.txt").exists()
    assert done.returncode == 1
    assert "trials    2 of 3, first with seed 1" in done.stdout
    assert "'checks/c.yaml::c[a]' --seed 0 --runs 2" in done.stdout
    assert "'checks/c.yaml::c[b]' --seed 0 --runs 2" in done.stdout


def test_no_assert_of_the_readme_stands_inside_an_except() -> None:
    """An assert inside an except block never runs when nothing raises, so no example shows one."""
    blocks = [block["body"] for block in BLOCK.finditer(README) if block["language"] == "python"]
    handlers = [node for body in blocks for node in ast.walk(ast.parse(body)) if isinstance(node, ast.ExceptHandler)]
    assert handlers
    assert not [node for handler in handlers for node in ast.walk(handler) if isinstance(node, ast.Assert)]
