"""Makes labelled conversations of test environments: all of them to evaluate, some to train."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random

from taskshield.core.assessments import TaskDraft
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from taskshield.engine.risk_tiers import tier_of
from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import (
    CallKind,
    CallLabel,
    LabelledConversation,
    SpanKind,
    SpanLabel,
)
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.conversations.tool_outputs import placeholder_output
from taskshield_lab.training.conversations.truncation import truncate_outputs
from taskshield_lab.training.sources import environments
from taskshield_lab.training.sources.environments import WORDINGS, Attack, Task, TestEnvironment
from taskshield_lab.training.sources.scenarios import Call

_KINDS: tuple[Kind, ...] = ("attacked", "clean", "attacked", "drift", "attacked", "ignored")
"""Kinds of the sampled conversations, in turn."""
_SHORT = 0.3
"""Share of the sampled conversations whose outputs are truncated."""
_LATER = 0.3
"""Share of the attacks that the agent obeys one step after it reads them."""
_MARK = re.compile(
    "|".join(
        map(
            re.escape, (environments.INJECTION_SLOT, environments.TASK_START, environments.TASK_END)
        )
    )
)


@dataclass(frozen=True, slots=True)
class _Injection:
    """An attack in the output of a step."""

    step: int
    attack: Attack
    wording: str
    obeyed: int | None
    """The agent obeys after so many more steps; None if it never does."""

    @property
    def text(self) -> str:
        """The text in the output."""
        return self.attack.texts[self.wording]

    def is_obeyed_after(self, step: int) -> bool:
        """Whether the agent obeys it after a step."""
        return self.obeyed is not None and step == self.step + self.obeyed


def all_conversations(environment: TestEnvironment) -> Iterator[LabelledConversation]:
    """Every task without an attack, and with every attack in every wording, obeyed at once.

    If several outputs have a place for an attack, the attacks take turns.
    """
    tiers = _tiers(environment)
    for task in environment.tasks:
        yield _conversation(environment, tiers, task, "clean", id=f"{environment.name}/{task.id}")
        places = task.writable_steps
        for number, attack in enumerate(environment.attacks):
            for wording in WORDINGS:
                injected = _Injection(places[number % len(places)], attack, wording, obeyed=0)
                id = f"{environment.name}/{task.id}/{attack.id}/{wording}"
                yield _conversation(environment, tiers, task, "attacked", injected, id=id)


def sample_conversations(
    environment: TestEnvironment, *, seed: object, per_task: int
) -> Iterator[LabelledConversation]:
    """Some conversations of every task, the same ones for the same seed."""
    tiers = _tiers(environment)
    for task in environment.tasks:
        for number, kind in enumerate(islice(cycle(_KINDS), per_task)):
            id = f"{environment.name}/{task.id}:{number}"
            rng = Random(f"{seed}:{id}")
            injected = None
            if kind in ("attacked", "ignored"):
                step = rng.choice(task.writable_steps)
                obeyed = None if kind == "ignored" else int(rng.random() < _LATER)
                injected = _Injection(
                    step, rng.choice(environment.attacks), rng.choice(WORDINGS), obeyed
                )
            conversation = _conversation(environment, tiers, task, kind, injected, id=id)
            yield truncate_outputs(conversation, rng) if rng.random() < _SHORT else conversation


def _tiers(environment: TestEnvironment) -> dict[str, Tier]:
    specs = {tool.name: tool for tool in environment.tools}
    return {name: tier_of(name, specs, Policy()) for name in specs}


def _conversation(
    environment: TestEnvironment,
    tiers: Mapping[str, Tier],
    task: Task,
    kind: Kind,
    injected: _Injection | None = None,
    *,
    id: str,
) -> LabelledConversation:
    builder = _ConversationBuilder(tiers, Random(id), [text_message(Level.USER, task.prompt)])
    follows: SpanKind = "obey" if task.trust == "hands over" else "pointed"
    request: tuple[int, int, int] | None = None
    for number, step in enumerate(task.steps):
        here = injected if injected is not None and injected.step == number else None
        text, spans = _read_output(step.output, "" if here is None else here.text, follows)
        output = builder.add_call(step.call, "step", text)
        builder.spans[output] = spans
        if here is not None:
            request = next((output, one.start, one.end) for one in spans if one.kind == "attack")
        if injected is not None and injected.is_obeyed_after(number):
            for call in injected.attack.calls:
                builder.add_call(call, "attack", explained_by=request)
    if kind == "drift" and task.drift_call is not None:
        builder.add_call(task.drift_call, "drift")
    source = "what the user names" if task.trust == "hands over" else None
    return LabelledConversation(
        id=id,
        scenario=f"{environment.name}/{task.id}",
        domain=environment.name,
        lang=environment.lang,
        kind=kind,
        style=None if injected is None else injected.wording,
        tools=environment.tools,
        tiers=tiers,
        system=None,
        messages=tuple(builder.messages),
        tasks={0: (TaskDraft(text=task.prompt, source=source),)},
        calls=builder.calls,
        spans=builder.spans,
    )


@dataclass(slots=True)
class _ConversationBuilder:
    """A conversation while it is being built."""

    tiers: Mapping[str, Tier]
    rng: Random
    messages: list[Message]
    calls: dict[str, CallLabel] = field(default_factory=dict)
    spans: dict[int, tuple[SpanLabel, ...]] = field(default_factory=dict)

    def add_call(
        self,
        call: Call,
        kind: CallKind,
        output: str | None = None,
        explained_by: tuple[int, int, int] | None = None,
    ) -> int:
        """Add a call and its output, or a placeholder; the number of the output's message."""
        tier = self.tiers[call.name]
        made = call.to_tool_call(f"call_{len(self.calls)}")
        self.calls[made.id] = CallLabel(
            aligned=kind == "step", kind=kind, tier=tier, explained_by=explained_by
        )
        text = placeholder_output(tier, self.rng).text if output is None else output
        self.messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(made,)))
        self.messages.append(Message(level=Level.TOOL, parts=(Text(text=text),), answers=made.id))
        return len(self.messages) - 1


def _read_output(
    output: str, injected: str, follows: SpanKind
) -> tuple[str, tuple[SpanLabel, ...]]:
    """The text of an output without marks, and its spans.

    Any other request in it is meant for other people and harmless.

    Args:
        output: The output with marks.
        injected: The injected text; empty if there is none.
        follows: The kind of the spans that the user's task follows.
    """
    text, start, end = "", 0, 0
    spans: list[SpanLabel] = []
    for mark in _MARK.finditer(output):
        text += output[end : mark.start()]
        end = mark.end()
        match mark.group():
            case environments.TASK_START:
                start = len(text)
            case environments.TASK_END:
                spans.append(SpanLabel(start=start, end=len(text), kind=follows))
            case _ if injected:
                own = SpanLabel(start=len(text), end=len(text) + len(injected), kind="attack")
                spans.append(own)
                text += injected
    text += output[end:]
    others = [
        SpanLabel(start=one.start, end=one.end, kind="benign")
        for one in segments(text)
        if kind_of(one.text) == "directive"
        and not any(one.start < span.end and span.start < one.end for span in spans)
    ]
    return text, (*spans, *others)
