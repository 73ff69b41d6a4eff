"""The front door for questions: quota, retrieval, answer."""

from __future__ import annotations

from checks.helpdesk.answers import SORRY, answer
from checks.helpdesk.llm import ChatModel
from checks.helpdesk.quota import Quota
from checks.helpdesk.retrieval import index
from checks.helpdesk.usage import Ledger


def ask(question: str, tenant: str, *, quota: Quota, model: ChatModel, ledger: Ledger) -> str:
    """Give the answer to a tenant's question; QuotaExceeded before anything else is done.

    Where no document speaks of it, the model is not asked.
    """
    quota.take(tenant)
    found = index().search(question, tenant)
    return answer(question, found, model, ledger, tenant) if found else SORRY
