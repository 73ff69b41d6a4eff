"""A suite that merely has invcheck installed: it loads two small modules, and its output is the same without them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Tests = Callable[..., Any]

UNRELATED = """
import sys
import pytest


@pytest.fixture(scope="module")
def shared():
    yield 1


@pytest.mark.parametrize("n", [1, 2])
def test_passes(shared, n):
    pass


def test_fails():
    assert 1 == 2


def test_skips():
    pytest.skip("not today")


def test_loaded():
    loaded = [name for name in sys.modules if name.partition(".")[0] == "invcheck"]
    assert sorted(loaded) in ([], ["invcheck", "invcheck.pytest_plugin", "invcheck.session"])
    assert "asyncio" not in sys.modules
"""


def _plain(text: str) -> str:
    return re.sub(r"in \d+\.\d+s", "in 0s", re.sub(r"(, )?invcheck-[0-9.]+", "", text))


def test_an_unrelated_suite_sees_no_change(tests: Tests) -> None:
    """Nothing of invcheck is loaded but the entry point and what it leaves word in; outcomes and terminal are the same."""
    plugins = ("-p", "no:pytest_cov", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:anyio")  # which load more
    with_it, without = tests(UNRELATED, *plugins), tests(UNRELATED, *plugins, "-p", "no:invcheck")
    assert with_it.outcomes["test_loaded"] == "passed", with_it.text
    assert with_it.outcomes == without.outcomes
    assert _plain(with_it.text) == _plain(without.text)
