"""A finding and a conversation, to write results with."""

from taskshield.audit.results.findings import Row
from taskshield.audit.results.outcomes import Checked

ROW = Row(
    conversation="c",
    file="a.jsonl",
    line=1,
    format="openai-chat",
    message=1,
    level="assistant",
    kind="call",
    tool="pay",
    tier="financial",
    authorisation="unasked",
    action="revise",
    held=True,
    score=0.0,
    threshold=0.5,
    planted_in=None,
    reason="not asked for",
    decision="d",
    judge="embedded",
    sha256="0",
    text=None,
)
CHECKED = Checked(
    file="a.jsonl",
    line=1,
    conversation="c",
    format="openai-chat",
    messages=4,
    executed=3,
    skipped=1,
    failed=0,
    unreadable=0,
    findings=0,
    held=0,
    attack="none",
)
