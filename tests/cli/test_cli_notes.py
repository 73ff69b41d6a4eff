"""What no trial sees of the environment is told to whoever asks for more words, and to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Said

NOTE = (
    "note: no trial sees what this environment says of AWS_PROFILE, OPENAI_API_KEY, SHOP_SIGNING_KEY\n"
    "  hint: gate.keep-env in the settings lets trials have one that is no provider's key\n"
)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:  # it cleans what this fills
    """A machine with a profile, a key, and something that looks like one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-4711")
    monkeypatch.setenv("AWS_PROFILE", "prod")
    monkeypatch.setenv("SHOP_SIGNING_KEY", "s3cret")


@pytest.mark.parametrize(("words", "told"), [((), ""), (("-v",), NOTE), (("-vv",), NOTE), (("-q",), "")])
def test_names_are_told_with_verbose_alone(said: Said, words: tuple[str, ...], told: str) -> None:
    """Names and never values, on stderr, so that no report depends on the machine."""
    _, out, err = said("run", *words)
    assert err == told
    assert "4711" not in out + err


def test_what_is_kept_is_not_withheld(said: Said, project: Path) -> None:
    """A name in `gate.keep-env` is not in the list, and reaches the workers' options."""
    (project / "invcheck.toml").write_text('gate.keep-env = ["SHOP_SIGNING_KEY", "AWS_PROFILE"]\n')
    _, _, err = said("run", "-v")
    assert err == NOTE.replace("AWS_PROFILE, ", "").replace(", SHOP_SIGNING_KEY", "")


def test_where_nothing_is_withheld_nothing_is_said(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean environment is no news."""
    for name in ("OPENAI_API_KEY", "AWS_PROFILE", "SHOP_SIGNING_KEY"):
        monkeypatch.delenv(name)
    assert said("run", "-v")[2] == ""
