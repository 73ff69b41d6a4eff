"""Files of variables: who opens one is noted, and the real python-dotenv finds keys that stay empty."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import ambient, box, dotenv, environ, network

HERE = "tests/sandbox/test_sandbox_dotenv.py"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """No import of another test's counts here."""
    monkeypatch.setattr(dotenv, "_imported", set())


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a file of variables, in which we stand."""
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-file\nSHOP_MODE=test\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    ambient.install(str(tmp_path))
    yield tmp_path
    ambient.install(str(ROOT))


def noted(work: Callable[[], object]) -> dict[tuple[str, str], int]:
    """Work in a trial: what was read of files of variables."""
    record = Record()
    with box.trial(record):
        work()
    assert record.breaches == []
    return {read: count for read, count in record.ambient.items() if read[0].startswith("dotenv")}


OPENS: dict[str, Callable[[Path], object]] = {
    "open": lambda path: path.open().close(),
    "pathlib": lambda path: path.read_text(),
    "bytes": lambda path: io.open(os.fsencode(path)).close(),  # noqa: UP020  # as bytes
    "os.open": lambda path: os.close(os.open(path, os.O_RDONLY)),
    "FileIO": lambda path: io.FileIO(path).close(),
    "twice": lambda path: [path.read_text(), path.read_text()],
}


@pytest.mark.parametrize("how", OPENS)
def test_an_open_is_noted_with_the_line_that_asks(how: str, tmp_path: Path) -> None:
    """However it is opened, through whatever library: file and function of the project."""
    (tmp_path / ".env").write_text("A=1\n", encoding="utf-8")
    times = 2 if how == "twice" else 1
    assert noted(lambda: OPENS[how](tmp_path / ".env")) == {("dotenv:.env", f"{HERE}:<lambda>"): times}


@pytest.mark.parametrize("name", [".env", ".env.local", "prod.env", ".env.production.local", "config/.env"])
def test_files_of_variables_have_many_names(name: str, tmp_path: Path) -> None:
    """The customary names, in any folder."""
    (tmp_path / "config").mkdir()
    (tmp_path / name).write_text("A=1\n", encoding="utf-8")

    def app() -> None:
        (tmp_path / name).read_bytes()

    assert noted(app) == {(f"dotenv:{Path(name).name}", f"{HERE}:app"): 1}


@pytest.mark.parametrize("name", [".envrc", "environment", "a.env.py", ".env/settings.py", "env", ".environ"])
def test_what_is_called_nearly_so_is_nothing(name: str, tmp_path: Path) -> None:
    """A virtual environment called .env, a shell's file, a module."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("A=1\n", encoding="utf-8")
    assert noted((tmp_path / name).read_bytes) == {}


def test_a_descriptor_has_no_name() -> None:
    """Opening what is open already reads no file anew."""

    def app() -> None:
        reads, writes = os.pipe()
        os.fdopen(reads).close()
        os.close(writes)

    assert noted(app) == {}


def test_a_file_of_the_project_is_named_from_its_root(app: Path) -> None:
    """A relative path is one from where the process stands."""
    (app / "deep").mkdir()
    (app / "deep" / ".env.local").write_text("A=1\n", encoding="utf-8")
    (app / "reading_c5.py").write_text("from pathlib import Path\ndef read(name):\n    return Path(name).read_text()\n", encoding="utf-8")
    reading = importlib.import_module("reading_c5")
    assert noted(lambda: reading.read("deep/.env.local")) == {("dotenv:deep/.env.local", "reading_c5.py:read"): 1}
    del sys.modules["reading_c5"]


def test_what_nothing_of_the_project_asks_for_is_no_ones(app: Path) -> None:
    """A reader outside of the project, with no frame of the project above it, is none of its reads."""
    assert noted((app / ".env").read_text) == {}


