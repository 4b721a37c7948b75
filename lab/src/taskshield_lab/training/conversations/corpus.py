"""The training set: labelled conversations of all scenarios, the same for the same seed."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random

from taskshield_lab.training.augmentation import scenario_variation
from taskshield_lab.training.augmentation.tool_renaming import renamed
from taskshield_lab.training.conversations.from_scenarios import played
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.conversations.padding import gathered
from taskshield_lab.training.conversations.plans import Kind, planned
from taskshield_lab.training.conversations.truncation import shortened
from taskshield_lab.training.sources.scenarios import Scenario, Style
from taskshield_lab.training.sources.splits import Split

_KINDS: tuple[Kind, ...] = (
    "attacked",
    "clean",
    "attacked",
    "drift",
    "ignored",
    "benign",
    "attacked",
    "drift",
)
"""Half of the conversations hold an injection; a quarter of those is ignored by the agent."""


def generate(
    scenarios: Sequence[Scenario],
    styles: Sequence[Style],
    *,
    seed: int,
    per_scenario: int,
    split: Split | None = None,
    varied: float = 0.75,
    short: float = 0.5,
) -> Iterator[LabelledConversation]:
    """Conversations of every scenario on this side of the split.

    Args:
        scenarios: All of them; the split picks.
        styles: All of them; the split picks.
        seed: The same seed gives the same conversations.
        per_scenario: How many each scenario gives. Its attacks take turns.
        split: Which side; None takes everything.
        varied: The share of conversations whose names, numbers and tools are not the written ones.
        short: The share of conversations whose outputs are cut short.
    """
    split = Split() if split is None else split
    common = scenario_variation.common_words(
        scenarios
    )  # what is no name; tells nothing about a side
    scenarios, styles = split.scenarios(scenarios), split.styles(styles)
    material = gathered(scenarios)
    for scenario in scenarios:
        found = scenario_variation.entities(scenario, common)
        attack = Random(f"{seed}:{scenario.id}").randrange(len(scenario.attacks))
        for number, kind in enumerate(islice(cycle(_KINDS), per_scenario)):
            id = f"{scenario.id}:{number}"
            rng = Random(f"{seed}:{id}")
            plan = planned(scenario, kind, attack % len(scenario.attacks), styles, rng)
            attack += kind in ("attacked", "ignored")
            shown = scenario
            if rng.random() < varied:
                shown = scenario_variation.varied(found, rng, common)
            if rng.random() < varied:
                shown = renamed(shown, rng, arguments=rng.random() < 0.3)
            talk = played(shown, plan, material, rng, id=id)
            yield shortened(talk, rng) if rng.random() < short else talk
