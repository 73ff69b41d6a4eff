"""The help desk by itself, with hand-written stubs: what its own authors would test."""

from __future__ import annotations

import ast
import json
import random
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from checks.helpdesk import agent, answers, desk, errors, intake, library, notify, pricing, prompts, quota, retry, routing, tickets, triage
from checks.helpdesk.client import Budget, Client
from checks.helpdesk.fakes import DriftyModel, UpperBound
from checks.helpdesk.llm import Completion, Message, Tool, ToolCall, Usage
from checks.helpdesk.retrieval import Index, index
from checks.helpdesk.usage import SqliteLedger, row

FOLDER = Path(library.__file__).parent
GOOD = '{"answer": "Within 30 days.", "cites": ["d1"]}'


class Stub:
    """Answers what it was given, in order; an exception is raised."""

    def __init__(self, *steps: str | Completion | Exception) -> None:
        self.steps = list(steps)
        self.asked: list[dict[str, Any]] = []

    def complete(self, messages: list[Message], *, max_tokens: int = 512, tools: list[Tool] | tuple[Tool, ...] = ()) -> Completion:
        self.asked.append({"messages": list(messages), "max_tokens": max_tokens, "tools": list(tools)})
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Completion) else Completion(step, usage=Usage(100, 20))


def test_the_app_knows_nothing_of_invcheck() -> None:
    """No module of the help desk imports invcheck, or names it."""
    files = sorted(FOLDER.rglob("*.py"))
    assert len(files) > 15
    for file in files:
        imported = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert "invcheck" not in "".join(map(ast.unparse, imported)), file.name


def test_its_modules_are_small() -> None:
    """No module of the help desk has more than 200 lines."""
    assert max(len(file.read_text().splitlines()) for file in FOLDER.rglob("*.py")) <= 200


# retry


@pytest.mark.parametrize(
    ("steps", "calls", "waits"),
    [
        ([errors.RateLimited("429"), TimeoutError(), GOOD], 3, [0.5, 1.0]),
        ([errors.RateLimited("429")] * 3 + [GOOD], 4, [0.5, 1.0, 2.0]),
        ([ConnectionError(), GOOD], 2, [0.5]),
        ([GOOD], 1, []),
    ],
)
def test_retriable_failures_are_waited_out(steps: list[Any], calls: int, waits: list[float]) -> None:
    """The policy: 4 tries, base 0.5, full jitter; the injected jitter gives the upper bound."""
    model, slept = Stub(*steps), list[float]()
    assert answers.answer("Refund?", ["d1"], model, [], sleep=slept.append, rng=UpperBound()) == GOOD
    assert (len(model.asked), slept) == (calls, waits)


def test_the_fourth_failure_leaves() -> None:
    """429 four times: 4 calls, three waits, and the error of the last."""
    model, slept = Stub(*[errors.RateLimited(str(n)) for n in range(4)]), list[float]()
    with pytest.raises(errors.RateLimited, match="3"):
        answers.answer("Refund?", ["d1"], model, [], sleep=slept.append, rng=UpperBound())
    assert (len(model.asked), slept) == (4, [0.5, 1.0, 2.0])


