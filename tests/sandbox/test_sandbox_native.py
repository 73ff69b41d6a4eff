"""What the kernel noted is told in the words of the audit hook, with the line of the project where a thread stood."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck import record
from invcheck.canonical import packed
from invcheck.errors import NetworkBlocked
from invcheck.record import Record, late
from invcheck.sandbox import ambient, box, clock, native, network, notes, spawning

ROOT = Path(__file__).parents[2]
SHOP = f"{ROOT}/shop/app.py"
SITE = "/usr/lib/python3.11/site-packages"


def note(wanted: str = "192.0.2.1:443", **given: Any) -> dict[str, Any]:
    """A note as the supervisor writes it."""
    host, _, port = wanted.rpartition(":")
    plain: dict[str, Any] = {
        "kernel": True, "wanted": wanted, "host": host, "port": int(port) if port.isdigit() else None, "via": None, "where": None,
        "line": None, "thread": "python", "command": None, "count": 1, "process": 7, "dump": False, "loopback": False,
    }  # fmt: skip
    return plain | given


def block(*frames: tuple[str, int, str]) -> str:
    """What faulthandler writes for one thread, the innermost frame first."""
    return "Stack (most recent call first):\n" + "".join(f'  File "{file}", line {line} in {name}\n' for file, line, name in frames)


MAIN = ("<frozen runpy>", 198, "_run_module_as_main")
THREAD = ("/usr/lib/python3.11/threading.py", 1002, "_bootstrap")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """The files of a worker's notes and sites, read by this process."""
    files = notes.notes_file(), notes.notes_file()
    for name, value in (("_notes", files[0]), ("_sites", files[1]), ("_merged", 0), ("_sited", 0), ("_last", None)):
        monkeypatch.setattr(network, name, value)
    monkeypatch.setattr(spawning, "_started", [])
    yield files
    for each in files:
        os.close(each)


def put(gate: tuple[int, int], told: list[dict[str, Any]], *said: str) -> None:
    """Write notes and what threads said, as the supervisor and the threads do."""
    os.write(gate[0], b"".join(packed(each) for each in told))
    os.write(gate[1], "".join(said).encode())


def merged(gate: tuple[int, int], told: list[dict[str, Any]], *said: str) -> list[dict[str, Any]]:
    """What a trial's record holds of them."""
    held = Record()
    with box.trial(held):
        put(gate, told, *said)
    return held.breaches


def one(frames: list[Any], **given: Any) -> dict[str, Any]:
    """What one note is told as whose thread stood there."""
    (breach,) = native.breaches([note(dump=True, **given)], [block(*frames)])
    assert breach is not None
    return breach


