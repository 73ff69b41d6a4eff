"""Answers that lean on the locale of the environment."""

import locale
import os
from string import Template
from typing import Any

PROMPT = Template("Answer in the user's language ($language): $question")


def language(name: str) -> Any:
    return {"language": os.environ.get("LANG", "none")}


def localised_prompt(name: str, model: Any) -> Any:
    spoken = os.getenv("LC_ALL") or "en"
    return model(PROMPT.substitute(language=spoken, question=name)).text


def collation(name: str) -> Any:
    used = locale.setlocale(locale.LC_ALL, "")
    return f"sorted as {used}"
