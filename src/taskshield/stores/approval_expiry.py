"""Expires approvals when they are read: one still pending at its deadline. There is no timer."""

from dataclasses import replace
from datetime import UTC, datetime

from taskshield.core.store import Approval


def utc_now() -> datetime:
    """The time, as stores take it."""
    return datetime.now(UTC)


def as_of(approval: Approval, now: datetime) -> Approval:
    """The approval as it is now."""
    if approval.status == "pending" and approval.deadline <= now:
        return replace(approval, status="expired")
    return approval
