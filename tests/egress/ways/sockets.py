"""Sockets of Python."""

import _socket
import importlib
import socket
import threading

from ways.way import PATIENCE, Missing, Targets, way

MPTCP = 262  # IPPROTO_MPTCP; Python has no name for it


@way("create_connection to an address")
def create_connection(to: Targets) -> object:
    socket.create_connection((to["host"], to["port"]), timeout=PATIENCE).close()


@way("create_connection to an IPv6 address")
def create_connection_6(to: Targets) -> object:
    if to["host6"] is None:
        raise Missing("no IPv6 here")
    socket.create_connection((to["host6"], to["port"]), timeout=PATIENCE).close()


@way("connect_ex")
def connect_ex(to: Targets) -> object:
    with socket.socket() as one:
        one.settimeout(PATIENCE)
        one.connect_ex((to["host"], to["port"]))


@way("a port of the machine's loopback")
def loopback(to: Targets) -> object:
    socket.create_connection(("127.0.0.1", to["port"]), timeout=PATIENCE).close()


@way("_socket's base class")
def base_class(to: Targets) -> object:
    one = _socket.socket()
    one.settimeout(PATIENCE)
    one.connect((to["host"], to["port"]))
    one.close()


@way("a reloaded socket module")
def reloaded(to: Targets) -> object:
    fresh = importlib.reload(socket)
    fresh.create_connection((to["host"], to["port"]), timeout=PATIENCE).close()


@way("UDP sendto")
def sendto(to: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"out", (to["host"], to["port"]))


@way("UDP sendmsg")
def sendmsg(to: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendmsg([b"out"], [], 0, (to["host"], to["port"]))


@way("UDP connect and send")
def connected(to: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect((to["host"], to["port"]))
        one.send(b"out")


@way("TCP fast open, by sendto")
def fast_open(to: Targets) -> object:
    with socket.socket() as one:
        one.settimeout(PATIENCE)
        one.sendto(b"out", socket.MSG_FASTOPEN, (to["host"], to["port"]))


@way("an MPTCP socket")
def mptcp(to: Targets) -> object:
    try:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    except OSError:
        raise Missing("the kernel has no MPTCP") from None
    with one:
        one.settimeout(PATIENCE)
        one.connect((to["host"], to["port"]))


@way("a thread")
def thread(to: Targets) -> object:
    other = threading.Thread(target=create_connection, args=(to,))
    other.start()
    other.join()
