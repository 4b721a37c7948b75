"""Separates the user's own words from text by others that the user pasted into a message.

"Summarise this mail" is a request; the mail below it is data, like the output of a tool. Only what
is clearly pasted counts: mails with headers, quoted lines, fenced blocks, JSON.
"""

import re
from dataclasses import dataclass

from taskshield.judges.embedded.grammar.clauses import clauses, sentences
from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.tasks.blocks import Block, begins_mail, blocks, is_quoted
from taskshield.judges.embedded.text.segments import Segment, segments

_BEGINS = re.compile(r"\A\s*+(?:```|~~~|\"\"\"|'''|<<<|[{\[])")
"""How fenced blocks and JSON begin."""
_HEAD = 6
"""Lines at the beginning of a mail, one of which must have an address."""
_TOLD = 6
"""From so many words on, they count as an order about the pasted text, unless they announce it."""
_READ = 10_000
"""Characters of the user's own words in which an order is searched."""


@dataclass(frozen=True, slots=True)
class OwnAndPasted:
    """A user's message in two parts."""

    own: str
    pasted: tuple[Segment, ...]
    """With their places in the message."""


def split_pasted(text: str) -> OwnAndPasted:
    """Split a user's message.

    Where the words beside the pasted text ask for nothing, the pasted text may hold the request.
    Then everything counts as the user's own.
    """
    found = [block for block in blocks(text) if block.kind == "data" and _is_pasted(text, block)]
    own, end = "", 0
    for block in found:
        own += text[end : block.start]
        end = block.end
    own += text[end:]
    if found and not own.strip():  # text below a mail counts as a part of it
        found[-1] = _without_end(text, found[-1])
        own = text[found[-1].end :]
    if not found or not _asks(own[:_READ]):
        return OwnAndPasted(text, ())
    return OwnAndPasted(own, tuple(one for block in found for one in _segments(text, block)))


def _is_pasted(text: str, block: Block) -> bool:
    lines = [line for line in text[block.start : block.end].splitlines() if line.strip()]
    return (
        _BEGINS.match(lines[0]) is not None
        or (begins_mail(lines[0]) and any("@" in line for line in lines[:_HEAD]))
        or all(is_quoted(line) for line in lines)
    )


def _without_end(text: str, block: Block) -> Block:
    """A block without its last paragraph."""
    end = text.rstrip().rfind("\n\n", block.start, block.end)
    return Block(block.kind, block.start, max(block.start, end))


def _asks(words: str) -> bool:
    """Whether words ask for something, in any language. An announcement alone does not."""
    told = words.strip()
    if len(told.split()) >= _TOLD and not told.endswith((":", "：")):
        return True
    return any(
        kind_of(words[left:right].strip()) in ("directive", "question")
        for start, end in sentences(words, 0, len(words))
        for left, right in clauses(words, start, end)
    )


def _segments(text: str, block: Block) -> list[Segment]:
    return [
        Segment(one.start + block.start, one.end + block.start, one.text)
        for one in segments(text[block.start : block.end])
    ]
