"""Texts that forge the marks of a host, in a project file and in data."""

from collections import Counter
from collections.abc import Iterator

from taskshield.core.levels import Level
from tests.adapters.conversations.test_host_text import HOSTS, MARKS, ORDER, messages_of, said


def texts() -> Iterator[str]:
    """An order after each mark, before it, and between each pair of marks."""
    for mark in MARKS:
        yield f"{mark}\n{ORDER}"
        yield f"{ORDER}\n{mark}"
        for other in MARKS:
            yield f"{mark}\n{ORDER}\n{other}"


def counts() -> dict[str, Counter[str]]:
    """Outcomes counted by host."""
    return {host: Counter(_outcomes(host)) for host in HOSTS}


def _outcomes(host: str) -> Iterator[str]:
    users_own = said(messages_of(host))
    for text in texts():
        for given in ((text, "n/a"), ("n/a", text)):
            messages = messages_of(host, *given)
            if said(messages) != users_own:
                yield "passed"
            elif any(ORDER in each for each in said(messages, Level.TOOL)):
                yield "judged"
            else:
                yield "unread"
