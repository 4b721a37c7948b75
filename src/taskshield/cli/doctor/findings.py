"""What the doctor finds: one value for each thing that was checked."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "failed", "skipped"]
"""The result of a check.

- ok: it works
- note: it works, but the user should know something
- failed: it does not work; the finding says what to do
- skipped: there was nothing to check, or it could not be checked
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result."""

    check: str
    """What was checked, in one word."""
    state: State
    what: str
    """What was found: a sentence. It may hold text that others wrote, but no secret."""
    advice: str = ""
    """What the user should do; empty where there is nothing to do."""


def ok(check: str, what: str) -> Finding:
    """It works."""
    return Finding(check=check, state="ok", what=what)


def note(check: str, what: str, advice: str = "") -> Finding:
    """It works, but the user should know this."""
    return Finding(check=check, state="note", what=what, advice=advice)


def failed(check: str, what: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(check=check, state="failed", what=what, advice=advice)


def skipped(check: str, what: str) -> Finding:
    """It was not checked."""
    return Finding(check=check, state="skipped", what=what)
