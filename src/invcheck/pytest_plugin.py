"""The pytest plugin: doubles as fixtures, a record for every test that builds one, and the network gate where asked.

An unrelated suite loads this module and `session`, nothing else: what a test is held to stands in `_guard` and `_held`,
which the first marker, fixture, option or double loads. Wrappers are of pluggy's old kind, which every pytest knows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from invcheck import session

if TYPE_CHECKING:
    from invcheck._guard import Guard
    from invcheck.record import Record
    from invcheck.sources import DriftingModel, ScriptedModel

Wrapper: TypeAlias = Generator[None, Any, None]

MARKER = (
    "invcheck(seed=, clock=, unused=, gate=, allow=): what one test asks of invcheck; unused='allow' lets it leave steps of a script unused"
)
OUTLIVES = "a double lives as long as its test: build it there, or in a fixture with scope='function'"


class Held:
    """One test, from its setup to the end of its teardown; its guard is made when something asks for it."""

    __slots__ = ("_before", "guard", "item")

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.guard: Guard | None = None
        self._before = session.hosted(self.guarded)

    def asks(self) -> bool:
        """Say whether the test asks for anything before it runs."""
        item = self.item
        return item.config.stash[_GATE] or _fixture_asks(item) or item.get_closest_marker("invcheck") is not None

    def guarded(self) -> Guard:
        """Give the test's guard; a marker that is wrong fails the test."""
        if self.guard is None:
            from invcheck import _guard  # noqa: PLC0415  # an unrelated suite never gets here
            from invcheck.errors import UsageError  # noqa: PLC0415  # likewise

            item = self.item
            _hold(item)
            marks = [(mark.args, mark.kwargs) for mark in reversed(list(item.iter_markers("invcheck")))]
            file, _, domain = item.location  # not the node id, to which a distributing plugin may add
            asked, problem = None, ""
            try:
                asked = _guard.asked(marks, gate=item.config.stash[_GATE] or _fixture_asks(item))
            except UsageError as error:
                problem = str(error)
            if asked is None:  # failed out here, or its report would tell of two errors
                pytest.fail(problem, pytrace=False)
            self.guard = _guard.Guard(asked, f"{file.replace(os.sep, '/')}::{domain}", item.config.rootpath)
        return self.guard

    def close(self) -> None:
        """Put back what was before the guard."""
        if self.guard is not None:
            self.guard.close()
            self.guard = None

    def end(self) -> None:
        """Put back what was before the test."""
        session.hosted(*self._before)
        self.close()


_GATE, _HELD = pytest.StashKey[bool](), pytest.StashKey[Held]()


def _hold(item: pytest.Item) -> None:
    """See to it that the hooks are there."""
    manager = item.config.pluginmanager
    if not manager.has_plugin("invcheck-held"):
        from invcheck import _held  # noqa: PLC0415  # as above

        manager.register(_held.Hooks(_HELD), "invcheck-held")


def _fixture_asks(item: pytest.Item) -> bool:
    return "invcheck_gate" in getattr(item, "fixturenames", ())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the gate for the whole run, in this process or with the kernel's walls around all of it."""
    text = "cut the network in every test, and fail the test that reaches for it (invcheck)"
    walls = "the same behind the kernel's walls: pytest is run once more, confined as the workers of `invcheck run` are"
    group = parser.getgroup("invcheck")
    group.addoption("--invcheck-gate", action="store_true", default=False, help=text)
    group.addoption("--invcheck-isolate", action="store_true", default=False, help=walls)
    parser.addini("invcheck_gate", text, type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run pytest once more, confined, where that is asked for; this process then only supervises it."""
    if not config.getoption("invcheck_isolate") or session.isolated():
        return None
    from invcheck._isolate import isolate  # noqa: PLC0415  # an unrelated suite never gets here
    from invcheck.errors import InvcheckError  # noqa: PLC0415  # likewise

    try:
        return isolate(("-m", "pytest", *map(str, config.invocation_params.args)), str(config.rootpath))
    except InvcheckError as error:
        where, hint = f"{error.place}: " if error.place else "", f"\n  hint: {error.hint}" if error.hint else ""
        raise pytest.UsageError(f"{where}{error.message}{hint}") from None


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker; with the gate for all, put the sandbox in place before test modules are imported."""
    config.addinivalue_line("markers", MARKER)
    wanted = ("invcheck_gate", "invcheck_isolate")
    config.stash[_GATE] = gate = any(map(config.getoption, wanted)) or bool(config.getini("invcheck_gate"))
    if gate:
        from invcheck import _guard  # noqa: PLC0415  # as above

        _guard.prepare(config.rootpath)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which layer of the gate holds, where it was asked for."""
    if not config.stash[_GATE]:
        return None
    tier = session.isolated()
    return f"invcheck: gate {tier}" if tier else "invcheck: gate in-process (--invcheck-isolate puts the kernel's around it)"


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str | None:
    """Say the same where only some tests ask."""
    if config.stash[_GATE]:
        return None
    gated = sum(_asks_gate(item) for item in items)
    return f"invcheck: gate in-process for {gated} of {len(items)} tests" if gated else None


def _asks_gate(item: pytest.Item) -> bool:
    said = [mark.kwargs["gate"] for mark in item.iter_markers("invcheck") if "gate" in mark.kwargs]
    return bool(said[0]) if said else _fixture_asks(item)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Wrapper:
    """Make the test a place where doubles may be built; only one that asks for more is looked at more closely."""
    held = item.stash[_HELD] = Held(item)
    if held.asks():
        _hold(item)
    yield
    held.end()


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
    return request.node.stash[_HELD].guarded().record  # type: ignore[no-any-return]  # pytest's stubs do not know the node's kind


@pytest.fixture
def invcheck_gate(request: pytest.FixtureRequest) -> Record:
    """Cut the network in this test; an attempt fails it, swallowed or not. Gives the test's record."""
    guard = request.node.stash[_HELD].guarded()
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
