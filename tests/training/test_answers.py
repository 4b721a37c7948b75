"""Networks of a course are asked at once, and say what they say one by one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.training import answers
from taskshield.training.answers import ask_ahead
from taskshield.training.course import Course, examine_folds, examine_kept
from taskshield.training.network import from_base, saved
from tests.training import few_scenarios, tiny_base


def test_what_is_said_hangs_on_nobodys_pace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = Course(
        data=few_scenarios.write(tmp_path / "data"),
        base=tiny_base.write(tmp_path / "base"),
        alignment=None,
        out=tmp_path / "alone",
        folds=(0, 1),
        validation_per_scenario=1,
        kept=(few_scenarios.HELD_OUT[1],),
    )
    ahead = replace(alone, out=tmp_path / "ahead", workers=3)
    for course in (alone, ahead):
        course.out.mkdir()
        for name in ("fold-0", "fold-1", "network"):
            saved(from_base(course.base), course.out / f"{name}.safetensors")
    told: list[str] = []
    ask_ahead(ahead, told.append)
    assert [line.split(":")[0] for line in told] == ["kept", "fold-0", "fold-1"]
    monkeypatch.delattr(answers, "ProcessPoolExecutor")
    ask_ahead(ahead, told.append)  # for nothing no process is begun
    one, other = (
        [*examine_folds(course, told.append), examine_kept(course, told.append)]
        for course in (ahead, alone)
    )
    assert len(told) == 6  # those that were asked ahead are not asked again
    for mine, theirs in zip(one, other, strict=True):
        assert mine is not None and theirs is not None
        assert (mine.calls["talk"] == theirs.calls["talk"]).all()
        assert mine.calls["features"].shape == theirs.calls["features"].shape
        assert np.allclose(mine.calls["features"], theirs.calls["features"], atol=1e-3)
