"""Tool outputs in a request, rewritten."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from taskshield.adapters.proxy.exchange import Body, Place, Request
from taskshield.adapters.proxy.json_edits import edited


def with_texts(
    body: Body,
    read: Request,
    texts: Mapping[Place, str],
    change: Callable[[str, str, Body], Body],
) -> Body:
    """The request with some outputs changed; `change` gets the old text, the new, the object."""
    old = dict(zip(read.places, (each.text for each in read.conversation.messages), strict=True))
    for place, text in texts.items():
        body = edited(body, place, partial(change, old[place], text))
    return body


def rewritten(content: Any, old: str, new: str, part: Callable[[str], Any]) -> Any:
    """An output's content with another text.

    Where text is only added, as an annotation is, it becomes one more part and all else stays.
    Otherwise only the new text is left: pictures in an output that is redacted or withheld come
    from the same source, and the judge cannot read them.
    """
    if new == old:
        return content
    if isinstance(content, list):
        addition = new.removeprefix(old).strip() if new.startswith(old) else None
        return [part(new)] if addition is None else [*content, part(addition)]
    return new
