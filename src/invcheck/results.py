"""Results as plain JSON and back: how they travel from a worker, and how they stand in a report."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from invcheck.vocabulary import Finding, Json, Result, Verdict, placed, spot


def plain(result: Result) -> dict[str, Json]:
    """Give a result as plain JSON; what is None or empty is left out of its findings, and ``allowed`` where nothing is."""
    out = {field.name: getattr(result, field.name) for field in fields(result)}
    out["place"] = spot(result.place)
    out["verdict"] = result.verdict.value
    out["trials"] = dict(result.trials)
    out["tags"] = list(result.tags)
    out["replies"] = dict(result.replies)
    out["extra"] = dict(result.extra)
    out |= {"allowed": list(result.allowed)} if out.pop("allowed") else {}
    out["findings"] = [plain_finding(finding) for finding in result.findings]
    return out


def plain_finding(finding: Finding) -> dict[str, Json]:
    """Give a finding as plain JSON without the fields that are None, and without ``alone`` where its trial shows it."""
    out = {field.name: getattr(finding, field.name) for field in fields(finding)}
    out["verdict"] = finding.verdict.value
    out["place"] = spot(finding.place)
    return {name: value for name, value in out.items() if value is not None and (name, value) != ("alone", True)}


def build(data: dict[str, Any]) -> Result:
    """Give the result that `plain` described; a missing field raises KeyError or TypeError."""
    return Result(
        **{
            **data,
            "place": placed(data["place"]),
            "verdict": Verdict(data["verdict"]),
            "tags": tuple(data["tags"]),
            "allowed": tuple(data.get("allowed", ())),
            "findings": tuple(build_finding(finding) for finding in data["findings"]),
        }
    )


def build_finding(data: dict[str, Any]) -> Finding:
    """Give the finding that `plain_finding` described."""
    return Finding(**{**data, "verdict": Verdict(data["verdict"]), "place": placed(data.get("place"))})
