"""Names that try to command a terminal or to hide."""

import pytest

from taskshield_lab.bench.report.safe_names import name
from tests.cli.hostile import PAYLOADS, hidden


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_names_have_no_control_or_invisible_characters(payload: str) -> None:
    assert hidden(name(payload)) == []
    assert name(payload)


def test_long_names_are_cut() -> None:
    assert len(name("x" * 1_000)) < 110
