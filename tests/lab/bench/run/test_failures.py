"""Runs that break off."""

import pytest

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run.failures import attempted
from tests.lab.bench.synthetic import run

BLANK = run(goal=0)


def failing(error: Exception) -> BenchmarkRun:
    raise error


def test_a_run_that_ends_is_itself() -> None:
    assert attempted(BLANK, lambda: run(goal=0, utility=True)).utility


def test_a_run_that_breaks_off_tells_the_kind_and_not_the_words() -> None:
    found = attempted(BLANK, lambda: failing(KeyError("my secret")))
    assert found.error == "the run broke off (KeyError)"
    assert found.id == BLANK.id


def test_what_would_spoil_every_run_is_raised() -> None:
    with pytest.raises(ConfigError):
        attempted(BLANK, lambda: failing(ConfigError("no such version")))
