"""Which documents speak of a question: SQLite's full-text search over one tenant's documents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from checks.helpdesk.library import Document, library

_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    _WORD.findall(
        "a an and are be can do does for from get has have how i in is it long me my of on or the to was what when where who why you"
    )
)
"""Words that stand in every text and say nothing of it."""


class Index:
    """A full-text index in memory; a search never sees another tenant's documents."""

    def __init__(self, documents: Iterable[Document]) -> None:
        import sqlite3  # noqa: PLC0415  # answering from given documents needs no index
        import weakref  # noqa: PLC0415  # as above

        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._db.close)
        self._db.execute("CREATE VIRTUAL TABLE page USING fts5(id UNINDEXED, tenant UNINDEXED, title, text, tokenize = 'porter unicode61')")
        rows = [(each.id, each.tenant, each.title, each.text) for each in documents]
        self._db.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", rows)

    def search(self, question: str, tenant: str, *, limit: int = 3) -> list[str]:
        """Give the ids of the best documents, best first; none where no word is found."""
        # every word is quoted: what a customer types is never a query of ours
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question.lower()) if word not in _COMMON)
        if not words:
            return []
        found = self._db.execute("SELECT id FROM page WHERE page MATCH ? AND tenant = ? ORDER BY rank, id LIMIT ?", (words, tenant, limit))
        return [row[0] for row in found]


@lru_cache(maxsize=1)
def index() -> Index:
    """Give the index over our own documents, built once."""
    return Index(library().all())
