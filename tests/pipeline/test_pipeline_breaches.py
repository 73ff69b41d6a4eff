"""Whoever reaches out of a trial is told: what was wanted, who wanted it, why it was refused and what to do."""

import shutil
from typing import Any

import pytest

from tests.pipeline.conftest import Shop, Told

APP = '''
    """Ways out, each in a function of its own; what it raises is swallowed where that says so."""

    import asyncio
    import ctypes
    import os
    import socket
    import subprocess
    import sys
    import threading
    from contextlib import suppress

    AWAY = b"\\x02\\x00\\x01\\xbb\\xc0\\x00\\x02\\x01" + bytes(8)  # 192.0.2.1:443, as sockaddr_in


    def by_ctypes():
        with socket.socket() as sock:
            ctypes.CDLL(None).connect(sock.fileno(), AWAY, 16)  # line 17


    def by_pycurl():
        import pycurl
        client = pycurl.Curl()
        client.setopt(client.URL, "http://192.0.2.1:8080/")
        client.perform()  # line 24


    def by_psycopg():
        import psycopg
        psycopg.connect("host=127.0.0.1 port=5432 user=x dbname=y")  # line 29


    def by_path():
        import psycopg
        psycopg.connect("host=/nowhere user=x dbname=y")  # line 34


    def by_uvloop():
        import uvloop

        async def main():
            await asyncio.get_running_loop().create_connection(asyncio.Protocol, "192.0.2.1", 443)  # line 41

        uvloop.run(main())


    def by_curl():
        subprocess.run(["curl", "-s", "http://api.example.com/v1"])  # line 47


    def by_python():
        program = "import socket; socket.create_connection(('192.0.2.1', 443))"
        subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL)  # line 52


    def by_fork():
        child = os.fork()
        if child == 0:
            try:
                by_ctypes()
            finally:
                os._exit(0)
        os.waitpid(child, 0)


    def by_thread():
        def dial():
            with suppress(BaseException):
                socket.create_connection(("api.example.com", 443))  # line 68

        thread = threading.Thread(target=dial, name="poller-7")
        thread.start()
        thread.join()


    def by_native_thread():
        thread = threading.Thread(target=by_ctypes)
        thread.start()
        thread.join()


    def swallowed():
        for _ in range(3):
            try:
                socket.create_connection(("api.example.com", 443))  # line 84
            except BaseException:
                pass


    async def gathered():
        async def one():
            await asyncio.open_connection("api.example.com", 443)  # line 91

        await asyncio.gather(one(), one(), return_exceptions=True)


    def twice():
        for _ in range(20):
            by_ctypes()
        with suppress(BaseException):
            socket.create_connection(("192.0.2.2", 80))  # line 100


    def raw():
        socket.socket(40, socket.SOCK_STREAM)  # line 104


    def stays():
        pass
'''
NAMES = (
    "by_ctypes", "by_pycurl", "by_psycopg", "by_path", "by_uvloop", "by_curl", "by_python", "by_fork", "by_thread",
    "by_native_thread", "swallowed", "gathered", "twice", "raw", "stays",
)  # fmt: skip
CHECK = "  - check: NAME\n    app: app:NAME\n    cases:\n      - input: {}\n    expect:\n      - calls: 0\n"
CUT = "the network is cut in a trial, for the programs that it starts as well"
DOUBLE = "did you forget a double? bind one where the app builds its client"


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them."""
    checks = "".join(
        f"  - check: {name}\n    app: app:{name}\n    cases:\n      - input: {{}}\n    expect:\n      - calls: 0\n" for name in NAMES
    )
    shared.write({"app.py": APP})
    (shared.root / "checks").mkdir()
    (shared.root / "checks" / "out.yaml").write_text(f"checks:\n{checks}", encoding="utf-8")
    return shared.told()


def kernel(told: Told) -> None:
    """Skip where the kernel gives no gate that sees what native code does."""
    if not told.out.rstrip().endswith(("gate K1.", "gate K2.")):
        pytest.skip("the kernel confines no worker here")  # elsewhere: a kernel without namespaces and notifications


PROGRAM = "\"python -c import socket; socket.create_connection(('192.0.2.1', 443))\""
EXPECTED = {
    "by_ctypes": ("192.0.2.1:443 was wanted, through native code, at app.py:17 in by_ctypes", DOUBLE),
    "by_pycurl": ("192.0.2.1:8080 was wanted, through pycurl, at app.py:24 in by_pycurl", DOUBLE),
    "by_psycopg": (
        "127.0.0.1:5432 was wanted, through psycopg, at app.py:29 in by_psycopg: nothing listens on 127.0.0.1:5432 inside the gate",
        'add allow = ["tcp:127.0.0.1:5432"] where it is part of the test, else bind a double',
    ),
    "by_path": (
        "unix:/nowhere/.s.PGSQL.5432 was wanted, through psycopg, at app.py:34 in by_path: nothing inside the gate serves this path",
        'add allow = ["unix:/nowhere/.s.PGSQL.5432"] where it is part of the test, else bind a double where the app builds its client',
    ),
    "by_uvloop": ("192.0.2.1:443 was wanted, through uvloop, at app.py:41 in main", DOUBLE),
    "by_python": (
        f"192.0.2.1:443 was wanted by the program {PROGRAM}, which was started at app.py:52 in by_python: {CUT}",
        "replace what starts it in the setup, or ask through a client that a double can answer",
    ),
    "by_fork": ("192.0.2.1:443 was wanted, through native code, at app.py:17 in by_ctypes", DOUBLE),
    "by_native_thread": ("192.0.2.1:443 was wanted, through native code, at app.py:17 in by_ctypes, in a thread", DOUBLE),
    "by_thread": ("api.example.com:443 was wanted, through socket, at app.py:68 in dial, in the thread poller-N", DOUBLE),
    "swallowed": ("api.example.com:443 was wanted, through socket, at app.py:84 in swallowed (3 times)", DOUBLE),
    "gathered": ("api.example.com:443 was wanted, through asyncio, at app.py:91 in one (2 times)", DOUBLE),
}
HOOKED = {"by_thread", "swallowed", "gathered"}
NEEDS = {"by_pycurl": "pycurl", "by_psycopg": "psycopg", "by_path": "psycopg", "by_uvloop": "uvloop"}


@pytest.mark.parametrize("name", EXPECTED)
def test_one_breach_is_one_finding(told: Told, name: str) -> None:
    """With its place, library, thread or program, and how often; an error that it comes to is no second one."""
    if name not in HOOKED:
        kernel(told)
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    finding: dict[str, Any] = told.one(f"{name}[1]")
    message, hint = EXPECTED[name]
    assert (finding["code"], finding["message"], finding["hint"]) == ("NETWORK", message, hint)
    file, _, line = message.partition(" at ")[2].partition(" in ")[0].partition(":")
    assert finding["place"] == [file, int(line), None]
    assert told.verdict(f"{name}[1]") == "broken"


def test_a_program_that_looks_a_name_up_is_told_with_the_name(told: Told) -> None:
    """The sink for lookups names the host that curl wanted."""
    kernel(told)
    if shutil.which("curl") is None or not told.out.rstrip().endswith("gate K1."):
        pytest.skip("no curl, or no sink for lookups")  # elsewhere: a machine without curl, or with the second tier
    message = told.one("by_curl[1]")["message"]
    assert message == (
        f"api.example.com was wanted by the program 'curl -s http://api.example.com/v1', which was started at app.py:47 in by_curl: {CUT}"
    )


def test_two_things_that_were_wanted_are_two_findings(told: Told) -> None:
    """From native code twenty times, and through the hook once."""
    kernel(told)
    first, second = told.cases["twice[1]"]["findings"]
    assert {first["message"], second["message"]} == {
        "192.0.2.1:443 was wanted, through native code, at app.py:17 in by_ctypes (20 times)",
        "192.0.2.2:80 was wanted, through socket, at app.py:100 in twice",
    }


def test_an_odd_family_is_told(told: Told) -> None:
    """A socket of another family than the internet's is refused where it is made."""
    kernel(told)
    message = told.one("raw[1]")["message"]
    assert message.startswith("address family 40 was wanted, through socket, at app.py:104 in raw")
    assert message.endswith("address family 40 leads out of the gate, and cannot be allowed")


