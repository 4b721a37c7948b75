"""What of a user's message is the user's own, and what is somebody else's that was pasted into it.

"Summarise this mail" is a request, the mail below it is data like any that a tool returns. Only
what is pasted beyond doubt counts as such: mails with headers, quoted lines, fenced blocks, JSON.
"""

import re
from dataclasses import dataclass

from taskshield.judges.embedded.grammar.clauses import clauses, sentences
from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.tasks.blocks import Block, begins_mail, blocks, is_quoted
from taskshield.judges.embedded.text.segments import Segment, segments

_BEGINS = re.compile(r"\s*(?:```|~~~|\"\"\"|'''|<<<|[{\[])")
"""How fenced blocks and JSON begin."""
_HEAD = 6
"""Lines at the beginning of a mail in which there must be an address."""
_TOLD = 6
"""So many words tell what is to be done with what was pasted, unless they announce it."""
_READ = 10_000
"""So much of the user's own words is searched for what they ask for."""


@dataclass(frozen=True, slots=True)
class OwnAndPasted:
    """A user's message in two parts."""

    own: str
    pasted: tuple[Segment, ...]
    """With their places in the message."""


def split_pasted(text: str) -> OwnAndPasted:
    """A user's message, parted.

    Where the words beside what was pasted ask for nothing, it may hold what the user wants, and
    everything counts as the user's own.
    """
    found = [block for block in blocks(text) if block.kind == "data" and _is_pasted(text, block)]
    own, end = "", 0
    for block in found:
        own += text[end : block.start]
        end = block.end
    own += text[end:]
    if found and not own.strip():  # what stands below a mail is taken for a part of it
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
    """Whether words ask for something; in any language, where they do not only announce."""
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
