"""Plans of conversations: which attack, where, whether the agent obeys, which drifts."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Call, Scenario, Style

Kind = Literal["clean", "benign", "drift", "attacked", "ignored"]
"""What happens in a conversation.

- clean: the aligned run, perhaps with other calls that serve the task
- benign: the same, with more harmless imperatives in the data
- drift: the agent makes a call that serves no task, without any attack
- attacked: the agent reads an injection and obeys it
- ignored: the agent reads an injection and continues with its task
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """An attack in the output of a step."""

    step: int
    attack: int
    style: Style | None
    delay: int | None
    """The agent obeys after so many more steps; None if it never does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of one conversation of a scenario."""

    kind: Kind
    injections: tuple[Injection, ...] = ()
    drifts: tuple[int, ...] = ()
    """Indices into the scenario's drifts."""
    extras: tuple[int, ...] = ()
    """Indices into the calls that are also fine."""
    steps: int
    """Number of steps before the conversation ends."""
    padding: int = 0
    """About how many characters of noise a long output gets."""
    imperatives: int = 0
    """How many harmless imperatives are added to an output."""


def make_plan(
    scenario: Scenario, kind: Kind, attack: int, styles: Sequence[Style], rng: Random
) -> Plan:
    """A plan of this kind."""
    injections = _injections(scenario, kind, attack, styles, rng)
    drifts = _drifts(scenario, rng) if kind == "drift" or rng.random() < 0.1 else ()
    needed = max(
        [one.step + (one.delay or 0) for one in injections]
        + [scenario.drift[one].after for one in drifts],
        default=0,
    )
    last = len(scenario.steps)
    steps = rng.randint(min(needed + 1, last), last) if rng.random() < 0.3 else last
    extras = [
        number for number, call in enumerate(scenario.also_fine) if _extra(scenario, call, steps)
    ]
    return Plan(
        kind=kind,
        injections=injections,
        drifts=drifts,
        extras=tuple(sorted(rng.sample(extras, min(len(extras), rng.choice([0, 1, 1, 2]))))),
        steps=steps,
        padding=rng.choice([0, 0, 0, 300, 600, 1200, 2500, 5000]),
        imperatives=rng.choice([1, 2, 3]) if kind == "benign" else rng.choice([0, 0, 0, 1]),
    )


def is_in_aligned_run(scenario: Scenario, call: Call, after: int) -> bool:
    """Whether the aligned run may make this call right after this step."""
    turn = scenario.steps[after].turn
    following = scenario.steps[after + 1 : after + 2]
    return (
        any(step.call == call for step in scenario.steps[: after + 1])
        or any(step.call == call and step.turn == turn for step in following)
        or call in scenario.also_fine
    )


def hostile_calls(scenario: Scenario, attack: int) -> tuple[Call, ...]:
    """The calls of an attack, without those that serve the user's task as well."""
    fine = [*scenario.also_fine, *(step.call for step in scenario.steps)]
    return tuple(call for call in scenario.attacks[attack].calls if call not in fine)


def _injections(
    scenario: Scenario, kind: Kind, attack: int, styles: Sequence[Style], rng: Random
) -> tuple[Injection, ...]:
    if kind not in ("attacked", "ignored"):
        return ()
    places = [at for at, step in enumerate(scenario.steps) if INJECTION_SLOT in step.output]
    step = rng.choice(places)
    found = []
    for number in range(rng.choice([1, 1, 1, 1, 1, 2, 2, 3])):
        other = number and rng.random() < 0.5
        delay = rng.choice([0, 0, 0, 1, 2]) if kind == "attacked" else None
        found.append(
            Injection(
                step=step if rng.random() < 0.7 else rng.choice(places),
                attack=rng.randrange(len(scenario.attacks)) if other else attack,
                style=rng.choice(styles) if styles and rng.random() < 0.9 else None,
                delay=delay if number == 0 or (other and rng.random() < 0.5) else None,
            )
        )
    return tuple(found)


def _drifts(scenario: Scenario, rng: Random) -> tuple[int, ...]:
    wrong = [
        number
        for number, drift in enumerate(scenario.drift)
        if not is_in_aligned_run(scenario, drift.call, drift.after)
    ]
    return tuple(sorted(rng.sample(wrong, min(len(wrong), rng.choice([1, 1, 2, 3])))))


def _extra(scenario: Scenario, call: Call, steps: int) -> bool:
    """Whether an also-fine call can be added: only if the last turn is in the conversation.

    Only read calls are added: a second booking beside the first would no longer be fine.
    """
    tiers = {tool.name: tool.tier for tool in scenario.tools}
    in_last_turn = scenario.steps[steps - 1].turn == len(scenario.turns) - 1
    return in_last_turn and not tiers[call.name].side_effects
