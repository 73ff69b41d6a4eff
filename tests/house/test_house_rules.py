"""The house rules of the project, as tests."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "invcheck"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
DRAWERS = {"utils", "helpers", "common", "base", "misc", "types", "util", "helper"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_has_at_most_400_lines(path: Path) -> None:
    """A module of the package never passes 400 lines: a second reason to change is a second file."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", sorted((SOURCE / "cli").glob("*.py")), ids=_name)
def test_a_command_file_has_at_most_120_lines(path: Path) -> None:
    """A command file stays thin: at most 120 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_no_module_is_a_drawer(path: Path) -> None:
    """No module is called utils, helpers, common, base, misc or types."""
    assert path.stem not in DRAWERS
    assert not DRAWERS & set(path.relative_to(SOURCE).parts)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_module_says_what_it_is(path: Path) -> None:
    """Every module opens with a docstring."""
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_only_the_command_line_prints(path: Path) -> None:
    """print() stands in cli/ alone; report/ gives text or bytes."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    names = [node.func.id for node in calls if isinstance(node.func, ast.Name)]
    assert "print" not in names or path.parent.name == "cli"


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_every_test_states_its_claim(path: Path) -> None:
    """Every test has a docstring, which is the claim that it makes."""
    silent = [
        f.name for f in _functions(ast.parse(path.read_text(encoding="utf-8"))) if f.name.startswith("test") and not ast.get_docstring(f)
    ]
    assert silent == []


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_no_assert_stands_inside_an_except(path: Path) -> None:
    """An assert inside an except block never runs when nothing raises, so none stands there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert not [node for handler in handlers for node in ast.walk(handler) if isinstance(node, ast.Assert)]


IGNORE = re.compile(r"#\s*(?:noqa|type: ignore)(?P<code>:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*|\[[a-z\-, ]+\])?(?P<reason>\s*#\s*\S.*)?")


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_ignore_has_a_code_and_a_reason(path: Path) -> None:
    """Every lint or type ignore of the package names its code and says why."""
    bare = [
        line.strip()
        for line in path.read_text(encoding="utf-8").splitlines()
        for m in IGNORE.finditer(line)
        if not m["code"] or not m["reason"]
    ]
    assert bare == []


def test_public_names_are_sorted_and_there() -> None:
    """`__all__` is sorted, and every name in it can be imported."""
    package = importlib.import_module("invcheck")
    assert package.__all__ == sorted(package.__all__)
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


HEAVY = (
    "pydantic",
    "hypothesis",
    "sqlalchemy",
    "yaml",
    "tabulate",
    "jsonpath_ng",
    "jsonschema",
    "asyncio",
    "time_machine",
    "openai",
    "anthropic",
)


@pytest.mark.parametrize(
    "code",
    ["import invcheck", "import invcheck; invcheck.check; invcheck.Subset; invcheck.Calls", "import invcheck._worker"],
)
def test_what_a_worker_imports_is_light(code: str) -> None:
    """Neither the package, nor a Python check file's imports, nor the worker itself load a heavy library."""
    script = f"import sys; {code}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


FOREIGN = re.compile(r"py[p]i\.org|pythonhost[e]d|registry\.np[m]js|deb\.deb[i]an|(^|[^a-zA-Z0-9_.])/(work|farm|root)/")


def test_no_file_names_a_registry_or_a_machine() -> None:
    """No tracked file names a package registry's host or a path of the machine that it was written on."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    texts = {name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in listed if (ROOT / name).is_file()}
    assert [name for name, text in texts.items() if any(FOREIGN.search(line) for line in text.splitlines())] == []


@pytest.mark.parametrize(
    ("logic", "home"),
    [
        (r"get_close_matches\(", "resolve.py"),
        (r'return f"\{check\}\[\{case\}\]"', "vocabulary/judging.py"),
        (r"INTERRUPTED = 0, 1", "events.py"),
        (r"else error\.exit", "events.py"),
        (r'replace\("typing\."', "faces/fits.py"),
    ],
)
def test_a_rule_has_one_home(logic: str, home: str) -> None:
    """What is near, what a case is called, what a status means and how a hint is written stand in one module each."""
    assert [path.relative_to(SOURCE).as_posix() for path in MODULES if re.search(logic, path.read_text(encoding="utf-8"))] == [home]
