"""The README is true: its files and commands are run, and nothing that there is is left out."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from invcheck.assertions import KEYS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MARKED = re.compile(r"<!-- (?P<kind>file|run): (?P<what>.*?)(?:, exit (?P<status>\d+))? -->\n```\w+\n(?P<body>.*?)```\n", re.DOTALL)
BLOCK = re.compile(r"(?P<marker><!-- .* -->\n)?```(?P<language>\w+)\n(?P<body>.*?)```\n", re.DOTALL)


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "invcheck"
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False)


def _spoken(text: str) -> str:
    """What a command prints, without what depends on the kernel."""
    return re.sub(r"gate [\w-]+", "gate ...", text)


def test_what_the_readme_shows_is_what_happens(tmp_path: Path) -> None:
    """Every command of the README, run over the files that it shows, prints what it says, with the status it names."""
    parts = list(MARKED.finditer(README))
    for part in parts:
        if part["kind"] == "file" and not part["what"].startswith("checks/"):
            (tmp_path / part["what"]).write_text(part["body"], encoding="utf-8")
    (tmp_path / "checks").mkdir()
    ran = 0
    for part in parts:
        if part["kind"] == "file":
            (tmp_path / part["what"]).write_text(part["body"], encoding="utf-8")
            continue
        done = _run(part["what"], tmp_path)
        first, _, expected = part["body"].partition("\n")
        assert first == f"$ {part['what']}"
        assert (_spoken(done.stdout), done.returncode) == (_spoken(expected), int(part["status"]))
        ran += 1
    assert ran == 2


def test_the_replay_line_of_the_readme_replays(tmp_path: Path) -> None:
    """The replay command that the first example prints shows the same finding for that one trial."""
    (tmp_path / "checks").mkdir()
    for part in MARKED.finditer(README):
        if part["kind"] == "file" and "retry" not in part["what"]:
            (tmp_path / part["what"]).write_text(part["body"], encoding="utf-8")
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


@pytest.mark.parametrize("command", ["run", "list", "merge", "schema"])
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


def test_the_models_of_the_readme_can_be_built() -> None:
    """Every model that the README spells in YAML is a spec that a double is built from."""
    from invcheck.sources import read
    from invcheck.yamltext import read as yaml

    block = next(block["body"] for block in BLOCK.finditer(README) if block["language"] == "yaml" and "then-always" in block["body"])
    specs = [yaml(text, "README.md")[0]["model"] for text in block.split("---\n")]
    names = {"fakes:careless": lambda rng, request: "x", "shop:Answer": {"type": "object", "properties": {"a": {"type": "string"}}}}
    assert len([read(spec, load=names.__getitem__) for spec in specs]) == 3
