"""What must work: servers of the app's own, and what is allowed."""

import os
import socket
import tempfile
import threading

from ways.way import Targets, module, way

WORKED = "worked"


def _answered(server: socket.socket) -> None:
    other, _ = server.accept()
    with other:
        other.sendall(b"hello")


def _served(server: socket.socket, client: socket.socket, address: object) -> str:
    answering = threading.Thread(target=_answered, args=(server,))
    answering.start()
    client.connect(address)
    text = client.recv(5)
    answering.join()
    return WORKED if text == b"hello" else text.decode()


@way("own server on loopback", works=True)
def own(to: Targets) -> object:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        return _served(server, client, server.getsockname())


@way("own datagrams on loopback", works=True)
def datagrams(to: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        server.bind(("127.0.0.1", 0))
        client.sendto(b"hello", server.getsockname())
        return WORKED if server.recv(5) == b"hello" else ""


@way("own Unix socket in the temporary folder", works=True)
def own_path(to: Targets) -> object:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(f"{folder}/own")
        server.listen()
        return _served(server, client, f"{folder}/own")


@way("own abstract Unix socket", works=True)
def own_abstract(to: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(f"\0own-{os.getpid()}")
        server.listen()
        return _served(server, client, server.getsockname())


def _asked(client: socket.socket) -> str:
    client.sendall(b"GET / HTTP/1.0\r\n\r\n")
    text = b""
    while part := client.recv(4096):
        text += part
    return WORKED if text.endswith(b"hello") else text.decode()


@way("an allowed port", works=True)
def allowed(to: Targets) -> object:
    with socket.create_connection(("127.0.0.1", to["allowed"]), timeout=10) as client:
        return _asked(client)


@way("an allowed port, by pycurl", works=True)
def allowed_native(to: Targets) -> object:
    client = module("pycurl").Curl()
    client.setopt(client.URL, f"http://127.0.0.1:{to['allowed']}/")
    return WORKED if client.perform_rs() == "hello" else "another answer"


@way("an allowed Unix socket", works=True)
def allowed_path(to: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(to["served"])
        return _asked(client)
