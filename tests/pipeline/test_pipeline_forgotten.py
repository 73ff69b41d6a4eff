"""A history that forgets, in a run."""

from __future__ import annotations

from tests.pipeline.conftest import Shop


def test_a_trial_whose_calls_were_forgotten_is_errored(shop: Shop) -> None:
    """What is gone cannot be judged, so no claim over it may be kept: exit 3."""
    shop.write(
        {
            "checks/check_keep.py": """
                from invcheck import Calls, ScriptedModel, check

                @check(expect=[Calls(2)])
                def bounded(trial):
                    model = ScriptedModel("a", "b", keep=1)
                    return [model("x").text, model("y").text]

                @check(expect=[Calls(attempted=2, asked=2)])
                def wide(trial):
                    model = ScriptedModel("a", "b", keep=2)
                    return [model("x").text, model("y").text]
            """
        }
    )
    told = shop.told()
    assert told.status == 3
    assert {name.partition("[")[0]: case["verdict"] for name, case in told.cases.items()} == {"bounded": "errored", "wide": "kept"}
    assert "HISTORY_FORGOTTEN" in told.out
