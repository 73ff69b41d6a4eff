"""Acting on a module once it is imported: at once where it is there, else after its own code, and only once."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from invcheck.sandbox import imports


def test_a_module_that_is_there_is_prepared_at_once() -> None:
    """Nothing waits for it."""
    seen: list[ModuleType] = []
    imports.after("json", seen.append)
    assert seen == [json]


def test_a_module_is_prepared_after_its_own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it defines can be replaced before anybody sees it; a second import prepares nothing, other modules neither."""
    (tmp_path / "awaited_c3.py").write_text("VALUE = 1\n", encoding="utf-8")
    (tmp_path / "other_c3.py").write_text("VALUE = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    imports.after("awaited_c3", lambda module: setattr(module, "VALUE", module.VALUE + 1))
    values = [importlib.import_module(name).VALUE for name in ("other_c3", "awaited_c3", "awaited_c3")]
    del sys.modules["awaited_c3"], sys.modules["other_c3"]
    values.append(importlib.import_module("awaited_c3").VALUE)
    del sys.modules["awaited_c3"]
    assert values == [1, 2, 2, 1]


def test_a_module_that_is_not_there_is_not_found_as_ever() -> None:
    """Waiting for it changes no error."""
    imports.after("nowhere_c3", lambda module: None)
    with pytest.raises(ModuleNotFoundError, match="nowhere_c3"):
        importlib.import_module("nowhere_c3")


def test_a_module_can_be_prepared_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its code runs anew, what it defines is new and must be replaced again; also where it was there at first."""
    (tmp_path / "awaited_c4.py").write_text("VALUE = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("awaited_c4")
    imports.after("awaited_c4", lambda module: setattr(module, "VALUE", module.VALUE + 1), again=True)
    values = [sys.modules["awaited_c4"].VALUE]
    values.append(importlib.reload(sys.modules["awaited_c4"]).VALUE)
    del sys.modules["awaited_c4"]
    values.append(importlib.import_module("awaited_c4").VALUE)
    del sys.modules["awaited_c4"]
    assert values == [2, 2, 2]


def test_a_spec_that_was_only_looked_for_prepares_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks whether a module is there, and runs its code by the spec, prepares it; the next one does not."""
    (tmp_path / "sought_c4.py").write_text("VALUE = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    imports.after("sought_c4", lambda module: setattr(module, "VALUE", module.VALUE + 1))
    values = []
    for spec in [importlib.util.find_spec("sought_c4"), importlib.util.find_spec("sought_c4")]:
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        values.append(module.VALUE)
    assert values == [2, 1]
