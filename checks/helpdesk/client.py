"""How the help desk asks a model: within the budget, with retries, and with a row in the ledger for every reply."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checks.helpdesk.errors import BudgetSpent
from checks.helpdesk.llm import ChatModel, Completion, Message, Tool, Usage
from checks.helpdesk.retry import Jitter, with_retry
from checks.helpdesk.usage import Ledger, row


@dataclass(slots=True)
class Budget:
    """How many tokens a job may use; the reply that reaches the limit is still served."""

    limit: int
    spent: int = 0

    def check(self) -> None:
        """Raise BudgetSpent when nothing is left."""
        if self.spent >= self.limit:
            raise BudgetSpent(f"{self.spent} of {self.limit} tokens are used up")

    def spend(self, usage: Usage | None) -> None:
        """Count the tokens of a reply."""
        if usage is not None:
            self.spent += usage.input_tokens + usage.output_tokens


def whole(completion: Completion) -> bool:
    """Say whether the reply was not cut."""
    return completion.finish != "length"


@dataclass(frozen=True, slots=True)
class Client:
    """A model, and everything that surrounds a call of it."""

    model: ChatModel
    ledger: Ledger
    sleep: Callable[[float], object] = time.sleep
    rng: Jitter = random
    budget: Budget | None = None

    def ask(
        self,
        feature: str,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        tools: Sequence[Tool] = (),
        accept: Callable[[Completion], bool] = whole,
    ) -> Completion:
        """Give the reply, entered in the ledger as ok where ``accept`` says so; what the model raises leaves no row."""
        if self.budget:
            self.budget.check()
        completion = with_retry(lambda: self.model.complete(messages, max_tokens=max_tokens, tools=tools), sleep=self.sleep, rng=self.rng)
        if self.budget:
            self.budget.spend(completion.usage)
        self.ledger.append(row(feature, completion, ok=accept(completion)))
        return completion
