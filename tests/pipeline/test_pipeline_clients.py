"""Real clients, keys and files of variables, as a user's command line shows them."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APPS = """
    import os

    import anthropic
    import openai
    from openai import OpenAI


    def builds(question):
        return OpenAI(api_key="sk-mine").responses.create(model="m", input=question).output_text


    def swallows(question):
        for _ in range(2):
            try:
                anthropic.Anthropic()
            except BaseException:
                pass
        return "fine"


    def lazily(question):
        return openai.responses.create(model="m", input=question).output_text


    def asks(question, model):
        client = OpenAI(http_client=openai.DefaultHttpxClient(transport=model.transport()), api_key="x")
        return client.with_options(timeout=5).responses.create(model="m", input=question).output_text


    def served(question, model):
        with model.serve() as place:
            os.environ.update(place.environ)
            return OpenAI().responses.create(model="m", input=question).output_text


    def environment(_):
        return {name: os.environ.get(name) for name in (
            "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SHOP_TOKEN", "SHOP_SIGNING_KEY", "AWS_PROFILE", "HTTPS_PROXY", "PYTHONHASHSEED",
        )} | {
            "home": os.listdir(os.path.expanduser("~")),
            "config": os.environ["XDG_CONFIG_HOME"] == os.environ["HOME"] + "/config",
            "proc": any(b"sk-live" in part for part in open("/proc/self/environ", "rb").read().split(b"\\0")),
        }
"""
SETTLED = """
    from pathlib import Path

    import dotenv
    import openai

    HERE = Path(__file__).parent
    dotenv.load_dotenv(HERE / ".env")
    MODE = __import__("os").environ["SHOP_MODE"]


    def mode(_):
        return [MODE, __import__("os").environ["OPENAI_API_KEY"]]


    def forced(_):
        dotenv.load_dotenv(HERE / ".env.local", override=True)
        try:
            openai.OpenAI()
        finally:
            return __import__("os").environ["OPENAI_API_KEY"]
"""
EARLY = """
    import openai

    CLIENT = openai.OpenAI(api_key="sk-mine")


    def app(_):
        return "fine"
"""
CHECKS = """
    checks:
      - {check: builds, app: apps:builds, cases: [{id: a, input: hi}], expect: [{type: {of: $.output, is: string}}]}
      - {check: swallows, app: apps:swallows, cases: [{id: a, input: hi}], expect: [{equals: {of: $.output, to: fine}}]}
      - {check: lazily, app: apps:lazily, cases: [{id: a, input: hi}], expect: [{type: {of: $.output, is: string}}]}
      - check: asks
        app: apps:asks
        cases: [{id: a, input: hi}]
        model: {script: [By mail.]}
        expect: [{equals: {of: $.output, to: By mail.}}]
      - check: served
        app: apps:served
        cases: [{id: a, input: hi}]
        model: {script: [By mail.]}
        expect: [{equals: {of: $.output, to: By mail.}}]
      - check: environment
        app: apps:environment
        cases: [{id: a, input: hi}]
        expect:
          - equals:
              of: $.output
              to:
                OPENAI_API_KEY: ""
                ANTHROPIC_API_KEY: ""
                SHOP_TOKEN: ""
                SHOP_SIGNING_KEY: kept-as-it-is
                AWS_PROFILE: null
                HTTPS_PROXY: null
                PYTHONHASHSEED: "0"
                home: []
                config: true
                proc: false
"""
READS = """
    checks:
      - check: mode
        app: settled:mode
        cases: [{id: a, input: hi}]
        expect:
          - {equals: {of: $.output, to: [test, ""]}}
          - {equals: {of: "$.ambient[0]", to: {source: "dotenv:.env", where: "settled.py:<module>", count: 1}}}
      - check: forced
        app: settled:forced
        cases: [{id: a, input: hi}]
        expect:
          - {equals: {of: $.output, to: sk-from-file}}
          - {equals: {of: "$.ambient[?(@.source == 'dotenv:.env.local')].where", to: "settled.py:forced"}}
