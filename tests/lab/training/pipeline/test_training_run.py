"""What a course is given, and where it writes."""

from dataclasses import replace
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError
from taskshield_lab.training.pipeline.training_run import (
    TrainingRun,
    check_test_set,
    write_complete,
)


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (("com-sub", "nowhere"), "starts with 'nowhere'"),
        (("counters",), "needs a scenario"),
    ],
)
def test_a_test_set_must_have_scenarios(run: TrainingRun, kept: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_test_set(replace(run, test_set=kept))
    check_test_set(replace(run, test_set=("com-sub", "counters")))
    check_test_set(run)


def test_a_file_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "fold-0.npz"
    with pytest.raises(KeyboardInterrupt), write_complete(path) as made:
        made.write_text("half of")
        raise KeyboardInterrupt
    assert not path.exists()
    with write_complete(path) as made:
        made.write_text("all of it")
    assert path.read_text() == "all of it"
    assert [one.name for one in tmp_path.iterdir()] == ["fold-0.npz"]
