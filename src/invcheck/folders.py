"""The folders of this machine and moment, which no result may name, and how a result spells them instead."""

from __future__ import annotations

import re
import sys
from _pickle import dumps  # its C half alone, as every worker imports it
from collections.abc import Callable
from os import listdir, stat
from pathlib import Path

from invcheck.vocabulary import Json

_TICK = 0.025
"""Seconds after which a change surely bears another time than the one before; a kernel's tick is at most a hundredth."""


class Folders:
    """The project's folder, the worker's temp folder (with a home beside it), and the interpreter's own.

    ``other`` is where the project stands as well, for who runs in a folder that only holds the same.

    >>> folders = Folders(Path("/shop"), Path("/tmp/w/temp"))
    >>> folders.spelt("no /shop/a.txt, no /tmp/w/temp/trial/b, no http://x/shop/c"), folders.spelt("in /shop")
    ('no a.txt, no <tmp>/b, no http://x/shop/c', 'in .')
    """

    def __init__(self, root: Path, tmp: Path, *, monotonic: Callable[[], float] | None = None, other: Path | None = None) -> None:
        self.root, self.tmp = root, tmp
        self.trial = tmp / "trial"
        self.roots = (root,) if other in (None, root) else (root, other)
        self._monotonic = monotonic
        self._left: tuple[frozenset[str], list[int]] | None = None
        self._since, self._settled = 0.0, False
        home = tmp.parent / "home"
        self._used = [str(folder) for folder in (tmp, home) if folder.is_dir()]
        self._own = {str(self.trial): "<tmp>", str(tmp): "<temp>", str(home): "<home>"}
        self._mark = str(tmp.parent).encode("utf-8", "surrogatepass")  # as a pickle spells it
        python = "|".join(re.escape(prefix) for prefix in sorted({sys.prefix, sys.base_prefix}, key=len, reverse=True))
        self._python = re.compile(rf"(?<![\w.-])(?:{python})/lib/python3\.\d+(?![\w.-])")
        stands = "|".join(re.escape(str(each)) for each in self.roots)
        self._root = re.compile(rf"(?<![\w.-])(?:{stands})(?:(/)(?=[\w.])|(?![\w.-]))")

    def spelt(self, text: str) -> str:
        """Give a text for people without any of the folders: names in the project are relative to it."""
        return self._root.sub(lambda found: "" if found[1] else ".", self._python.sub("<python>", self._without(text)))

    def document(self, document: Json) -> Json:
        """Give an observation without the worker's own folders; the project's stays, since it may be a word of the app."""
        # looking through a pickle takes a sixth of the time of looking at every text, and each trial pays for it
        return self._walked(document) if self._mark in dumps(document, 4) else document

    def standing(self) -> frozenset[str]:
        """Give what stands in the temp folder and in the home."""
        return frozenset(f"{folder}/{name}" for folder in self._used for name in listdir(folder))  # noqa: PTH208  # every trial asks

    def clear(self, before: frozenset[str]) -> None:
        """Remove what came since ``before``: a trial must not see what another left there.

        With a clock, folders whose own times say that nothing came or went are not listed again.
        """
        left = (before, [stat(folder).st_ctime_ns for folder in self._used])  # noqa: PTH116  # as above; no program can set this time
        if left == self._left and self._settled:
            return
        now = self._monotonic() if self._monotonic else 0.0
        if left != self._left:
            self._left, self._since = left, now
        self._settled = now - self._since > _TICK
        for path in map(Path, self.standing() - before):
            if path.is_dir() and not path.is_symlink():
                from shutil import rmtree  # noqa: PLC0415  # most trials leave nothing

                rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _walked(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._without(value)
        if isinstance(value, dict):
            return {self._without(key): self._walked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walked(item) for item in value]
        return value

    def _without(self, text: str) -> str:
        for folder, name in self._own.items():
            text = text.replace(folder, name)
        return text
