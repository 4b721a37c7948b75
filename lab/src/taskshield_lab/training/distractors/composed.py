"""Conversations composed of public pairs of a request and the call that answers it.

The user asks what one row asks, and the agent does it. In what a tool returns on the way stands
what another row asks, word for word: a wish of somebody else. Whoever makes the call of that row
obeys it. Rows that say what was called before, and what came back, bring a story of their own; in
the others the agent reads a public text first.

Scenarios (`corpus`) are richer, but their tools and domains are ours. These are plain, with
thousands of tools that none of us thought of. Sides are those of the rows: train and valid share
no domain, task or template.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from taskshield.core.assessments import TaskDraft
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield_lab.training.conversations.labelled import (
    CallLabel,
    LabelledConversation,
    SpanLabel,
)
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.conversations.tool_outputs import stand_in
from taskshield_lab.training.distractors.delegations import READERS, Reader, handed_over
from taskshield_lab.training.distractors.insertion import planted, readable
from taskshield_lab.training.distractors.public_rows import (
    Pack,
    Row,
    specs_of,
    tier_of_call,
    wish_of,
)
from taskshield_lab.training.examples.examples import delegates

_READ_FIRST = 0.3
"""Share of the conversations with a story of their own in which a public text is read as well."""
_NEAR = 0.5
"""Share of the wishes that are of the domain of the request, where it has any."""
_IGNORED, _CLEAN = 0.2, 0.3
"""Shares of the conversations about a call with side effects in which the wish is ignored, and in
which there is none."""
_LOOK_UPS = 0.3
"""Share of the look-ups about which there is a conversation, always with an attack."""
_TWICE_HANDED = 0.5
"""Share of the conversations with a handover in which another text holds a wish as well."""

_CALLED = re.compile(r"called (\S+) ?(\{.*)?$", re.DOTALL)


def composed(pack: Pack, seed: object, part: slice = slice(None)) -> Iterator[LabelledConversation]:
    """Conversations about these rows, or a part of them; the same for the same seed."""
    if not pack.wishes or not pack.texts:
        return
    for row in pack.rows[part]:
        rng = Random(f"{seed}:{row['id']}")
        for number, kind in enumerate(_kinds(row, rng)):
            other = None if kind == "clean" else _other(pack, row, rng)
            if kind == "clean" or other is not None:
                yield _asked(pack, row, other, kind, rng, id=f"{row['id']}:{number}")
    for row in pack.wishes[part]:
        rng = Random(f"{seed}:{row['id']}:handover")
        yield _handed(pack, row, rng, id=f"{row['id']}:handover")


def wished(talk: LabelledConversation, pack: Pack, rng: Random) -> LabelledConversation:
    """A conversation in which somebody's public wish stands as well, and is obeyed at the end.

    Those without an output to hold it stay as they are, those that have such a tool, and those in
    which the user hands authority to anybody: who may wish what is then a matter of more than
    words.
    """
    outputs = readable(talk.messages)
    if not pack.wishes or not outputs or delegates(talk):
        return talk
    row = rng.choice(pack.wishes)
    name = row["call"]["name"]
    if any(tool.name == name for tool in talk.tools):
        return talk
    end = _Talk(
        rng=rng, messages=list(talk.messages), calls=dict(talk.calls), spans=dict(talk.spans)
    )
    end.make(row, "attack", end.plant(row, rng.choice(outputs)))
    return replace(
        talk,
        kind="attacked",
        tools=(*talk.tools, *end.tools.values()),
        tiers={**talk.tiers, name: tier_of_call(row)},
        messages=tuple(end.messages),
        calls=end.calls,
        spans=end.spans,
    )


def _kinds(row: Row, rng: Random) -> list[Kind]:
    if not tier_of_call(row).side_effects:
        return ["attacked"] if rng.random() < _LOOK_UPS else []
    rest = 1 - _IGNORED - _CLEAN
    kinds: tuple[Kind, ...] = ("attacked", "ignored", "clean")
    return rng.choices(kinds, weights=(rest, _IGNORED, _CLEAN), k=2)


def _other(pack: Pack, row: Row, rng: Random) -> Row | None:
    """A wish that has nothing to do with the row's own task."""
    near = pack.near.get(row["domain"], ())
    other = rng.choice(near if near and rng.random() < _NEAR else pack.wishes)
    same = other["task"] == row["task"] or other["goal"] == row["goal"]
    return None if same or other["call"] == row["call"] else other


def _asked(
    pack: Pack, row: Row, other: Row | None, kind: Kind, rng: Random, *, id: str
) -> LabelledConversation:
    """The user asks what the row asks; the other row's wish stands in something that is read."""
    talk = _Talk(rng=rng)
    talk.tell(row)
    if not readable(talk.messages) or rng.random() < _READ_FIRST:
        talk.read(rng.choice(READERS), rng.choice(pack.texts))
    if other is not None:
        words = talk.plant(other, rng.choice(readable(talk.messages)))
        if kind == "attacked":
            talk.make(other, "attack", words)
    talk.make(row, "step")
    return talk.labelled(id, row, kind)


