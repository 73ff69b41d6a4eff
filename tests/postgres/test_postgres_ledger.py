"""A real database behind the gate: reached where it is allowed, by Python and by native code, and named where it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.conftest import Shop, Told
from tests.postgres.server import Server, programs

CHECK = """
    check: {name}
    app: desk:answer
    allow: {allow}
    model:
      script:
        - {{reply: {{text: a draft, usage: {{input_tokens: 11, output_tokens: 2}}}}}}
        - {{reply: {{text: an answer, usage: {{input_tokens: 31, output_tokens: 2}}}}}}
    cases: [{{id: first, input: {{question: "why?"}}}}]
    runs: 3
    ledger: {{sql: "{url}", query: "select model, input_tokens from usage order by id"}}
    expect:
      - equals: {{of: $.output, to: an answer}}
      - calls: 2
      - ledger: {{count: 2, sum: {{input_tokens: 42}}}}
"""
PSQL = """
    check: psql
    app: desk:counted
    allow: {allow}
    cases: [{{id: child, input: {{program: {program}, arguments: {arguments}}}}}]
    expect: [{{equals: {{of: $.output, to: "42"}}}}]
"""


def _tcp(server: Server, host: str = "127.0.0.1") -> str:
    return f"postgresql+psycopg://app@{host}:{server.port}/postgres"


def _unix(server: Server, index: int) -> str:
    return f"postgresql+psycopg://app@/postgres?host={server.folders[index]}&port={server.port}"


def _told(desk: Shop, url: str, allow: list[str]) -> Told:
    desk.plant("desk.py", "URL_OF_THE_APP", url)
    desk.write({"checks/usage.yaml": CHECK.format(name="usage", allow=json.dumps(allow), url=url)})
    return desk.told()


def _kept(told: Told, *names: str) -> None:
    assert told.problems == []
    assert {name: (case["verdict"], case["findings"]) for name, case in told.cases.items()} == {name: ("kept", []) for name in names}
    assert told.status == 0


def _rows(server: Server) -> int:
    return int(server.asked("select count(*) from usage"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_apps_own_url_works_over_tcp_where_the_port_is_allowed(desk: Shop, server: Server, host: str) -> None:
    """Two calls are two rows of a real table, by libpq and through the probe, which asks behind the gate too."""
    before = _rows(server)
    _kept(_told(desk, _tcp(server, host), [f"tcp:{host}:{server.port}"]), "usage[first]")
    assert _rows(server) == before + 6


@pytest.mark.parametrize("index", [0, 1])
def test_and_over_its_unix_socket(desk: Shop, server: Server, index: int) -> None:
    """Wherever it stands, below /run as well, whose other sockets no trial sees."""
    if index >= len(server.folders):
        pytest.skip("/run is not ours to write to")
    before = _rows(server)
    _kept(_told(desk, _unix(server, index), [f"unix:{server.socket(index)}"]), "usage[first]")
    assert _rows(server) == before + 6


def test_the_rows_are_judged(desk: Shop, server: Server) -> None:
    """An app that enters one call twice is found by what stands in the table."""
    desk.plant(
        "desk.py",
        "    return reply.text",
        "        connection.execute(sqlalchemy.text(TWICE)) if text[:5] == 'draft' else None\n    return reply.text",
    )
    desk.plant(
        "desk.py",
        "ENTER =",
        'TWICE = "insert into usage (model, input_tokens) select model, input_tokens from usage order by id desc limit 1"\nENTER =',
    )
    told = _told(desk, _tcp(server), [f"tcp:127.0.0.1:{server.port}"])
    finding = told.one("usage[first]")
    rows = [{"model": "fake", "input_tokens": tokens} for tokens in (11, 11, 31)]
    assert (finding["code"], finding["got"]) == ("LEDGER", f"3 rows: {json.dumps(rows)}")


@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_what_is_not_allowed_is_named_with_the_line_that_allows_it(desk: Shop, server: Server, way: str) -> None:
    """No row is written, and the hint holds the text, which works when it is put in."""
    url, text = (_tcp(server), f"tcp:127.0.0.1:{server.port}") if way == "tcp" else (_unix(server, 0), f"unix:{server.socket()}")
    before = _rows(server)
    _told(desk, url, [])
    rows = [line for line in desk.file("checks/usage.yaml").splitlines(keepends=True) if "ledger:" in line]
    for line in rows:  # else the probe asks first, which is nobody's line
        desk.plant("checks/usage.yaml", line, "")
    told = desk.told()
    (finding, *_) = [each for each in told.cases["usage[first]"]["findings"] if each["code"] == "NETWORK"]
    assert f'add allow = ["{text}"]' in finding["hint"]
    assert finding["got"] == text.removeprefix("tcp:")
    assert finding["place"][:1] == ["desk.py"]
    assert (_rows(server), told.status) == (before, 1)
    desk.plant("checks/usage.yaml", "allow: []", f"allow: ['{text}']")
    _kept(desk.told(), "usage[first]")


def test_what_one_check_is_allowed_no_other_is(desk: Shop, server: Server) -> None:
    """In one run, in whichever order, and one worker at a time or two."""
    desk.plant("desk.py", "URL_OF_THE_APP", _tcp(server))
    for name, allow in (("a", []), ("b", [f"tcp:127.0.0.1:{server.port}"]), ("c", [])):
        desk.write({f"checks/{name}.yaml": CHECK.format(name=name, allow=json.dumps(allow), url=_tcp(server))})
    for jobs in ("1", "2"):
        told = desk.told("-j", jobs)
        assert {name: case["verdict"] for name, case in told.cases.items()} == {
            "a[first]": "broken",
            "b[first]": "kept",
            "c[first]": "broken",
        }
        assert {name: case.get("allowed") for name, case in told.cases.items()}["b[first]"] == [f"tcp:127.0.0.1:{server.port}"]


@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_a_child_of_the_app_reaches_it_too(desk: Shop, server: Server, way: str) -> None:
    """PostgreSQL's own client, a program that knows of no Python."""
    host, text = ("127.0.0.1", f"tcp:127.0.0.1:{server.port}") if way == "tcp" else (str(server.folders[0]), f"unix:{server.socket()}")
    desk.plant("desk.py", "URL_OF_THE_APP", _tcp(server))
    arguments = json.dumps(["-h", host, "-p", str(server.port), "-U", "app", "-d", "postgres"])
    desk.write({"checks/psql.yaml": PSQL.format(allow=json.dumps([text]), program=server.bin / "psql", arguments=arguments)})
    _kept(desk.told(), "psql[child]")
    desk.plant("checks/psql.yaml", json.dumps([text]), "[]")
    told = desk.told()
    finding = next(each for each in told.cases["psql[child]"]["findings"] if each["code"] == "NETWORK")
    assert f'add allow = ["{text}"]' in finding["hint"]
    assert "psql" in finding["message"]


