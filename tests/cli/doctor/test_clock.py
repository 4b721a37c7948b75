"""The clock against others."""

from datetime import UTC, datetime, timedelta

import pytest

from taskshield.cli.doctor.clock import check_clock

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "other", "newest", "words"),
    [
        (NOW, NOW, NOW - timedelta(days=30), None),
        (NOW, NOW + timedelta(seconds=90), None, None),
        (NOW, NOW + timedelta(hours=2), None, "120 minutes behind that of Postgres"),
        (NOW, NOW - timedelta(minutes=3), None, "3 minutes ahead of that of Postgres"),
        (NOW, NOW, NOW + timedelta(hours=1), "in the future"),
        (NOW.replace(year=1970), None, None, "1970-12-01"),
    ],
)
def test_a_clock_that_others_contradict(
    now: datetime, other: datetime | None, newest: datetime | None, words: str | None
) -> None:
    others = [] if other is None else [("Postgres", other)]
    (finding,) = check_clock(others, newest, now)
    assert finding.state == ("ok" if words is None else "failed")
    assert words is None or (words in finding.what and "Set the clock" in finding.advice)
