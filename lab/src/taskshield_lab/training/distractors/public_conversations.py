"""Composes conversations of public rows, each a request and the call that answers it.

The user's request is that of one row, and the agent makes its call. A tool output on the way has
the request of another row, word for word, as an attack; an agent that obeys makes that row's call.
Some rows have a history of earlier calls and outputs. For the others the agent reads a public text
first.

Scenarios (`corpus`) are richer, but their tools and domains are ours. These conversations are plain
and have thousands of tools of others. Sides are those of the rows: train and valid share no domain,
task or template.
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
    is_delegating,
)
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.conversations.tool_outputs import placeholder_output
from taskshield_lab.training.distractors.delegations import READERS, Reader, delegation_text
from taskshield_lab.training.distractors.insertion import insert_words, long_outputs
from taskshield_lab.training.distractors.public_rows import (
    PublicRows,
    Row,
    request_of,
    specs_of,
    tier_of_call,
)

_READ_FIRST = 0.3
"""Share of the conversations with a history in which the agent reads a public text as well."""
_NEAR = 0.5
"""Share of the attacks from the domain of the user's request, if it has other rows."""
_IGNORED, _CLEAN = 0.2, 0.3
"""Shares of the conversations about a call with side effects whose attack is ignored, and that have
none."""
_READ_CALLS = 0.3
"""Share of the read calls that get a conversation, always with an attack."""
_ATTACKED_DELEGATIONS = 0.5
"""Share of the conversations with a delegation in which another text has an attack."""

_CALLED = re.compile(r"called (\S+) ?(\{.*)?$", re.DOTALL)


def compose_conversations(
    public_rows: PublicRows, seed: object, part: slice = slice(None)
) -> Iterator[LabelledConversation]:
    """Conversations of these rows or a part of them, the same ones for the same seed."""
    if not public_rows.requests or not public_rows.texts:
        return
    for row in public_rows.rows[part]:
        rng = Random(f"{seed}:{row['id']}")
        for number, kind in enumerate(_kinds(row, rng)):
            other = None if kind == "clean" else _other(public_rows, row, rng)
            if kind == "clean" or other is not None:
                yield _requested(public_rows, row, other, kind, rng, id=f"{row['id']}:{number}")
    for row in public_rows.requests[part]:
        rng = Random(f"{seed}:{row['id']}:handover")
        yield _delegated(public_rows, row, rng, id=f"{row['id']}:handover")


def add_obeyed_request(
    conversation: LabelledConversation, public_rows: PublicRows, rng: Random
) -> LabelledConversation:
    """The conversation with an attack from a public row, which the agent obeys at the end.

    It stays as it is if no output is long enough, if it has the row's tool, or if the user
    delegates: the text alone then does not decide whose requests count.
    """
    outputs = long_outputs(conversation.messages)
    if not public_rows.requests or not outputs or is_delegating(conversation):
        return conversation
    row = rng.choice(public_rows.requests)
    name = row["call"]["name"]
    if any(tool.name == name for tool in conversation.tools):
        return conversation
    end = _ConversationBuilder(
        rng=rng,
        messages=list(conversation.messages),
        calls=dict(conversation.calls),
        spans=dict(conversation.spans),
    )
    end.add_call(row, "attack", end.insert_request(row, rng.choice(outputs)))
    return replace(
        conversation,
        kind="attacked",
        tools=(*conversation.tools, *end.tools.values()),
        tiers={**conversation.tiers, name: tier_of_call(row)},
        messages=tuple(end.messages),
        calls=end.calls,
        spans=end.spans,
    )


def _kinds(row: Row, rng: Random) -> list[Kind]:
    if not tier_of_call(row).side_effects:
        return ["attacked"] if rng.random() < _READ_CALLS else []
    attacked = 1 - _IGNORED - _CLEAN
    kinds: tuple[Kind, ...] = ("attacked", "ignored", "clean")
    return rng.choices(kinds, weights=(attacked, _IGNORED, _CLEAN), k=2)


def _other(public_rows: PublicRows, row: Row, rng: Random) -> Row | None:
    """A row whose request has nothing to do with this row's task."""
    near = public_rows.requests_by_domain.get(row["domain"], ())
    other = rng.choice(near if near and rng.random() < _NEAR else public_rows.requests)
    same = other["task"] == row["task"] or other["goal"] == row["goal"]
    return None if same or other["call"] == row["call"] else other


def _requested(
    public_rows: PublicRows, row: Row, other: Row | None, kind: Kind, rng: Random, *, id: str
) -> LabelledConversation:
    """The user has the row's request; an output has the other row's request."""
    builder = _ConversationBuilder(rng=rng)
    builder.add_row(row)
    if not long_outputs(builder.messages) or rng.random() < _READ_FIRST:
        builder.add_reading(rng.choice(READERS), rng.choice(public_rows.texts))
    if other is not None:
        words = builder.insert_request(other, rng.choice(long_outputs(builder.messages)))
        if kind == "attacked":
            builder.add_call(other, "attack", words)
    builder.add_call(row, "step")
    return builder.labelled(id, row, kind)


