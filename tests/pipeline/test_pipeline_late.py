"""What outlives the app's return: it belongs to the trial that began it, or is a finding of that trial's case."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APP = '''
    """Apps that leave something behind when they return."""

    import os
    import queue
    import select
    import socket
    import tempfile
    import threading
    import time
    from concurrent.futures import ThreadPoolExecutor

    HOST = ("models.example.invalid", 443)
    JOBS = queue.Queue()
    POOL = ThreadPoolExecutor(2)
    KEPT = []


    def dial():
        try:
            socket.create_connection(HOST)
        except BaseException:
            pass


    def in_child(word):
        child = os.fork()
        if child == 0:
            dial()
            os._exit(0)
        os.waitpid(child, 0)
        return tempfile.gettempdir()


    def asks_in_child(word, model):
        model("first")
        child = os.fork()
        if child == 0:
            try:
                model("extra")
            except BaseException:
                pass
            os._exit(0)
        os.waitpid(child, 0)
        return word


    def acts_in_child(word, pay):
        child = os.fork()
        if child == 0:
            try:
                pay()
            except BaseException:
                pass
            os._exit(0)
        os.waitpid(child, 0)
        return word


    def paying(trial):
        return {"pay": trial.wrap(lambda: None, "pay")}


    def leaves_child(word):
        if os.fork() == 0:
            select.select([], [], [], 0.2)
            dial()
            os._exit(0)
        return word


    def keeps_child(word):
        if not KEPT:
            KEPT.append(os.pipe())
            if os.fork() == 0:
                os.read(KEPT[0][0], 1)
                os._exit(0)
        return word


    def spins_in_child(word):
        if os.fork() == 0:
            while True:
                len(word)
        return word


    def raises_late(word):
        def fail():
            time.sleep(1)
            raise KeyError(word)

        threading.Thread(target=fail).start()
        return word


    def in_thread(word):
        threading.Thread(target=lambda: (time.sleep(1), dial())).start()
        return word


    def asks_late(word, model):
        def late():
            time.sleep(1)
            model("extra")

        model("first")
        threading.Thread(target=late).start()
        return word


    def asks_in_pool(word, model):
        model("first")
        POOL.submit(lambda: (time.sleep(1), model("extra")))
        return word


    def pooled(word):
        return POOL.submit(str.upper, word).result()


    def _serve():
        while True:
            JOBS.get()()


    def queued(word):
        if not KEPT:
            KEPT.append(threading.Thread(target=_serve, daemon=True))
            KEPT[0].start()
        return word


    def asks_by_queue(word, model):
        queued(word)
        JOBS.put(lambda: (time.sleep(1), model("extra")))
        model("first")
        return word


    def beats(word):
        threading.Thread(target=threading.Event().wait, args=(3600,), daemon=True).start()
        return word


    def ticks(word):
        def tick():
            while True:
                time.sleep(60)

        threading.Thread(target=tick, daemon=True).start()
        return word


    def spins(word):
        def spin():
            while True:
                len(word)

        threading.Thread(target=spin, daemon=True).start()
        return word


    def never_ends(word):
        threading.Thread(target=threading.Event().wait, args=(3600,)).start()
        return word


    def cached(word, model):
        KEPT.append(model)
        return KEPT[0](word).text


    GATE = threading.Event()


    def opens_late(word, model):
        model("first")
        if not KEPT:
            KEPT.append(1)

            def late():
                GATE.wait(3600)
                try:
                    model("late")
                except Exception:
                    pass
                dial()
                DONE.set()

            threading.Thread(target=late, daemon=True).start()
        else:
            GATE.set()
            DONE.wait(60)
        return word


    DONE = threading.Event()


    def swallow(value):
        dial()
        return True
'''

YAML = """
    checks:
      - check: a child dials
        app: shop:in_child
        cases: [{id: "1", input: {word: hi}}]
        expect: [{type: {of: $.output, is: string}}]
      - check: a child dials late
        app: shop:leaves_child
        cases: [{id: "1", input: {word: hi}}]
        expect: [{type: {of: $.output, is: string}}]
      - check: children may idle
        app: shop:keeps_child
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
        runs: 20
      - check: a child is at work
        app: shop:spins_in_child
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a child asks
        app: shop:asks_in_child
        model: {script: [one]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 1}]
      - check: a child acts
        app: shop:acts_in_child
        setup: shop:paying
        cases: [{id: "1", input: {word: hi}}]
        expect: [{effects: []}]
      - check: a thread raises
        app: shop:raises_late
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a thread dials
        app: shop:in_thread
        cases: [{id: "1", input: {word: hi}}]
        expect: [{type: {of: $.output, is: string}}]
      - check: a thread asks
        app: shop:asks_late
        model: {script: [one]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 1}]
      - check: a pool asks
        app: shop:asks_in_pool
        model: {script: [one, two]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 1}]
        runs: 2
      - check: a queue asks
        app: shop:asks_by_queue
        model: {script: [one, two]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 1}]
        runs: 2
      - check: all that is asked late is judged
        app: shop:asks_by_queue
        model: {script: [one, two]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 2}]
        runs: 20
      - check: a pool may idle
        app: shop:pooled
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: HI}}]
        runs: 3
      - check: a queue may idle
        app: shop:queued
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
        runs: 3
      - check: a daemon may wait
        app: shop:beats
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}, {contains: {in: "$.ambient[*].source", all: [thread]}}]
        runs: 3
      - check: a daemon may sleep
        app: shop:ticks
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
        runs: 3
      - check: a thread is at work
        app: shop:spins
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a thread never ends
        app: shop:never_ends
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
      - check: a double of another trial
        app: shop:cached
        model: {script: [{then-always: hi}]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{equals: {of: $.output, to: hi}}]
        runs: 2
      - check: a call in a later trial
        app: shop:opens_late
        model: {script: [one]}
        cases: [{id: "1", input: {word: hi}}]
        expect: [{calls: 1}]
        runs: 2
      - check: a judge dials
        app: shop:queued
        cases: [{id: "1", input: {word: hi}}]
        expect: [{predicate: shop:swallow}]
      - check: a judge of one run of many dials
        app: shop:queued
        cases: [{id: "1", input: {word: hi}}]
        expect: [{predicate: shop:swallow}]
        runs: 3
