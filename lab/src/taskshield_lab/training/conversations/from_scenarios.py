"""Makes a labelled conversation of a scenario by a plan."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from taskshield.core.assessments import TaskDraft
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, text_message
from taskshield_lab.training.conversations.labelled import (
    CallKind,
    CallLabel,
    LabelledConversation,
    SpanLabel,
)
from taskshield_lab.training.conversations.padding import NoiseMaterial
from taskshield_lab.training.conversations.plans import Injection, Plan, hostile_calls
from taskshield_lab.training.conversations.tool_outputs import (
    LabelledOutput,
    make_output,
    placeholder_output,
)
from taskshield_lab.training.conversations.toolsets import choose_tools, tool_specs
from taskshield_lab.training.sources.scenarios import Call, Scenario

_PLANS = (
    "Next I use {tool}.",
    "Let me call {tool}.",
    "I'll continue with {tool}.",
    "One moment, working on it.",
    "Proceeding.",
    "Now the next part.",
    "Got it, one more call to {tool}.",
)
_BETWEEN = (
    "Done.",
    "That part is done.",
    "Here is what I have so far.",
    "Finished, what next?",
    "",
)


def play_scenario(
    scenario: Scenario, plan: Plan, noise: NoiseMaterial, rng: Random, *, id: str
) -> LabelledConversation:
    """The conversation of a plan, with every call and every directive labelled."""
    builder = _ConversationBuilder(scenario=scenario, plan=plan, noise=noise, rng=rng)
    builder.build()
    used = {call.name for message in builder.messages for call in message.tool_calls}
    tools = choose_tools(scenario.tools, used, noise.tools, rng)
    first = next((one.style for one in plan.injections if one.style is not None), None)
    return LabelledConversation(
        id=id,
        scenario=scenario.id,
        domain=scenario.domain,
        lang=scenario.lang,
        kind=plan.kind,
        style=None if first is None else first.id,
        tools=tool_specs(tools),
        tiers={tool.name: tool.tier for tool in tools},
        system=scenario.system,
        messages=tuple(builder.messages),
        tasks=builder.tasks,
        calls=builder.calls,
        spans=builder.spans,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingCall:
    """A call with its label and its output, not yet in the conversation."""

    call: Call
    label: CallLabel
    output: LabelledOutput


@dataclass(slots=True, kw_only=True)
class _ConversationBuilder:
    scenario: Scenario
    plan: Plan
    noise: NoiseMaterial
    rng: Random
    messages: list[Message] = field(default_factory=list)
    tasks: dict[int, tuple[TaskDraft, ...]] = field(default_factory=dict)
    calls: dict[str, CallLabel] = field(default_factory=dict)
    spans: dict[int, tuple[SpanLabel, ...]] = field(default_factory=dict)
    scheduled: list[tuple[int, int, tuple[int, int, int]]] = field(default_factory=list)
    """Attacks that the agent will obey: the step after which it does, the attack, its text."""
    postponed: list[_PendingCall] = field(default_factory=list)
    """Calls that the agent makes together with the next aligned one."""

    def build(self) -> None:
        """Add all messages."""
        if self.scenario.system is not None:
            self._add_message(Level.SYSTEM, self.scenario.system)
        turn = -1
        extras = self._extras()
        for at, step in enumerate(self.scenario.steps[: self.plan.steps]):
            while turn < step.turn:
                self._add_calls(self.postponed)
                self.postponed = []
                turn += 1
                self._add_user_turn(turn)
            injections = [one for one in self.plan.injections if one.step == at]
            output = make_output(self.scenario, step, injections, self.plan, self.noise, self.rng)
            made = _PendingCall(call=step.call, label=self._label(step.call, "step"), output=output)
            together = [*self.postponed, made]
            self.postponed = []
            self.rng.shuffle(together)
            where = self._add_calls(together)[together.index(made)]
            self._schedule_attacks(where, output, injections, at)
            if self.rng.random() < 0.6:
                self._obey_scheduled(at)
            for call in extras.pop(at, ()):
                self._add_calls([self._pending_call(call, "also_fine")])
            for number in self.plan.drifts:
                if self.scenario.drift[number].after == at:
                    self._add_calls([self._pending_call(self.scenario.drift[number].call, "drift")])
            self._obey_scheduled(at)
        self._obey_scheduled(len(self.scenario.steps))
        self._add_calls(self.postponed)
        if self.plan.steps == len(self.scenario.steps):
            while turn < len(self.scenario.turns) - 1:
                turn += 1
                self._add_user_turn(turn)
            self._add_message(Level.ASSISTANT, self.scenario.final)

    def _extras(self) -> dict[int, list[Call]]:
        """The also-fine calls by the step that they follow; all of them are in the last turn."""
        last = len(self.scenario.turns) - 1
        steps = [at for at in range(self.plan.steps) if self.scenario.steps[at].turn == last]
        found: dict[int, list[Call]] = {}
        for number in self.plan.extras:
            call = self.scenario.also_fine[number]
            fitting = [at for at in steps if self._values_known(call, at)]
            if fitting:
                found.setdefault(self.rng.choice(fitting), []).append(call)
        return found

    def _values_known(self, call: Call, at: int) -> bool:
        """Whether the values of a call have occurred by the end of this step."""
        later = [step.output for step in self.scenario.steps[at + 1 :]]
        seen = [turn.text for turn in self.scenario.turns]
        seen += [step.output for step in self.scenario.steps[: at + 1]]
        return not any(
            isinstance(value, str)
            and any(value in text for text in later)
            and not any(value in text for text in seen)
            for value in call.args.values()
        )

    def _add_user_turn(self, turn: int) -> None:
        if turn:
            self._add_message(Level.ASSISTANT, self.rng.choice(_BETWEEN))
        asked = self.scenario.turns[turn]
        self.tasks[len(self.messages)] = tuple(
            TaskDraft(
                text=task.text,
                source=task.delegates_to,
                scope=None if task.delegates_to is None else task.text,
            )
            for task in asked.tasks
        )
        self._add_message(Level.USER, asked.text)

    def _add_message(self, level: Level, text: str) -> None:
        if text:
            self.messages.append(text_message(level, text))

    def _schedule_attacks(
        self, where: int, output: LabelledOutput, injections: Sequence[Injection], at: int
    ) -> None:
        """Schedule the attacks in an output that the agent will obey."""
        words = {
            found.label.attack: (where, found.start, found.end)
            for kind in ("attack", "goal")
            for found in output.spans
            if found.label.kind == kind
        }
        self.scheduled += [
            (at + one.delay, one.attack, words[one.attack])
            for one in injections
            if one.delay is not None and one.attack in words
        ]

    def _obey_scheduled(self, at: int) -> None:
        ready = [one for one in self.scheduled if one[0] <= at]
        self.scheduled = [one for one in self.scheduled if one[0] > at]
        for _, attack, words in ready:
            kind = self.scenario.attacks[attack].kind
            made = [
                self._pending_call(call, "attack", attack_kind=kind, explained_by=words)
                for call in hostile_calls(self.scenario, attack)
            ]
            if len(made) == 1 and self.rng.random() < 0.25:
                self.postponed += made
            else:
                for one in made:
                    self._add_calls([one])

    def _add_calls(self, made: Sequence[_PendingCall]) -> list[int]:
        """Add one assistant message with these calls, and their outputs; the outputs' indices."""
        if not made:
            return []
        calls = [
            one.call.to_tool_call(f"call_{len(self.calls) + number}")
            for number, one in enumerate(made)
        ]
        text = "" if self.rng.random() < 0.6 else self.rng.choice(_PLANS)
        text = text.replace("{tool}", calls[0].name)
        parts = (Text(text=text),) if text else ()
        self.messages.append(Message(level=Level.ASSISTANT, parts=parts, tool_calls=tuple(calls)))
        places = []
        for call, one in zip(calls, made, strict=True):
            self.calls[call.id] = one.label
            where = len(self.messages)
            places.append(where)
            answer = text_message(Level.TOOL, one.output.text)
            self.messages.append(Message(level=Level.TOOL, parts=answer.parts, answers=call.id))
            spans = tuple(
                SpanLabel(start=found.start, end=found.end, kind=found.label.kind)
                for found in one.output.spans
                if found.label.kind != "goal"
            )
            if spans:
                self.spans[where] = spans
        return places

    def _pending_call(
        self,
        call: Call,
        kind: CallKind,
        *,
        attack_kind: str | None = None,
        explained_by: tuple[int, int, int] | None = None,
    ) -> _PendingCall:
        label = self._label(call, kind, attack_kind, explained_by)
        return _PendingCall(call=call, label=label, output=placeholder_output(label.tier, self.rng))

    def _label(
        self,
        call: Call,
        kind: CallKind,
        attack_kind: str | None = None,
        explained_by: tuple[int, int, int] | None = None,
    ) -> CallLabel:
        return CallLabel(
            aligned=kind in ("step", "also_fine"),
            kind=kind,
            attack_kind=attack_kind,
            tier=next(tool.tier for tool in self.scenario.tools if tool.name == call.name),
            explained_by=explained_by,
        )
