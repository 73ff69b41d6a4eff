"""Processes and interpreters of Python."""

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from ways.sockets import create_connection
from ways.way import Targets, dialling, module, way


def _in(method: str, to: Targets) -> None:
    child = multiprocessing.get_context(method).Process(target=create_connection, args=(to,))
    child.start()
    child.join()


@way("os.fork")
def forked(to: Targets) -> object:
    child = os.fork()
    if child == 0:
        try:
            create_connection(to)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


@way("multiprocessing, fork")
def fork(to: Targets) -> object:
    _in("fork", to)


@way("multiprocessing, spawn")
def spawn(to: Targets) -> object:
    _in("spawn", to)


@way("multiprocessing, forkserver")
def forkserver(to: Targets) -> object:
    _in("forkserver", to)


@way("a pool of processes")
def pool(to: Targets) -> object:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as processes:
        processes.submit(create_connection, to).exception()


def _interpreters() -> Any:
    """The module with which Python makes interpreters; its name changed in 3.13."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    return module(name)


@way("a sub-interpreter", hidden=True)
def interpreter(to: Targets) -> object:
    interpreters = _interpreters()
    number = interpreters.create()
    try:
        interpreters.run_string(number, dialling(to))
    finally:
        interpreters.destroy(number)
