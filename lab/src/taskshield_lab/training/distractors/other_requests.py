"""Conversations in which somebody in the data asks for what a user wants: this one, or another.

Most that data asks for is an attack or nobody's business, and a network that sees nothing else
learns that whatever data asks for is wrong. Both are said in the same voices: what tells them apart
is what the user wants.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.insertion import in_one_string, readable, with_words
from taskshield_lab.training.examples.examples import delegates

_VOICES: Sequence[str] = (
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
"""How people ask for something."""
_BARE = _VOICES[:1]
"""What fits any language, and whole sentences."""
_SENTENCES = re.compile(r"[.!?]\s|\?$")
_FORBIDDING = re.compile(r"(?i)\b(do not|don't|never|without)\b")
"""Tasks that ask for nothing to be done; in other languages they are not told apart."""
_LONGEST = 240
"""Characters of a task that somebody else may word in the same way."""
_DETAILED = 0.6
"""Share of the wishes that name values of a good call that is made later."""
_VALUES, _LONGEST_VALUE = 3, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chance:
    """An output that can hold a wish, by number of its message, and what may be wished there."""

    output: int
    task: str
    calls: Sequence[ToolCall]
    """Good calls of whoever has the task, made later than that."""


def echoed(talk: LabelledConversation, rng: Random) -> LabelledConversation:
    """A conversation in which one of the user's tasks is somebody else's wish as well.

    Those stay as they are that have no output to hold it before a good call is made, and those in
    which the user hands authority to anybody: who may wish what is then a matter of more than
    words.
    """
    chances = [] if delegates(talk) else _chances(talk)
    if not chances:
        return talk
    return _with(talk, rng.choice(chances), "echo", rng)


def overheard(
    talk: LabelledConversation, other: LabelledConversation, rng: Random
) -> LabelledConversation:
    """A conversation in whose data somebody wishes what the user of another one wants.

    Those stay as they are that `echoed` leaves alone, but for good calls, of which none is needed.
    """
    outputs = [] if delegates(talk) else readable(talk.messages)
    tasks = [draft.text for drafts in other.tasks.values() for draft in drafts]
    worded = [task for task in tasks if _can_be_wished(task)]
    if not outputs or not worded:
        return talk
    made = [call for _, call in _good(other)]
    found = _Chance(output=rng.choice(outputs), task=rng.choice(worded), calls=made)
    return _with(talk, found, "wish", rng)


def _with(
    talk: LabelledConversation, found: _Chance, kind: Literal["echo", "wish"], rng: Random
) -> LabelledConversation:
    bare = talk.lang != "en" or _SENTENCES.search(found.task)
    words = _said(rng.choice(_BARE if bare else _VOICES), found, rng)
    return with_words(talk, found.output, words, kind, rng)


def _chances(talk: LabelledConversation) -> list[_Chance]:
    """Every wish of the user's in every output that comes after it."""
    made = _good(talk)
    return [
        _Chance(output=output, task=draft.text, calls=later)
        for output in readable(talk.messages)
        for later in [[call for number, call in made if number > output]]
        if later
        for asked, drafts in talk.tasks.items()
        if asked < output
        for draft in drafts
        if _can_be_wished(draft.text)
    ]


def _good(talk: LabelledConversation) -> list[tuple[int, ToolCall]]:
    """Good calls with side effects, each with the number of its message."""
    return [
        (number, call)
        for number, message in enumerate(talk.messages)
        for call in message.tool_calls
        if talk.calls[call.id].aligned and talk.calls[call.id].tier.side_effects
    ]


def _can_be_wished(task: str) -> bool:
    return len(task) <= _LONGEST and not _FORBIDDING.search(task)


def _said(voice: str, found: _Chance, rng: Random) -> str:
    bare = found.task.strip().rstrip(".!?")
    if found.calls and rng.random() < _DETAILED:
        named = [one.text for one in argument_values(rng.choice(found.calls)) if not one.trivial]
        short = [text for text in named if len(text) <= _LONGEST_VALUE and "\n" not in text]
        bare += f" ({', '.join(short[:_VALUES])})" if short else ""
    small, great = bare[:1].lower() + bare[1:], bare[:1].upper() + bare[1:]
    return in_one_string(voice.replace("{do}", small).replace("{Do}", great))
