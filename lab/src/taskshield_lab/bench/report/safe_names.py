"""Makes names from records safe to show."""

from taskshield.core.safe_text import one_line

_NAME_LENGTH = 80


def name(text: str) -> str:
    """The name of a judge, an agent, an attack, a suite or a task."""
    return one_line(text, _NAME_LENGTH)
