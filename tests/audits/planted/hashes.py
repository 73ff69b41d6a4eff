"""Answers that lean on the order of sets, or on hashes themselves."""
# ruff: noqa: C405, PERF402  # what apps write

from string import Template
from typing import Any

PROMPT = Template("You may use: $tools. $question")


def tags(name: str) -> Any:
    found = []
    for tag in {"refund", "urgent", "billing", name}:
        found.append(tag)
    return {"tags": found}


def tools_prompt(name: str, model: Any) -> Any:
    tools = {"search", "calc"}
    return model(PROMPT.substitute(tools=", ".join(tools), question=name)).text


def bucket(name: str) -> Any:
    number = hash(name) % 1000
    return {"bucket": number}


def first_source(name: str) -> Any:
    sources = frozenset(["wiki", "mail", "crm", "docs"])
    return next(iter(sources))


def popped(name: str) -> Any:
    left = {"alpha", "beta", "gamma", "delta"}
    chosen = left.pop()
    return {"chosen": chosen}


def missing_fields(name: str) -> Any:
    wanted = {"street", "city", "zip", "country"}
    missing = list(wanted - {"city"})
    return {"message": f"missing: {missing}"}


def by_letter(name: str) -> Any:
    groups = {}
    groups |= {word[0]: word for word in set(("ant", "bee", "cat", "dog", "eel"))}
    return list(groups)
