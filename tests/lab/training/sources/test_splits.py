import re

import pytest

from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.sources.scenario_files import read_tool_definitions
from taskshield_lab.training.sources.scenarios import Scenario, Style
from taskshield_lab.training.sources.splits import (
    Split,
    fold_of_domain,
    fold_of_style,
    style_family,
)
from tests.lab.training.few_scenarios import DATA


@pytest.mark.parametrize("held_out", range(5))
def test_no_domain_and_no_family_of_styles_is_on_both_sides(
    scenarios: tuple[Scenario, ...], styles: tuple[Style, ...], held_out: int
) -> None:
    train = Split(side="train", held_out=held_out)
    kept = Split(side="validation", held_out=held_out)
    domains = [{one.domain for one in side.scenarios(scenarios)} for side in (train, kept)]
    families = [{style_family(one) for one in side.styles(styles)} for side in (train, kept)]
    assert domains[0] and domains[1] and not domains[0] & domains[1]
    assert families[0] and families[1] and not families[0] & families[1]
    assert len(train.scenarios(scenarios)) + len(kept.scenarios(scenarios)) == len(scenarios)
    defined = read_tool_definitions(DATA / "descriptions")
    both = [*train.definitions(defined), *kept.definitions(defined)]
    assert len(both) == len(defined) > len(train.definitions(defined))
    assert sorted(both, key=str) == sorted(defined, key=str)


def test_variants_of_a_style_share_a_family_across_files(styles: tuple[Style, ...]) -> None:
    for signs, name in {
        r"fake user follow-up|fake follow-up of the user|forged user": "user's voice",
        r"^hidden HTML comment": "hidden markup",
        r"compliance language": "law",
        r"terse imperative": "terse",
        r"prerequisite": "gate",
        r"role.play": "role play",
    }.items():
        found = {style_family(one) for one in styles if re.search(signs, one.label)}
        assert found == {name}


def test_kindred_domains_share_a_fold_and_folds_do_not_move() -> None:
    assert fold_of_domain("CI", 7) == fold_of_domain("CI/CD", 7)
    assert [fold_of_domain(one, 5) for one in ("payroll", "wikis", "trains")] == [2, 0, 1]
    style = Style(id="x", label="reward offer", template="{goal} or else")
    assert fold_of_style(style, 5) == fold_of_style(style, 5) in range(5)


def test_generated_conversations_stay_on_their_side(
    scenarios: tuple[Scenario, ...], styles: tuple[Style, ...]
) -> None:
    some, kept = scenarios[::8], Split(side="validation", held_out=1)
    made = list(generate_conversations(some, styles, seed=1, per_scenario=2, split=kept))
    allowed = {one.id for one in kept.styles(styles)} | {None}
    assert {one.domain for one in made} == {one.domain for one in kept.scenarios(some)}
    assert {one.style for one in made} <= allowed
