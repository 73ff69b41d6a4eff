"""One example of every assertion as a check file spells it, for those who have written it otherwise."""

from __future__ import annotations

EXAMPLES: dict[str, str] = {
    "absent": "absent: {from: $.output.text, any: [password]}",
    "before": "before: {first: {kind: effect, name: reserve}, then: {kind: effect, name: pay}}",
    "between": "between: {of: $.output.score, min: 0, max: 1}",
    "calls": "calls: 2, or calls: {max: 3}, or calls: {served: 1, failed: 2}",
    "contains": "contains: {in: $.output.text, any: [sorry, regret]}",
    "cost": "cost: {max: 0.01, prices: {input: 3, output: 15}}",
    "count": "count: {of: '$.output.cites[*]', min: 1}",
    "disjoint": "disjoint: {of: '$.output.cites[*]', in: [internal]}",
    "distinct": "distinct: {of: $.output, at-least: 2}",
    "each": "each: {of: '$.output.items[*]', expect: [{between: {of: $.price, min: 0}}]}",
    "effects": "effects: [reserve, pay], or effects: {count: 1}",
    "equals": "equals: {of: $.output.status, to: done}",
    "fields": "fields: {of: $.output, exactly: [answer, cites]}",
    "finish": "finish: stop, or finish: {is: [stop, length], call: all}",
    "implies": "implies: {if: {equals: {of: $.output.ok, to: true}}, then: {calls: 1}}",
    "is-json": "is-json: {of: $.output_text}",
    "latency": "latency: {max: 2.5}",
    "ledger": "ledger: {count: 1, every: {model: small}}",
    "length": "length: {of: $.output.text, max: 200}",
    "predicate": "predicate: shop.rules:polite, or predicate: {function: shop.rules:polite, of: $.output.text}",
    "raises": "raises: {type: ValueError, calls: 3}",
    "regex": "regex: {of: $.output.id, pattern: '[a-z]+-[0-9]+'}",
    "requests": "requests: {first: {temperature: 0}}",
    "same-across-runs": "same-across-runs: $.output.status",
    "same-set": "same-set: {of: '$.output.cites[*]', in: '$.input.doc_ids[*]'}",
    "schema": "schema: {of: $.output, is: shop.models:Answer}",
    "script-used": "script-used",
    "sorted": "sorted: {of: '$.output.scores[*]', order: desc}",
    "starts-with": "starts-with: {of: $.output.text, text: Dear}",
    "subset": "subset: {of: '$.output.cites[*]', in: '$.input.doc_ids[*]'}",
    "sum": "sum: {of: '$.ledger[*].cost', max: 0.05}",
    "superset": "superset: {of: '$.output.cites[*]', in: [terms]}",
    "tokens": "tokens: {max: 1000}",
    "tool-call": "tool-call: {name: search, count: 1}",
    "type": "type: {of: $.output, is: object}",
    "unchanged": "unchanged: quota",
    "unique": "unique: {of: '$.output.cites[*]'}",
    "waits": "waits: [0.5, 1.0], or waits: {count: 2}",
    "words": "words: {of: $.output.text, max: 50}",
}
"""The key of each assertion -> its spellings, parted by ``, or``."""

REASONS = {"raises": "calls says after how many attempts: without it an app that gives up at once would pass"}
"""Why a key needs what it needs, where that is not plain."""


def hint(key: str) -> str:
    """Give the hint of an assertion that is written wrongly.

    >>> hint("waits")
    'such as waits: [0.5, 1.0], or waits: {count: 2}'
    """
    bare = key.removeprefix("not-")
    reason = f"{REASONS[bare]}; " if bare in REASONS else ""
    return f"{reason}such as {EXAMPLES[bare]}"
