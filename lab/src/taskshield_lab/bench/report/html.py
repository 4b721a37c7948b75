"""HTML that cannot be broken out of: text is escaped unless it is HTML already."""

from html import escape


class Html(str):
    """HTML. Made by `tag` and `joined`, or written down in our own code."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str) -> Html:
    """An element.

    Args:
        name: Of the element.
        *children: HTML, or text to be escaped.
        **attributes: By name, with "_" for "-"; one at the end is dropped, for `class_`.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Pieces after each other: HTML, or text to be escaped."""
    return Html("".join(each if isinstance(each, Html) else escape(each) for each in children))
