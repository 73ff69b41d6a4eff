"""Answers that lean on the order in which threads and tasks come to their turn."""

import asyncio
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def collected(name: str) -> Any:
    found = []
    threads = [threading.Thread(target=found.append, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def fetched(name: str) -> Any:
    done = []

    def fetch(source: str) -> None:
        time.sleep(0.25)
        done.append(source)

    with ThreadPoolExecutor(4) as pool:
        for source in ("wiki", "mail", "crm", "docs"):
            pool.submit(fetch, source)
    return done


def shared_queue(name: str) -> Any:
    jobs, taken = queue.Queue(), []
    for job in range(4):
        jobs.put(job)

    def work(own: str) -> None:
        while not jobs.empty():
            taken.append([own, jobs.get()])
            time.sleep(1)

    threads = [threading.Thread(target=work, args=(own,)) for own in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


async def gathered(name: str) -> Any:
    done = []

    async def ask(source: str) -> None:
        await asyncio.sleep(1)
        done.append(source)

    await asyncio.gather(*(ask(source) for source in ("wiki", "mail", "crm")))
    return done
