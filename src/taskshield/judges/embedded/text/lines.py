"""Lines of plain text, e-mail, Markdown, YAML and tables: markers dropped, soft wraps joined.

A line break is soft when the sentence continues after it. A sentence ends at blank lines, list
items, headings, table rows (with signs or wide gaps), "key: value" lines, a change of the depth of
quotation, and at lines of a log, which begin with a stamp.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

WRAPPED = 60
"""Lines from this length on may have been wrapped by a tool."""
LONG_VALUE = 70
"""Lines from this length on separate their value from its key."""

_LINE = re.compile(r"[^\n\x1e]+")
_PREFIX = re.compile(
    r"(?P<quotes>(?:[ \t]*>)*)(?P<indent>[ \t]*)"
    r"(?P<marker>(?:(?:[-*+•·‣◦▪–—]|\(?[0-9]{1,3}[.)]|[A-Za-z][)]|#{1,6}|={2,200}|//|`{3,200}\w{0,40}|~{3,200})"
    r"[ \t]+)*"
    r"(?:\[[ xX]?\][ \t]+)?)"
)
_KEY = re.compile(r"[\"']?[^\W_](?:[\w .()/&'-]|\"){0,38}[\"']?:(?=[ \t]|$)")
_STAMP = re.compile(
    r"\[[^\[\]\n]{1,40}\](?!\()"
    r"|[(<]?(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2})\b"
    r"|[A-Z][a-z]{2,8}\.?,?[ \t]+\d{1,2}\b[^\n]{0,8}?\b\d{1,2}:\d{2}\b"
)
"""When, or by whom, a line of a log was written: [Tue], 2026-01-31, 09:14, Jan 31 09:14."""
_BLOCK_SCALAR = re.compile(r"(?<![ \t])[ \t]*+[|>][+-]?[0-9]?[ \t]*+$")
_INLINE = re.compile(
    r"(?P<strong>\*\*+|~~+|`+)"
    r"|(?P<star>(?<![\w*])\*(?=[^\s*.])|(?<=[^\s*.])\*(?![\w*]))"
    r"|(?P<under>(?<!\w)(?P<left>_{1,3})[^\s_][^_]*(?P<right>_{1,3})(?!\w))"
    r"|(?P<link>!?\[(?=[^\[\]]*\]\())"
    r"|(?P<target>\]\()"
)
_MARK = re.compile(r"[*~`_\[\]]")
_CELL = re.compile(r"(?:(?<![ \t])[ \t]++)?+\|(?:[ \t]*+\|)*+[ \t]*+")
"""Between two cells. A run of blanks is tried from its beginning only: so the search is linear."""
_TABS = re.compile(r"\t+")
_COLUMNS = re.compile(r"(?<=[^\s.!?:])(?: {3,}|  (?=\S[^\n]*?[^\s.!?:]  +\S))(?=\S)")
"""A gap between columns that are set apart by blanks: a wide one, or one of several."""
_COMMA = re.compile(r",(?![ \t])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NO_BLANKS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")
_STOPS = tuple(".!?:;…。！？；：؟।|")


class _Line(NamedTuple):
    start: int
    body: int
    """Where the words begin."""
    end: int
    quotes: int
    indent: int
    fresh: bool
    """A list item, heading, row or key: it cannot continue the line before."""
    closed: bool
    """A heading or row: the next line cannot continue it."""
    keyed: bool
    stamped: bool


def edits(text: str) -> Iterator[Edit]:
    """Drop markers, separate cells and values, and join wrapped lines."""
    before: _Line | None = None
    cursor = 0
    for match in _LINE.finditer(text):
        line, inside = _read(text, *match.span())
        if line is None:
            continue  # no words: the gap below becomes a break
        soft = before is not None and _continues(text, before, line)
        if before is not None:
            glue = _glue(text, before, line) if soft else BREAK
            yield Edit(cursor, line.body, glue)
        elif line.body:
            yield Edit(0, line.body, BREAK)
        yield from inside
        before, cursor = line, line.end


def _read(text: str, start: int, end: int) -> tuple[_Line | None, list[Edit]]:
    prefix = _PREFIX.match(text, start, end)
    assert prefix is not None
    body = prefix.end()
    while end > body and text[end - 1] in " \t":
        end -= 1
    if body >= end:
        return None, []
    marker = prefix["marker"]
    pipes = text.count("|", body, end)
    row = pipes >= 2 or (pipes == 1 and text[body] == "|") or text.find("\t", body, end) >= 0
    columns = _COLUMNS.search(text, body, end) is not None
    key = _KEY.match(text, body, end)
    inside = _cells(text, body, end) if row else _inline(text, body, end)
    if not row and key is not None:
        inside = _value(text, start, key.end(), end, inside)
    elif not row:
        inside = _commas(text, body, end) or inside
    line = _Line(
        start=start,
        body=body,
        end=end,
        quotes=prefix["quotes"].count(">"),
        indent=len(prefix["indent"]),
        fresh=bool(marker) or row or columns or key is not None,
        closed=row or columns or marker.startswith(("#", "=")),
        keyed=key is not None and key.end() < end,
        stamped=_STAMP.match(text, body, end) is not None,
    )
    return line, inside


def _inline(text: str, start: int, end: int) -> list[Edit]:
    found: list[Edit] = []
    if _MARK.search(text, start, end) is None:
        return found
    for match in _INLINE.finditer(text, start, end):
        if match["under"]:
            found.append(Edit(*match.span("left"), ""))
            found.append(Edit(*match.span("right"), ""))
        else:
            found.append(Edit(*match.span(), " (" if match["target"] else ""))
    return found


def _cells(text: str, start: int, end: int) -> list[Edit]:
    pattern = _CELL if text.find("|", start, end) >= 0 else _TABS
    return [Edit(*match.span(), BREAK) for match in pattern.finditer(text, start, end)]


def _commas(text: str, start: int, end: int) -> list[Edit]:
    """The cells of a line of comma-separated values; none where it does not look like one."""
    if text.count(",", start, end) < 2:
        return []
    tight = len(_COMMA.findall(text, start, end)) - len(_THOUSANDS.findall(text, start, end))
    if tight < 2 or 2 * tight <= text.count(",", start, end):
        return []
    thousands = {match.start() for match in _THOUSANDS.finditer(text, start, end)}
    commas = (match.start() for match in _COMMA.finditer(text, start, end))
    return [Edit(at, at + 1, BREAK) for at in commas if at not in thousands]


def _value(text: str, line: int, start: int, end: int, inside: list[Edit]) -> list[Edit]:
    """The edits of a "key: value" line whose value begins at `start`."""
    if _BLOCK_SCALAR.match(text, start, end):
        return [Edit(start, end, BREAK)]
    words = start
    while words < end and text[words] in " \t":
        words += 1
    quoted = words < end and text[words] in "\"'"
    gap = BREAK if end - line >= LONG_VALUE else " "
    return [
        *(edit for edit in inside if edit.end <= start),
        Edit(start, words + quoted, gap),
        *(edit for edit in inside if edit.start >= words + quoted),
        *(
            [Edit(end - 1, end, "")]
            if quoted and end - 1 > words and text[end - 1] == text[words]
            else []
        ),
    ]


def _continues(text: str, before: _Line, line: _Line) -> bool:
    gap = text[before.end : line.start]
    if BREAK in gap or gap.count("\n") != 1:
        return False
    if line.fresh or before.closed or before.quotes != line.quotes:
        return False
    if before.stamped and line.stamped:
        return False
    if before.keyed and line.indent > before.indent:
        return True
    if text.endswith(_STOPS, before.body, before.end):
        return False
    first = text[line.body]
    length = before.end - before.body
    if first.islower():
        return length >= WRAPPED or text.find(" ", before.body, before.end) >= 0
    if _NO_BLANKS.match(first):
        return length >= WRAPPED // 2
    return before.end - before.start >= WRAPPED


def _glue(text: str, before: _Line, line: _Line) -> str:
    return (
        "" if _NO_BLANKS.match(text[line.body]) and _NO_BLANKS.match(text[before.end - 1]) else " "
    )
