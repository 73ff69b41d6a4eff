"""The integration tier: one real server for all of its tests, and projects that use it as their ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.conftest import Shop
from tests.postgres.server import Server, programs, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL; without one these tests say so."""
    if programs() is None:
        pytest.skip("no PostgreSQL server on this machine: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="invcheck-pg-") as folder, running(Path(folder)) as server:
        server.asked("create table usage (id serial primary key, model text not null, input_tokens integer not null)")
        yield server


APP = '''
    """A desk that answers a question with two calls, and enters what each of them used."""

    import subprocess

    import sqlalchemy

    URL = "URL_OF_THE_APP"
    ENTER = "insert into usage (model, input_tokens) values (:model, :tokens)"

    engine = sqlalchemy.create_engine(URL, poolclass=sqlalchemy.NullPool)


    def answer(model, question):
        """Draft, then refine; each call is a row."""
        draft = asked(model, f"draft: {question}")
        return asked(model, f"refine: {draft}")


    def asked(model, text):
        """Ask once, and enter the row."""
        reply = model(text)
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text(ENTER), {"model": "fake", "tokens": reply.usage.input_tokens})
        return reply.text


    def counted(program, arguments):
        """What PostgreSQL's own client says, as a child of the app."""
        done = subprocess.run([program, *arguments, "-Atc", "select 6 * 7"], capture_output=True, text=True)
        return done.stdout.strip() or done.stderr.strip()
'''


@pytest.fixture
def desk(tmp_path: Path) -> Shop:
    """A project whose app is told nothing of any gate: it has a URL, and uses it."""
    (tmp_path / "desk").mkdir()
    shop = Shop(tmp_path / "desk")
    shop.write({"desk.py": APP})
    return shop
