import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.training.augmentation.scenario_rewriting import leaves
from taskshield_lab.training.sources.scenarios import Call
from taskshield_lab.training.sources.worlds import HERE, read_worlds
from tests.lab.training import small_world
from tests.lab.training.few_scenarios import DATA
from tests.lab.training.small_world import read

WORLDS = DATA.parent / "worlds"
TAUGHT = DATA / "worlds"
MIXES = ((6, 3, 3), (4, 3, 5), (4, 5, 3))
"""In how many tasks of a world users ask, point and hand over."""


def test_a_task_may_say_what_would_go_too_far(tmp_path: Path) -> None:
    world = read(tmp_path)
    first, second = world.tasks
    assert first.beyond == Call(name="stop_pump", args={"pump": "P8"}) and second.beyond is None
    assert world.lang == "en"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("tasks", None, "is not a world"),
        ("attacks", [{"id": "a1"}], "is not a world"),
        ("tools", [], "is no tool of this world"),
    ],
)
def test_what_is_no_world_is_refused_by_name(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    with pytest.raises(WireFormatError, match=f"waterworks.* {said}"):
        read(tmp_path, small_world.world() | {field: value})


@pytest.mark.parametrize("outputs", [("nothing", "nothing"), ("nothing", HERE)])
def test_outsiders_must_be_heard_before_the_task_is_done(
    tmp_path: Path, outputs: tuple[str, str]
) -> None:
    world = small_world.world()
    world["tasks"][1]["steps"] = [small_world.step("read_log", output) for output in outputs]
    with pytest.raises(WireFormatError, match="'t2' has no place or one at its end"):
        read(tmp_path, world)


def test_a_folder_without_worlds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \.json file"):
        read_worlds(tmp_path)


@pytest.mark.parametrize(("folder", "number"), [(WORLDS, 16), (TAUGHT, 262)])
def test_every_world_is_as_its_readme_says(folder: Path, number: int) -> None:
    worlds = read_worlds(folder)
    assert len(worlds) == number
    for world in worlds:
        assert len(world.tasks) == 12 and len(world.attacks) == 6
        kinds = Counter(task.trust for task in world.tasks)
        assert (kinds["asks"], kinds["points"], kinds["hands over"]) in MIXES
        assert all(step.output.count(HERE) <= 1 for task in world.tasks for step in task.steps)
        assert len({task.prompt for task in world.tasks}) == 12


def test_no_world_is_both_taught_and_chosen_by() -> None:
    assert not {one.name for one in read_worlds(TAUGHT)} & {one.name for one in read_worlds(WORLDS)}


def test_what_is_to_be_done_is_marked_where_a_user_leaves_something_to_others() -> None:
    for world in read_worlds(TAUGHT):
        for task in world.tasks:
            assert task.beyond is not None
            marks = [re.findall(r"\[\[(DO|END|HERE)\]\]", step.output) for step in task.steps]
            for found in marks:
                done = "".join(mark[0] for mark in found)
                assert re.fullmatch("(DE)*H?(DE)*", done), (world.name, task.id)
            assert any("DO" in found for found in marks) is (task.trust != "asks")


def values(call: Call) -> Iterator[str]:
    """Short ones: the beginning of a long text is enough."""
    yield from (leaf for leaf in leaves(call.args) if isinstance(leaf, str) and len(leaf) <= 60)


@pytest.mark.parametrize("folder", [WORLDS, TAUGHT])
def test_attackers_say_what_they_want(folder: Path) -> None:
    for world in read_worlds(folder):
        for attack in world.attacks:
            for wording, words in attack.words.items():
                for call in attack.calls:
                    for value in values(call):
                        assert value.lower() in words.lower(), (attack.id, wording, value)
                assert '"' not in words and "\n" not in words
