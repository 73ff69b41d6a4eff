"""The allow-list: exact addresses of this machine in one spelling each, and everything else refused with what to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.allowance import Tcp, Unix, allowed, allowing, canonical, read, risk
from invcheck.errors import UsageError

GOOD = {
    "tcp:127.0.0.1:5432": (Tcp("127.0.0.1", 5432),),
    "tcp:127.8.0.1:65535": (Tcp("127.8.0.1", 65535),),
    "tcp:[::1]:1": (Tcp("::1", 1),),
    "tcp:[0:0:0:0:0:0:0:1]:5432": (Tcp("::1", 5432),),
    "tcp:[::ffff:127.0.0.1]:5432": (Tcp("127.0.0.1", 5432),),
    "tcp:localhost:5432": (Tcp("127.0.0.1", 5432), Tcp("::1", 5432)),
    "tcp:LocalHost:5432": (Tcp("127.0.0.1", 5432), Tcp("::1", 5432)),
    "unix:/run/postgresql/.s.PGSQL.5432": (Unix("/run/postgresql/.s.PGSQL.5432"),),
    "unix:/tmp/a b:c": (Unix("/tmp/a b:c"),),
}


@pytest.mark.parametrize("text", GOOD)
def test_an_exact_address_of_this_machine_is_allowed(text: str) -> None:
    """Addresses of loopback (127.0.0.0/8 and ::1, RFC 6890) with one port, both of localhost, and whole paths."""
    assert read(text) == GOOD[text]


OUTSIDE = "there is no network in `run`: bind a double, or start the service here and write tcp:127.0.0.1:"
SUCH = "such as tcp:127.0.0.1:5432 or unix:/run/postgresql/.s.PGSQL.5432"
BAD = {
    "": ("it begins with tcp: or unix:", SUCH),
    "127.0.0.1:5432": ("it begins with tcp: or unix:", "write tcp:127.0.0.1:5432"),
    "localhost:5432": ("it begins with tcp: or unix:", "write tcp:localhost:5432"),
    "postgresql://app:secret@localhost:5432/shop": ("it begins with tcp: or unix:", "write tcp:localhost:5432"),
    "http://[::1]:8080/": ("it begins with tcp: or unix:", "write tcp:[::1]:8080"),
    "udp:127.0.0.1:53": ("it begins with tcp: or unix:", SUCH),
    "TCP:127.0.0.1:53": ("it begins with tcp: or unix:", SUCH),
    "/run/x.sock": ("it begins with tcp: or unix:", "write unix:/run/x.sock"),
    "*": ("it begins with tcp: or unix:", SUCH),
    "tcp:5432": ("it names a host and a port", SUCH),
    "tcp::5432": ("it names a host and a port", SUCH),
    "tcp:127.0.0.1:": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:0": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:*": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:65536": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:05432": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:5432-5440": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:127.0.0.1:\u0665": ("it names one port, from 1 to 65535", "write a line for each port"),
    "tcp:*:5432": ("a wildcard allows what nobody named", f"{OUTSIDE}5432"),
    "tcp:127.0.0.*:80": ("a wildcard allows what nobody named", f"{OUTSIDE}80"),
    "tcp:db.internal:5432": ("only this machine can be allowed, by an address or as localhost", f"{OUTSIDE}5432"),
    "tcp:127.1:5432": ("only this machine can be allowed, by an address or as localhost", f"{OUTSIDE}5432"),
    "tcp:192.0.2.1:5432": ("only this machine can be allowed", f"{OUTSIDE}5432"),
    "tcp:[2001:db8::1]:443": ("only this machine can be allowed", f"{OUTSIDE}443"),
    "tcp:[::ffff:192.0.2.1]:443": ("only this machine can be allowed", f"{OUTSIDE}443"),
    "tcp:0.0.0.0:5432": ("0.0.0.0 is where a server listens, not where it is reached", "write tcp:127.0.0.1:5432"),
    "tcp:[::]:5432": (":: is where a server listens, not where it is reached", "write tcp:[::1]:5432"),
    "tcp:::1:5432": ("an IPv6 address stands in brackets, no other", "write tcp:[::1]:5432"),
    "tcp:[127.0.0.1]:5432": ("an IPv6 address stands in brackets, no other", "write tcp:127.0.0.1:5432"),
    "unix:": ("it names the whole path", SUCH),
    "unix:run/x.sock": ("it names the whole path", "write unix:/…/run/x.sock"),
    "unix:@bus": ("an abstract socket lives in its own network alone", "have the service listen at a path"),
    "unix:/run/*.sock": ("it names one path, without a wildcard", SUCH),
    "unix:/run/x\n": ("it names one path, without a wildcard", SUCH),
    "unix:/proc/1/root/x": ("no service listens below /proc", "name the path itself"),
    "unix:/run/../run/x": ("it names the path as it is", "write unix:/run/x"),
    "unix:/run/x/": ("it names the path as it is", "write unix:/run/x"),
    f"unix:/{'x' * 107}": ("no socket has a path of more than 107 bytes", "have the service listen at a shorter one"),
}


@pytest.mark.parametrize("text", BAD)
def test_everything_else_is_refused_with_what_to_write(text: str) -> None:
    """The message shows the text and says why; the hint says what may have been meant."""
    with pytest.raises(UsageError) as raised:
        read(text)
    why, hint = BAD[text]
    assert (raised.value.code, raised.value.message, raised.value.hint) == ("ALLOW_INVALID", f"{text!r} allows nothing: {why}", hint)


@given(st.sampled_from([*GOOD]) | st.text(max_size=12).map("unix:/{}".format) | st.integers(0, 70_000).map("tcp:127.0.0.1:{}".format))
def test_a_canonical_text_is_its_own(text: str) -> None:
    """Canonical texts read as themselves: whoever compares texts compares addresses."""
    try:
        texts = canonical([text])
    except UsageError:
        return
    assert canonical(texts) == texts
    assert [allowed(each).text for each in texts] == [*texts]


def test_each_address_stands_once_and_in_order() -> None:
    """The order in which they were written says nothing."""
    assert canonical(["unix:/b", "tcp:localhost:80", "tcp:[::1]:80", "unix:/a"]) == (
        "tcp:127.0.0.1:80",
        "tcp:[::1]:80",
        "unix:/a",
        "unix:/b",
    )


def test_what_was_refused_names_its_own_line() -> None:
    """Every spelling in which a refusal tells an address of this machine gives the text that allows it; others give none."""
    assert allowing("127.0.0.1", 5432) == allowing("::ffff:127.0.0.1", 5432) == "tcp:127.0.0.1:5432"
    assert allowing("0.0.0.0", 80) == allowing("", 80) == "tcp:127.0.0.1:80"
    assert allowing("localhost", 80) == allowing("::1", 80) == allowing("::", 80) == "tcp:localhost:80"
    assert allowing("unix:/run/x.sock", None) == "unix:/run/x.sock"
    assert [allowing("192.0.2.1", 80), allowing("unix:@x", None), allowing("address family 40", None)] == [None] * 3


@pytest.mark.parametrize(
    ("text", "known"), [("tcp:127.0.0.1:4000", "LiteLLM"), ("tcp:[::1]:9050", "Tor"), ("unix:/run/docker.sock", "Docker")]
)
def test_what_is_known_for_reaching_further_is_named(text: str, known: str) -> None:
    """Gateways, proxies and daemons by the ports and names that their manuals give; a database is none."""
    assert known in str(risk(text))
    assert risk("tcp:127.0.0.1:5432") is risk("unix:/run/postgresql/.s.PGSQL.5432") is None
