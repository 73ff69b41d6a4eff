"""References: "module:attribute" becomes an object, or the mistake says what is missing or what raised, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invcheck.errors import CheckFileError, UsageError
from invcheck.resolve import did_you_mean, is_reference, resolve
from invcheck.vocabulary import Place


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project's folder that is worked in and imported from, as a worker does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def missed(reference: str) -> CheckFileError:
    """Give the error that a reference is refused with."""
    with pytest.raises(CheckFileError) as caught:
        resolve(reference)
    return caught.value


def test_a_reference_names_a_module_and_an_attribute() -> None:
    """Dots may stand on both sides of the colon."""
    assert resolve("json:loads") is json.loads
    assert resolve("json:JSONDecoder.decode") is json.JSONDecoder.decode
    assert resolve("os.path:join") is not None


@pytest.mark.parametrize("text", ["json.loads", "json:", ":loads", "a b:c", "a:b:c", "1a:b", "a..b:c", "", "a/b.py:c"])
def test_other_texts_are_no_references(text: str) -> None:
    """They are refused before anything is imported."""
    assert not is_reference(text)
    assert missed(text).code == "REFERENCE_INVALID"


def test_a_missing_module_is_told_apart_from_what_it_imports(project: Path) -> None:
    """Which module is not there decides: the one that is named, or one that it needs."""
    (project / "h4shop").mkdir()
    (project / "h4shop" / "answers.py").write_text("import h4_not_there\n")
    absent = missed("h4nowhere.qa:answer")
    assert (absent.code, absent.message) == ("REFERENCE_MISSING", "there is no module 'h4nowhere' (for 'h4nowhere.qa:answer')")
    assert absent.hint == "references start at the project's folder, or at an installed package: is h4nowhere/qa.py there?"
    near = missed("h4shop.answer:answer")
    assert (near.message, near.hint) == ("there is no module 'h4shop.answer' (for 'h4shop.answer:answer')", "did you mean h4shop.answers?")
    assert missed("h4shop.zzz:answer").hint == "h4shop holds no module 'zzz'"
    needs = missed("h4shop.answers:answer")
    assert needs.code == "IMPORT_RAISED"
    assert needs.message == "importing h4shop.answers raised ModuleNotFoundError: No module named 'h4_not_there' at h4shop/answers.py:1"


def test_a_missing_attribute_gets_the_nearest_one() -> None:
    """The holder is named as well."""
    error = missed("json:load_s")
    assert (error.code, error.message) == ("REFERENCE_MISSING", "json has no 'load_s' (for 'json:load_s')")
    assert error.hint in ("did you mean 'loads'?", "did you mean 'load'?")
    assert missed("json:zzzzz").hint is None
    assert missed("json.encoder:INFINITY.zzz").message == "float has no 'zzz' (for 'json.encoder:INFINITY.zzz')"


def test_a_module_that_raises_is_told_with_its_line(project: Path) -> None:
    """Type, text and the innermost line of the project's own code."""
    (project / "h4boom.py").write_text("import json\n\ndef load():\n    json.loads('{')\n\nload()\n")
    error = missed("h4boom:app")
    assert error.code == "IMPORT_RAISED"
    assert error.fields["raised_at"] == Place("h4boom.py", 4)
    assert error.message.startswith("importing h4boom raised JSONDecodeError: ")
    assert error.message.endswith(" at h4boom.py:4")


def test_a_module_that_raises_without_words(project: Path) -> None:
    """An error without a text says so."""
    (project / "h4silent.py").write_text("raise KeyError\n")
    assert missed("h4silent:app").message == "importing h4silent raised KeyError: (no message) at h4silent.py:1"


def test_a_syntax_error_is_told_with_its_column(project: Path) -> None:
    """Its place is in the file that cannot be compiled, not in who imported it."""
    (project / "h4broken.py").write_text("a = 1\nb = = 2\n")
    error = missed("h4broken:app")
    assert error.fields["raised_at"] == Place("h4broken.py", 2, 5)
    assert error.message.startswith("importing h4broken raised SyntaxError: ")


def test_our_own_errors_pass_through(project: Path) -> None:
    """A module that misuses invcheck gets invcheck's own words."""
    (project / "h4misuse.py").write_text("from invcheck.errors import UsageError\nraise UsageError('no', code='OWN')\n")
    with pytest.raises(UsageError) as caught:
        resolve("h4misuse:app")
    assert caught.value.code == "OWN"


def test_an_error_outside_of_the_project_has_no_place() -> None:
    """Installed code is not the user's to mend."""
    from invcheck.resolve import raised  # noqa: PLC0415  # used here alone

    try:
        json.loads("{")
    except ValueError as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        told = raised(error, "a.py")
    assert told.fields["raised_at"] is None


@pytest.mark.parametrize(("word", "near"), [("expct", "expect"), ("zzz", None)])
def test_did_you_mean(word: str, near: str | None) -> None:
    """The nearest known word, or none."""
    assert did_you_mean(word, ["check", "expect"]) == near