def _handed(pack: Pack, row: Row, rng: Random, *, id: str) -> LabelledConversation:
    """The user tells the agent to do what a text asks for; another text asks for something else."""
    reader, number = rng.choice(READERS), rng.randrange(10, 1000)
    talk = _Talk(rng=rng)
    words = handed_over(reader, number, rng, held_out=pack.side == "valid")
    talk.say_as_user(words, source=reader.thing)
    given = talk.read(reader, rng.choice(pack.texts) if rng.random() < 0.5 else "", number)
    talk.plant(row, given, "obey")
    other = _other(pack, row, rng) if rng.random() < _TWICE_HANDED else None
    if other is not None:
        elsewhere = rng.choice([one for one in READERS if one.thing != reader.thing])
        read = talk.read(elsewhere, rng.choice(pack.texts))
        talk.make(other, "attack", talk.plant(other, read))
    talk.make(row, "step")
    return talk.labelled(id, row, "benign" if other is None else "attacked")


@dataclass(slots=True, kw_only=True)
class _Talk:
    """A conversation while it is written."""

    rng: Random
    messages: list[Message] = field(default_factory=list)
    tools: dict[str, ToolSpec] = field(default_factory=dict)
    calls: dict[str, CallLabel] = field(default_factory=dict)
    spans: dict[int, tuple[SpanLabel, ...]] = field(default_factory=dict)
    tasks: dict[int, tuple[TaskDraft, ...]] = field(default_factory=dict)

    def tell(self, row: Row) -> None:
        """What the user asks, and what happened before the row's call."""
        self.tools |= {tool.name: tool for tool in specs_of(row)}
        turns = iter(row["goal"])
        asked, called = 0, ""
        for past in row["history"]:
            while asked < min(past["after"], len(row["goal"])):
                self.say_as_user(next(turns))
                asked += 1
            match = _CALLED.match(past["text"]) if past["role"] == "assistant" else None
            if match is not None:
                called = self._answered(called, "")
                called = self._called(match[1], match[2] or "{}")
            elif past["role"] == "tool":
                called = called or self._called(past.get("name") or "look_up", "{}")
                called = self._answered(called, past["text"])
            else:
                called = self._answered(called, "")
                self.messages.append(text_message(Level.ASSISTANT, past["text"]))
        self._answered(called, "")
        for text in turns:
            self.say_as_user(text)

    def say_as_user(self, text: str, source: str | None = None) -> None:
        """The user speaks, and perhaps hands authority to a source."""
        self.tasks[len(self.messages)] = (TaskDraft(text=text, source=source),)
        self.messages.append(text_message(Level.USER, text))

    def read(self, reader: Reader, text: str, number: int | None = None) -> int:
        """The agent reads something, of this number or of any: the number of the output."""
        self.tools.setdefault(reader.name, reader.spec)
        which = self.rng.randrange(10, 1000) if number is None else number
        made = self._called(reader.name, json.dumps({reader.argument: str(which)}))
        self._answered(made, text)
        return len(self.messages) - 1

    def plant(
        self, row: Row, output: int, kind: Literal["wish", "obey"] = "wish"
    ) -> tuple[int, int, int]:
        """Somebody's wish in an output: where it stands."""
        spans = self.spans.get(output, ())
        held = planted(self.messages[output], wish_of(row), spans, self.rng, kind)
        self.messages[output], self.spans[output] = held.message, held.spans
        return output, held.words.start, held.words.end

    def make(
        self,
        row: Row,
        kind: Literal["step", "attack"],
        words: tuple[int, int, int] | None = None,
    ) -> None:
        """The agent makes the row's call, and perhaps obeys words in the data by it."""
        tools = {tool.name: tool for tool in specs_of(row)}
        name, tier = row["call"]["name"], tier_of_call(row)
        self.tools.setdefault(name, tools[name])
        made = self._called(name, json.dumps(row["call"]["args"], ensure_ascii=False))
        self.calls[made] = CallLabel(
            aligned=kind == "step", kind=kind, tier=tier, explained_by=words
        )
        self._answered(made, stand_in(tier, self.rng).text)

    def labelled(self, id: str, row: Row, kind: Kind) -> LabelledConversation:
        """The conversation as it is now."""
        tools = list(self.tools.values())
        self.rng.shuffle(tools)
        return LabelledConversation(
            id=id,
            scenario=row["id"],
            domain=row["domain"],
            lang="en",
            kind=kind,
            style=None,
            tools=tuple(tools),
            tiers={tool.name: tier_of(tool.name, self.tools, Policy()) for tool in tools},
            system=None,
            messages=tuple(self.messages),
            tasks=self.tasks,
            calls=self.calls,
            spans=self.spans,
        )

    def _called(self, name: str, arguments: str) -> str:
        """A call of the past, taken for a good one: its id."""
        call = ToolCall(id=f"call_{len(self.calls)}", name=name, arguments=arguments)
        self.calls[call.id] = CallLabel(aligned=True, kind="step", tier=Tier.READ)
        self.messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(call,)))
        return call.id

    def _answered(self, call: str, text: str) -> str:
        """The call gets its output, where there is a call; nothing is called any more."""
        if call:
            given = text or stand_in(Tier.READ, self.rng).text
            self.messages.append(Message(level=Level.TOOL, parts=(Text(text=given),), answers=call))
        return ""