def test_who_stays_inside_is_left_alone(told: Told) -> None:
    """Among all the others a case without a breach is kept."""
    assert told.verdict("stays[1]") == "kept"


def test_what_is_wanted_while_a_file_is_loaded_is_a_problem_of_the_file(shop: Shop) -> None:
    """By native code and by programs as by Python itself, with the line where it stands in that file."""
    shop.write(
        {
            "checks/check_a.py": """
                import ctypes
                import socket
                import subprocess
                import sys

                import invcheck

                with socket.socket() as sock:
                    ctypes.CDLL(None).connect(sock.fileno(), b"\\x02\\x00\\x01\\xbb\\xc0\\x00\\x02\\x01" + bytes(8), 16)

                @invcheck.check(cases=[{}])
                def nothing(trial):
                    assert trial
            """
        }
    )
    told = shop.told()
    if "gate soft" in told.out:
        pytest.skip("the kernel confines no worker here")  # elsewhere: a kernel without namespaces and notifications
    (problem,) = told.problems
    assert problem["code"] == "NETWORK"
    assert problem["message"] == (
        "while this file was loaded, 192.0.2.1:443 was wanted, through native code, at checks/check_a.py:9 in <module>"
    )
    assert problem["place"] == {"file": "checks/check_a.py", "line": 9}
    assert told.status == 2


