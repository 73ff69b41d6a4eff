"""The kinds of fault and the exceptions that they are."""

from __future__ import annotations

import pickle
from http import HTTPStatus

import pytest

from invcheck.faults import KINDS, ModelFault, completed, exception, known
from invcheck.vocabulary import Fault

STATUSES = {
    "bad-request": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404, "conflict": 409, "too-large": 413, "unprocessable": 422,
    "rate-limit": 429, "server": 500, "bad-gateway": 502, "unavailable": 503, "gateway-timeout": 504, "overloaded": 529,
    "timeout": None, "connection": None, "cut": None, "truncated": None, "stream-error": None, "stall": None,
}  # fmt: skip


def test_every_kind_has_the_status_that_providers_send() -> None:
    """Statuses are those of RFC 9110 and RFC 6585, and 529 for overloaded; a broken connection has none."""
    assert {name: kind.status for name, kind in KINDS.items()} == STATUSES
    assert all(status in set(HTTPStatus) for status in STATUSES.values() if status not in (None, 529))


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_an_exception_that_tells_and_pickles(kind: str) -> None:
    """Kind, status, retry_after and message are fields; the error survives a pickle."""
    error = exception(Fault(kind, retry_after=1.5))
    back = pickle.loads(pickle.dumps(error))
    for each in (error, back):
        assert isinstance(each, ModelFault)
        assert (each.kind, each.status, each.retry_after, each.message, str(each)) == (
            kind,
            STATUSES[kind],
            1.5,
            KINDS[kind].message,
            each.message,
        )
    assert isinstance(error, TimeoutError) == (kind in ("timeout", "stall"))
    assert isinstance(error, ConnectionError) == (kind in ("connection", "cut"))


def test_a_fault_keeps_what_it_says() -> None:
    """A message and a status of its own go before the kind's."""
    assert completed(Fault("server", "m", 520)) == Fault("server", "m", 520)
    assert completed(Fault("server")) == Fault("server", "internal server error", 500)
    assert completed(Fault("server", retry_after=0)).retry_after == 0


@pytest.mark.parametrize(("fault", "says"), [
    (Fault("ratelimit"), "did you mean 'rate-limit'"), (Fault("xxxxxxxx"), "there are bad-request"), (Fault(3), "no kind of fault"),  # type: ignore[arg-type]  # the mistake
    (Fault("server", status=99), "200 to 599"), (Fault("server", status=True), "200 to 599"),
    (Fault("server", 3), "message is text"), (Fault("server", retry_after=-1), "seconds from 0"),  # type: ignore[arg-type]  # the mistake
    (Fault("server", retry_after=float("inf")), "seconds from 0"), (Fault("server", retry_after="1"), "seconds from 0"),  # type: ignore[arg-type]  # the mistake
])  # fmt: skip
def test_what_is_no_fault_is_named(fault: Fault, says: str) -> None:
    """An unknown kind shows the nearest one, a wrong field what it must be."""
    with pytest.raises(ValueError, match=says):
        exception(fault)


def test_a_known_kind_is_silent() -> None:
    """Every kind of the table is known."""
    for kind in KINDS:
        known(kind)
