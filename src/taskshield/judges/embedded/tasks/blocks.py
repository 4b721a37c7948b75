"""The blocks of a user's message: prose, list items, and data that was pasted into it.

Owns what a line looks like, not what its words ask for.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from taskshield.core import deadline

BlockKind: TypeAlias = Literal["prose", "item", "data"]
"""prose: the user's own sentences. item: one item of a list. data: code, quotations, mails."""

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_ITEM = re.compile(
    r"([ \t]{0,40})(?:[-*+•·‣◦▪–—]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?:\[[ xX]?\][ \t]+)?(?=\S)"
)
_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+|\"\"\"|'''|<<<+|={4,}|-{4,})")
_TAG = re.compile(r"[ \t]{0,8}<([A-Za-z][\w:-]{0,40})(?:\s[^<>\n]{0,500})?>")
_QUOTED = re.compile(r"[ \t]{0,8}[>|]")
_INDENTED = re.compile(r"\A(?= {4}|\t)\s*+\S")
_HEADER = re.compile(
    r"(?:From|To|Cc|Subject|Sent|Date|Von|An|Betreff|Datum|De|À|Objet|Envoyé|Asunto|Para|Enviado|Fecha"
    r"|Assunto|Data|Da|A|Oggetto|Inviato|Van|Aan|Onderwerp|Od|Do|Temat|Från|Till|Ämne|Fra|Til|Emne"
    r"|Kimden|Kime|Konu|От|Кому|Тема|差出人|宛先|件名|日時|发件人|收件人|主题|时间|보낸사람|받는사람|제목)"
    r"[ \t]?[:：][ \t]*\S"
)
_ANNOUNCES = re.compile(
    r"\b(?:following|below|this|here|attached|pasted|copied)\b.{0,80}:\s*$"
    r"|\b(?:translate|summari[sz]e|proofread|rewrite|rephrase|shorten|classify|extract|edit|correct"
    r"|improve|review|explain|format)\b.{0,120}:\s*$"
    r"|\b(?:e-?mail|mail|message|letter|text|article|code|log|logs|error|output|table|data|snippet"
    r"|paragraph|transcript|wording|json|csv)\b.{0,40}:\s*$",
    re.IGNORECASE,
)
_LONGEST_JSON = 100_000
_LOOKUPS = 50
"""At most so many closing tags and JSON values are searched: a text made of them would take too
long."""


class Block(NamedTuple):
    """A stretch of whole lines."""

    kind: BlockKind
    start: int
    end: int


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def blocks(text: str) -> Iterator[Block]:
    """All blocks, in order; together they are the text, but for blank lines."""
    open_block: Block | None = None
    for block in _pieces(text):
        if open_block is not None and open_block.kind == block.kind != "item":
            open_block = Block(block.kind, open_block.start, block.end)
            continue
        if open_block is not None:
            yield open_block
        open_block = block
    if open_block is not None:
        yield open_block


def begins_mail(line: str) -> bool:
    """Whether a line is a header of a mail."""
    return _HEADER.match(line) is not None


def is_quoted(line: str) -> bool:
    """Whether a line is marked as a quotation, or as a row of a table."""
    return _QUOTED.match(line) is not None


def item_body(text: str, block: Block) -> int:
    """Where the words of a list item begin, after its marker."""
    match = _ITEM.match(text, block.start, block.end)
    return match.end() if match is not None else block.start


def _pieces(text: str) -> Iterator[Block]:
    lines = [
        _Line(m.start(), m.end(), m[0]) for m in deadline.checked(_LINE.finditer(text)) if m[0]
    ]
    lookups = _LOOKUPS
    index = 0
    while index < len(lines):
        deadline.check()
        line = lines[index]
        count, kind = 1, _kind(line.text)
        tag = _TAG.match(line.text)
        if not line.text.strip():
            kind = "prose"
        elif (fence := _FENCE.match(line.text)) is not None:
            count, kind = _fenced(lines, index, fence[1]), "data"
        elif tag is not None and lookups:
            lookups -= 1
            count, kind = _tagged(lines, index, text.find(f"</{tag[1]}>", line.start)), "data"
        elif line.text.lstrip()[:1] in ("{", "[") and lookups:
            lookups -= 1
            count, kind = _json_lines(text, lines, index, kind)
        elif _is_mail(lines, index) or _is_announced(lines, index):
            count, kind = len(lines) - index, "data"
        elif kind == "item":
            count = _item_lines(lines, index)
        yield Block(kind, line.start, lines[index + count - 1].end)
        index += count


def _kind(line: str) -> BlockKind:
    if _ITEM.match(line):
        return "item"
    return "data" if is_quoted(line) or _INDENTED.match(line) else "prose"


def _fenced(lines: list[_Line], index: int, fence: str) -> int:
    """How many lines a fenced block has; a rule that is never repeated is one line."""
    for ahead in range(index + 1, len(lines)):
        if lines[ahead].text.strip().startswith(fence[:3].replace("<<<", ">>>")):
            return ahead - index + 1
    return len(lines) - index if fence[0] in "`~\"'<" else 1


def _tagged(lines: list[_Line], index: int, close: int) -> int:
    if close < 0:
        return 1
    ahead = index
    while lines[ahead].end <= close:
        ahead += 1
    return ahead - index + 1


def _json_lines(
    text: str, lines: list[_Line], index: int, otherwise: BlockKind
) -> tuple[int, BlockKind]:
    """How many lines a JSON value has that begins here, and whether there is one."""
    begin = lines[index].end - len(lines[index].text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text[begin : begin + _LONGEST_JSON])
    except (ValueError, RecursionError):
        return 1, otherwise
    ahead = index
    while lines[ahead].end < begin + end:
        ahead += 1
    if text[begin + end : lines[ahead].end].strip():  # "[1] Book a flight"
        return 1, otherwise
    return ahead - index + 1, "data"


def _is_mail(lines: list[_Line], index: int) -> bool:
    first_two = lines[index : index + 2]
    return len(first_two) == 2 and all(begins_mail(line.text) for line in first_two)


def _is_announced(lines: list[_Line], index: int) -> bool:
    """Whether the line before said that a text follows, as in "Translate this:"."""
    if _kind(lines[index].text) != "prose":
        return False
    for back in range(index - 1, max(-1, index - 3), -1):
        said = lines[back].text
        if said.strip():
            return _ANNOUNCES.search(said[-300:]) is not None
    return False


def _item_lines(lines: list[_Line], index: int) -> int:
    """An item with the lines that are indented below it."""
    first = _ITEM.match(lines[index].text)
    assert first is not None
    depth = len(first[1])
    ahead = index + 1
    while ahead < len(lines) and lines[ahead].text.strip():
        line = lines[ahead].text
        if len(line) - len(line.lstrip()) <= depth and (
            _ITEM.match(line) or not line[:1].islower()
        ):
            break
        ahead += 1
    return ahead - index