"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run over all of it."""
    shared.write({"shop.py": APP, "checks/late.yaml": YAML})
    return shared.told("-j", "4")


@pytest.mark.parametrize(
    "name", ["a child dials", "a child dials late", "a thread dials", "a judge dials", "a judge of one run of many dials"]
)
def test_nobody_reaches_the_network_unseen(name: str, told: Told) -> None:
    """A swallowed attempt is a finding: in a child when the folders are named, in a thread that was left, while judging."""
    found = told.one(f"{name}[1]")
    assert (found["code"], found["verdict"], found["place"][0]) == ("NETWORK", "broken", "shop.py")


@pytest.mark.parametrize(("name", "what"), [("a child asks", "a call"), ("a child acts", "the effect 'pay'")])
def test_what_a_child_by_fork_does_is_told(name: str, what: str, told: Told) -> None:
    """Its copy of the record is read by nobody: errored, since what it was told and did was not judged."""
    found = told.one(f"{name}[1]")
    assert (found["code"], found["verdict"], found["message"]) == (
        "CHILD_CALLED",
        "errored",
        f"{what} came from a forked child and was not judged",
    )


def test_a_thread_that_fails_after_the_apps_return_is_heard(told: Told) -> None:
    """What ends it belongs to the trial that it is waited for in."""
    assert told.one("a thread raises[1]")["got"] == "KeyError: 'hi' in shop.py:fail"


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("a thread asks", ["SCRIPT_EXHAUSTED", "CALLS"]),
        ("a pool asks", ["CALLS"]),
        ("a queue asks", ["CALLS"]),
    ],
)
def test_a_call_of_a_thread_that_was_left_belongs_to_its_trial(name: str, codes: list[str], told: Told) -> None:
    """It is waited for, counted and judged: also where an old thread does the work of a later trial."""
    assert told.codes(f"{name}[1]") == codes


@pytest.mark.parametrize(
    "name",
    [
        "all that is asked late is judged",
        "a pool may idle",
        "a queue may idle",
        "a daemon may wait",
        "a daemon may sleep",
        "children may idle",
    ],
)
def test_threads_that_only_wait_are_nobodys_fault(name: str, told: Told) -> None:
    """A pool, a worker at its queue, a daemon that waits or sleeps: the app is good."""
    assert (told.verdict(f"{name}[1]"), told.codes(f"{name}[1]")) == ("kept", [])


@pytest.mark.parametrize(("name", "where"), [("a thread is at work", "shop.py:spin"), ("a thread never ends", "Thread-N")])
def test_a_thread_that_works_on_is_no_verdict(name: str, where: str, told: Told) -> None:
    """What it may still do was not seen: errored, with its place."""
    found = told.one(f"{name}[1]")
    assert (found["code"], found["verdict"]) == ("THREADS_LEFT", "errored")
    assert where in found["message"]


def test_a_child_that_works_on_is_no_verdict(told: Told) -> None:
    """As a thread: errored."""
    found = told.one("a child is at work[1]")
    assert (found["code"], found["verdict"]) == ("CHILDREN_LEFT", "errored")


def test_a_double_of_another_trial_is_told_where_it_is_asked(told: Told) -> None:
    """The app asked it itself: the trial in hand is errored."""
    assert ("NOT_IN_TEST", 1) in [(found["code"], found["seed"]) for found in told.cases["a double of another trial[1]"]["findings"]]


def test_what_comes_after_the_trial_is_told_of_that_trial(told: Told) -> None:
    """A call and an attempt to leave by a thread of trial 0 in trial 1 are findings of trial 0, and trial 1 is none the worse."""
    found = [(each["code"], each["seed"], each["count"]) for each in told.cases["a call in a later trial[1]"]["findings"]]
    assert sorted(found) == [("AFTER_RETURN", 0, 1), ("NETWORK", 0, 1)]
