"""What the filters decide, by an interpreter of their language: for both processors, on any machine."""

from __future__ import annotations

import errno
import os
from struct import iter_unpack, pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.gate import bpf, filters, seccomp, syscalls
from invcheck.gate.bpf import ALLOW, ERRNO, LISTENER, Instruction, Label

ALL = [syscalls.of("x86_64"), syscalls.of("aarch64")]
KNOWN = [each for each in ALL if each is not None]
OTHER_ARCH = {0xC000_003E: 0x4000_0003, 0xC000_00B7: 0x4000_0028}  # i386 and arm (linux/audit.h)
MISSING, FORBIDDEN, DENIED = ERRNO | errno.ENOSYS, ERRNO | errno.EPERM, ERRNO | errno.EACCES

word = st.integers(0, 2**64 - 1)


def run(program: bytes, number: int, arch: int, *arguments: int) -> int:
    """Run a program over one call's data (struct seccomp_data), as the kernel would."""
    data = pack("=IIQ6Q", number, arch, 0, *(each & (2**64 - 1) for each in [*arguments, *[0] * 6][:6]))
    code = list(iter_unpack("=HBBI", program))
    held = at = 0
    while True:
        kind, then, otherwise, k = code[at]
        at += 1
        if kind == bpf.LOAD:
            held = int.from_bytes(data[k : k + 4], "little")
        elif kind == bpf.RETURN:
            return k
        else:
            met = held == k if kind == bpf.EQUAL else held >= k
            assert kind in (bpf.EQUAL, bpf.AT_LEAST)
            at += then if met else otherwise


@pytest.mark.parametrize("numbers", KNOWN, ids=["x86_64", "aarch64"])
def test_both_processors_are_known(numbers: syscalls.Numbers) -> None:
    """Every number is another's than every other, and another machine has none."""
    own = (numbers.socket, numbers.connect, numbers.sendto, numbers.sendmsg, numbers.sendmmsg, numbers.seccomp, numbers.tgkill)
    assert len({*own, numbers.io_uring_setup, numbers.pidfd_getfd}) == 9
    assert syscalls.of("riscv64") is None


@pytest.mark.parametrize("numbers", KNOWN, ids=["x86_64", "aarch64"])
@given(address=word, flags=st.integers(0, 2**32 - 1), number=st.integers(0, 460))
def test_whoever_names_an_address_waits(numbers: syscalls.Numbers, address: int, flags: int, number: int) -> None:
    """connect and sendmmsg always, sendto where its fifth argument is no null pointer, sendmsg but for the handing over."""
    program = filters.notifying(numbers)
    assert run(program, numbers.connect, numbers.arch, 3, address, 16) == LISTENER
    assert run(program, numbers.sendmmsg, numbers.arch, 3, address, 1, flags) == LISTENER
    assert run(program, numbers.sendto, numbers.arch, 3, 0, 1, 0, address, 16) == (LISTENER if address else ALLOW)
    assert run(program, numbers.sendmsg, numbers.arch, 3, address, flags) == (ALLOW if flags == filters.HANDING else LISTENER)
    assert run(program, numbers.sendmsg, numbers.arch, 3, address, filters.HANDING) == ALLOW
    watched = {numbers.connect, numbers.sendto, numbers.sendmsg, numbers.sendmmsg, numbers.socket}
    refused = {numbers.io_uring_setup: MISSING, numbers.pidfd_getfd: FORBIDDEN}
    if number not in watched:
        assert run(program, number, numbers.arch, address) == refused.get(number, ALLOW)


