import pytest

from taskshield.judges.embedded.restrictions.records import agent_list, listings
from taskshield.judges.embedded.restrictions.wording.choices import exclusions
from taskshield.judges.embedded.restrictions.wording.moments import moments
from taskshield.judges.embedded.restrictions.wording.quantities import quantities
from taskshield.judges.embedded.restrictions.wording.reading import read
from tests.linear import is_linear

UNITS = ("don't send ", "1.", "12 ", "at most 5 ", "a, ", "not b ", "- a\n", "k: v\n", "|a|", "no ")


@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_linear_time(unit: str) -> None:
    assert is_linear(lambda text: read(0, text), unit)
    assert is_linear(listings, unit)
    assert is_linear(agent_list, unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_patterns_behind_it_do_on_texts_of_any_length(unit: str) -> None:
    assert is_linear(quantities, unit)
    assert is_linear(moments, unit)
    assert is_linear(lambda text: list(exclusions(text, text)), unit)