def test_what_comes_after_the_return_is_a_finding_of_that_trial(shop: Shop) -> None:
    """A background thread of the first trial that dials in native code while the second one runs."""
    shop.write(
        {
            "app.py": """
                import ctypes
                import os
                import select
                import socket
                import threading

                AWAIT, GO = os.pipe()
                DONE, SAY = os.pipe()

                def later():
                    select.select([AWAIT], [], [], 600)
                    with socket.socket() as sock:
                        ctypes.CDLL(None).connect(sock.fileno(), b"\\x02\\x00\\x01\\xbb\\xc0\\x00\\x02\\x01" + bytes(8), 16)

                    os.write(SAY, b"x")

                def ask():
                    if threading.active_count() == 1:
                        threading.Thread(target=later, daemon=True).start()
                    else:
                        os.write(GO, b"x")
                        os.read(DONE, 1)
            """,
            "checks/a.yaml": """
                checks:
                  - check: late
                    app: app:ask
                    runs: 2
                    cases:
                      - input: {}
                    expect:
                      - calls: 0
            """,
        }
    )
    told = shop.told()
    kernel(told)
    (finding,) = told.cases["late[1]"]["findings"]
    assert finding["message"] == "192.0.2.1:443 was wanted, through native code, at app.py:13 in later, in a thread"
    assert finding["seed"] == 0


LEAVES = """
    import ctypes
    import os
    import socket
    import sys

    def child(does):
        if os.fork() == 0:
            try:
                os.closerange(3, 256)
                does()
            finally:
                os._exit(0)
        os.wait()

    def dials():
        socket.create_connection(("192.0.2.1", 443))  # line 16

    def writes(name):
        files = [open(f"{name}{number}.txt", "w") for number in range(60)]
        for file in files:
            file.write("its own")
            file.flush()
        return files

    def bare():
        child(dials)

    def with_files():
        def does():
            kept = writes("hooked")
            dials()
        child(does)

    def natively():
        def does():
            kept = writes("native")
            with socket.socket() as sock:
                ctypes.CDLL(None).connect(sock.fileno(), b"\\x02\\x00\\x01\\xbb\\xc0\\x00\\x02\\x01" + bytes(8), 16)
        child(does)

    def twice():
        child(lambda: child(dials))
"""


def test_a_child_that_closes_all_descriptors_is_told_and_its_files_stay_its_own(shop: Shop) -> None:
    """The gate's files may be gone there, or their numbers be those of the child's own files."""
    names = ("bare", "with_files", "natively", "twice")
    shop.write({"app.py": LEAVES, "checks/a.yaml": "checks:\n" + "".join(CHECK.replace("NAME", name) for name in names)})
    told = shop.told()
    kernel(told)
    for name in names:
        finding = told.one(f"{name}[1]")
        assert (finding["code"], told.verdict(f"{name}[1]")) == ("NETWORK", "broken")
        assert finding["message"].startswith("192.0.2.1:443 was wanted, through ")
    assert {shop.file(f"{kind}{number}.txt") for kind in ("hooked", "native") for number in range(60)} == {"its own"}