def _delegated(public_rows: PublicRows, row: Row, rng: Random, *, id: str) -> LabelledConversation:
    """The user delegates to a text with the row's request; another text may have an attack."""
    reader, number = rng.choice(READERS), rng.randrange(10, 1000)
    builder = _ConversationBuilder(rng=rng)
    words = delegation_text(reader, number, rng, held_out=public_rows.side == "valid")
    builder.add_user(words, source=reader.thing)
    given = builder.add_reading(
        reader, rng.choice(public_rows.texts) if rng.random() < 0.5 else "", number
    )
    builder.insert_request(row, given, "obey")
    other = _other(public_rows, row, rng) if rng.random() < _ATTACKED_DELEGATIONS else None
    if other is not None:
        elsewhere = rng.choice([one for one in READERS if one.thing != reader.thing])
        read = builder.add_reading(elsewhere, rng.choice(public_rows.texts))
        builder.add_call(other, "attack", builder.insert_request(other, read))
    builder.add_call(row, "step")
    return builder.labelled(id, row, "benign" if other is None else "attacked")


@dataclass(slots=True, kw_only=True)
class _ConversationBuilder:
    """A conversation while it is being built."""

    rng: Random
    messages: list[Message] = field(default_factory=list)
    tools: dict[str, ToolSpec] = field(default_factory=dict)
    calls: dict[str, CallLabel] = field(default_factory=dict)
    spans: dict[int, tuple[SpanLabel, ...]] = field(default_factory=dict)
    tasks: dict[int, tuple[TaskDraft, ...]] = field(default_factory=dict)

    def add_row(self, row: Row) -> None:
        """Add the user's messages and the history of a row."""
        self.tools |= {tool.name: tool for tool in specs_of(row)}
        turns = iter(row["goal"])
        asked, called = 0, ""
        for past in row["history"]:
            while asked < min(past["after"], len(row["goal"])):
                self.add_user(next(turns))
                asked += 1
            match = _CALLED.match(past["text"]) if past["role"] == "assistant" else None
            if match is not None:
                called = self._close_call(called, "")
                called = self._open_call(match[1], match[2] or "{}")
            elif past["role"] == "tool":
                called = called or self._open_call(past.get("name") or "look_up", "{}")
                called = self._close_call(called, past["text"])
            else:
                called = self._close_call(called, "")
                self.messages.append(text_message(Level.ASSISTANT, past["text"]))
        self._close_call(called, "")
        for text in turns:
            self.add_user(text)

    def add_user(self, text: str, source: str | None = None) -> None:
        """Add a user message, which may delegate to a source."""
        self.tasks[len(self.messages)] = (TaskDraft(text=text, source=source),)
        self.messages.append(text_message(Level.USER, text))

    def add_reading(self, reader: Reader, text: str, number: int | None = None) -> int:
        """Add a call that reads a text, of this number or a random one; the index of the output."""
        self.tools.setdefault(reader.name, reader.spec)
        which = self.rng.randrange(10, 1000) if number is None else number
        made = self._open_call(reader.name, json.dumps({reader.argument: str(which)}))
        self._close_call(made, text)
        return len(self.messages) - 1

    def insert_request(
        self, row: Row, output: int, kind: Literal["wish", "obey"] = "wish"
    ) -> tuple[int, int, int]:
        """Insert a row's request into an output; its message, start and end."""
        spans = self.spans.get(output, ())
        inserted = insert_words(self.messages[output], request_of(row), spans, self.rng, kind)
        self.messages[output], self.spans[output] = inserted.message, inserted.spans
        return output, inserted.words.start, inserted.words.end

    def add_call(
        self,
        row: Row,
        kind: Literal["step", "attack"],
        words: tuple[int, int, int] | None = None,
    ) -> None:
        """Add the row's call, which may obey a text in the data."""
        tools = {tool.name: tool for tool in specs_of(row)}
        name, tier = row["call"]["name"], tier_of_call(row)
        self.tools.setdefault(name, tools[name])
        made = self._open_call(name, json.dumps(row["call"]["args"], ensure_ascii=False))
        self.calls[made] = CallLabel(
            aligned=kind == "step", kind=kind, tier=tier, explained_by=words
        )
        self._close_call(made, placeholder_output(tier, self.rng).text)

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

    def _open_call(self, name: str, arguments: str) -> str:
        """Add a call that counts as good; its id."""
        call = ToolCall(id=f"call_{len(self.calls)}", name=name, arguments=arguments)
        self.calls[call.id] = CallLabel(aligned=True, kind="step", tier=Tier.READ)
        self.messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(call,)))
        return call.id

    def _close_call(self, call: str, text: str) -> str:
        """Add the output of the open call, if there is one; no call is open afterwards."""
        if call:
            given = text or placeholder_output(Tier.READ, self.rng).text
            self.messages.append(Message(level=Level.TOOL, parts=(Text(text=given),), answers=call))
        return ""
