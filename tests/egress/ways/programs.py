"""Programs that the app starts."""

import os
import subprocess
import sys

from ways.way import Targets, dialling, program, way


def _url(to: Targets, host: str = "host") -> str:
    return f"http://{to[host]}:{to['port']}/"


@way("subprocess: curl")
def curl(to: Targets) -> object:
    subprocess.run([program("curl"), "-s", "-m", "2", _url(to)], check=False)


@way("subprocess: curl by name")
def curl_name(to: Targets) -> object:
    subprocess.run([program("curl"), "-s", "-m", "2", _url(to, "name")], check=False)


@way("subprocess: Python")
def python(to: Targets) -> object:
    subprocess.run([sys.executable, "-S", "-c", dialling(to)], check=False, stderr=subprocess.DEVNULL)


@way("subprocess: Python, in a session of its own")
def session(to: Targets) -> object:
    subprocess.run([sys.executable, "-S", "-c", dialling(to)], check=False, stderr=subprocess.DEVNULL, start_new_session=True)


@way("os.system")
def system(to: Targets) -> object:
    os.system(f'{sys.executable} -S -c "{dialling(to)}" 2>/dev/null')


@way("os.popen")
def popen(to: Targets) -> object:
    os.popen(f'{sys.executable} -S -c "{dialling(to)}" 2>/dev/null').read()


@way("os.posix_spawn")
def spawned(to: Targets) -> object:
    child = os.posix_spawn(sys.executable, [sys.executable, "-S", "-c", dialling(to)], os.environ)
    os.waitpid(child, 0)


@way("os.fork and exec")
def forked(to: Targets) -> object:
    child = os.fork()
    if child == 0:
        try:
            os.execv(sys.executable, [sys.executable, "-S", "-c", dialling(to)])
        finally:
            os._exit(1)
    os.waitpid(child, 0)


@way("a shell's own sockets")
def shell(to: Targets) -> object:
    subprocess.run([program("bash"), "-c", f"exec 3<>/dev/tcp/{to['host']}/{to['port']}"], check=False, stderr=subprocess.DEVNULL)
