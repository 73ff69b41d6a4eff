"""What a type checker sees: a partial double is what it stands for. Checked by mypy, never run."""

from __future__ import annotations

from types import ModuleType
from typing import assert_type

from invcheck import ScriptedModel, partial


class Client:
    """A client of the app's own."""

    def complete(self, prompt: str) -> str:
        """Ask."""
        return prompt


def same_type(real: Client, module: ModuleType) -> None:
    """Objects, classes and modules keep their types, and dotted names may be given."""
    assert_type(partial(real, complete=ScriptedModel("hello")), Client)
    assert_type(partial(Client, complete=lambda prompt: prompt), type[Client])
    assert_type(partial(module, **{"chat.complete": ScriptedModel("hello")}), ModuleType)