def test_a_read_at_import_is_every_trials(app: Path) -> None:
    """Where the app is imported before its trials, each of them runs with what the file brought: all of them say so."""
    (app / "settings_c5.py").write_text("from pathlib import Path\nTEXT = Path('.env').read_text()\n", encoding="utf-8")
    before = network.arm(True)
    try:
        importlib.import_module("settings_c5")
    finally:
        network.arm(before)
    read = {("dotenv:.env", "settings_c5.py:<module>"): 1}
    assert noted(lambda: None) == noted(lambda: None) == read
    del sys.modules["settings_c5"]


def test_a_read_at_an_import_within_a_trial_is_that_ones_and_all_later_ones(app: Path) -> None:
    """An app that imports its settings late reads them once; the trials after it say so too."""
    (app / "late_c5.py").write_text(
        "from pathlib import Path\ndef read():\n    return Path('.env').read_text()\nTEXT = read()\n", encoding="utf-8"
    )
    first = noted(lambda: importlib.import_module("late_c5"))
    assert first == noted(lambda: None) == {("dotenv:.env", "late_c5.py:read"): 1}
    del sys.modules["late_c5"]


def test_outside_of_the_gate_nothing_is_noted(app: Path) -> None:
    """Neither an import where the gate does not stand, nor a read between trials that no import is the reason of."""
    (app / "early_c5.py").write_text("from pathlib import Path\nTEXT = Path('.env').read_text()\n", encoding="utf-8")
    before = network.arm(None)
    try:
        importlib.import_module("early_c5")
    finally:
        network.arm(before)
    (app / ".env").read_text()
    assert noted(lambda: None) == {}
    del sys.modules["early_c5"]


def test_writing_one_is_no_read(tmp_path: Path) -> None:
    """What the app writes is the app's own."""
    path = tmp_path / ".env"

    def app() -> None:
        path.write_text("A=1\n", encoding="utf-8")
        os.close(os.open(path, os.O_WRONLY))

    assert noted(app) == {}


def scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process the keys of a worker."""
    given, _ = environ.scrubbed({}, "/h")
    for name in environ.KEYS:
        monkeypatch.setenv(name, given[name])
    monkeypatch.delenv("SHOP_MODE", raising=False)


def python_dotenv() -> Any:
    """The real thing, where it is installed."""
    return pytest.importorskip("dotenv")


def test_a_key_does_not_come_back(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """python-dotenv leaves the empty key empty, and brings what is no key; the SDK finds none; and the file is noted."""
    scrubbed(monkeypatch)
    real, seen = python_dotenv(), {}
    (app / "config_c5.py").write_text(
        "import dotenv, os\n"
        "def load(**how):\n"
        "    dotenv.load_dotenv('.env', **how)\n"
        "    return os.environ['OPENAI_API_KEY'], os.environ['SHOP_MODE']\n",
        encoding="utf-8",
    )
    config = importlib.import_module("config_c5")
    assert real.__name__ == "dotenv"
    assert noted(lambda: seen.update(plain=config.load())) == {("dotenv:.env", "config_c5.py:load"): 1}
    assert seen["plain"] == ("", "test")
    assert noted(lambda: seen.update(over=config.load(override=True))) == {("dotenv:.env", "config_c5.py:load"): 1}
    assert seen["over"] == ("sk-from-file", "test")
    del sys.modules["config_c5"]
    assert os.environ["OPENAI_API_KEY"] == ""


def test_where_a_key_is_forced_back_the_tripwire_stands(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`override=True` beats the empty text: a client with that key is refused all the same."""
    scrubbed(monkeypatch)
    real, openai, record = python_dotenv(), pytest.importorskip("openai"), Record()

    def build() -> None:
        real.load_dotenv(app / ".env", override=True)
        assert os.environ["OPENAI_API_KEY"] == "sk-from-file"
        openai.OpenAI()

    with box.trial(record), pytest.raises(NetworkBlocked, match="a real client was built"):
        build()
    assert [breach["wanted"] for breach in record.breaches] == ["openai.OpenAI (api.openai.com)"]
