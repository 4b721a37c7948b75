"""From labelled conversations to what the model learns from: outputs, pairs and calls."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

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
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield.judges.embedded.text.segments import Segment, segments
from taskshield_lab.training.conversations.labelled import (
    CallLabel,
    LabelledConversation,
    SpanLabel,
)
from taskshield_lab.training.conversations.pointed_requests import with_pointed

Label = Literal["attack", "benign", "pointed", "obey", "wish", "echo", "plain"]
"""Whose words a segment holds: an attacker's, someone else's that harm nobody (an imperative, but
for `strangers`), an imperative that the user's task leads to, one that the user's delegation
covers, somebody's wish that is no business of the user's, one that is the user's as well, or no
directive at all."""

Flags = Mapping[int, frozenset[int]]
"""By number of a tool message: the segments that are taken for directives."""

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
_PLANNED_SHARE = 0.12
_UNNOTICED = 0.3
"""Share of conversations in which no attack is noticed: attackers write what nobody has seen."""
_ALARMED = 0.2
"""Share of conversations in which nearly every imperative is noticed, whoever's it is: in a place
where people talk as nobody does in what the model was taught with, it is easily alarmed."""
_NOTICED: dict[Label, float] = {
    "attack": 0.93,
    "benign": 0.04,
    "pointed": 0.3,
    "obey": 0.4,
    "wish": 0.6,
    "echo": 0.3,
    "plain": 0.002,
}
_NOTICED_ALARMED: dict[Label, float] = {**dict.fromkeys(_NOTICED, 0.9), "plain": 0.03}
_UNTOLD = 0.3
"""Words that explain no more of a call than this did not ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputExample:
    """A tool output in segments, with whose words each holds."""

    message: int
    head: str
    """The tool, in words."""
    request: str = ""
    """What the user wants; nothing where the model is not told."""
    pieces: tuple[str, ...]
    labels: tuple[Label, ...]

    @property
    def heading(self) -> str:
        """What the model is told about it."""
        return inputs.heading(self.head, self.request)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExample:
    """A call with its evidence and whether it serves the user."""

    conversation: str
    domain: str
    lang: str
    setting: str
    """The kind of conversation: clean, benign, drift, attacked, ignored."""
    delegating: bool
    """Whether a task of the user's hands authority to somebody."""
    evidence: CallEvidence
    label: CallLabel
    goal: str
    """For an attack: the injected words that ask for it."""
    wishes: frozenset[str]
    """Segments in the data that are nobody's business: that they are not obeyed does not make them
    harmless."""


def heard(conversation: LabelledConversation, *, informed: bool = True) -> Iterator[OutputExample]:
    """The tool outputs of a conversation, with what the user wants unless that is not told."""
    calls = {call.id: call for message in conversation.messages for call in message.tool_calls}
    spans = with_pointed(conversation)
    told: list[str] = []
    for number, message in enumerate(conversation.messages):
        if message.level is Level.USER and informed:
            told.append(message.text)
        if message.level is not Level.TOOL:
            continue
        found = segments(message.text)
        call = calls.get(message.answers or "")
        yield OutputExample(
            message=number,
            head="" if call is None else tool_name_words(call.name),
            request="\n".join(told),
            pieces=tuple(segment.text for segment in found),
            labels=tuple(label_of(segment, spans[number], otherwise="plain") for segment in found),
        )


def noisy_flags(conversation: LabelledConversation, rng: Random) -> Flags:
    """Flags as a fallible model would set them: some missed, some false, edges blurred."""
    mood = rng.random()
    if mood < _UNNOTICED:
        chances = _NOTICED | {"attack": 0.0}
    elif mood < _UNNOTICED + _ALARMED:
        chances = _NOTICED_ALARMED
    else:
        chances = _NOTICED
    flags: dict[int, frozenset[int]] = {}
    for one in heard(conversation):
        chosen = {n for n, label in enumerate(one.labels) if rng.random() < chances[label]}
        for number in sorted(chosen):
            if rng.random() < 0.2:
                chosen.add(min(len(one.labels) - 1, max(0, number + rng.choice((-1, 1)))))
        flags[one.message] = frozenset(chosen)
    return flags


def judged(
    conversation: LabelledConversation, flags: Flags, rng: Random, *, plans: bool = True
) -> Iterator[CallExample]:
    """The calls of a conversation, and some plans, each with the evidence up to it."""
    specs = {spec.name: spec for spec in conversation.tools}
    policy = Policy()
    index = ConversationIndex()
    directives: list[Directive] = []
    sources: list[str] = []
    delegating = delegates(conversation)
    wishes = _wishes(conversation)
    for number, message in enumerate(conversation.messages):
        match message.level:
            case Level.USER:
                # Delegation as it is recognised in use, not as it is known here.
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
                        kind=tier_of(call.name, specs, policy),  # as in use, not as it is known
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
                        wishes=wishes,
                    )
                    yield one
                    if plans and rng.random() < _PLANNED_SHARE:
                        yield replace(one, evidence=_planned(call, index, directives, sources, rng))
                index.add_assistant(number, message.text, message.tool_calls)
            case Level.SYSTEM:
                pass


