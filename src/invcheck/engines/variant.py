"""What sets one worker apart from another before its program begins, so that no task gets one that was started otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from invcheck.vocabulary import Json


@dataclass(frozen=True, slots=True)
class Variant:
    """What a worker is started with: what it may reach, variables set or taken away (None), another folder.

    Tasks of different ``copy`` never share a worker, also where everything else is the same.

    >>> Variant.of({"do": "case", "allow": ["tcp:127.0.0.1:5432"]}).allow
    ('tcp:127.0.0.1:5432',)
    """

    allow: tuple[str, ...] = ()
    environ: tuple[tuple[str, str | None], ...] = ()
    folder: str | None = None
    copy: str = ""

    @classmethod
    def of(cls, task: Json) -> Variant:
        """Give the variant that a task asks for: its ``allow``, and of its ``flips`` the ``environ``, the ``cwd`` and the ``copy``."""
        flips = task.get("flips") or {}
        environ = tuple(sorted((flips.get("environ") or {}).items()))
        return cls(tuple(sorted(task.get("allow") or ())), environ, flips.get("cwd"), flips.get("copy", ""))

    def applied(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Give an environment with this variant's variables.

        >>> Variant(environ=(("TZ", None), ("LANG", "C"))).applied({"TZ": "UTC"})
        {'LANG': 'C'}
        """
        changed = dict(self.environ)
        kept = {name: value for name, value in environ.items() if name not in changed}
        return {**kept, **{name: value for name, value in changed.items() if value is not None}}


PLAIN = Variant()
"""What every task gets that asks for nothing."""
