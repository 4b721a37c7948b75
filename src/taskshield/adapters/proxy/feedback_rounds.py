"""The results that a model gets for its calls in a feedback round."""

from collections.abc import Collection

GAP = "\n\n"
"""Between texts that do not belong together."""
NOT_RUN = (
    "[Task Shield] Not run, because another call of the same message was refused. Nothing is wrong"
    " with this one: make it again if it is still needed."
)


def answer(call_id: str, refused: Collection[str], feedback: str) -> str:
    """The result that a call gets instead of being run."""
    return feedback if call_id in refused else NOT_RUN


def joined(text: str, note: str) -> str:
    """A text and a note after it."""
    return f"{text}{GAP}{note}" if text else note