def test_waits_are_capped_and_jitter_is_full() -> None:
    """The bound doubles up to 8 seconds, and a seeded jitter stays between 0 and it."""
    assert [retry.STANDARD.bound(n) for n in range(6)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    slept: list[float] = []
    model = Stub(*[TimeoutError()] * 3, GOOD)
    answers.answer("Refund?", ["d1"], model, [], sleep=slept.append, rng=random.Random(1))
    assert all(0 <= wait <= bound for wait, bound in zip(slept, [0.5, 1.0, 2.0], strict=True))
    assert slept != [0.5, 1.0, 2.0]


def test_a_bad_request_is_not_tried_again() -> None:
    """400: one call, no wait, no row."""
    model, ledger, slept = Stub(errors.BadRequest("prompt too long")), list[dict[str, Any]](), list[float]()
    with pytest.raises(errors.BadRequest, match="prompt too long"):
        answers.answer("Refund?", ["d1"], model, ledger, sleep=slept.append)
    assert (len(model.asked), slept, ledger) == (1, [], [])


# answers


@pytest.mark.parametrize(
    ("second", "shown", "ok"),
    [
        ("Within 30 days.", "Within 30 days.", False),
        ('{"answer": "Wit', answers.SORRY, False),
        ("", answers.SORRY, False),
        (GOOD, GOOD, True),
    ],
)
def test_half_a_json_is_asked_for_once_more(second: str, shown: str, ok: bool) -> None:
    """The second request carries the half and asks for the whole; what is no JSON then is shown as plain text."""
    model, ledger = Stub('{"answer": "Within 3', second), list[dict[str, Any]]()
    assert answers.answer("Refund?", ["d1"], model, ledger) == shown
    assert [message.content for message in model.asked[1]["messages"][-2:]] == ['{"answer": "Within 3', prompts.render("again")]
    assert [entry["ok"] for entry in ledger] == [False, ok]


@pytest.mark.parametrize(
    "text",
    ['["answer"]', '{"answer": "a"}', '{"answer": 1, "cites": []}', '{"answer": "a", "cites": "d1"}', '{"answer": "a", "cites": [1]}'],
)
def test_json_of_another_shape_is_no_answer(text: str) -> None:
    """Only an object of a text and a list of texts is an answer."""
    model = Stub(text, GOOD)
    assert answers.answer("Refund?", ["d1"], model, []) == GOOD


@pytest.mark.parametrize(
    ("question", "ids", "error"),
    [("Refund?", ["d1", "g1"], errors.Forbidden), ("Refund?", ["nothing"], errors.Forbidden), ("x" * 2001, ["d1"], errors.TooLarge)],
)
def test_refusals_come_before_the_model(question: str, ids: list[str], error: type[Exception]) -> None:
    """Another tenant's document, an unknown one and a question of 2,001 characters cost no call."""
    model = Stub()
    with pytest.raises(error):
        answers.answer(question, ids, model, [])
    assert model.asked == []


def test_the_longest_question_is_answered() -> None:
    """2,000 characters are not too many."""
    assert answers.answer("x" * 2000, ["d1"], Stub(GOOD), []) == GOOD


def test_the_budget_stops_before_the_call() -> None:
    """Budget 360, replies of 120 tokens: three are served, the fourth question is not asked."""
    model, ledger = Stub(GOOD, GOOD, GOOD), list[dict[str, Any]]()
    batch = answers.answer_all(["a", "b", "c", "d", "e"], ["d1"], model, ledger, budget=360)
    assert batch == {"answers": [GOOD] * 3, "refused": ["d", "e"]}
    assert len(ledger) == 3
    assert answers.answer_all(["a"], ["d1"], Stub(GOOD), [], budget=360)["refused"] == []


def test_a_reply_without_usage_costs_nothing() -> None:
    """A provider that tells no tokens is booked with none."""
    ledger: list[dict[str, Any]] = []
    client = Client(Stub(Completion("hi")), ledger, budget=Budget(10))
    client.ask("qa", [Message("user", "hello")])
    assert ledger == [{"feature": "qa", "ok": True, "tokens": 0, "cost": "0.000000"}]


def test_drifty_answers() -> None:
    """Random(7), one question, 200 answers: 134 distinct; five questions in turn: 182; a new instance a call: 1."""
    model, ids = DriftyModel(7), ["d1", "d2", "d3"]
    assert len({answers.answer("Refund?", ids, model, []) for _ in range(200)}) == 134
    model = DriftyModel(7)
    assert len({answers.answer(f"Refund {n % 5}?", ids, model, []) for n in range(200)}) == 182
    assert len({answers.answer("Refund?", ids, DriftyModel(7), []) for _ in range(200)}) == 1


# triage


@pytest.mark.parametrize(("reply", "label"), [("  Billing\n", "billing"), ("ACCOUNT", "account"), ("complaint", "other"), ("", "other")])
def test_labels_are_normalised(reply: str, label: str) -> None:
    """Blanks and case do not matter; what is no label of ours is other."""
    model = Stub(reply)
    assert triage.triage("card declined", model, []) == label
    assert model.asked[0]["max_tokens"] == 8
    assert model.asked[0]["messages"][-1] == Message("user", "card declined")


def test_half_a_label_is_an_error() -> None:
    """A reply cut at the limit is told as truncated, even when what is left is a label."""
    ledger: list[dict[str, Any]] = []
    with pytest.raises(errors.Truncated, match="truncated at 8 tokens"):
        triage.triage("card declined", Stub(Completion("billing", finish="length")), ledger)
    assert [entry["ok"] for entry in ledger] == [False]


def test_the_same_ticket_is_asked_for_once() -> None:
    """A request with a ticket twice costs one call for it; the next request asks anew."""
    model = Stub("billing", "shipping", "billing")
    assert triage.triage_all(["a", "b", "a"], model, []) == ["billing", "shipping", "billing"]
    assert triage.triage_all(["a"], model, []) == ["billing"]


def test_a_large_ticket_is_refused() -> None:
    """4,000 characters are labelled, 4,001 refused without a call."""
    assert triage.triage("x" * 4000, Stub("billing"), []) == "billing"
    with pytest.raises(errors.TooLarge):
        triage.triage("x" * 4001, Stub(), [])


@pytest.mark.parametrize(("label", "team"), [("billing", "finance"), ("shipping", "warehouse"), ("other", "front desk")])
def test_a_label_has_a_team(label: str, team: str) -> None:
    """Every label of ours has its team, anything else the front desk."""
    assert routing.team(label) == team


# intake


def test_one_ticket_per_key(tmp_path: Path) -> None:
    """The same key three times: one ticket, one call, one row."""
    store, model, ledger = tickets.TicketStore(tmp_path / "t.sqlite"), Stub("billing"), list[dict[str, Any]]()
    made = [intake.submit("k1", "card declined", store, model, ledger) for _ in range(3)]
    assert made == [tickets.Ticket("k1", "card declined", "billing", "finance")] * 3
    assert len(ledger) == 1


def test_of_two_with_one_key_the_first_is_kept(tmp_path: Path) -> None:
    """A second ticket that was sorted at the same time does not replace the first."""
    store = tickets.TicketStore(tmp_path / "t.sqlite")
    first = tickets.Ticket("k", "a", "billing", "finance")
    assert store.add(first) == store.add(tickets.Ticket("k", "b", "other", "front desk")) == first


def test_a_bad_request_is_a_dead_letter(tmp_path: Path) -> None:
    """400: buried at once, no second call, no ticket."""
    store, model = tickets.TicketStore(tmp_path / "t.sqlite"), Stub(errors.BadRequest("no"))
    assert intake.submit("k1", "card declined", store, model, []) is None
    assert store.find("k1") is None
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        assert connection.execute("SELECT * FROM dead_letter").fetchall() == [("k1", "card declined", "no")]


# desk, quota, retrieval


def test_the_desk_counts_searches_and_answers(tmp_path: Path) -> None:
    """A question that a document speaks of costs one request of the quota and one call; another none of the latter."""
    counter, model, ledger = quota.Quota(tmp_path / "q.sqlite", limit=2), Stub(GOOD), list[dict[str, Any]]()
    assert desk.ask("How do refunds work?", "acme", quota=counter, model=model, ledger=ledger) == GOOD
    assert desk.ask("???", "acme", quota=counter, model=model, ledger=ledger) == answers.SORRY
    with pytest.raises(errors.QuotaExceeded, match="all of its 2 requests"):
        desk.ask("How do refunds work?", "acme", quota=counter, model=model, ledger=ledger)
    assert len(model.asked) == 1


def test_quota_is_per_tenant(tmp_path: Path) -> None:
    """One tenant's requests do not count for another."""
    counter = quota.Quota(tmp_path / "q.sqlite", limit=1)
    assert (counter.take("acme"), counter.take("globex")) == (1, 1)


def test_search_stays_with_the_tenant() -> None:
    """Each tenant finds its own documents; words of an operator are only words."""
    assert index().search("refund", "acme")[0] in {"d1", "d2", "d3"}
    assert index().search("refund", "globex") == []
    assert index().search('warranty" OR tenant:acme NOT', "globex") == ["g2"]
    assert index().search("!?", "acme") == []
    assert index().search("How long is the warranty of a machine?", "acme") == []
    assert index().search("How long is the warranty of a machine?", "globex")[0] == "g2"
    assert Index([]).search("refund", "acme") == []


def test_documents_of_both_tenants() -> None:
    """At least eight documents, two tenants, and no id twice."""
    documents = library.library().all()
    assert len(documents) == len(list(library.FOLDER.glob("*.md"))) >= 8
    assert {document.tenant for document in documents} == {"acme", "globex"}


@pytest.mark.parametrize(
    "text", ["no head", "---\nid: a\ntenant: b\n---\n", "---\nid: a\ntenant: b\ntitle: c\n", "x---\nid: a\ntenant: b\ntitle: c\n---\n"]
)
def test_a_document_without_its_head_is_refused(text: str, tmp_path: Path) -> None:
    """A head that is missing, not closed or incomplete is an error with the file's name."""
    (tmp_path / "broken.md").write_text(text)
    with pytest.raises(ValueError, match=r"broken\.md"):
        library.read(tmp_path / "broken.md")


# agent


def call(amount: object, name: str = "refund", **more: object) -> Completion:
    """A reply that calls a tool."""
    return Completion("", "tool_calls", Usage(100, 20), (ToolCall("c1", name, {"order": "A-17", "amount": amount, **more}),))


def test_the_agent_refunds_and_says_so() -> None:
    """Two turns: the tool is called between them, each reply has its row."""
    model, ledger, paid = Stub(call("25.00"), "Done."), list[dict[str, Any]](), list[dict[str, str]]()
    said = agent.settle("My lamp is broken.", model, ledger, lambda **given: paid.append(given))
    assert (said, paid) == ("Done.", [{"order": "A-17", "amount": "25.00"}])
    assert [entry["feature"] for entry in ledger] == ["agent", "agent"]
    assert model.asked[1]["messages"][-1] == Message("tool", "done", tool_call_id="c1")


@pytest.mark.parametrize("reply", [call(25), call("25"), call("25.00", note="x"), call("25.00", name="pay"), call("25.00\n")])
def test_an_invalid_tool_call_pays_nothing(reply: Completion) -> None:
    """A wrong amount, a further argument or another tool is told to the model, and nothing is paid."""
    paid: list[dict[str, str]] = []
    assert agent.settle("Broken.", Stub(reply, "Sorry."), [], lambda **given: paid.append(given)) == "Sorry."
    assert paid == []


def test_the_agent_gives_up() -> None:
    """Four turns without an end are enough."""
    assert agent.settle("Broken.", Stub(*[call("1")] * 4), [], lambda **_: None) == agent.GAVE_UP


# the rest


def test_prices_are_exact() -> None:
    """100 and 20 tokens at 3 and 15 dollars for a million: 0.0006 dollars."""
    assert pricing.cost(Usage(100, 20)) == Decimal("0.000600")
    assert pricing.cost(Usage(1, 0), "small") == Decimal("0.000000")
    with pytest.raises(KeyError):
        pricing.cost(Usage(), "large")


def test_the_sqlite_ledger_keeps_rows(tmp_path: Path) -> None:
    """A second ledger over the same file goes on, and cost stays text."""
    for ok in (True, False):
        SqliteLedger(tmp_path / "u.sqlite").append(row("qa", Completion(usage=Usage(100, 20)), ok=ok))
    with closing(sqlite3.connect(tmp_path / "u.sqlite")) as connection:
        assert connection.execute("SELECT feature, ok, tokens, cost FROM usage").fetchall() == [
            ("qa", 1, 120, "0.000600"),
            ("qa", 0, 120, "0.000600"),
        ]


def test_a_prompt_without_a_value_is_an_error() -> None:
    """StrictUndefined: a missing variable is no empty text."""
    with pytest.raises(UndefinedError, match="labels"):
        prompts.render("triage")
    assert json.dumps(prompts.render("triage", labels=["a", "b"])).endswith('nothing else: a, b."')


@pytest.mark.parametrize(("failures", "tries", "waits"), [(0, 1, []), (1, 2, [2.0]), (2, 3, [2.0, 4.0])])
def test_mail_is_posted_again(failures: int, tries: int, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A relay that is down is tried three times."""
    slept: list[float] = []
    monkeypatch.setattr(notify.time, "sleep", slept.append)
    left = iter([ConnectionError()] * failures)

    def post(_team: str, _text: str) -> None:
        for error in left:
            raise error

    assert notify.notify("finance", "hello", post) == tries
    assert slept == waits