def test_the_settings_allow_it_for_every_check(desk: Shop, server: Server) -> None:
    """One line for the whole project; a check needs none of its own, and the last line of the run tells it."""
    desk.write({"invcheck.toml": f'[gate]\nallow = ["tcp:127.0.0.1:{server.port}"]\n'})
    told = _told(desk, _tcp(server), [])
    _kept(told, "usage[first]")
    assert told.out.rstrip().endswith(f"1 case could reach tcp:127.0.0.1:{server.port}.")


def test_a_python_check_allows_it_as_well(desk: Shop, server: Server) -> None:
    """``allow`` of the decorator is the key of a check file."""
    desk.plant("desk.py", "URL_OF_THE_APP", _tcp(server))
    desk.write({"checks/check_desk.py": CHECK_IN_PYTHON.replace("URL", _tcp(server)).replace("PORT", str(server.port))})
    told = desk.told()
    assert {name: case["verdict"] for name, case in told.cases.items()} == {"usage[default]": "kept"}, told.out


CHECK_IN_PYTHON = """
    import desk
    from invcheck import LedgerRows, check


    @check(
        allow=["tcp:127.0.0.1:PORT"],
        model={"script": ["a draft", "an answer"]},
        ledger={"sql": "URL", "query": "select model from usage order by id"},
        expect=[LedgerRows(count=2)],
    )
    def usage(trial):
        return desk.answer(trial.model, "why?")
"""


def test_the_server_is_found_where_debian_puts_it() -> None:
    """Its programs stand below a folder of their version, and are on no path."""
    folder = Path("/usr/lib/postgresql")
    if not folder.exists():
        pytest.skip("no PostgreSQL of Debian's here")
    assert str(programs()).startswith(str(folder))
