"""The walls of namespaces: what is covered, for whom, and what stays visible."""

import ctypes
import fcntl
import os
from pathlib import Path

import pytest

from invcheck.gate import confinement


def _covered() -> tuple[list[str], int]:
    return sorted(path.name for path in Path("/run").iterdir()), Path("/run").stat().st_dev


def granted() -> bool:
    """Whether this kernel grants namespaces."""
    unshare = confinement.prepare()
    child = os.fork()
    if child == 0:
        try:
            confinement.enter(unshare)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


needs_namespaces = pytest.mark.skipif(not granted(), reason="this kernel refuses namespaces")


@needs_namespaces
@pytest.mark.parametrize("user", sorted({os.getuid(), 65534} if os.getuid() == 0 else {os.getuid()}))
def test_a_folder_is_covered_for_every_user_and_only_where_nothing_needs_it(user: int) -> None:
    """Neither needs privileges; a project below such a folder stays where it is, and a refusal is no error."""
    unshare = confinement.prepare()
    assert fcntl.fcntl  # imported before: the other user may not read the interpreter's own files
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(user, user, user)
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # whose files in /proc became another's with that
            before = _covered()
            if user:  # root may cover it for everybody
                confinement.cover([])
            refused = _covered() == before
            confinement.enter(unshare)
            confinement.cover(["/run/project"])
            kept = refused and _covered() == before
            confinement.cover([])
            os._exit(0 if kept and _covered()[0] == [] and _covered() != before else 8)
        finally:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_call_that_unshares_raises_in_the_kernels_words() -> None:
    """It comes through ctypes, whose errors are numbers (no flag has this bit)."""
    with pytest.raises(OSError, match="Invalid argument"):
        confinement.prepare()(0x40)


def test_what_cannot_be_mounted_is_an_error_with_a_number() -> None:
    """A file that is not there cannot be laid over another."""
    with pytest.raises(OSError, match="No such file or directory"):
        confinement._bind("/nowhere/at/all", "/dev/null")
