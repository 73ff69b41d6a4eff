"""The pytest plugin: doubles as fixtures, a record for every test that builds one, and the network gate where asked.

An unrelated suite loads this module and `session`, nothing else: what a test is held to stands in `_guard`, which the
first marker, fixture, option or double loads. Wrappers are of pluggy's old kind, which every pytest of Python 3.11 knows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from invcheck import session

if TYPE_CHECKING:
    from invcheck._guard import Guard
    from invcheck.record import Record
    from invcheck.sources import DriftingModel, ScriptedModel
    from invcheck.vocabulary import Finding

Wrapper: TypeAlias = Generator[None, Any, None]

MARKER = "invcheck(seed=, clock=, unused=, gate=): what one test asks of invcheck; unused='allow' lets it leave steps of a script unused"
OUTLIVES = "a double lives as long as its test: build it there, or in a fixture with scope='function'"


class _Test:
    """One test, from its setup to the end of its teardown; its guard is made when something asks for it."""

    __slots__ = ("before", "guard", "item", "sections")

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.guard: Guard | None = None
        self.sections: list[str] = []
        self.before = session.hosted(self.guarded)

    def guarded(self) -> Guard:
        """Open the test's record, or give the one that stands; a marker that is wrong fails the test."""
        if self.guard is None:
            from invcheck import _guard  # noqa: PLC0415  # an unrelated suite never gets here
            from invcheck.errors import UsageError  # noqa: PLC0415  # likewise

            item = self.item
            gate = item.config.stash[_GATE] or "invcheck_gate" in getattr(item, "fixturenames", ())
            marks = [(mark.args, mark.kwargs) for mark in reversed(list(item.iter_markers("invcheck")))]
            file, _, domain = item.location  # not the node id, to which a distributing plugin may add
            try:
                asked = _guard.asked(marks, gate=gate)
            except UsageError as error:
                pytest.fail(str(error), pytrace=False)
            self.guard = _guard.Guard(asked, f"{file.replace(os.sep, '/')}::{domain}", item.config.rootpath)
        return self.guard

    def settle(self, outcome: Any, *, over: bool = False) -> None:
        """Fail the phase for what is wrong, unless it failed already: then the report gets a section."""
        if self.guard is None:
            return
        # a unittest.TestCase hands its failures over beside the hook's outcome, and pytest prefers those
        beside = self.item.__dict__.get("_excinfo") or []
        error = outcome.excinfo[1] if outcome.excinfo is not None else beside[0].value if beside else None
        skipped = type(error).__name__ in _SKIPS
        new = self.guard.fresh(over=over and not skipped)
        if new and error is not None and not skipped:
            self.sections.append(_told(new))
        elif new:
            beside.clear()
            outcome.force_exception(pytest.fail.Exception(_told(new), pytrace=False))

    def end(self) -> None:
        """Put back what was before the test."""
        session.hosted(*self.before)
        if self.guard is not None:
            self.guard.close()


_SKIPS = frozenset({"Skipped", "SkipTest"})  # pytest's and unittest's own
_TEST, _GATE = pytest.StashKey[_Test](), pytest.StashKey[bool]()


def _told(findings: list[Finding]) -> str:
    from invcheck import _guard  # noqa: PLC0415  # as above

    return _guard.told(findings)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the gate for the whole run."""
    text = "cut the network in every test, and fail the test that reaches for it (invcheck)"
    parser.getgroup("invcheck").addoption("--invcheck-gate", action="store_true", default=False, help=text)
    parser.addini("invcheck_gate", text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker; with the gate for all, put the sandbox in place before test modules are imported."""
    config.addinivalue_line("markers", MARKER)
    config.stash[_GATE] = gate = bool(config.getoption("invcheck_gate") or config.getini("invcheck_gate"))
    if gate:
        from invcheck import _guard  # noqa: PLC0415  # as above

        _guard.prepare(config.rootpath)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which layer of the gate holds, where it was asked for."""
    return "invcheck: gate in-process (the kernel's gate holds under `invcheck run` alone)" if config.stash[_GATE] else None


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str | None:
    """Say the same where only some tests ask."""
    if config.stash[_GATE]:
        return None
    gated = sum(_asks_gate(item) for item in items)
    return f"invcheck: gate in-process for {gated} of {len(items)} tests" if gated else None


def _asks_gate(item: pytest.Item) -> bool:
    said = [mark.kwargs["gate"] for mark in item.iter_markers("invcheck") if "gate" in mark.kwargs]
    return bool(said[0]) if said else "invcheck_gate" in getattr(item, "fixturenames", ())


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Wrapper:
    """Open the test: its record at once where it asks for anything, else when a double is built."""
    test = item.stash[_TEST] = _Test(item)
    if item.get_closest_marker("invcheck") is not None or item.config.stash[_GATE] or "invcheck_gate" in getattr(item, "fixturenames", ()):
        test.guarded()
    outcome = yield
    if outcome.excinfo is not None:
        test.settle(outcome)


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Wrapper:
    """Run the test's body, then hold it to what it asked for: what is wrong fails the call, not the teardown."""
    test = item.stash[_TEST]
    with nullcontext() if test.guard is None else test.guard.running():
        outcome = yield
    test.settle(outcome, over=True)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Wrapper:
    """Close the test; what went wrong after its body fails the teardown."""
    outcome = yield
    test = item.stash[_TEST]
    test.settle(outcome)
    test.end()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Wrapper:
    """Show what else is wrong with a test that failed already."""
    outcome = yield
    test = item.stash.get(_TEST, None)
    if test is not None and test.sections:
        outcome.get_result().sections += [("invcheck: wrong as well", text) for text in test.sections]
        test.sections.clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Wrapper:
    """Refuse doubles in a fixture that outlives the test."""
    if fixturedef.scope == "function":
        yield
        return
    before = session.hosted(None, OUTLIVES)
    records = sys.modules.get("invcheck.record")
    held = records.hold(None) if records is not None else None
    yield
    session.hosted(*before)
    if records is not None:
        records.hold(held)


@pytest.fixture
def invcheck_record(request: pytest.FixtureRequest) -> Record:
    """What happened in this test: waits, effects, journal, calls and breaches, as plain lists."""
    return request.node.stash[_TEST].guarded().record  # type: ignore[no-any-return]  # pytest's stubs do not know the node's kind


@pytest.fixture
def invcheck_gate(request: pytest.FixtureRequest) -> Record:
    """Cut the network in this test; an attempt fails it, swallowed or not. Gives the test's record."""
    guard = request.node.stash[_TEST].guarded()
    guard.gate()
    return guard.record  # type: ignore[no-any-return]  # as above


@pytest.fixture
def scripted_model(invcheck_record: Record) -> Callable[..., ScriptedModel]:  # noqa: ARG001  # it opens the record
    """Build doubles that answer from a script: ``scripted_model("a text", Fault("timeout"))``; unused steps fail the test."""
    from invcheck.sources import ScriptedModel  # noqa: PLC0415  # as above

    return ScriptedModel


@pytest.fixture
def drifting_model(invcheck_record: Record) -> Callable[..., DriftingModel]:  # noqa: ARG001  # likewise
    """Build doubles that answer anew: ``drifting_model(fake_or_schema)``, seeded by the test's name or its marker."""
    from invcheck.sources import DriftingModel  # noqa: PLC0415  # as above

    return DriftingModel
