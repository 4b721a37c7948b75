"""Inserts requests of third parties: for the user's own task, or for another user's task.

Most requests in data are attacks or not meant for the agent. A network that sees no others learns
that every request in data is wrong. Both kinds have the same wordings here, so only the user's task
distinguishes them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield_lab.training.conversations.labelled import LabelledConversation, is_delegating
from taskshield_lab.training.distractors.insertion import (
    in_one_string,
    insert_into_conversation,
    long_outputs,
)

_WORDINGS: Sequence[str] = (
    "{Do}.",
    "{Do}, please.",
    "Please {do}.",
    "Could somebody {do}?",
    "Can you {do}? Thanks!",
    "Hi, could you {do} when you have a minute?",
    "Don't forget to {do}.",
    "We still have to {do}.",
    "It would help me a lot if you could {do}.",
    "One more thing, {do}.",
    "Just a reminder to {do}.",
    "As agreed, {do}.",
)
"""Wordings of a request."""
_BARE = _WORDINGS[:1]
"""The wording for other languages and for whole sentences."""
_SENTENCES = re.compile(r"[.!?]\s|\?$")
_FORBIDDING = re.compile(r"(?i)\b(do not|don't|never|without)\b")
"""Tasks that forbid something; recognised in English only."""
_LONGEST = 240
"""Characters of a task that can be inserted."""
_DETAILED = 0.6
"""Share of the requests that name values of a later good call."""
_VALUES, _LONGEST_VALUE = 3, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """An output, by number of its message, and a task that can be inserted into it."""

    output: int
    task: str
    calls: Sequence[ToolCall]
    """Later good calls of the user who has the task."""


def add_same_request(conversation: LabelledConversation, rng: Random) -> LabelledConversation:
    """The conversation with a third party's request for one of the user's tasks.

    It stays as it is if no output before a good call is long enough, or if the user delegates: the
    text alone then does not decide whose requests count.
    """
    candidates = [] if is_delegating(conversation) else _candidates(conversation)
    if not candidates:
        return conversation
    return _with(conversation, rng.choice(candidates), "echo", rng)


def add_other_request(
    conversation: LabelledConversation, other: LabelledConversation, rng: Random
) -> LabelledConversation:
    """The conversation with a third party's request for a task of another conversation.

    It stays as it is if no output is long enough or if the user delegates.
    """
    outputs = [] if is_delegating(conversation) else long_outputs(conversation.messages)
    tasks = [draft.text for drafts in other.tasks.values() for draft in drafts]
    insertable = [task for task in tasks if _is_insertable(task)]
    if not outputs or not insertable:
        return conversation
    made = [call for _, call in _good(other)]
    found = _Candidate(output=rng.choice(outputs), task=rng.choice(insertable), calls=made)
    return _with(conversation, found, "wish", rng)


def _with(
    conversation: LabelledConversation,
    found: _Candidate,
    kind: Literal["echo", "wish"],
    rng: Random,
) -> LabelledConversation:
    bare = conversation.lang != "en" or _SENTENCES.search(found.task)
    words = _worded(rng.choice(_BARE if bare else _WORDINGS), found, rng)
    return insert_into_conversation(conversation, found.output, words, kind, rng)


def _candidates(conversation: LabelledConversation) -> list[_Candidate]:
    """Every task of the user with every output after it."""
    made = _good(conversation)
    return [
        _Candidate(output=output, task=draft.text, calls=later)
        for output in long_outputs(conversation.messages)
        for later in [[call for number, call in made if number > output]]
        if later
        for asked, drafts in conversation.tasks.items()
        if asked < output
        for draft in drafts
        if _is_insertable(draft.text)
    ]


def _good(conversation: LabelledConversation) -> list[tuple[int, ToolCall]]:
    """Aligned calls with side effects, each with the number of its message."""
    return [
        (number, call)
        for number, message in enumerate(conversation.messages)
        for call in message.tool_calls
        if conversation.calls[call.id].aligned and conversation.calls[call.id].tier.side_effects
    ]


def _is_insertable(task: str) -> bool:
    return len(task) <= _LONGEST and not _FORBIDDING.search(task)


def _worded(wording: str, found: _Candidate, rng: Random) -> str:
    bare = found.task.strip().rstrip(".!?")
    if found.calls and rng.random() < _DETAILED:
        named = [one.text for one in argument_values(rng.choice(found.calls)) if not one.trivial]
        short = [text for text in named if len(text) <= _LONGEST_VALUE and "\n" not in text]
        bare += f" ({', '.join(short[:_VALUES])})" if short else ""
    small, great = bare[:1].lower() + bare[1:], bare[:1].upper() + bare[1:]
    return in_one_string(wording.replace("{do}", small).replace("{Do}", great))
