"""What the calls of a message do, as far as that is certain without a judge. Pure.

It is found once for each message. Risk tiers rest on it. A call that reaches the guard, or carries
files out, serves no task whose words do not speak of that, whatever a judge says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from taskshield.core.assessments import AssessedInstruction, Score
from taskshield.core.instructions import TaskSet
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.own_resources.calls import reaches, speaks_of
from taskshield.engine.own_resources.values import OwnResources, Reach
from taskshield.engine.risk_tiers import tiers_of
from taskshield.engine.shell.unasked_uploads import reason_against, sent_by, unasked
from taskshield.engine.shell.uploads import Upload
from taskshield.engine.wording.verbs import graver

_QUICK = 4_000
"""Characters of a message's calls that are read at once; reading longer ones takes longer than
other sessions should wait."""
_LONG = 65_536
"""Characters of a message's calls whose commands are read closely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What is certain about the calls of a message."""

    tiers: Mapping[str, Tier] = field(default_factory=dict)
    """Risk tier of each called tool, by name: what the message calls it for counts, too."""
    reached: Mapping[str, Reach] = field(default_factory=dict)
    """What of the guard calls reach, by the id of the call."""
    sent: Mapping[str, tuple[Upload, ...]] = field(default_factory=dict)
    """What of files calls send to other hosts, by the id of the call."""


def is_quick(message: Message) -> bool:
    """Whether the calls of a message are read in no time."""
    return _length(message) <= _QUICK


def call_facts(
    message: Message, tools: Mapping[str, ToolSpec], policy: Policy, own: OwnResources
) -> CallFacts:
    """What is certain about the calls of a message.

    The tier of a call that reaches the guard is the highest, and one that sends files leaves the
    user's own systems, unless policy gives its tool a tier.
    """
    tiers = tiers_of(message.tool_calls, tools, policy)
    reached = reaches(message, tiers, own)
    closely = _length(message) <= _LONG
    found = ((call.id, sent_by(call, closely=closely)) for call in message.tool_calls)
    sent = {id: uploads for id, uploads in found if uploads}
    for call in message.tool_calls:
        if call.id in sent and call.name not in policy.tiers:
            tiers[call.name] = graver(tiers[call.name], Tier.EXTERNAL)
        if call.id in reached:
            tiers[call.name] = Tier.ACCESS
    return CallFacts(tiers=tiers, reached=reached, sent=sent)


def without_unasked(
    items: Iterable[AssessedInstruction], facts: CallFacts, tasks: TaskSet, said: str
) -> tuple[AssessedInstruction, ...]:
    """The assessed instructions; calls that certainly do what the user did not ask serve no task.

    Args:
        items: What a judge says.
        facts: What is certain about the calls.
        tasks: The user's tasks.
        said: All that the user said.
    """
    words = "\n".join(task.text for task in tasks)
    return tuple(_unasked(item, facts, words, said) for item in items)


def _unasked(
    item: AssessedInstruction, facts: CallFacts, words: str, said: str
) -> AssessedInstruction:
    if item.call_id is None:
        return item
    reach = facts.reached.get(item.call_id)
    if reach is not None and not speaks_of(words, reach):
        return _serving_nothing(
            item,
            f"It reaches the guard itself ({reach.what}), and the user has not asked for that.",
        )
    upload = unasked(facts.sent.get(item.call_id, ()), said)
    return item if upload is None else _serving_nothing(item, reason_against(upload))


def _serving_nothing(item: AssessedInstruction, reason: str) -> AssessedInstruction:
    scores = tuple(Score(target=score.target, value=0.0, reason=reason) for score in item.scores)
    return replace(item, scores=scores, objective_scores=(), taint_scores=())


def _length(message: Message) -> int:
    return sum(len(call.arguments) for call in message.tool_calls)
