"""The Python that runs a check: its asserts are on, and sets are iterated in the same order every time."""

from __future__ import annotations

import pytest

from invcheck import _trial
from invcheck.errors import Unevaluated
from invcheck.suite import Case, Check
from invcheck.vocabulary import Place
from tests.pipeline.conftest import Shop

CHECK = """
    from invcheck import Calls, check


    @check(expect=[Calls(0)])
    def holds(trial):
        assert 1 == 2
"""

ORDER = """
    from invcheck import Equals, check


    @check(expect=[Equals("$.output", 0)])
    def order(trial):
        return "".join({f"doc-{n}" for n in range(20)})
"""


@pytest.mark.parametrize("level", ["1", "2"])
def test_an_assert_holds_where_the_environment_switches_asserts_off(level: str, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONOPTIMIZE is not the worker's."""
    shop.write({"checks/check_a.py": CHECK})
    monkeypatch.setenv("PYTHONOPTIMIZE", level)
    assert shop.told().codes("holds[default]")[0] == "ASSERT"


def test_a_python_without_asserts_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where asserts are off all the same, a check is refused, never kept."""
    place = Place("checks/a.yaml")
    one = Check("a", "checks/a.yaml", place, (Case("one"),), app="operator:neg")
    monkeypatch.setattr(_trial, "OPTIMIZED", True)
    with pytest.raises(Unevaluated, match="asserts are switched off") as refused:
        _trial.subject(one)
    assert refused.value.code == "ASSERTS_OFF"


def test_the_order_of_a_set_is_the_same_in_every_run(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a seed shows a finding again on every machine, unless the user has set another hash seed."""
    shop.write({"checks/check_a.py": ORDER})
    got = []
    for seed in (None, None, "random", "0", "1"):
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
        if seed is not None:
            monkeypatch.setenv("PYTHONHASHSEED", seed)
        got.append(shop.told().one("order[default]")["got"])
    assert got[0] == got[1] == got[2] == got[3] != got[4]


def test_a_hash_seed_of_the_users_own_stands_in_the_replay_line(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it another order of a set would be replayed; ours need not be said."""
    shop.write({"checks/check_a.py": ORDER})
    for seed, said in (("7", "PYTHONHASHSEED=7 invcheck run"), ("0", "invcheck run"), ("random", "invcheck run")):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert shop.run().line("replay").removeprefix("replay").strip().startswith(said)