@pytest.mark.parametrize("numbers", KNOWN, ids=["x86_64", "aarch64"])
@given(family=st.one_of(st.integers(0, 64), word))
def test_an_odd_family_waits_and_a_static_filter_refuses_it(numbers: syscalls.Numbers, family: int) -> None:
    """UNIX, INET, INET6 and NETLINK are 1, 2, 10 and 16 (linux/socket.h); the kernel reads the lower half of the argument."""
    low = family & 0xFFFF_FFFF
    assert run(filters.notifying(numbers), numbers.socket, numbers.arch, family, 1) == (ALLOW if low in (1, 2, 10, 16) else LISTENER)
    assert run(filters.static(numbers), numbers.socket, numbers.arch, family) == (ALLOW if low in (1, 16) else DENIED)
    inside = run(filters.static(numbers, sockets=True), numbers.socket, numbers.arch, family)
    assert inside == (ALLOW if low in (1, 2, 10, 16) else DENIED)


@pytest.mark.parametrize("numbers", KNOWN, ids=["x86_64", "aarch64"])
@given(family=st.sampled_from([2, 10]), kind=st.integers(0, 11), flags=st.sampled_from([0, 0o4000, 0o2000000, 0o2004000]), protocol=word)
def test_internet_sockets_that_send_by_other_calls_are_none(
    numbers: syscalls.Numbers, family: int, kind: int, flags: int, protocol: int
) -> None:
    """SOCK_PACKET (10) with any flags of socket(2), and SCTP (132, IANA's protocol numbers): EPROTONOSUPPORT."""
    refused = kind == 10 or protocol & 0xFFFF_FFFF == 132
    verdict = run(filters.notifying(numbers), numbers.socket, numbers.arch, family, kind | flags, protocol)
    assert verdict == (ERRNO | errno.EPROTONOSUPPORT if refused else ALLOW)
    assert run(filters.notifying(numbers), numbers.socket, numbers.arch, family, kind | flags, 132) == ERRNO | errno.EPROTONOSUPPORT


@pytest.mark.parametrize("numbers", KNOWN, ids=["x86_64", "aarch64"])
@pytest.mark.parametrize("make", [filters.notifying, filters.static])
@given(number=st.integers(0, 2**32 - 1))
def test_what_cannot_be_read_does_not_exist(make: object, numbers: syscalls.Numbers, number: int) -> None:
    """Another processor's calls, x32's on x86_64, and io_uring: ENOSYS, so that a library goes another way."""
    program = make(numbers)  # type: ignore[operator]  # one of two functions
    assert run(program, number, OTHER_ARCH[numbers.arch]) == MISSING
    assert run(program, numbers.io_uring_setup, numbers.arch) == MISSING
    assert run(program, numbers.pidfd_getfd, numbers.arch) == FORBIDDEN
    if numbers.x32:
        assert run(program, number | 0x4000_0000, numbers.arch) == MISSING


def test_a_jump_that_cannot_be_made_is_refused() -> None:
    """Backwards, to nowhere, or further than one byte tells."""
    ret = Instruction(bpf.RETURN, ALLOW)
    with pytest.raises(ValueError, match="no jump from 0 to 'a'"):
        bpf.assemble([Label("a"), Instruction(bpf.EQUAL, 1, "a"), ret])
    with pytest.raises(ValueError, match="to 'nowhere'"):
        bpf.assemble([Instruction(bpf.EQUAL, 1, "nowhere"), ret])
    far = [*[ret] * 256, Label("far"), ret]
    with pytest.raises(ValueError, match="to 'far'"):
        bpf.assemble([Instruction(bpf.EQUAL, 1, "far"), *far])
    near = bpf.assemble([Instruction(bpf.EQUAL, 1, "far"), *far[1:]])
    assert next(iter_unpack("=HBBI", near)) == (bpf.EQUAL, 255, 0, 1)


@pytest.mark.parametrize("notify", [True, False])
def test_a_program_that_the_kernel_refuses_is_an_error(notify: bool) -> None:
    """One without instructions is none (EINVAL, seccomp(2)), with a listener or without; in a child, as it cannot be undone."""
    numbers = seccomp.numbers()
    assert numbers is not None
    child = os.fork()
    if child == 0:
        try:
            seccomp.load(b"", numbers, notify=notify)
        except OSError as error:
            os._exit(error.errno or 0)
        finally:
            os._exit(255)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == errno.EINVAL
