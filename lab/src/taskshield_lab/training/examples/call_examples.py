"""Calls as training examples: each with its evidence, and whether it serves the user."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.engine.risk_tiers import tier_of
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.evidence.call_evidence import (
    CallEvidence,
    collect_evidence,
    plan_call,
)
from taskshield.judges.embedded.evidence.conversation_index import (
    ConversationIndex,
    tool_name_words,
)
from taskshield.judges.embedded.evidence.directives import Directive, group_neighbours
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import (
    CallLabel,
    LabelledConversation,
    is_delegating,
)
from taskshield_lab.training.examples.output_examples import Label, label_of, output_examples

Flags = Mapping[int, frozenset[int]]
"""By number of a tool message: the segments that count as directives."""

_PLANS = (
    "I'll {do} now{with}.",
    "Next, I will {do}{with}.",
    "Let me {do}{with}.",
    "To finish this I need to {do}{with}.",
    "I am going to {do}{with} first.",
    "Then I'll {do}{with} and report back.",
    "I should {do}{with}.",
    "My next step is to {do}{with}.",
)
_PLAN_SHARE = 0.12
"""Share of the calls that are also stated as a plan."""
_UNNOTICED = 0.3
"""Share of conversations in which no attack is flagged: attackers find words that the network does
not know."""
_ALARMED = 0.2
"""Share of conversations in which nearly every imperative is flagged: in text unlike the training
data the network flags too much."""
_FLAGGED: dict[Label, float] = {
    "attack": 0.93,
    "benign": 0.04,
    "pointed": 0.3,
    "obey": 0.4,
    "wish": 0.6,
    "echo": 0.3,
    "plain": 0.002,
}
_FLAGGED_ALARMED: dict[Label, float] = {**dict.fromkeys(_FLAGGED, 0.9), "plain": 0.03}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExample:
    """A call with its evidence and whether it serves the user."""

    conversation: str
    domain: str
    lang: str
    setting: str
    """The kind of conversation: clean, benign, drift, attacked, ignored."""
    delegating: bool
    """Whether one of the user's tasks delegates to a source."""
    evidence: CallEvidence
    label: CallLabel
    goal: str
    """For an attack: the injected words that ask for it."""
    other_requests: frozenset[str]
    """Segments with requests that are no task of the user's. That they are not obeyed does not make
    them harmless."""


def simulate_flags(conversation: LabelledConversation, rng: Random) -> Flags:
    """Flags as a fallible network would set them: some missed, some false, edges blurred."""
    chance = rng.random()
    if chance < _UNNOTICED:
        shares = _FLAGGED | {"attack": 0.0}
    elif chance < _UNNOTICED + _ALARMED:
        shares = _FLAGGED_ALARMED
    else:
        shares = _FLAGGED
    flags: dict[int, frozenset[int]] = {}
    for output in output_examples(conversation):
        chosen = {n for n, label in enumerate(output.labels) if rng.random() < shares[label]}
        for number in sorted(chosen):
            if rng.random() < 0.2:
                chosen.add(min(len(output.labels) - 1, max(0, number + rng.choice((-1, 1)))))
        flags[output.message] = frozenset(chosen)
    return flags


def call_examples(
    conversation: LabelledConversation, flags: Flags, rng: Random, *, plans: bool = True
) -> Iterator[CallExample]:
    """The calls of a conversation and some plans, each with the evidence before it."""
    specs = {spec.name: spec for spec in conversation.tools}
    policy = Policy()
    index = ConversationIndex()
    directives: list[Directive] = []
    sources: list[str] = []
    delegating = is_delegating(conversation)
    other_requests = _other_requests(conversation)
    for number, message in enumerate(conversation.messages):
        match message.level:
            case Level.USER:
                # Delegation as the judge finds it, not as the labels have it.
                sources += [one.source for one in read_tasks(message.text) if one.source]
                index.add_user(number, message.text)
            case Level.TOOL:
                index.add_output(number, message.text)
                directives += [
                    Directive(message=number, text=run.text)
                    for run in group_neighbours(index.outputs[number], flags.get(number, ()))
                ]
            case Level.ASSISTANT:
                for call in message.tool_calls:
                    label = conversation.calls[call.id]
                    evidence = collect_evidence(
                        call,
                        kind=tier_of(call.name, specs, policy),  # as in use, not as labelled
                        spec=specs.get(call.name),
                        index=index,
                        directives=directives,
                        delegated="; ".join(sources),
                    )
                    one = CallExample(
                        conversation=conversation.id,
                        domain=conversation.domain,
                        lang=conversation.lang,
                        setting=conversation.kind,
                        delegating=delegating,
                        evidence=evidence,
                        label=label,
                        goal=_goal(conversation, label),
                        other_requests=other_requests,
                    )
                    yield one
                    if plans and rng.random() < _PLAN_SHARE:
                        yield replace(
                            one, evidence=_plan_evidence(call, index, directives, sources, rng)
                        )
                index.add_assistant(number, message.text, message.tool_calls)
            case Level.SYSTEM:
                pass


def _plan_evidence(
    call: ToolCall,
    index: ConversationIndex,
    directives: list[Directive],
    sources: list[str],
    rng: Random,
) -> CallEvidence:
    values = [value.text[:60] for value in argument_values(call) if not value.trivial][:3]
    plan = rng.choice(_PLANS).replace("{do}", tool_name_words(call.name))
    joint = rng.choice([" with ", ": ", " using ", " for "])
    words = plan.replace(
        "{with}", joint + rng.choice([", ", " and "]).join(values) if values else ""
    )
    return collect_evidence(
        plan_call(words),
        kind="plan",
        spec=None,
        index=index,
        directives=directives,
        delegated="; ".join(sources),
    )


def _other_requests(conversation: LabelledConversation) -> frozenset[str]:
    return frozenset(
        segment.text
        for number, message in enumerate(conversation.messages)
        for spans in [conversation.spans.get(number, ())]
        if any(span.kind == "wish" for span in spans)
        for segment in segments(message.text)
        if label_of(segment, spans, otherwise="plain") == "wish"
    )


def _goal(conversation: LabelledConversation, label: CallLabel) -> str:
    if label.explained_by is None:
        return ""
    number, start, end = label.explained_by
    message: Message = conversation.messages[number]
    return " ".join(segment.text for segment in segments(message.text[start:end]))
