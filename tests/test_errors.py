"""The error tree: codes, exit statuses, places and hints, and that every one of them travels."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

from invcheck import errors
from invcheck.errors import CheckFileError, InvcheckError, NetworkBlocked, PathError
from invcheck.vocabulary import Place

KINDS = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, InvcheckError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_stands_in_the_picture(kind: type[InvcheckError]) -> None:
    """The module's picture shows each class with the exit status of its kind, which is one of the documented ones."""
    lines = [line for line in str(errors.__doc__).splitlines() if f" {kind.__name__} " in line]
    assert len(lines) == 1
    assert re.findall(r"exit (\d)", lines[0]) in ([], [str(kind.exit)])
    assert kind.exit in {1, 2, 3, 4, 5}


@pytest.mark.parametrize("kind", KINDS)
def test_errors_survive_a_pickle(kind: type[InvcheckError]) -> None:
    """Message, code, place, hint and fields come back in another process."""
    error = kind("what", code="CODE", place=Place("checks/a.yaml", 3, 7), hint="do so", column=4)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == "checks/a.yaml:3:7: what\n  hint: do so"


def test_codes_are_of_their_class() -> None:
    """Without a code of its own an error has its class's, and no place and no hint in its text."""
    error = CheckFileError("no case")
    assert (error.code, error.place, error.hint, error.fields, str(error)) == ("CHECK_FILE", None, None, {}, "no case")
    codes = [kind.default_code for kind in KINDS]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", [*KINDS, NetworkBlocked])
def test_retry_code_catches_none_of_them(kind: type[BaseException]) -> None:
    """No error of ours is one that an app's retry policy waits for."""
    assert not issubclass(kind, TimeoutError | ConnectionError | OSError)


def test_a_blocked_network_is_no_exception() -> None:
    """Code that swallows Exception does not swallow it; it pickles with its fields."""
    error = NetworkBlocked("api.example.org:443", host="api.example.org")
    assert not isinstance(error, Exception)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.fields) == (NetworkBlocked, error.message, {"host": "api.example.org"})


def test_a_path_error_is_a_usage_error() -> None:
    """What catches a user's mistake catches a wrong path."""
    with pytest.raises(errors.UsageError):
        raise PathError("no")
