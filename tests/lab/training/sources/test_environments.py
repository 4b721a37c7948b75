import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.training.augmentation.scenario_rewriting import leaf_values
from taskshield_lab.training.sources.environments import INJECTION_SLOT, read_environments
from taskshield_lab.training.sources.scenarios import Call
from tests.lab.training import small_environment
from tests.lab.training.few_scenarios import DATA
from tests.lab.training.small_environment import read

EVALUATION = DATA.parent / "evaluation" / "worlds"
TRAINING = DATA / "worlds"
MIXES = ((6, 3, 3), (4, 3, 5), (4, 5, 3))
"""In how many tasks of a world users ask, point and hand over."""


def test_a_task_may_say_what_would_go_too_far(tmp_path: Path) -> None:
    environment = read(tmp_path)
    first, second = environment.tasks
    assert (
        first.drift_call == Call(name="stop_pump", args={"pump": "P8"})
        and second.drift_call is None
    )
    assert environment.lang == "en"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("tasks", None, "is not a test environment"),
        ("attacks", [{"id": "a1"}], "is not a test environment"),
        ("tools", [], "has no tool 'read_log'"),
    ],
)
def test_a_file_that_is_no_environment_is_refused_by_name(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    with pytest.raises(WireFormatError, match=f"waterworks.* {said}"):
        read(tmp_path, small_environment.environment() | {field: value})


@pytest.mark.parametrize("outputs", [("nothing", "nothing"), ("nothing", INJECTION_SLOT)])
def test_every_task_needs_a_place_for_an_attack_before_its_end(
    tmp_path: Path, outputs: tuple[str, str]
) -> None:
    environment = small_environment.environment()
    environment["tasks"][1]["steps"] = [
        small_environment.step("read_log", output) for output in outputs
    ]
    with pytest.raises(WireFormatError, match="'t2' needs the mark .* before its last step"):
        read(tmp_path, environment)


def test_a_folder_without_environments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \.json file"):
        read_environments(tmp_path)


@pytest.mark.parametrize(("folder", "number"), [(EVALUATION, 16), (TRAINING, 262)])
def test_every_environment_is_as_its_readme_says(folder: Path, number: int) -> None:
    environments = read_environments(folder)
    assert len(environments) == number
    for environment in environments:
        assert len(environment.tasks) == 12 and len(environment.attacks) == 6
        kinds = Counter(task.trust for task in environment.tasks)
        assert (kinds["asks"], kinds["points"], kinds["hands over"]) in MIXES
        assert all(
            step.output.count(INJECTION_SLOT) <= 1
            for task in environment.tasks
            for step in task.steps
        )
        assert len({task.prompt for task in environment.tasks}) == 12


def test_no_environment_is_for_both_training_and_evaluation() -> None:
    assert not {one.name for one in read_environments(TRAINING)} & {
        one.name for one in read_environments(EVALUATION)
    }


def test_what_is_to_be_done_is_marked_where_a_user_leaves_something_to_others() -> None:
    for environment in read_environments(TRAINING):
        for task in environment.tasks:
            assert task.drift_call is not None
            marks = [re.findall(r"\[\[(DO|END|HERE)\]\]", step.output) for step in task.steps]
            for found in marks:
                done = "".join(mark[0] for mark in found)
                assert re.fullmatch("(DE)*H?(DE)*", done), (environment.name, task.id)
            assert any("DO" in found for found in marks) is (task.trust != "asks")


def values(call: Call) -> Iterator[str]:
    """Short ones: the beginning of a long text is enough."""
    yield from (
        leaf for leaf in leaf_values(call.args) if isinstance(leaf, str) and len(leaf) <= 60
    )


@pytest.mark.parametrize("folder", [EVALUATION, TRAINING])
def test_attackers_say_what_they_want(folder: Path) -> None:
    for environment in read_environments(folder):
        for attack in environment.attacks:
            for wording, words in attack.texts.items():
                for call in attack.calls:
                    for value in values(call):
                        assert value.lower() in words.lower(), (attack.id, wording, value)
                assert '"' not in words and "\n" not in words
