"""All chance of a trial comes from its seed; a user's own seeded Random is never touched."""

import json
import os
import pickle
import random
import secrets
import subprocess
import sys
import tempfile
import textwrap
import uuid
from collections.abc import Callable
from pathlib import Path
from random import random as captured_random

import pytest

from invcheck.record import Record
from invcheck.sandbox import box, chance

HERE = "tests/sandbox/test_sandbox_chance.py"


def _bare() -> dict[str, str]:
    """An environment for a Python that imports nothing at its start (-S), and still finds what is installed."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


SOURCES: dict[str, Callable[[], object]] = {
    "random.random": random.random,
    "random.sample": lambda: random.sample(range(1000), 5),
    "random.gauss": lambda: random.gauss(0, 1),
    "a captured name": captured_random,
    "an unseeded Random": lambda: random.Random().random(),
    "random.seed()": lambda: (random.seed(), random.random()),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "secrets": lambda: secrets.token_hex(8),
    "os.urandom": lambda: os.urandom(8),
    "os.getrandom": lambda: os.getrandom(8),
    "uuid4": uuid.uuid4,
    "uuid1": lambda: (uuid.uuid1(),),
    "getnode": lambda: (uuid.getnode(),),
    "a temp name": lambda: Path(tempfile.mktemp()).name,  # the name is the point
}


def drawn(seed: int, source: Callable[[], object]) -> object:
    """Draw twice in a trial of its own."""
    with box.trial(Record(seed)):
        return source(), source()


@pytest.mark.parametrize("name", SOURCES)
def test_equal_seeds_draw_the_same_and_other_seeds_do_not(name: str) -> None:
    """A trial's randomness is a function of its seed, whatever ran before it; unseeded, outside, it is not."""
    source = SOURCES[name]
    first = drawn(7, source)
    random.random()
    drawn(9, lambda: [one() for one in SOURCES.values()])
    assert drawn(7, source) == first
    assert drawn(8, source) != first


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "getnode"])
def test_outside_of_a_trial_nothing_is_seeded(name: str) -> None:
    """The negative twin: the same draws differ outside."""
    assert SOURCES[name]() != SOURCES[name]()


def test_two_draws_of_one_trial_differ() -> None:
    """A stream, not a constant."""
    for name in ("uuid4", "os.urandom", "an unseeded Random", "uuid1"):
        first, second = drawn(7, SOURCES[name])  # type: ignore[misc]  # a pair
        assert first != second


def test_uuids_are_well_formed() -> None:
    """Versions 4 and 1 as RFC 9562 has them; the made-up node is marked as no card's (its multicast bit)."""
    with box.trial(Record(1)):
        four, one = uuid.uuid4(), uuid.uuid1()
        assert (four.version, one.version) == (4, 1)
        assert one.node >> 40 & 1
        assert one.node == uuid.getnode()
        assert uuid.uuid1(node=5, clock_seq=6).node == 5
        assert uuid.uuid1(node=5, clock_seq=6).clock_seq == 6


def test_a_seeded_random_of_the_user_is_untouched() -> None:
    """Random(7) gives what Python documents as stable, in a trial as outside: its first number is 0.3238..."""
    expected = [random.Random(7).random(), random.Random("seven").random()]
    with box.trial(Record(1)):
        assert [random.Random(7).random(), random.Random("seven").random()] == expected
        own = random.Random()
        own.seed(7)
        assert own.random() == expected[0]
        own.seed("seven", version=2)
        assert own.random() == expected[1]
        random.seed(7)
        assert random.random() == expected[0]


def test_the_state_outside_is_put_back() -> None:
    """Numbers drawn around a trial are those that would have been drawn without it."""
    random.seed(42)
    expected = [random.random() for _ in range(4)]
    random.seed(42)
    got = [random.random()]
    with box.trial(Record(1)):
        random.random()
    got.append(random.random())
    with box.trial(Record(2)):
        pass
    with box.trial(Record(3)):
        random.random()
    got += [random.random(), random.random()]
    assert got == expected


def test_reads_are_noted_with_their_place() -> None:
    """Which source, and which function of the project; not the draws of a library, nor a seeded Random."""
    record = Record()

    def token() -> str:
        return secrets.token_hex(4)

    with box.trial(record):
        token()
        token()
        uuid.uuid4()
        random.random()
        random.Random().random()
        random.Random(7).random()
        tempfile.mkdtemp()
    own = f"{HERE}:test_reads_are_noted_with_their_place"
    assert record.ambient == {("entropy", f"{HERE}:token"): 2, ("entropy", own): 1, ("random", own): 2}


def test_odd_sizes_are_the_systems_business() -> None:
    """No bytes is no bytes; a negative count is refused as ever."""
    with box.trial(Record()):
        assert os.urandom(0) == os.getrandom(0) == b""
        for draw in (os.urandom, os.getrandom):
            with pytest.raises((ValueError, OSError)):
                draw(-1)
    assert len(os.getrandom(3)) == 3


