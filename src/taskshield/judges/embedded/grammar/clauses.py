"""Sentences of a message and the clauses in it, each one order, with their places.

Quotations, code and parentheses are never cut. `directive_openers` says what a clause is.
"""

import re
from collections.abc import Iterator

from taskshield.core import deadline
from taskshield.judges.embedded.grammar.directive_openers import (
    opens_condition,
    opens_order,
    opens_question,
    opens_request,
    skip_fillers,
)
from taskshield.judges.embedded.grammar.sentences import sentence_ends

_WINDOW = 200
"""Characters of a clause that show how it begins, or how the clause before it ends."""
_WRAPPED = 60
"""Lines from this length on may have been wrapped by a tool."""
_KEPT = re.compile(
    r"```[^`]{0,100000}```|`[^`\n]{1,500}`|\"[^\"\n]{1,2000}\"|“[^“”\n]{1,2000}”|«[^«»\n]{1,2000}»"
    r"|„[^„“”\n]{1,2000}[“”]|(?<![\w'])'[^'\n]{1,200}'(?!\w)|(?<!\w)‘[^‘’\n]{1,200}’(?!\w)"
    r"|\([^()\n]{1,500}\)|https?://[^\s<>\"]{1,500}"
)
_JOINT = re.compile(
    r"\s{0,4}(?:(?P<mark>[,;:–—])|\s-(?=\s))\s{0,4}(?:(?:and|or|but|so|&"
    r"|\+)\s{1,4})?(?:then\s{1,4})?"
    r"|\s{1,4}(?P<word>and|&|\+|but|then|so)\s{1,4}(?:then\s{1,4})?",
    re.IGNORECASE,
)
_INFINITIVE = re.compile(
    r"\b(?:ask|tell|remind|invite|instruct|order|want|wants|let|get|help|beg|urge|how|able|ready"
    r"|going"
    r"|i|we|you|they|he|she|who|which|that|can|could|will|would|should|may|might|must|need|needs)\b"
    r"[^,;:.]{0,80}\bto\s+[a-z]+\b"
    r"|\b(?:i|we|you|they|he|she|it|who|that|people)\s+(?:can|could|will|would|should|may|might"
    r"|must)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:can|could|would|will)\s+(?:you|u)\b|(?:i|we)\b[^,;:.]{0,30}\byou\s+to\b", re.I
)
_INLINE_ITEM = re.compile(r"(?:(?<=\s)|(?<=^)|(?<=:))\(?([1-9])[).]\s")
_EXCEPTS = re.compile(r"(?:no|not|nothing|without)\b", re.IGNORECASE)
_ORDINAL = re.compile(
    r"\s{1,4}(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)\w*", re.IGNORECASE
)
_LINE_END = re.compile(r"(?<![ \t])[ \t]*\n\s*")


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of the sentences between two positions; together they are all of it."""
    masked = masked_text(text[start:end])
    cuts = sorted({*_unquoted_ends(masked), *_line_ends(masked), *_inline_items(masked)})
    last = 0
    for cut in (*cuts, len(masked)):
        if masked[last:cut].strip():
            yield start + last, start + cut
            last = cut


def clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of the clauses of a sentence, each an order of its own; together all of it."""
    masked = masked_text(text[start:end])
    begin = 0
    conditional = opens_condition(masked[:_WINDOW])
    for joint in _JOINT.finditer(masked):
        deadline.check()
        if _is_filler(masked[begin : min(joint.start(), begin + _WINDOW)]):
            continue
        if conditional and joint["mark"] != ";":
            continue
        if _parts(masked, begin, joint):
            at = joint.start() + (1 if joint["mark"] else 0)
            yield start + begin, start + at
            begin = at
            conditional = opens_condition(masked[joint.end() : joint.end() + _WINDOW])
    yield start + begin, end


def masked_text(text: str) -> str:
    """The text with quoted characters replaced by underscores."""
    return _KEPT.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("http"):
        kept = found.rstrip(".,;:!?")
        return "_" * len(kept) + found[len(kept) :]
    return found[0] + "_" * (len(found) - 2) + found[-1]


def _unquoted_ends(masked: str) -> Iterator[int]:
    for end in sentence_ends(masked):
        if not (
            end > 1
            and masked[end - 1] == "."
            and masked[end - 2].isdigit()
            and _is_ordinal(masked, end)
        ):
            yield end


def _is_ordinal(masked: str, end: int) -> bool:
    """Whether a month follows a number with a dot, as in "am 12. August"."""
    return _ORDINAL.match(masked, end) is not None


def _line_ends(masked: str) -> Iterator[int]:
    last = 0
    for match in _LINE_END.finditer(masked):
        deadline.check()
        wrapped = (
            match.start() - last >= _WRAPPED and masked[match.end() : match.end() + 1].islower()
        )
        if not wrapped or match[0].count("\n") > 1:
            yield match.start()
        last = match.end()


def _inline_items(masked: str) -> Iterator[int]:
    """Where items begin in "three things: 1) pay it, 2) file it"."""
    items = [(int(match[1]), match.start()) for match in _INLINE_ITEM.finditer(masked)]
    if [number for number, _ in items] == list(range(1, len(items) + 1)) and len(items) > 1:
        yield from (at for _, at in items)


def _parts(masked: str, begin: int, joint: re.Match[str]) -> bool:
    """Whether a new order begins after this joint."""
    after = masked[joint.end() : joint.end() + _WINDOW]
    before = masked[max(begin, joint.start() - _WINDOW) : joint.start()]
    lead = masked[begin : begin + _WINDOW]
    asking = opens_question(lead)
    if joint["word"] is None:
        if _EXCEPTS.match(after) and _EXCEPTS.match(lead, skip_fillers(lead)):
            return False  # "no refunds, no vouchers"
        if opens_order(after) or opens_request(after):
            return not (opens_condition(lead) and joint["mark"] != ";")
        if opens_condition(after) and joint[0].strip(" ,;:–—-"):
            return True
        return opens_question(after) and (asking or joint["mark"] in (";", ":"))
    if joint["word"].lower() == "so":
        return opens_request(after) and not asking
    if asking and opens_question(after):
        return True
    ordering = opens_order(lead) or opens_request(lead) or asking
    if not ordering:
        return joint["word"].lower() != "then" and _begins_politely(after)
    if opens_condition(after) and joint["word"].lower() in ("and", "but"):
        return after[skip_fillers(after) :][:3].lower() == "if "
    if opens_question(after):
        return True
    return opens_order(after) and not _EXCEPTS.match(after) and not _goes_on(before)


def _is_filler(before: str) -> bool:
    """Whether the text so far is only "also" or "ok then"."""
    return skip_fillers(before + ",") > len(before) or not before.strip()


def _begins_politely(after: str) -> bool:
    return after[:6].lower() in ("please", "kindly") and opens_order(after)


def _goes_on(before: str) -> bool:
    """Whether the verb before the joint has another subject: "ask him to come and bring it"."""
    polite = _POLITE.search(before)
    return _INFINITIVE.search(before[polite.end() if polite is not None else 0 :]) is not None
