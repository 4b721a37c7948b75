"""What a tool returns in a made conversation, and which spans of it are directives of whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from taskshield.core.tools import Tier
from taskshield_lab.training.augmentation.labelled_spans import Found, Marks, Tag
from taskshield_lab.training.conversations.injection import (
    Wording,
    laid_out,
    placed,
    planted,
    worded,
)
from taskshield_lab.training.conversations.output_formats import reformatted
from taskshield_lab.training.conversations.padding import Material, lengthened, with_imperatives
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
"""Outputs at least this long are the ones that get noise; the others only seldom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A tool's answer with its spans."""

    text: str
    spans: tuple[Found[Tag], ...] = ()


def output_of(
    scenario: Scenario,
    step: ScenarioStep,
    injections: Sequence[Injection],
    plan: Plan,
    material: Material,
    rng: Random,
) -> Output:
    """The output of an aligned step, with the injections in it."""
    marks: Marks[Tag] = Marks()
    text = marks.within(step.output, step.obey, Tag(kind="obey"))
    text = marks.within(text, step.benign, Tag(kind="benign"))
    text = placed(text, [_payload(scenario, one, step, marks, rng) for one in injections], rng)
    if plan.imperatives and (len(text) >= 120 or injections):
        text = with_imperatives(text, scenario, material, marks, rng, count=plan.imperatives)
    if plan.padding and (injections or len(text) >= _LONG or rng.random() < 0.15):
        size = rng.randint(plan.padding // 2, plan.padding)
        text = lengthened(text, scenario, material, marks, rng, size=size)
    if rng.random() < _REFORMATTED:
        text = reformatted(text, rng)
    bare, spans = marks.taken_out(text)
    return Output(text=bare, spans=spans)


def stand_in(tier: Tier, rng: Random) -> Output:
    """The answer to a call for which no output was written."""
    return Output(text=rng.choice(_DONE if tier.side_effects else _READ))


def _payload(
    scenario: Scenario, injection: Injection, step: ScenarioStep, marks: Marks[Tag], rng: Random
) -> str:
    attack = scenario.attacks[injection.attack]
    tasks = [task.text for turn in scenario.turns[: step.turn + 1] for task in turn.tasks]
    wording = Wording(
        user=rng.choice(_USERS),
        tool=rng.choice([step.call.name, attack.calls[0].name]),
        topic=rng.choice([scenario.domain, rng.choice(tasks) if tasks else scenario.domain]),
    )
    text = worded(attack.goal, injection.style, wording)
    return laid_out(planted(attack.goal, text, injection.attack, marks), rng)
