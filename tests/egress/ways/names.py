"""Names, which nobody can look up without asking somebody."""

import asyncio
import ctypes
import socket
import subprocess

from ways.way import Missing, Targets, program, way


@way("getaddrinfo")
def getaddrinfo(to: Targets) -> object:
    socket.getaddrinfo(to["name"], to["port"])


@way("gethostbyname")
def gethostbyname(to: Targets) -> object:
    socket.gethostbyname(to["name"])


@way("create_connection by name")
def by_name(to: Targets) -> object:
    socket.create_connection((to["name"], to["port"]), timeout=2).close()


@way("libc getaddrinfo by ctypes", hidden=True)
def native(to: Targets) -> object:
    found = ctypes.c_void_p()
    ctypes.CDLL(None).getaddrinfo(to["name"].encode(), None, None, ctypes.byref(found))


@way("libresolv by ctypes", hidden=True)
def resolver(to: Targets) -> object:
    try:
        library = ctypes.CDLL("libresolv.so.2")
        query = library.__res_query if hasattr(library, "__res_query") else library.res_query
    except (OSError, AttributeError):
        raise Missing("there is no libresolv") from None
    query(to["name"].encode(), 1, 1, ctypes.create_string_buffer(512), 512)


@way("asyncio's getaddrinfo")
def loop(to: Targets) -> object:
    async def look_up() -> None:
        await asyncio.get_running_loop().getaddrinfo(to["name"], to["port"])

    asyncio.run(look_up())


@way("a program that looks up a name")
def getent(to: Targets) -> object:
    subprocess.run([program("getent"), "hosts", to["name"]], check=False, capture_output=True)


@way("a name asked of the name service's daemon (nscd)", hidden=True, local=True, quiet=True)
def daemon(to: Targets) -> object:
    """The wire of nscd: version 2, GETAI (14), the length of the key, the key."""
    key = to["name"].encode() + b"\0"
    one = ctypes.CDLL(None, use_errno=True)
    number = one.socket(1, 1, 0)
    address = (1).to_bytes(2, "little") + b"/var/run/nscd/socket\0"
    if one.connect(number, address, len(address)):
        raise OSError(ctypes.get_errno(), "the daemon cannot be reached")
    request = b"".join(each.to_bytes(4, "little") for each in (2, 14, len(key))) + key
    one.write(number, request, len(request))
    one.close(number)
