"""Makes labelled conversations of all scenarios, the same ones for the same seed."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random

from taskshield_lab.training.augmentation import scenario_variation
from taskshield_lab.training.augmentation.tool_renaming import rename_tools
from taskshield_lab.training.conversations.from_scenarios import play_scenario
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.conversations.padding import gather_noise
from taskshield_lab.training.conversations.plans import Kind, make_plan
from taskshield_lab.training.conversations.truncation import truncate_outputs
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
"""Half of the conversations have an injection; the agent ignores a quarter of those."""


def generate_conversations(
    scenarios: Sequence[Scenario],
    styles: Sequence[Style],
    *,
    seed: int,
    per_scenario: int,
    split: Split | None = None,
    varied_share: float = 0.75,
    truncated_share: float = 0.5,
) -> Iterator[LabelledConversation]:
    """The conversations of every scenario on this side of the split.

    Args:
        scenarios: All scenarios; the split selects.
        styles: All styles; the split selects.
        seed: The same seed gives the same conversations.
        per_scenario: Conversations of each scenario. Its attacks take turns.
        split: The side; None is everything.
        varied_share: Share of the conversations whose names and numbers are varied; the same share
            has renamed tools.
        truncated_share: Share of the conversations whose outputs are truncated.
    """
    split = Split() if split is None else split
    # Of all sides: which words are no names reveals nothing about a side.
    common = scenario_variation.common_words(scenarios)
    scenarios, styles = split.scenarios(scenarios), split.styles(styles)
    noise = gather_noise(scenarios)
    for scenario in scenarios:
        found = scenario_variation.find_entities(scenario, common)
        attack = Random(f"{seed}:{scenario.id}").randrange(len(scenario.attacks))
        for number, kind in enumerate(islice(cycle(_KINDS), per_scenario)):
            id = f"{scenario.id}:{number}"
            rng = Random(f"{seed}:{id}")
            plan = make_plan(scenario, kind, attack % len(scenario.attacks), styles, rng)
            attack += kind in ("attacked", "ignored")
            shown = scenario
            if rng.random() < varied_share:
                shown = scenario_variation.vary_scenario(found, rng, common)
            if rng.random() < varied_share:
                shown = rename_tools(shown, rng, arguments=rng.random() < 0.3)
            conversation = play_scenario(shown, plan, noise, rng, id=id)
            yield (
                truncate_outputs(conversation, rng)
                if rng.random() < truncated_share
                else conversation
            )
