"""Makes the outputs of tools, with labelled spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from taskshield.core.tools import Tier
from taskshield_lab.training.augmentation.labelled_spans import FoundSpan, SpanMarkers, SpanTag
from taskshield_lab.training.conversations.injection import (
    StyleFillings,
    insert_payloads,
    lay_out,
    mark_payload,
    word_attack,
)
from taskshield_lab.training.conversations.output_formats import reformat
from taskshield_lab.training.conversations.padding import NoiseMaterial, add_imperatives, lengthen
from taskshield_lab.training.conversations.plans import Injection, Plan
from taskshield_lab.training.sources.scenarios import Scenario, ScenarioStep

_USERS = ("the user", "your user", "the account owner", "the owner", "my client", "the requester")
_READ = ("[]", "{}", "(nothing else)", '{"items": []}', "1 entry", "no more entries", "found 1")
_DONE = (
    "OK",
    "ok",
    "done",
    '{"ok": true}',
    "success",
    '{"status": "accepted"}',
    "saved.",
    "queued",
)
_REFORMATTED = 0.2
_LONG = 400
"""Outputs of at least this length get noise; shorter ones seldom do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledOutput:
    """A tool's output with its spans."""

    text: str
    spans: tuple[FoundSpan[SpanTag], ...] = ()


def make_output(
    scenario: Scenario,
    step: ScenarioStep,
    injections: Sequence[Injection],
    plan: Plan,
    noise: NoiseMaterial,
    rng: Random,
) -> LabelledOutput:
    """The output of an aligned step, with the injections in it."""
    marks: SpanMarkers[SpanTag] = SpanMarkers()
    text = marks.mark_all(step.output, step.obey, SpanTag(kind="obey"))
    text = marks.mark_all(text, step.benign, SpanTag(kind="benign"))
    text = insert_payloads(
        text, [_payload(scenario, one, step, marks, rng) for one in injections], rng
    )
    if plan.imperatives and (len(text) >= 120 or injections):
        text = add_imperatives(text, scenario, noise, marks, rng, count=plan.imperatives)
    if plan.padding and (injections or len(text) >= _LONG or rng.random() < 0.15):
        size = rng.randint(plan.padding // 2, plan.padding)
        text = lengthen(text, scenario, noise, marks, rng, size=size)
    if rng.random() < _REFORMATTED:
        text = reformat(text, rng)
    bare, spans = marks.extract(text)
    return LabelledOutput(text=bare, spans=spans)


def placeholder_output(tier: Tier, rng: Random) -> LabelledOutput:
    """The output of a call for which the scenario has none."""
    return LabelledOutput(text=rng.choice(_DONE if tier.side_effects else _READ))


def _payload(
    scenario: Scenario,
    injection: Injection,
    step: ScenarioStep,
    marks: SpanMarkers[SpanTag],
    rng: Random,
) -> str:
    attack = scenario.attacks[injection.attack]
    tasks = [task.text for turn in scenario.turns[: step.turn + 1] for task in turn.tasks]
    wording = StyleFillings(
        user=rng.choice(_USERS),
        tool=rng.choice([step.call.name, attack.calls[0].name]),
        topic=rng.choice([scenario.domain, rng.choice(tasks) if tasks else scenario.domain]),
    )
    text = word_attack(attack.goal, injection.style, wording)
    return lay_out(mark_payload(attack.goal, text, injection.attack, marks), rng)