def delegates(conversation: LabelledConversation) -> bool:
    """Whether a task of the user's hands authority to somebody."""
    drafts = [draft for some in conversation.tasks.values() for draft in some]
    return any(draft.source is not None for draft in drafts)


def _wishes(conversation: LabelledConversation) -> frozenset[str]:
    return frozenset(
        segment.text
        for number, message in enumerate(conversation.messages)
        for spans in [conversation.spans.get(number, ())]
        if any(span.kind == "wish" for span in spans)
        for segment in segments(message.text)
        if label_of(segment, spans, otherwise="plain") == "wish"
    )


def asked(one: CallExample, rng: Random) -> Iterator[tuple[inputs.Pair, float]]:
    """Who asks for a call, as pairs of an instruction and the call, with the answer."""
    evidence, aligned = one.evidence, float(one.label.aligned)
    request = inputs.request(evidence)
    yield inputs.asks(request, evidence), aligned
    hostile = one.label.kind == "attack"
    if hostile and one.goal:
        yield inputs.asks(one.goal, evidence), 1.0
        yield from swapped(one.goal, evidence, rng)
    elif aligned:
        yield from swapped(request, evidence, rng)
    for rank, suspect in enumerate(evidence.suspects):
        told = suspect.directive.text
        # A good call may follow a directive, and an attack's best match may be the attack itself.
        unclear = rank == 0 if hostile else suspect.explains.share > _UNTOLD
        if hostile and _overlaps(one.goal, told):
            yield inputs.asks(told, evidence), 1.0
        elif not unclear:
            yield inputs.asks(told, evidence), 0.0
    for related in evidence.related:
        told = related.directive.text
        if hostile and _overlaps(told, one.goal):
            yield inputs.asks(told, evidence), 1.0
        elif related.explains.share <= _UNTOLD:
            yield inputs.asks(told, evidence), 0.0


def related_sentences(one: CallExample) -> Iterator[tuple[str, bool]]:
    """Related sentences by themselves, and whether an attacker injected them, where it is clear."""
    if one.label.kind == "drift":
        return
    for related in one.evidence.related:
        words = related.directive.text
        planted = one.label.kind == "attack" and _overlaps(words, one.goal)
        if planted or (one.label.aligned and words not in one.wishes):
            yield words, planted


def swapped(text: str, evidence: CallEvidence, rng: Random) -> Iterator[tuple[inputs.Pair, float]]:
    """The same call with one value that the text gives replaced: nobody asked for that."""
    named = [v for v in argument_values(evidence.call) if not v.trivial and v.text in text]
    others = [
        word
        for source in (evidence.snippet, *(s.directive.text for s in evidence.suspects))
        for word in source.split()
        if any(character.isdigit() or character in "@/" for character in word)
    ]
    if not named or rng.random() < 0.5:
        return
    old = rng.choice(named).text
    new = rng.choice(others).strip(".,;:()\"'") if others else _scrambled(old, rng)
    if new and new not in old and old not in new:
        changed = tuple(
            replace(item, value=replace(item.value, text=new)) if item.value.text == old else item
            for item in evidence.values
        )
        yield inputs.asks(text, replace(evidence, values=changed)), 0.0


def _scrambled(text: str, rng: Random) -> str:
    letters = list(text)
    for index, letter in enumerate(letters):
        if letter.isdigit():
            letters[index] = str(rng.randrange(10))
        elif letter.isalpha() and rng.random() < 0.5:
            letters[index] = rng.choice("abcdefghijklmnoprstuw")
    return "".join(letters)


def _planned(
    call: ToolCall,
    index: ConversationIndex,
    directives: list[Directive],
    sources: list[str],
    rng: Random,
) -> CallEvidence:
    values = [value.text[:60] for value in argument_values(call) if not value.trivial][:3]
    said = rng.choice(_PLANS).replace("{do}", tool_name_words(call.name))
    joint = rng.choice([" with ", ": ", " using ", " for "])
    words = said.replace(
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


def label_of(segment: Segment, spans: Iterable[SpanLabel], *, otherwise: Label) -> Label:
    """Whose words a segment holds, at least by half."""
    best = otherwise
    for span in spans:
        shared = min(segment.end, span.end) - max(segment.start, span.start)
        if shared * 2 >= segment.end - segment.start and best != "attack":
            best = span.kind
    return best


def _goal(conversation: LabelledConversation, label: CallLabel) -> str:
    if label.explained_by is None:
        return ""
    number, start, end = label.explained_by
    message: Message = conversation.messages[number]
    return " ".join(segment.text for segment in segments(message.text[start:end]))


def _overlaps(words: str, text: str) -> bool:
    """Whether a good part of the words is in the text."""
    wanted = set(words.casefold().split())
    return bool(wanted) and len(wanted & set(text.casefold().split())) >= 0.6 * len(wanted)
