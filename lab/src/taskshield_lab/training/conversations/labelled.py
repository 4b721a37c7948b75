"""Labelled conversations, as values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from taskshield.core.assessments import TaskDraft
from taskshield.core.messages import Message
from taskshield.core.tools import Tier, ToolSpec
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.sources.contrast import Wrong

OffsetMap = Callable[[int, int], tuple[int, int]]
"""From start and end in a text to start and end in the changed text."""

CallKind = Literal["step", "also_fine", "drift", "attack"] | Wrong
"""Why the agent makes a call, or what is wrong with it; the first two kinds are aligned."""

SpanKind = Literal["attack", "benign", "pointed", "obey", "wish", "echo"]
"""Whose words a span is; `output_examples.Label` explains the kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLabel:
    """Whether a call serves the user, and what it is."""

    aligned: bool
    kind: CallKind
    attack_kind: str | None = None
    """For an attack: exfiltrate, spend, destroy, alter, spread, access or mislead."""
    tier: Tier
    explained_by: tuple[int, int, int] | None = None
    """For an attack: message, start and end of the injected words that ask for it."""
    said: str | None = None
    """The user's words that rule the call out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLabel:
    """Characters `start` to `end` of a message's text, and whose words they are."""

    start: int
    end: int
    kind: SpanKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledConversation:
    """A made conversation with all labels."""

    id: str
    scenario: str
    domain: str
    lang: str
    kind: Kind
    style: str | None
    """The style of the first injection; None if it has none or there is no injection."""
    tools: tuple[ToolSpec, ...]
    tiers: Mapping[str, Tier]
    system: str | None
    messages: tuple[Message, ...]
    """The system message, if any, is the first."""
    tasks: Mapping[int, tuple[TaskDraft, ...]]
    """By index of the user message."""
    calls: Mapping[str, CallLabel]
    """By id of the call."""
    spans: Mapping[int, tuple[SpanLabel, ...]]
    """By index of the message."""


def shift_explanations(
    calls: Mapping[str, CallLabel], number: int, offsets: OffsetMap
) -> dict[str, CallLabel]:
    """The labels of calls after the text of a message, given by its number, has changed."""

    def explained(label: CallLabel) -> CallLabel:
        where = label.explained_by
        if where is None or where[0] != number:
            return label
        return replace(label, explained_by=(number, *offsets(*where[1:])))

    return {id: explained(label) for id, label in calls.items()}


def is_delegating(conversation: LabelledConversation) -> bool:
    """Whether one of the user's tasks delegates to a source."""
    drafts = [draft for some in conversation.tasks.values() for draft in some]
    return any(draft.source is not None for draft in drafts)
