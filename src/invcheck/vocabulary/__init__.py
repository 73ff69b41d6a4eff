"""The words of the house, as frozen data: every other module speaks in these and in plain JSON.

A *request* gets an *outcome*, which is a *reply* or a *fault*; the pair is an *exchange*. A *trial* is one run of the
app under one case and one seed; what happened in it is its *observation*, a plain JSON document. A *finding* is one
broken claim; a *verdict* sums up what could be said.
"""

from invcheck.vocabulary.exchanges import (
    Block,
    Chunk,
    Chunking,
    Counts,
    Delivery,
    Exchange,
    Fault,
    Framing,
    Outcome,
    Refusal,
    Reply,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolPart,
    Usage,
)
from invcheck.vocabulary.judging import (
    INVENTED,
    RECORDED,
    Finding,
    Place,
    Result,
    Verdict,
    case_name,
    placed,
    spot,
)
from invcheck.vocabulary.plain import (
    DEEPEST,
    Json,
)
from invcheck.vocabulary.seams import (
    Turns,
    Waits,
)

__all__ = [
    "DEEPEST",
    "INVENTED",
    "RECORDED",
    "Block",
    "Chunk",
    "Chunking",
    "Counts",
    "Delivery",
    "Exchange",
    "Fault",
    "Finding",
    "Framing",
    "Json",
    "Outcome",
    "Place",
    "Refusal",
    "Reply",
    "Result",
    "State",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolPart",
    "Turns",
    "Usage",
    "Verdict",
    "Waits",
    "case_name",
    "placed",
    "spot",
]
