"""The canonical report is the same bytes whatever must not matter, and another where the app itself differs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.conftest import Shop

APP = '''
    """An app that leans on everything that varies between processes, except where it is told to."""

    import os
    import random
    import tempfile
    import time
    import uuid

    LEFT = []


    def answer(topic, model):
        words = {"a", "b", "c", "d", "e"}
        text = model(topic).text
        LEFT.append(topic)
        return {
            "text": text,
            "id": str(uuid.uuid4()),
            "roll": random.randint(1, 6),
            "when": time.time(),
            "token": os.urandom(4).hex(),
            "words": sorted(words),
            "place": tempfile.mkdtemp(),
            "left": len(LEFT),
        }


    def drift(rng, request):
        return rng.choice(["one", "two", "three"])


    def hashed(topic):
        return [word for word in {"a", "b", "c", "d", "e", "f", "g", "h"}]


    def process(topic):
        return [id(object()), topic]
'''
CHECKS = """
    checks:
      - check: answers
        app: shop:answer
        model: {drifting: shop:drift}
        runs: 5
        cases: [{id: x, input: {topic: x}}, {id: y, input: {topic: y}}, {id: z, input: {topic: z}}, {id: w, input: {topic: w}}]
        expect:
          - equals: {of: $.output.text, to: one}
          - between: {of: $.output.roll, min: 2, max: 5}
          - equals: {of: $.output.place, to: nowhere}
          - equals: {of: $.output.left, to: 1}
          - regex: {of: $.output.id, pattern: "^0"}
          - equals: {of: $.output.token, to: ""}
"""
PYTHON = '''
    """Checks in Python beside them."""

    import shop

    from invcheck import Equals, check


    @check(runs=4, cases=["p", "q"], expect=[Equals("$.output[0]", "one")])
    def draws(trial, rng):
        return [shop.drift(rng, None), trial.case]
'''


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A project with broken and kept cases."""
    shop = Shop(tmp_path_factory.mktemp("shop"))
    shop.write({"shop.py": APP, "checks/answers.yaml": CHECKS, "checks/check_draws.py": PYTHON})
    return shop


def report(shop: Shop, *arguments: str, seed: str = "0") -> bytes:
    """The canonical report of one run under a hash seed."""
    os.environ["PYTHONHASHSEED"] = seed
    try:
        shop.run(*arguments, "-o", "report.json")
    finally:
        del os.environ["PYTHONHASHSEED"]
    return (shop.root / "report.json").read_bytes()


@pytest.fixture(scope="module")
def first(mixed: Shop) -> bytes:
    """The report of one worker under hash seed 0."""
    return report(mixed)


def test_the_report_says_something(first: bytes) -> None:
    """It holds broken claims with values of every kind, so that equal bytes mean something."""
    for text in (b'"EQUALS"', b'"BETWEEN"', b'"REGEX"', b'"kept"', b"<temp>"):
        assert text in first


@pytest.mark.parametrize(("seed", "jobs"), [("0", "2"), ("1", "1"), ("1", "2")])
def test_neither_hash_seed_nor_workers_matter(seed: str, jobs: str, mixed: Shop, first: bytes) -> None:
    """The same bytes under PYTHONHASHSEED 0 and 1, -j 1 and 2."""
    assert report(mixed, "-j", jobs, seed=seed) == first


def test_shards_do_not_matter(mixed: Shop, first: bytes) -> None:
    """Two shards, run apart and merged in the wrong order, are the one run."""
    for shard in ("1", "2"):
        mixed.run("--shard", f"{shard}/2", "-o", f"{shard}.jsonl")
        assert '"kind":"case"' in mixed.file(f"{shard}.jsonl")
    merged = mixed.command("invcheck merge 2.jsonl 1.jsonl -o merged.json")
    assert merged.status == 1
    assert (mixed.root / "merged.json").read_bytes() == first


def test_the_order_of_paths_does_not_matter(mixed: Shop, first: bytes) -> None:
    """The files named in another order, and a case run alone, come to the same."""
    assert report(mixed, "checks/check_draws.py", "checks/answers.yaml") == first
    alone = report(mixed, "checks/answers.yaml::answers[y]").splitlines()
    (line,) = (line for line in alone if line.startswith(b'{"case":"y"'))
    assert line.rstrip(b",") in [other.rstrip(b",") for other in first.splitlines()]


def test_where_the_project_stands_does_not_matter(mixed: Shop, first: bytes, tmp_path: Path) -> None:
    """A copy in another folder, under another temp folder, gives the same bytes."""
    other = Shop(tmp_path / "a longer name with blanks")
    other.write({"shop.py": APP, "checks/answers.yaml": CHECKS, "checks/check_draws.py": PYTHON})
    (tmp_path / "t").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path / "t"))
        assert report(other) == first


def test_another_seed_is_another_report(mixed: Shop, first: bytes) -> None:
    """The negative twin: with other seeds other values are drawn."""
    assert report(mixed, "--seed", "9") != first


@pytest.fixture
def hashing(mixed: Shop) -> Iterator[Shop]:
    """The project with one more check, of an app whose output hangs on the hash seed."""
    twin = "check: twin\napp: shop:{app}\nruns: 2\ncases: [{{input: {{topic: x}}}}]\nexpect: [{{equals: {{of: $.output, to: 1}}}}]\n"
    names = ("hashed", "process")
    mixed.write({f"checks/{name}.yaml": twin.format(app=name) for name in names})
    yield mixed
    for name in names:
        (mixed.root / "checks" / f"{name}.yaml").unlink()


@pytest.mark.parametrize("name", ["hashed", "process"])
def test_an_app_that_is_random_outside_of_the_seed_shows(name: str, hashing: Shop) -> None:
    """The negative twin: what hangs on the hash seed or on the process differs from run to run."""
    one, other = (report(hashing, f"checks/{name}.yaml", seed=seed) for seed in ("0", "1"))
    assert b'"EQUALS"' in one
    assert one != other
