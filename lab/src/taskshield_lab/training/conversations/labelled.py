"""Labelled conversations, as values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from taskshield.core.assessments import TaskDraft
from taskshield.core.messages import Message
from taskshield.core.tools import Tier, ToolSpec
from taskshield_lab.training.conversations.plans import Kind

Moved = Callable[[int, int], tuple[int, int]]
"""Where a stretch of a text stands, by start and end, after the text has changed."""
CallKind = Literal["step", "also_fine", "drift", "attack"]
"""Why a call stands in a conversation; the first two kinds are aligned."""

SpanKind = Literal["attack", "benign", "pointed", "obey", "wish", "echo"]
"""Whose words a stretch of an output is; `examples.Label` tells."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLabel:
    """Characters `start` to `end` of a message's text and whose words they are."""

    start: int
    end: int
    kind: SpanKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledConversation:
    """A made conversation with everything that is known about it."""

    id: str
    scenario: str
    domain: str
    lang: str
    kind: Kind
    style: str | None
    """The style of its first injection; None for a plain one, and where there is none."""
    tools: tuple[ToolSpec, ...]
    tiers: Mapping[str, Tier]
    system: str | None
    messages: tuple[Message, ...]
    """With the system message first, where there is one."""
    tasks: Mapping[int, tuple[TaskDraft, ...]]
    """By index of the user message."""
    calls: Mapping[str, CallLabel]
    """By id of the call."""
    spans: Mapping[int, tuple[SpanLabel, ...]]
    """By index of the message."""


def explained_anew(
    calls: Mapping[str, CallLabel], number: int, moved: Moved
) -> dict[str, CallLabel]:
    """The labels of calls after the text of one message has changed, by number of the message."""

    def explained(label: CallLabel) -> CallLabel:
        where = label.explained_by
        if where is None or where[0] != number:
            return label
        return replace(label, explained_by=(number, *moved(*where[1:])))

    return {id: explained(label) for id, label in calls.items()}
