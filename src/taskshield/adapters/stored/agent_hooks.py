"""The memory of a session of Agent Hooks as a stored document."""

from taskshield.adapters.agent_hooks.steps import Memory, SeenCall
from taskshield.adapters.agent_hooks.verdicts import Concern, Transform, Verdict
from taskshield.adapters.stored.containers import Listed, MapOf, OrNothing
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.shapes import ANY_JSON, FLAG, TEXT, words

_VERDICT = Record(
    Verdict,
    Member("decision", words("allow", "deny", "transform")),
    Member("reason", OrNothing(TEXT), default=None),
    Member("message", OrNothing(TEXT), default=None),
    Member(
        "warnings",
        Listed(Record(Concern, Member("reason", TEXT), Member("message", TEXT))),
        default=(),
    ),
    Member("liftable", FLAG, default=False),
    Member("approval", OrNothing(TEXT), default=None),
    Member(
        "transform",
        OrNothing(Record(Transform, Member("path", TEXT), Member("value", ANY_JSON))),
    ),
    Member("labels", Listed(TEXT)),
    Member("evidence", OrNothing(TEXT), default=None),
)

_SEEN_CALL = Record(
    SeenCall,
    Member("id", TEXT),
    Member("fingerprint", TEXT),
    Member("verdict", _VERDICT),
    Member("unnamed", FLAG, default=False),
)

MEMORY: Document[Memory] = Document(
    name="Memory",
    record=Record(
        Memory,
        Member("calls", MapOf(_SEEN_CALL), default={}),
        Member("system", Listed(TEXT), default=()),
        Member("said", OrNothing(TEXT), default=None),
        Member("said_verdict", _VERDICT),
    ),
)
"""What is not remembered is judged again. But a known call without its verdict would pass."""
