"""Act on a module as soon as it is imported, so that nothing is imported only to be prepared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TypeAlias

Prepare: TypeAlias = Callable[[ModuleType], None]

_waiting: dict[str, Prepare] = {}
_again: set[str] = set()


class _Finder:
    """Finds the awaited modules as the path finder does, and prepares them right after their own code ran."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Give the spec of an awaited module, with a loader that prepares it."""
        if name not in _waiting:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                prepare = _waiting.get(name)
                if prepare is not None:
                    if name not in _again:
                        del _waiting[name]
                    prepare(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # this one instance only
        return spec


def after(name: str, prepare: Prepare, *, again: bool = False) -> None:
    """Call ``prepare`` with the module: now when it is imported already, else once it is.

    With ``again`` also every other time that the module's code runs, as where a test drops it and imports it anew.
    """
    module = sys.modules.get(name)
    if module is not None:
        prepare(module)
        if not again:
            return
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    _waiting[name] = prepare
    if again:
        _again.add(name)
