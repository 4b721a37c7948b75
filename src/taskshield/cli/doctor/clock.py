"""Checks the clock of this machine against others: the store's and those of endpoints.

With a wrong clock, approvals and keys expire too early or never, and records are out of order.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from taskshield.cli.doctor.findings import Finding, failed, ok

_CHECK = "clock"
_OLDEST = datetime(2026, 1, 1, tzinfo=UTC)
"""This release is younger than that."""
_TOLERANCE = timedelta(minutes=2)
_ADVICE = "Set the clock, for instance with: timedatectl set-ntp true"


def check_clock(
    others: Iterable[tuple[str, datetime]], newest: datetime | None, now: datetime | None = None
) -> Iterator[Finding]:
    """The findings about the clock.

    Args:
        others: Clocks that were just read, each with the name of its owner.
        newest: When the newest record of the store was made.
        now: The time of this machine; None to read it.
    """
    now = datetime.now(UTC) if now is None else now
    wrong = list(_differences(others, newest, now))
    yield from wrong
    if not wrong:
        yield ok(_CHECK, f"It is {now:%Y-%m-%d %H:%M} UTC, which nothing contradicts.")


def _differences(
    others: Iterable[tuple[str, datetime]], newest: datetime | None, now: datetime
) -> Iterator[Finding]:
    if now < _OLDEST:
        what = f"It is {now:%Y-%m-%d} by the clock of this machine, before this release was made."
        yield failed(_CHECK, what, _ADVICE)
    if newest is not None and newest - now > _TOLERANCE:
        what = f"The newest record of the store is from {newest:%Y-%m-%d %H:%M} UTC, in the future."
        yield failed(_CHECK, what, _ADVICE)
    for owner, moment in others:
        ahead = now - moment
        if abs(ahead) > _TOLERANCE:
            minutes = round(abs(ahead) / timedelta(minutes=1))
            side = "ahead of" if ahead > timedelta() else "behind"
            what = f"The clock of this machine is {minutes} minutes {side} that of {owner}."
            yield failed(_CHECK, what, _ADVICE)