"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them, on a machine that has keys, a profile and a proxy."""
    shared.write({"apps.py": APPS, "checks/a.yaml": CHECKS, "invcheck.toml": 'gate.keep-env = ["SHOP_SIGNING_KEY"]\n'})
    machine = {
        "OPENAI_API_KEY": "sk-live", "SHOP_TOKEN": "sk-live-2", "SHOP_SIGNING_KEY": "kept-as-it-is", "AWS_PROFILE": "prod",
        "HTTPS_PROXY": "http://proxy.example:3128",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in machine.items():
            patch.setenv(name, value)
        return shared.told("--runs", "2", "-v")


HINT = (
    "bind a double: hand the app model.openai(), or build "
    "openai.OpenAI(..., http_client=openai.DefaultHttpxClient(transport=model.transport()))"
)


@pytest.mark.parametrize(("name", "function", "line"), [("builds", "builds", 9), ("lazily", "lazily", 22)])
def test_a_real_client_is_a_finding_at_its_line(told: Told, name: str, function: str, line: int) -> None:
    """That one was built, which, where, and the line that binds a double: before anything was asked."""
    finding = told.one(f"{name}[a]")
    assert finding["code"] == "NETWORK"
    assert finding["message"] == f"a real client was built: openai.OpenAI (api.openai.com), at apps.py:{line} in {function}"
    assert finding["hint"] == HINT
    assert finding["place"] == ["apps.py", line, None]


def test_a_swallowed_client_is_a_finding_too(told: Told) -> None:
    """An app that catches everything does not hide it."""
    finding = told.one("swallows[a]")
    assert (finding["code"], finding["got"], finding["count"]) == ("NETWORK", "anthropic.Anthropic (api.anthropic.com)", 2)
    assert "hand the app model.anthropic()" in finding["hint"]


@pytest.mark.parametrize("name", ["asks", "served", "environment"])
def test_what_has_every_right_is_kept(told: Told, name: str) -> None:
    """A client over a double's transport, one that finds a served double by its environment, an environment without keys."""
    assert told.cases[f"{name}[a]"]["findings"] == []


def test_what_is_withheld_is_told_by_name(told: Told) -> None:
    """On stderr with -v, and no value anywhere."""
    (note,) = [line for line in told.err.splitlines() if line.startswith("note: no trial sees what this environment says of ")]
    names = note.rpartition(" of ")[2].split(", ")
    assert {"AWS_PROFILE", "HTTPS_PROXY", "OPENAI_API_KEY", "SHOP_TOKEN"} <= {*names}
    assert "SHOP_SIGNING_KEY" not in names
    assert "sk-live" not in told.out + told.err


def test_the_table_says_it_in_words(told: Told) -> None:
    """What a person reads: the client, the hint."""
    assert "  NETWORK  a real client was built: openai.OpenAI (api.openai.com), at apps.py:9 in builds\n" in told.out
    assert f"    hint      {HINT}\n" in told.out


YAML = "checks:\n  - {check: a, app: early:app, cases: [{id: a, input: hi}], expect: [{calls: 0}]}\n"
PYTHON = "from invcheck import check\nimport early\n\n@check('a')\ndef a(trial):\n    assert trial\n"


NAMED = """
    from invcheck import Predicate, check


    @check(name="a", expect=[Predicate("early:app")])
    def a(trial):
        return "fine"
"""


@pytest.mark.parametrize(("file", "text"), [("checks/a.yaml", YAML), ("checks/check_a.py", PYTHON), ("checks/check_b.py", NAMED)])
def test_a_client_at_import_is_the_files_one_problem(shop: Shop, file: str, text: str) -> None:
    """Before any trial: the check file is named, the line that builds, and how a double takes its place."""
    shop.write({"early.py": EARLY, file: text})
    told = shop.told()
    (problem,) = told.problems
    assert (told.status, problem["code"], problem["place"]["file"]) == (2, "NETWORK", file)
    assert problem["message"].endswith("a real client was built: openai.OpenAI (api.openai.com), at early.py:3 in <module>")
    assert problem["hint"] == HINT


def test_a_file_of_variables_brings_no_key_and_is_noted(shop: Shop) -> None:
    """python-dotenv at import and with `override=True` in a trial: who read which file; a key that is forced back is refused."""
    pytest.importorskip("dotenv")
    shop.write({"settled.py": SETTLED, "checks/a.yaml": READS, ".env": "OPENAI_API_KEY=sk-from-file\nSHOP_MODE=test\n"})
    shop.write({".env.local": "OPENAI_API_KEY=sk-from-file\n"})
    told = shop.told("--runs", "2")
    assert told.cases["mode[a]"]["findings"] == []
    finding = told.one("forced[a]")
    assert (finding["code"], finding["got"]) == ("NETWORK", "openai.OpenAI (api.openai.com)")
