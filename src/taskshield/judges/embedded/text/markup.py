"""HTML and XML: tags resolved, blocks separated, hidden text kept.

Comments, scripts and attributes that people do not see become text of their own, because the agent
reads them. A tag that HTML does not know may be words in angle brackets: its words stay.
"""

import re
from collections.abc import Iterator
from html import unescape

from taskshield.judges.embedded.text.control_characters import HINT, resolved
from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

_TOKEN = re.compile(
    r"(?P<empty><!--\s{0,20}-->)|(?P<mark><!--|--!?>|<!\[CDATA\[|\]\]>)"
    r"|(?P<tag></?[A-Za-z!?][^<>]*>)"
    r"|(?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,40}+(?=[\s/>])")
_BLANK = re.compile(r"\s")
_IN_ADDRESSES = re.compile(r"[@:.]")
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_PROSE = re.compile(r"(?:[^\W\d_]{2,20} ){3}[^\W\d_]{2,20}")
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp"
    " small span strike strong sub sup time tt u var wbr".split()
)
_BLOCK = frozenset(
    "address area article aside audio base blockquote body br button canvas caption center col"
    " colgroup datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer"
    " form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input legend li"
    " link main map menu meta meter nav noframes noscript object ol optgroup option output p param"
    " picture pre progress ruby script search section select slot source style summary svg table"
    " tbody td template textarea tfoot th thead title tr track ul video".split()
)
_TECHNICAL = frozenset(
    "align bgcolor border cellpadding cellspacing charset class color colspan for height hidden id"
    " lang media method rel role rowspan size sizes style tabindex target type valign width"
    " xmlns aria-hidden".split()
)


def edits(text: str) -> Iterator[Edit]:
    """Resolve tags, comments and entities."""
    if "<" not in text and "&" not in text and ">" not in text:
        return
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup == "empty":
            yield Edit(start, end, HINT)
        elif match.lastgroup == "mark":
            yield Edit(start, end, BREAK)
        elif match.lastgroup == "entity":
            meant = unescape(match[0])
            if meant != match[0]:
                yield Edit(start, end, resolved(meant).replace("\xa0", " "))
        else:
            yield from _tag(text, start, end)


def _tag(text: str, start: int, end: int) -> Iterator[Edit]:
    inner = start + (2 if text[start + 1] == "/" else 1)
    name = _NAME.match(text, inner, end)
    known = name[0].lower() if name else ""
    if known not in _INLINE and known not in _BLOCK:
        # "Anna <anna@example.org>" and "<https://example.org>" stay in their sentence
        if _BLANK.search(text, start, end) or not _IN_ADDRESSES.search(text, start, end):
            yield Edit(start, inner, BREAK)
            yield Edit(end - 1, end, BREAK)
        return
    assert name is not None
    inline = known in _INLINE
    cursor, was_bare = start, False
    for attribute in _ATTRIBUTE.finditer(text, name.end(), end - 1):
        label, value = attribute[1].lower(), attribute[2]
        if value is None:
            left, right = attribute.span()
            if was_bare and text[cursor:left].isspace():
                cursor = right  # several words without "=" are read as one text
                continue
        elif label in _TECHNICAL and _PROSE.search(value) is None:
            continue
        else:
            quoted = value[0] in "\"'"
            left, right = attribute.start(2) + quoted, attribute.end(2) - quoted
        yield Edit(cursor, left, (" (" if cursor == start else ") (") if inline else BREAK)
        yield from _entities(text, left, right)
        cursor, was_bare = right, value is None
    if cursor == start:
        yield Edit(start, end, HINT if inline else BREAK)
    else:
        yield Edit(cursor, end, ") " if inline else BREAK)


def _entities(text: str, start: int, end: int) -> Iterator[Edit]:
    for match in _TOKEN.finditer(text, start, end):
        if match.lastgroup == "entity":
            yield Edit(*match.span(), resolved(unescape(match[0])))
