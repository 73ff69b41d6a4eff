"""When a model is asked again: 4 tries, base 0.5 seconds, cap 8, full jitter; 429, timeouts and broken connections only."""

from __future__ import annotations

from typing import Any

from checks.doubles import scripted
from checks.helpdesk.answers import answer
from checks.helpdesk.fakes import UpperBound
from checks.helpdesk.notify import notify
from checks.helpdesk.retry import Jitter
from invcheck import Between, Calls, Effects, Equals, Fault, LedgerRows, Raises, Trial, Waits, check

GOOD = '{"answer": "Within 30 days.", "cites": ["d1"]}'
BUSY, SLOW, GONE = Fault("rate-limit"), Fault("timeout"), Fault("connection")


def ask(trial: Trial, rng: Jitter, *steps: Any) -> str:
    """One question to a model that answers so."""
    return answer("How do I get a refund?", ["d1"], scripted(*steps), trial.ledger, sleep=trial.sleep, rng=rng)


@check(expect=[Calls(attempted=3, served=1, failed=2), Waits([0.5, 1.0]), Equals("$.output", GOOD), LedgerRows(count=1)])
def busy_then_slow_then_answered(trial: Trial) -> str:
    return ask(trial, UpperBound(), BUSY, SLOW, GOOD)


@check(expect=[Calls(4), Waits([0.5, 1.0, 2.0]), Equals("$.output", GOOD), Equals("$.elapsed", 3.5)])
def busy_three_times_then_answered(trial: Trial) -> str:
    return ask(trial, UpperBound(), BUSY, BUSY, BUSY, GOOD)


@check(expect=[Raises("RateLimited", calls=4), Calls(4), Waits([0.5, 1.0, 2.0]), LedgerRows(count=0)])
def busy_four_times_is_given_up(trial: Trial) -> str:
    return ask(trial, UpperBound(), BUSY, BUSY, BUSY, BUSY)


@check(expect=[Calls(2), Waits([0.5]), Equals("$.output", GOOD)])
def a_broken_connection_is_tried_again(trial: Trial) -> str:
    return ask(trial, UpperBound(), GONE, GOOD)


@check(expect=[Raises("BadRequest", calls=1, match="prompt too long"), Calls(1), Waits([]), LedgerRows(count=0)])
def a_bad_request_is_not_tried_again(trial: Trial) -> str:
    return ask(trial, UpperBound(), Fault("bad-request", "prompt too long"))


@check(
    runs=100,
    expect=[
        Calls(4),
        Waits(count=3),
        Between("$.waits[0]", 0, 0.5),
        Between("$.waits[1]", 0, 1.0),
        Between("$.waits[2]", 0, 2.0),
    ],
)
def jitter_stays_below_its_bound(trial: Trial) -> str:
    return ask(trial, trial.rng, BUSY, BUSY, BUSY, GOOD)


@check(expect=[Waits([2.0, 4.0]), Effects(["mail", "mail", "mail"]), Equals("$.output", 3)])
def mail_is_posted_again_although_its_waits_are_written_out(trial: Trial) -> int:
    """The app calls time.sleep itself; no real second passes."""
    down = iter([ConnectionError("relay is down"), ConnectionError("relay is down")])

    def post(team: str, text: str) -> None:
        trial.effect("mail", team=team, text=text)
        for error in down:
            raise error

    return notify("finance", "A ticket waits for you.", post)
