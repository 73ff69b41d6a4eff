"""Questions, answered from documents that the answer cites."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from typing import TypedDict

from checks.helpdesk.client import Budget, Client
from checks.helpdesk.errors import BudgetSpent, TooLarge
from checks.helpdesk.library import library
from checks.helpdesk.llm import ChatModel, Completion, Message
from checks.helpdesk.prompts import render
from checks.helpdesk.retry import Jitter
from checks.helpdesk.usage import Ledger

LONGEST_QUESTION = 2_000
SORRY = "I could not find a clear answer. A colleague will write to you."


class Batch(TypedDict):
    """Answers to the questions that the budget was enough for, and the questions that it was not."""

    answers: list[str]
    refused: list[str]


def answer(
    question: str,
    doc_ids: Sequence[str],
    model: ChatModel,
    ledger: Ledger,
    tenant: str = "acme",
    sleep: Callable[[float], object] = time.sleep,
    rng: Jitter = random,
) -> str:
    """Give the answer as JSON text, ``{"answer": ..., "cites": [...]}``; plain text where the model gave no JSON twice.

    Forbidden where a document is not the tenant's and TooLarge where the question is too long, before the model is asked.
    """
    return _answer(question, doc_ids, Client(model, ledger, sleep, rng), tenant)


def answer_all(questions: Sequence[str], doc_ids: Sequence[str], model: ChatModel, ledger: Ledger, budget: int) -> Batch:
    """Answer one question after the other until ``budget`` tokens are used up."""
    client = Client(model, ledger, budget=Budget(budget))
    done: Batch = {"answers": [], "refused": []}
    for number, question in enumerate(questions):
        try:
            done["answers"].append(_answer(question, doc_ids, client, "acme"))
        except BudgetSpent:
            done["refused"] = list(questions[number:])
            break
    return done


def _answer(question: str, doc_ids: Sequence[str], client: Client, tenant: str) -> str:
    if len(question) > LONGEST_QUESTION:
        raise TooLarge(f"a question has at most {LONGEST_QUESTION} characters, this one has {len(question)}")
    documents = library().pick(doc_ids, tenant)
    messages = [
        Message("system", render("answer", tenant=tenant, documents=documents)),
        Message("user", question),
    ]
    first = client.ask("qa", messages, accept=_is_answer)
    if _is_answer(first):
        return first.text
    messages += [Message("assistant", first.text), Message("user", render("again"))]
    second = client.ask("qa", messages, accept=_is_answer)
    return second.text if _is_answer(second) else _plain(second.text)


def _is_answer(completion: Completion) -> bool:
    try:
        value = json.loads(completion.text)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and value.keys() == {"answer", "cites"}
        and isinstance(value["answer"], str)
        and isinstance(value["cites"], list)
        and all(isinstance(each, str) for each in value["cites"])
    )


def _plain(text: str) -> str:
    """What a customer can read of it: prose is shown, the rest of a broken JSON is not."""
    prose = text.strip()
    return SORRY if not prose or prose.startswith(("{", "[", "`")) else prose
