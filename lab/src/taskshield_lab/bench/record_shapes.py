"""How the records of a benchmark look as JSON. Members that were added have defaults."""

from taskshield.adapters.stored.cases import USAGE
from taskshield.adapters.stored.containers import Listed, OrNothing
from taskshield.adapters.stored.conversations import LEVEL, TIER
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.shapes import FLAG, NUMBER, TEXT, words
from taskshield.core.usage import NO_USAGE
from taskshield_lab.bench.records import (
    NO_DEFENCE,
    BenchmarkRun,
    Call,
    Finding,
    Header,
    RecordedStep,
)

_ACTION = words("allow", "observe", "annotate", "redact", "withhold", "revise", "escalate", "block")

HEADER = Record(
    Header,
    Member("way", words("worst-case", "replay", "live")),
    Member("judge", TEXT),
    Member("defence", TEXT, default=NO_DEFENCE),
    Member("version", TEXT),
    Member("attacks", Listed(TEXT)),
    Member("settings", TEXT, default=""),
    Member("taskshield", TEXT),
    Member("agentdojo", TEXT),
)

_FINDING = Record(
    Finding,
    Member("text", TEXT),
    Member("call_id", OrNothing(TEXT)),
    Member("aligned", FLAG),
    Member("total", NUMBER),
    Member("epsilon", NUMBER),
    Member("explained", NUMBER, default=0.0),
    Member("reason", TEXT),
)

_CALL = Record(
    Call,
    Member("id", TEXT),
    Member("name", TEXT),
    Member("arguments", TEXT),
    Member("tier", OrNothing(TIER), default=None),
    Member("action", _ACTION, default="allow"),
    Member("executed", FLAG),
    Member("owner", OrNothing(words("user", "attacker")), default=None),
)

_STEP = Record(
    RecordedStep,
    Member("level", LEVEL),
    Member("text", TEXT),
    Member("calls", Listed(_CALL), default=()),
    Member("answers", OrNothing(TEXT), default=None),
    Member("check", OrNothing(words("executed", "skipped", "failed")), default=None),
    Member("outage", OrNothing(TEXT), default=None),
    Member("action", _ACTION, default="allow"),
    Member("findings", Listed(_FINDING), default=()),
    Member("feedback", OrNothing(TEXT), default=None),
    Member("ms", NUMBER, default=0.0),
    Member("cached", FLAG, default=False),
    Member("usage", USAGE, default=NO_USAGE),
)

RUN = Record(
    BenchmarkRun,
    Member("suite", TEXT),
    Member("user_task", TEXT),
    Member("injection_task", OrNothing(TEXT), default=None),
    Member("attack", OrNothing(TEXT), default=None),
    Member("agent", TEXT),
    Member("utility", FLAG, default=False),
    Member("hijacked", FLAG, default=False),
    Member("by_words", FLAG, default=False),
    Member("unsolved", FLAG, default=False),
    Member("shown", FLAG, default=False),
    Member("error", OrNothing(TEXT), default=None),
    Member("recorded_utility", OrNothing(FLAG), default=None),
    Member("recorded_hijacked", OrNothing(FLAG), default=None),
    Member("steps", Listed(_STEP), default=()),
)
