"""The items of a selection."""

import pytest

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo.attack_placement import attack_names
from taskshield_lab.bench.agentdojo.items import Item, Selection, items
from taskshield_lab.bench.records import BenchmarkRun


def test_all_of_v1() -> None:
    found = items(Selection())
    assert sum(item.attack is None for item in found) == 97
    assert sum(item.attack == "important_instructions" for item in found) == 629
    assert all((item.attack is None) == (item.injection_task is None) for item in found)
    assert len({item.id("worst-case") for item in found}) == 97 + 629


def test_an_attack_with_a_goal_of_its_own_runs_once_for_each_task() -> None:
    for attack in ("dos", "swap_recipient"):
        found = items(Selection(attacks=(attack,), clean=False))
        assert len(found) == len({(item.suite, item.user_task) for item in found}) == 97


def test_a_part() -> None:
    selection = Selection(
        version="v1.2.2",
        suites=("slack",),
        attacks=("direct", "direct"),
        user_tasks=("user_task_3", "user_task_1"),
        injection_tasks=("injection_task_2",),
    )
    assert [item.id("x") for item in items(selection)] == [
        "x/slack/user_task_1/clean",
        "x/slack/user_task_3/clean",
        "x/slack/user_task_1/direct/injection_task_2",
        "x/slack/user_task_3/direct/injection_task_2",
    ]


@pytest.mark.parametrize(
    ("selection", "complaint"),
    [
        (Selection(version="v0"), "'v0' do not exist"),
        (Selection(suites=("kitchen",)), "suite 'kitchen' does not exist. Choose one of: "),
        (
            Selection(attacks=("pleading",)),
            "'pleading' does not exist. Choose one of: direct",
        ),
        (Selection(attacks=("manual",)), "attack 'manual' does not exist"),
        (Selection(user_tasks=("user_task_77",)), "user task 'user_task_77' does not exist"),
        (Selection(injection_tasks=("goal",)), "injection task 'goal' does not exist"),
        (Selection(attacks=(), clean=False), "There is nothing to run"),
    ],
)
def test_what_does_not_exist_is_named(selection: Selection, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        items(selection)


def test_an_item_knows_the_id_of_its_run() -> None:
    item = Item(suite="s", user_task="u", injection_task="i", attack="a")
    run = BenchmarkRun(suite="s", user_task="u", injection_task="i", attack="a", agent="m")
    assert item.id("m") == run.id


def test_all_attacks_of_agentdojo_are_there_but_the_one_that_needs_a_person() -> None:
    names = attack_names()
    assert len(names) == len(set(names))
    assert {"important_instructions", "injecagent", "tool_knowledge", "felony_dos"} <= set(names)
    assert "manual" not in names
