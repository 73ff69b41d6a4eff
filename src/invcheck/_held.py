"""The hooks of pytest that hold tests to their guards; the plugin registers them once something asks for a guard.

What is wrong is told when a phase's report is made, so that a double which is built in a test's body, long after the
phase began, is held to it like any other.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any, Protocol, TypeAlias

import pytest

from invcheck import _guard
from invcheck.errors import UsageError
from invcheck.vocabulary import Verdict

Wrapper: TypeAlias = Generator[None, Any, None]

TITLE, CAUSE = "invcheck: wrong as well", "invcheck: a mistake of the test itself, which may be why"
_SKIPS = frozenset({"Skipped", "SkipTest"})  # pytest's and unittest's own


class Held(Protocol):
    """One test, as the plugin knows it."""

    guard: _guard.Guard | None

    def asks(self) -> bool:
        """Say whether the test asks for anything before it runs."""

    def guarded(self) -> _guard.Guard:
        """Give the test's guard, made now if there is none."""

    def close(self) -> None:
        """End the guard, if there is one."""


class Hooks:
    """What surrounds the phases of every test, from the first on that asks; ``key`` is where a test stands in its stash."""

    def __init__(self, key: pytest.StashKey[Any]) -> None:
        self._key = key

    def _of(self, item: pytest.Item) -> Held:
        held: Held = item.stash[self._key]
        return held

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Open a guard at once where the test asks for anything; a test that runs again begins anew.

        No wrapper: where it fails the test, the wrappers of pytest's own plugins have been set up, and can be torn down.
        """
        held = self._of(item)
        held.close()
        if held.asks():
            held.guarded()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Run the test's body, in the time of a trial where it asks for that."""
        guard, problem = self._of(item).guard, None
        with ExitStack() as stack:
            try:
                if guard is not None:
                    stack.enter_context(guard.running())
            except UsageError as error:
                problem = str(error)
            if problem is not None:
                pytest.fail(problem, pytrace=False)
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Wrapper:
        """Fail the phase for what is wrong, unless it failed already: then its report gets a section."""
        section = _wrong(self._of(item).guard, item, call)
        outcome = yield
        if section is not None:
            outcome.get_result().sections.append(section)


def _wrong(guard: _guard.Guard | None, item: pytest.Item, call: pytest.CallInfo[None]) -> tuple[str, str] | None:
    """Settle a phase that ended: give the section that its report needs, having failed the call where nothing else did."""
    body = call.when == "call"
    if guard is None or (call.when == "setup" and call.excinfo is None):
        return None
    # a unittest.TestCase hands its failures over beside the call's, and pytest prefers those
    beside = (item.__dict__.get("_excinfo") or []) if body else []
    error = call.excinfo.value if call.excinfo is not None else beside[0].value if beside else None
    skipped = type(error).__name__ in _SKIPS
    found = guard.fresh(over=body and not skipped)
    if not found:
        return None
    text = _guard.told(found)
    if error is not None and not skipped:
        return (CAUSE if any(each.verdict is Verdict.ERRORED for each in found) else TITLE), text
    beside.clear()
    with pytest.raises(pytest.fail.Exception) as call.excinfo:
        pytest.fail(text, pytrace=False)
    return None