def test_an_import_draws_real_entropy() -> None:
    """What a library draws while it is imported would be seen by the first trial only, so it is not the trial's."""
    program = textwrap.dedent("""
        import sys
        from invcheck.sandbox import box, chance
        from invcheck.record import Record
        box.install(sys.argv[1], armed=False)
        sys.path.insert(0, sys.argv[1])
        import os
        def drawn():
            with box.trial(Record(1)):
                import drawing
                return os.urandom(4), __import__("random").Random().random(), str(__import__("uuid").uuid4())
        assert drawn() == drawn()
    """)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "drawing.py").write_text("import os, random\nos.urandom(9)\nrandom.Random()\n")
        subprocess.run([sys.executable, "-c", program, folder], check=True)  # our own interpreter


def test_a_module_that_a_trial_imports_first_is_seeded_too() -> None:
    """`import random` inside the app's function: the first trial of a worker sees what every later one sees."""
    program = textwrap.dedent("""
        import sys
        from invcheck.sandbox import box
        from invcheck.record import Record
        box.install(sys.argv[1], armed=False)
        assert not {"random", "secrets", "tempfile"} & set(sys.modules)
        def drawn():
            with box.trial(Record(1)):
                import random, secrets, tempfile, uuid
                name = tempfile.mktemp()
                return random.random(), secrets.token_hex(4), str(uuid.uuid1()), str(uuid.uuid4()), random.Random().random(), name
        first = drawn()
        assert drawn() == first
        assert __import__("random").random() != first[0]
    """)
    done = subprocess.run([sys.executable, "-S", "-c", program, str(Path(__file__).parent)], check=False, env=_bare())
    assert done.returncode == 0


@pytest.mark.parametrize(
    "take", ["import random; draw = random.Random.random", "from random import random; draw = lambda hidden: random()"]
)
@pytest.mark.parametrize("before", [True, False])
def test_whoever_holds_the_hidden_instance_draws_what_everybody_draws(take: str, before: bool) -> None:
    """It is seeded when somebody draws; where that cannot be seen (its own method, a name taken early), when a trial begins."""
    program = textwrap.dedent(f"""
        import sys
        if {before}:
            {take}
        from invcheck.sandbox import box
        from invcheck.record import Record
        box.install(sys.argv[1], armed=False)
        import random as module
        {take}
        def drawn(draw):
            with box.trial(Record(1)):
                return draw()
        outside = module.getstate()
        usual = drawn(module.random)
        assert drawn(lambda: draw(module._inst)) == usual
        hidden = module._inst
        assert drawn(lambda: draw(hidden)) == drawn(lambda: module.setstate(module.getstate()) or draw(hidden)) == usual
        assert module.getstate() == outside
    """)
    done = subprocess.run([sys.executable, "-S", "-c", program, str(Path(__file__).parent)], check=False, env=_bare())
    assert done.returncode == 0


def test_the_functions_pickle_and_show_their_signature() -> None:
    """`random.choice` handed to a pool travels by its name, as the real one does."""
    assert pickle.loads(pickle.dumps(random.choice)) is random.choice  # our own bytes
    assert random.choice.__name__ == random.choice.__qualname__ == "choice"


def test_installing_again_changes_nothing() -> None:
    """A second install in one process does not wrap twice."""
    before = random.random, os.urandom, uuid.uuid1
    box.install(Path(__file__).parents[2], armed=False)
    assert (random.random, os.urandom, uuid.uuid1) == before
    assert os.urandom is chance.urandom


def test_chance_outside_of_trials_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any trial drew, the module's numbers are those of its seed, and nothing is put back."""
    monkeypatch.setattr(chance, "_spent", False)
    random.seed(3)
    assert [random.random(), random.random()] == [(own := random.Random(3)).random(), own.random()]


def test_what_was_not_imported_is_not_imported_to_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial's end passes over tempfile and uuid where the app never needed them."""
    for name in ("tempfile", "uuid"):
        monkeypatch.delitem(sys.modules, name)
    chance.end(chance.begin(1))
    assert not sys.modules.keys() & {"tempfile", "uuid"}


def test_a_look_at_the_state_is_no_draw() -> None:
    """Whoever saves the generator's state and puts it back has taken no number: nothing is noted, until one is."""
    record = Record(5)
    with box.trial(record):
        random.setstate(random.getstate())
        assert record.ambient == {}
        random.random()
    assert [source for source, _ in record.ambient] == ["random"]


def test_the_names_of_temp_folders_are_functions_of_seed_and_entropy(tmp_path: Path) -> None:
    """Fresh processes with the same seed make folders of the same names, also with other random numbers; other entropy makes others."""
    program = textwrap.dedent("""
        import json, sys
        from invcheck.sandbox import box, chance
        from invcheck.record import Record
        box.install(sys.argv[1], armed=False)
        ways = json.loads(sys.argv[2])
        with chance.salted(*ways), box.trial(Record(7)):
            import os.path, tempfile
            print(*(os.path.basename(tempfile.mkdtemp()) for _ in range(2)))
    """)

    def names(random: int | None = None, entropy: int | None = None) -> str:
        folder = tempfile.mkdtemp(dir=tmp_path)
        told = subprocess.run(
            [sys.executable, "-c", program, folder, json.dumps([random, entropy])],
            check=True, env=os.environ | {"TMPDIR": folder}, capture_output=True, text=True,
        )  # fmt: skip
        assert {*told.stdout.split()} == {path.name for path in Path(folder).iterdir()}
        return told.stdout

    assert names() == names() == names(random=0)
    assert len({names(), names(entropy=0), names(entropy=1)}) == 3
