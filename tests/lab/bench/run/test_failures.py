"""Runs that break off."""

import pytest

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run.failures import attempt
from tests.lab.bench.synthetic import run

BLANK = run(goal=0)


def failing(error: Exception) -> BenchmarkRun:
    raise error


def test_a_successful_run_is_returned_unchanged() -> None:
    assert attempt(BLANK, lambda: run(goal=0, utility=True)).utility


def test_a_failed_run_has_the_type_of_the_error_without_its_message() -> None:
    found = attempt(BLANK, lambda: failing(KeyError("my secret")))
    assert found.error == "The run failed (KeyError)."
    assert found.id == BLANK.id


def test_an_error_that_affects_every_run_is_raised() -> None:
    with pytest.raises(ConfigError):
        attempt(BLANK, lambda: failing(ConfigError("no such version")))
