from pathlib import Path

import pytest

from taskshield.training.corpus import generate
from taskshield.training.labelled import LabelledConversation
from taskshield.training.scenario_files import read_openings, read_scenarios, read_styles
from taskshield.training.scenarios import Opening, Scenario, Style

DATA = Path(__file__).parents[2] / "data" / "conversations"


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    return read_scenarios(DATA / "scenarios")


@pytest.fixture(scope="session")
def openings() -> tuple[Opening, ...]:
    return read_openings(DATA / "openings")


@pytest.fixture(scope="session")
def styles() -> tuple[Style, ...]:
    return read_styles(DATA / "styles")


@pytest.fixture(scope="session")
def sample(
    scenarios: tuple[Scenario, ...], styles: tuple[Style, ...]
) -> tuple[LabelledConversation, ...]:
    """Every sixteenth scenario, all kinds of conversations."""
    return tuple(generate(scenarios[::16], styles, seed=7, per_scenario=8))
