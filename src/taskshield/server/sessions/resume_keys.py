"""Names by which a snapshot is found again.

A stateless client sends its whole conversation every time. Each beginning of it has a name: a hash
of everything said up to there. Under that name the next request finds the session where it stopped.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taskshield.adapters.stored.conversations import TOOL_SPEC
from taskshield.core.decisions import Decision
from taskshield.core.messages import Conversation, Message, Opaque, digest
from taskshield.core.tools import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeKeys:
    """Names for the snapshot that a check leads to."""

    names: tuple[str, ...]
    decisions: tuple[Decision, ...]
    """On the messages before the check, one for each that the client sees."""
    unless: Callable[[Decision], bool]
    """Whether a decision means that the snapshot gets none of these names."""


def conversation_names(seed: str, conversation: Conversation) -> list[str]:
    """Names of all beginnings of a conversation, the empty one first.

    Args:
        seed: Everything else that decisions depend on: judge and policy.
        conversation: The messages so far.
    """
    return list(_names(seed, conversation))


def _names(seed: str, conversation: Conversation) -> Iterator[str]:
    name = digest(seed, *sorted(map(_tool_json, conversation.tools)))
    yield name
    for message in conversation.messages:
        name = digest(name, _message_json(message))
        yield name


def _tool_json(spec: ToolSpec) -> str:
    return json.dumps(TOOL_SPEC.write(spec), sort_keys=True)  # the same in every release


def _message_json(message: Message) -> str:
    return json.dumps(
        [
            message.level.value,
            [
                ["opaque", part.kind] if isinstance(part, Opaque) else ["text", part.text]
                for part in message.parts
            ],
            [[call.id, call.name, call.arguments] for call in message.tool_calls],
            message.answers,
            message.is_error,
        ]
    )
