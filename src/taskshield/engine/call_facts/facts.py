"""What the calls of a message do, as far as that is certain without a judge. Pure.

It is found once for each message. Risk tiers rest on it. A call that reaches the guard, carries
files out, destroys a whole system or is not what its tool's name says serves no task whose words do
not speak of that, whatever a judge says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from taskshield.core.assessments import AssessedInstruction, Score
from taskshield.core.instructions import TaskSet
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.call_facts import plain_effects
from taskshield.engine.call_facts.plain_effects import (
    PlainEffect,
    is_disguised,
    names_effect,
    plain_effect,
)
from taskshield.engine.own_resources.calls import reaches, speaks_of
from taskshield.engine.own_resources.values import OwnResources, Reach
from taskshield.engine.risk_tiers import tiers_of
from taskshield.engine.shell import destruction, unasked_uploads
from taskshield.engine.shell.destruction import asks_to_remove, destroys, glance
from taskshield.engine.shell.scripts import scripts
from taskshield.engine.shell.unasked_uploads import sent_by, unasked
from taskshield.engine.shell.uploads import Upload
from taskshield.engine.wording.verbs import SEVERITY

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
    destroyed: Mapping[str, str] = field(default_factory=dict)
    """Commands by which calls destroy a system, disk or home folder, by the id of the call."""

    disguised: Mapping[str, PlainEffect] = field(default_factory=dict)
    """What calls of undeclared tools do whose names say that they read, by the id of the call."""

    @property
    def needs_words(self) -> bool:
        """Whether it matters what the user said."""
        return bool(self.sent or self.destroyed or self.disguised)


def is_quick(message: Message) -> bool:
    """Whether the calls of a message are read in no time."""
    return _length(message) <= _QUICK


def call_facts(
    message: Message, tools: Mapping[str, ToolSpec], policy: Policy, own: OwnResources
) -> CallFacts:
    """What is certain about the calls of a message.

    The tier that policy gives a tool counts, unless a call reaches the guard: then the highest.
    """
    tiers = tiers_of(message.tool_calls, tools, policy)
    reached = reaches(message, tiers, own)
    closely = _length(message) <= _LONG
    sent: dict[str, tuple[Upload, ...]] = {}
    destroyed: dict[str, str] = {}
    disguised: dict[str, PlainEffect] = {}
    for call in message.tool_calls:
        declared = call.name in tools
        found = tuple(scripts(call, declared=declared))
        least = [tiers[call.name]]
        if uploads := sent_by(found, closely=closely):
            sent[call.id] = uploads
            least.append(Tier.EXTERNAL)
        shown = (text if closely else glance(text) for text, _ in found)
        if command := next(filter(None, map(destroys, shown)), None):
            destroyed[call.id] = command
            least.append(Tier.DESTRUCTIVE)
        effect = None if declared or not closely else plain_effect(call, found)
        if effect is not None:
            least.append(effect.tier)
            if is_disguised(call.name, effect):
                disguised[call.id] = effect
        if call.id in reached:
            tiers[call.name] = Tier.ACCESS
        elif call.name not in policy.tiers:
            tiers[call.name] = max(least, key=SEVERITY.index)
    return CallFacts(
        tiers=tiers, reached=reached, sent=sent, destroyed=destroyed, disguised=disguised
    )


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
    if upload is not None:
        return _serving_nothing(item, unasked_uploads.reason_against(upload))
    command = facts.destroyed.get(item.call_id)
    if command is not None and not asks_to_remove(said):
        return _serving_nothing(item, destruction.reason_against(command))
    effect = facts.disguised.get(item.call_id)
    if effect is not None and not names_effect(said, effect):
        return _serving_nothing(item, plain_effects.reason_against(effect))
    return item


def _serving_nothing(item: AssessedInstruction, reason: str) -> AssessedInstruction:
    scores = tuple(Score(target=score.target, value=0.0, reason=reason) for score in item.scores)
    return replace(item, scores=scores, objective_scores=(), taint_scores=())


def _length(message: Message) -> int:
    return sum(len(call.arguments) for call in message.tool_calls)