def test_native_code_is_told_like_the_hook_tells(gate: tuple[int, int]) -> None:
    """What was wanted, through the library below the project's innermost frame, by which line and thread."""
    frames = (f"{SITE}/psycopg/generators.py", 90, "_connect"), (f"{SITE}/psycopg/connection.py", 100, "connect"), (SHOP, 12, "ask"), MAIN
    assert merged(gate, [note(dump=True)], block(*frames)) == [
        {
            "wanted": "192.0.2.1:443", "host": "192.0.2.1", "port": 443, "via": "psycopg", "where": "shop/app.py:ask", "line": 12,
            "thread": "MainThread", "count": 1,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("frames", "via", "told"),
    [
        ([(SHOP, 3, "f"), MAIN], "pycurl", "pycurl"),
        ([(SHOP, 3, "f"), MAIN], None, "native code"),
        ([(f"{SITE}/six.py", 1, "x"), (SHOP, 3, "f")], "pycurl", "six"),
        ([(f"{SITE}/httpcore/a.py", 1, "x"), (f"{SITE}/httpx/a.py", 1, "x"), (SHOP, 3, "f")], None, "httpx"),
        ([("/usr/lib/python3.11/urllib/request.py", 1, "urlopen"), (SHOP, 3, "f")], None, "urllib.request"),
        ([("/usr/lib/python3.11/asyncio/base_events.py", 1, "x"), (SHOP, 3, "f")], None, "asyncio"),
        ([("/usr/lib/python3.11/asyncio/__init__.py", 1, "x"), (SHOP, 3, "f")], None, "asyncio"),
        ([(f"{SITE}/foo/a.py", 1, "x"), (f"{SITE}/invcheck/a.py", 9, "own"), (SHOP, 3, "f")], None, "foo"),
        ([("/opt/elsewhere/a.py", 1, "x"), (SHOP, 3, "f")], None, "native code"),
    ],
)
def test_the_library_is_the_outermost_that_the_project_called(
    frames: list[Any], via: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package but our own, a module of the standard library, else what the supervisor saw loaded, else native code."""
    monkeypatch.setattr(ambient, "OWN", f"{SITE}/invcheck/")
    breach = one(frames, via=via)
    assert (breach["via"], breach["where"], breach["line"]) == (told, "shop/app.py:f", 3)


@pytest.mark.parametrize(
    ("frames", "comm", "told"),
    [
        ([(SHOP, 3, "f"), MAIN], "python", "MainThread"),
        ([(SHOP, 3, "f"), THREAD], "python", "a thread"),
        ([], "pythonN.NN", "a native thread"),
        ([], "event_engine", "event_engine"),
    ],
)
def test_threads_are_named_without_what_the_kernel_cannot_know(frames: list[Any], comm: str, told: str) -> None:
    """The main one, any other of Python, one of C by its name; without a frame the place is outside of the project."""
    breach = one(frames, thread=comm)
    assert (breach["thread"], breach["line"] is None) == (told, not frames)
    assert (breach["where"] == "(outside the project)") == (not frames)


def test_a_file_with_other_letters_is_found() -> None:
    """faulthandler writes ASCII alone, other letters as escapes."""
    frames = [(f"{ROOT}/shop/caf\\xe9_\\u4e2d.py", 3, "f"), MAIN]
    assert one(frames)["where"] == "shop/café_中.py:f"


def test_notes_and_sites_go_together_in_order(gate: tuple[int, int]) -> None:
    """The i-th note that asked belongs to the i-th answer; one that did not ask has none, a native thread's is empty."""
    told = [note("192.0.2.1:1", dump=True), note("192.0.2.2:2"), note("192.0.2.3:3", dump=True), note("192.0.2.4:4", dump=True)]
    found = merged(gate, told, block((SHOP, 1, "a"), MAIN), "Stack (none)\n", block((SHOP, 4, "d"), MAIN))
    assert [(each["host"], each["line"]) for each in found] == [
        ("192.0.2.1", 1),
        ("192.0.2.2", None),
        ("192.0.2.3", None),
        ("192.0.2.4", 4),
    ]


def test_an_answer_that_came_late_takes_its_own_place(gate: tuple[int, int]) -> None:
    """The supervisor answers for who is slow; when it speaks after all, nobody else is given its words."""
    told = [note("192.0.2.1:1", dump=True), note("192.0.2.2:2", dump=True)]
    found = merged(gate, told, "Stack (none)\n", block((SHOP, 1, "a"), MAIN), block((SHOP, 2, "b"), MAIN))
    assert [(each["host"], each["line"]) for each in found] == [("192.0.2.1", 1), ("192.0.2.2", 2)]
    two, answers = [note(dump=True)] * 2, ["Stack (a)", "Stack (none)", "Stack (b)"]
    assert [text for _, text in native.paired(two, answers)] == ["Stack (a)", "Stack (b)"]
    assert [text for _, text in native.paired([note(dump=True)], ["Stack (a)", "Stack (b)"])] == ["Stack (b)"]


def test_an_answer_that_has_not_come_is_waited_for(gate: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that is refused at the end of a trial may not have spoken yet; it is not waited for without end."""
    answers = iter([*[""] * 3, block((SHOP, 1, "a"), MAIN)])
    monkeypatch.setattr(clock, "real_sleep", lambda _seconds: os.write(gate[1], next(answers, "").encode()))
    assert merged(gate, [note(dump=True)])[0]["line"] == 1
    assert merged(gate, [note(dump=True)])[0]["line"] is None


def test_what_is_wanted_again_and_again_is_one_breach(gate: tuple[int, int]) -> None:
    """The supervisor asks a thread a few times only; what follows is told as what came before."""
    told = [note(dump=True), note(dump=True), *[note()] * 3]
    (breach,) = merged(gate, told, *[block((SHOP, 1, "a"), MAIN)] * 2)
    assert (breach["count"], breach["where"]) == (5, "shop/app.py:a")


def test_whoever_goes_through_the_addresses_of_a_name_wants_one_thing(gate: tuple[int, int]) -> None:
    """localhost is ::1 and then 127.0.0.1: one breach, for which both are to be allowed; two dials are two."""
    six = note("[::1]:5432", host="::1", loopback=True, dump=True)
    four = note("127.0.0.1:5432", loopback=True, dump=True)
    here, there = block((SHOP, 1, "a"), MAIN), block((SHOP, 2, "b"), MAIN)
    (breach,) = merged(gate, [six, four, six, four], *[here] * 4)
    assert (breach["wanted"], breach["count"]) == ("[::1]:5432", 2)
    assert "tcp:localhost:5432" in breach["hint"]
    assert [each["wanted"] for each in merged(gate, [six, four], here, there)] == ["[::1]:5432", "127.0.0.1:5432"]


def test_a_program_is_told_with_the_line_that_started_it(gate: tuple[int, int]) -> None:
    """Its command line, the library is the program itself, why and what to do; no thread of another program is told."""
    spawning.remember(spawning.Started("curl -sS http://api.example.com", "shop/app.py:fetch", 37))
    given = note("api.example.com", host="api.example.com", via="curl", thread="curl", command="curl -sS http://api.example.com")
    (breach,) = merged(gate, [given])
    assert (breach["where"], breach["line"], breach["via"], breach["thread"]) == ("shop/app.py:fetch", 37, "curl", None)
    assert breach["command"] == "curl -sS http://api.example.com"
    assert "programs that it starts" in breach["why"]


def test_a_program_that_nobody_is_known_to_have_started_is_told(gate: tuple[int, int]) -> None:
    """Without a place, with its command."""
    (breach,) = merged(gate, [note(command="python3.12 -c 1")])
    assert (breach["where"], breach["line"], breach["via"], breach["command"]) == ("(outside the project)", None, "python", "python -c 1")


def test_a_child_by_fork_tells_who_started_a_program(gate: tuple[int, int]) -> None:
    """What a fork remembers is lost with it: it notes it, in a process of another number."""
    started = {"started": "curl x", "where": "shop/app.py:fork", "line": 5, "process": 1}
    (breach,) = merged(gate, [started, note(command="curl x")])
    assert (breach["where"], breach["line"]) == ("shop/app.py:fork", 5)


def test_words_of_this_machine_are_in_no_breach(gate: tuple[int, int]) -> None:
    """Neither its name nor its server of names, however often that is asked."""
    own = os.uname().nodename
    here, names = merged(gate, [note(own, host=own, port=None), note("10.0.0.2:53"), note("10.0.0.3:53")])
    assert here["wanted"] == "this-host"
    assert (names["wanted"], names["count"], names["port"]) == ("a lookup of a name", 1, None)
    assert "does not tell" in names["why"]


def test_a_refused_loopback_dial_says_what_to_allow(gate: tuple[int, int]) -> None:
    """Nothing listens there, and the exact line that would change it."""
    (breach,) = merged(gate, [note("127.0.0.1:5432", loopback=True)])
    assert breach["why"] == "nothing listens on 127.0.0.1:5432 inside the gate"
    assert breach["hint"].startswith('add allow = ["tcp:127.0.0.1:5432"]')


def test_what_comes_late_belongs_to_the_trial_before(gate: tuple[int, int]) -> None:
    """Before the next trial begins, and where none does."""
    first, second = Record(1), Record(2)
    with box.trial(first):
        pass
    first.close()
    put(gate, [note("192.0.2.1:1")])
    with box.trial(second):
        put(gate, [note("192.0.2.2:2")])
    second.close()
    put(gate, [note("192.0.2.3:3")])
    network.merge()
    assert [(seed, breach["host"]) for seed, breach in late() if isinstance(breach, dict)] == [(1, "192.0.2.1"), (2, "192.0.2.3")]
    assert [breach["host"] for breach in second.breaches] == ["192.0.2.2"]


def test_a_thread_that_outlives_its_trial_is_known_by_its_number(gate: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What it wants while a later trial is in hand is its own trial's."""
    first, second = Record(1), Record(2)
    first.close()
    monkeypatch.setattr(record, "_strays", {1: (None, second), 2: (threading.main_thread(), first)})
    with box.trial(second):
        put(gate, [note(tid=threading.get_native_id()), note("192.0.2.2:2", tid=1), note("192.0.2.3:3")])
    assert [(seed, breach["host"]) for seed, breach in late() if isinstance(breach, dict)] == [(1, "192.0.2.1")]
    assert [breach["host"] for breach in second.breaches] == ["192.0.2.2", "192.0.2.3"]


def test_what_an_import_wants_waits_for_the_loader(gate: tuple[int, int]) -> None:
    """Where no trial has been, the attempt is handed over once."""
    put(gate, [note()])
    assert [each["wanted"] for each in network.pending()] == ["192.0.2.1:443"]
    assert network.pending() == []


def test_what_was_told_elsewhere_is_skipped(gate: tuple[int, int]) -> None:
    """A child that handled a whole case has told its notes and answers itself."""
    put(gate, [note(dump=True)], block((SHOP, 1, "a"), MAIN))
    network.skip()
    assert merged(gate, [note("192.0.2.9:9", dump=True)], block((SHOP, 9, "i"), MAIN))[0]["line"] == 9


def test_a_lost_worker_is_told_for(gate: tuple[int, int]) -> None:
    """What its supervisor reads from the files, from where the task in hand began: equal ones once, no word of children."""
    put(gate, [note("192.0.2.1:1", dump=True)], block((SHOP, 1, "a"), MAIN))
    since = notes.end(gate[0])
    later = note("192.0.2.2:2", dump=True)
    hook = {"wanted": "x:1", "host": "x", "process": 7, "count": 2, "where": "a.py:f", "line": 1}
    child = {"child": "a call", "seed": 0, "process": 8}
    silent = note("192.0.2.3:3", dump=True)
    put(gate, [later, later, hook, child, silent], *[block((SHOP, 2, "b"), MAIN)] * 2, "Stack (none)\n")
    found = notes.breaches(*gate, since)
    assert [(each["wanted"], each["line"], each["count"]) for each in found] == [
        ("192.0.2.2:2", 2, 2),
        ("x:1", 1, 2),
        ("192.0.2.3:3", None, 1),
    ]


def test_a_thread_says_where_it_stands() -> None:
    """The handler writes one block a signal, of the thread that is asked alone."""
    sites = notes.notes_file()
    native.listen(sites)
    try:
        signal.raise_signal(native.SITE_SIGNAL)
        (said,), _ = notes.said(sites)
    finally:
        import faulthandler  # noqa: PLC0415  # only to take it back

        faulthandler.unregister(native.SITE_SIGNAL)
        os.close(sites)
    (breach,) = native.breaches([note(dump=True)], [said])
    assert breach is not None
    assert breach["where"] == "tests/sandbox/test_sandbox_native.py:test_a_thread_says_where_it_stands"


def test_a_kernel_without_files_in_memory_keeps_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere an unlinked temporary file holds them, appended to as well."""
    monkeypatch.delattr(os, "memfd_create")
    file = notes.notes_file()
    try:
        for text in (b'{"process": 1}\n', b'{"process": 2}\n'):
            os.write(file, text)
            os.lseek(file, 0, os.SEEK_SET)
        assert [each["process"] for each in notes.noted(file)[0]] == [1, 2]
        assert os.fstat(file).st_nlink == 0
    finally:
        os.close(file)


def test_a_book_is_written_by_its_number_or_through_who_holds_it_only() -> None:
    """Where its number is another file's now, that one gets nothing; where nobody holds it, nothing is written."""
    file, own = notes.notes_file(), notes.notes_file()
    kept = os.dup(file)
    waits, ends = os.pipe()
    book = notes.Book.held(file)
    holder = os.fork()
    if holder == 0:
        os.close(ends)
        os.read(waits, 1)
        os._exit(0)
    try:
        book.append(b"a")
        os.dup2(own, file)
        assert book.way() is None
        book.append(b"lost")
        elsewhere = notes.Book(file, book.identity, holder)
        elsewhere.append(b"b")
        os.close(file)
        assert book.way() is None
        elsewhere.append(b"c")
        assert (os.pread(kept, 9, 0), notes.end(own)) == (b"abc", 0)
    finally:
        for each in (waits, ends, own, kept):
            os.close(each)
        os.waitpid(holder, 0)


def test_what_nothing_notes_here_is_left_to_the_kernel(gate: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its gate listens an attempt passes, for it to refuse and note; elsewhere it is refused, and entered in the record."""
    file = notes.notes_file()
    monkeypatch.setattr(network, "_book", notes.Book.held(file))
    os.close(file)
    record = Record()
    with box.trial(record):
        monkeypatch.setattr(network, "_kernel", True)
        network.check("socket.getaddrinfo", "model.invalid", 443)
        assert record.breaches == []
        monkeypatch.setattr(network, "_kernel", False)
        with pytest.raises(NetworkBlocked):
            network.check("socket.getaddrinfo", "model.invalid", 443)
    assert [each["wanted"] for each in record.breaches] == ["model.invalid:443"]
    network.skip()
