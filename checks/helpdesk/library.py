"""The documents: Markdown files with a head of id, tenant and title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from checks.helpdesk.errors import Forbidden

FOLDER = Path(__file__).parent / "documents"


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one tenant."""

    id: str
    tenant: str
    title: str
    text: str


def read(path: Path) -> Document:
    """Read one file; a head that lacks a field, or has another, is a ValueError with the file's name."""
    before, _, rest = path.read_text(encoding="utf-8").partition("---\n")
    head, closed, text = rest.partition("---\n")
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in head.splitlines())}
    if before or not closed or fields.keys() != {"id", "tenant", "title"}:
        raise ValueError(f"{path.name}: a document begins with id, tenant and title between two lines of ---")
    return Document(text=text.strip(), **fields)


class Library:
    """All documents, by id."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents: Mapping[str, Document] = {document.id: document for document in documents}

    def all(self) -> list[Document]:
        """Give every document, in order of ids."""
        return [self._documents[key] for key in sorted(self._documents)]

    def pick(self, ids: Sequence[str], tenant: str) -> list[Document]:
        """Give the documents of these ids, in this order; Forbidden where one is not the tenant's."""
        picked = [self._documents.get(each) for each in ids]
        mine = [document for document in picked if document is not None and document.tenant == tenant]
        if len(mine) != len(ids):
            refused = sorted(set(ids) - {document.id for document in mine})
            raise Forbidden(f"{tenant} has no document {', '.join(refused)}")
        return mine


@lru_cache(maxsize=1)
def library() -> Library:
    """Give the documents of our own folder, read once."""
    return Library(read(path) for path in sorted(FOLDER.glob("*.md")))
