"""Ask the help desk from a shell: ``python -m checks.helpdesk FOLDER QUESTION``; HELPDESK_URL and HELPDESK_KEY name the provider."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from checks.helpdesk.desk import ask
from checks.helpdesk.http import over_http
from checks.helpdesk.provider import ChatCompletions
from checks.helpdesk.quota import Quota
from checks.helpdesk.usage import SqliteLedger


def main(folder: Path, question: str) -> str:
    """Give the answer; quota and ledger are kept in ``folder``."""
    model = ChatCompletions(over_http(os.environ["HELPDESK_URL"], os.environ["HELPDESK_KEY"]), "desk-small")
    return ask(question, "acme", quota=Quota(folder / "quota.sqlite", limit=100), model=model, ledger=SqliteLedger(folder / "usage.sqlite"))


if __name__ == "__main__":
    sys.stdout.write(f"{main(Path(sys.argv[1]), sys.argv[2])}\n")
