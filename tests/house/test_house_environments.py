"""What runs in environments of its own is whole, pinned, and built again only where its pins change."""

from __future__ import annotations

import json
import re
import sys
from itertools import permutations
from pathlib import Path

import pytest

from invcheck import Reply
from tests.frameworks import environments
from tests.frameworks.__main__ import NAMES
from tests.peers.asking import DIALECTS, question
from tests.peers.rows import ROWS
from tests.peers.subjects import Aimock, Cannot, Llmock

ROOT = Path(__file__).parents[2]
FRAMEWORKS = ROOT / "tests" / "frameworks"
PINS = [*sorted(FRAMEWORKS.glob("*/requirements.txt")), ROOT / "tests" / "peers" / "llmock" / "requirements.txt"]


def test_every_framework_has_its_example() -> None:
    """Those that we name, each with an app, its checks, and the twin that forgets the double."""
    assert NAMES == ["fastapi", "instructor", "langchain", "litellm", "llama-index", "openai-agents", "pydantic-ai"]
    for name in NAMES:
        assert {"app.py", "check_app.py", "check_forgotten.py", "requirements.txt"} <= {path.name for path in (FRAMEWORKS / name).iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_an_app_does_not_know_that_it_is_tested(name: str) -> None:
    """The way in is the framework's own: nothing of invcheck stands in an app, and its checks put the double there."""
    assert "invcheck" not in (FRAMEWORKS / name / "app.py").read_text(encoding="utf-8")
    assert "ScriptedModel(" in (FRAMEWORKS / name / "check_app.py").read_text(encoding="utf-8")
    assert "ScriptedModel" not in (FRAMEWORKS / name / "check_forgotten.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.parent.name)
def test_an_environment_is_names_and_versions(path: Path) -> None:
    """No address, no range, no option; each name once, in order."""
    names = [re.fullmatch(r"([a-z0-9-]+)==[0-9][0-9.a-z]*", line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(names)
    found = [name[1] for name in names if name]
    assert len({*found}) == len(found) > 0
    assert [f"{name}==" for name in found] == sorted(f"{name}==" for name in found)


def test_the_package_of_another_language_is_pinned_too() -> None:
    """One exact version, and nothing that runs while it is installed."""
    package = json.loads((ROOT / "tests" / "peers" / "aimock" / "package.json").read_text(encoding="utf-8"))
    assert list(package) == ["private", "dependencies"]
    assert [re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version) is not None for version in package["dependencies"].values()] == [True]


def test_an_environment_is_built_once_for_its_pins(tmp_path: Path) -> None:
    """Not again for the same pins; anew, from nothing, for others."""
    home, built = tmp_path / "home", list[str]()

    def build() -> None:
        home.mkdir()
        built.append("again")

    assert environments.built(home, b"a==1", build) == home
    (home / "installed").touch()
    environments.built(home, b"a==1", build)
    assert (built, (home / "installed").exists()) == (["again"], True)
    environments.built(home, b"a==2", build)
    assert (built, (home / "installed").exists()) == (["again", "again"], False)


def test_an_environment_that_was_broken_off_is_built_anew(tmp_path: Path) -> None:
    """What a build that failed has left is not taken for an environment."""
    home = tmp_path / "home"

    def breaks() -> None:
        home.mkdir()
        raise environments.Failed("no network")

    with pytest.raises(environments.Failed, match="no network"):
        environments.built(home, b"a==1", breaks)
    environments.built(home, b"a==1", home.mkdir)
    assert [path.name for path in home.iterdir()] == ["pins.sha256"]


def test_a_command_that_ends_otherwise_is_told_whole() -> None:
    """Its command line, its status and what it said on both outputs; its stdout where the status is the one that is wanted."""
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    with pytest.raises(environments.Failed) as raised:
        environments.ran([sys.executable, "-c", script])
    assert str(raised.value).endswith("ended with 3, not 0\nout\nerr\n")
    assert environments.ran([sys.executable, "-c", script], wanted=3) == "out\n"


def test_a_command_knows_nothing_of_the_run_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither our pins, nor paths, nor settings of invcheck; the rest of the environment stays."""
    for name in ("PIP_CONSTRAINT", "PYTHONPATH", "INVCHECK_RUNS", "LANG"):
        monkeypatch.setenv(name, "C")
    assert {"PIP_CONSTRAINT", "PYTHONPATH", "INVCHECK_RUNS", "LANG"} & {*environments.clean()} == {"LANG"}


def test_what_a_peer_cannot_play_is_named() -> None:
    """A row is left out for a peer only with a reason, and these are all."""
    left_out = {}
    for row in ROWS:
        for peer, translate in ((Llmock, Llmock._behaviours), (Aimock, Aimock._fixture)):
            for step in row.steps:
                try:
                    translate(step)
                except Cannot as reason:
                    left_out[peer.name, row.name] = str(reason)
    assert [*left_out] == [
        ("llmock", "a body that is no JSON"),
        ("aimock", "a chunk that is no JSON"),
        ("aimock", "a stream that ends early"),
        ("llmock", "no connection, always"),
    ]
    assert all(left_out.values())


def test_a_peer_that_looks_for_parts_finds_one_row() -> None:
    """No question is a part of another row's, and each row of a dialect has one."""
    asked = [question(row, dialect) for row in ROWS for dialect in DIALECTS]
    assert not [(one, other) for one, other in permutations(asked, 2) if one in other]


def test_a_row_goes_on_after_what_clients_try_again() -> None:
    """A script has as many steps as the SDKs' default of two retries asks for: the last is a reply, or the third of three."""
    again = {"rate-limit", "server", "overloaded", "unavailable", "conflict", "connection", "timeout"}
    for row in ROWS:
        tried = [step for step in row.steps if not isinstance(step, Reply) and step.kind in again and step.body is None]
        assert len(row.steps) == (len(tried) if len(tried) == 3 else len(tried) + 1)
