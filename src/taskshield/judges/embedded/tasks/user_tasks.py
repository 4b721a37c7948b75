"""The tasks in a user's message: one for each order, question and prohibition in it.

Greetings, thanks and messages that ask for nothing are dropped: other sentences that ask for
nothing are kept with the task that they belong to. `delegation` finds whom a task delegates to.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from taskshield.core import deadline
from taskshield.core.assessments import TaskDraft
from taskshield.core.instructions import Span
from taskshield.judges.embedded.grammar.clauses import clauses, masked_text, sentences
from taskshield.judges.embedded.grammar.directive_openers import Kind, kind_of, request_end
from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.tasks.blocks import Block, blocks, item_body
from taskshield.judges.embedded.tasks.delegation import delegated_source
from taskshield.judges.embedded.tasks.small_talk import asks_for_nothing

MOST_TASKS = 20
"""Further tasks are joined to the last one."""

_HEAD, _TAIL = 40_000, 10_000
"""Characters of a message that are read at its start and at its end; typed text is shorter."""
_BEFORE = 600
"""Characters before a task in which the source that it delegates to is searched."""
_REMINDER = 200
"""Characters of the task before that a task repeats when it refers to it."""
_OWN: frozenset[Kind] = frozenset(("directive", "prohibition", "question"))
_CONNECTOR = re.compile(
    r"[\s,;:.!–—-]*(?:(?:and|&|\+|but|or|also|so)\b[\s,]*(?=\w))?", re.IGNORECASE
)
_REFERS = re.compile(
    r"\b(?:then|afterwards|it|its|them|they|their|that|those|this|these|there|he|him|his|she|her|hers"
    r"|one|ones|same|result|results|accordingly|instead|both|each|rest|others?|so)\b",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"\A\W*+(?:it|its|that|this|these|those|he|she|they|them|his|her|their|the\s+(?:rest|others?|same"
    r"|remaining)|rest|others?|anything|everything|whatever|because|since|so|otherwise|steps?\s+\d"
    r"|i|i['’]ll|we['’]ll|you|prices?|money)\b",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"\A\W*+(?:(?:please|pls|can|could|would|will|you|do|need|want|to|i|me|help|with|the|these|this"
    r"|following|things?|tasks?|steps?|items?|my|for|in|order|todos?|to-?do|list|two|three|four|five|a"
    r"|few|several|here|are|is|what|hi|hello|hey|below|today|some|of)\b\W*+)*+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A clause, list item or block of data."""

    kind: Kind
    start: int
    end: int
    intro: str = ""
    """For an item that is no order by itself: the order above the list."""
    data: bool = False
    """Whether it is pasted data, which cannot delegate."""


@dataclass(slots=True)
class _Group:
    """The pieces of one task: one that asks for something, and what belongs to it."""

    asks: _Piece
    before: list[_Piece]
    after: list[_Piece] = field(default_factory=list)

    @property
    def start(self) -> int:
        return (self.before[0] if self.before else self.asks).start

    @property
    def end(self) -> int:
        return (self.after[-1] if self.after else self.asks).end


def read_tasks(text: str, *, first: bool = False) -> tuple[TaskDraft, ...]:
    """The tasks in a user's message, in order; none only where it asks for nothing.

    Args:
        text: The message.
        first: Whether the user has said nothing before it.
    """
    if not text.strip() or asks_for_nothing(text, first=first):
        return ()
    groups = _grouped(text, list(_pieces(text)))
    if not groups:
        return (_whole(text),)
    drafts: list[TaskDraft] = []
    said = ""
    for group in groups[:MOST_TASKS]:
        draft, said = _draft(text, group, said)
        drafts.append(draft)
    if len(groups) > MOST_TASKS:
        drafts[-1] = _rest(text, groups[MOST_TASKS - 1].start)
    worded = tuple(draft for draft in drafts if draft.text.strip())
    return worded if worded else (_whole(text),)


def _whole(text: str) -> TaskDraft:
    span = _trimmed(text, 0, len(text))
    said = text.strip()
    return _with_source(said, said, "", span)


def _rest(text: str, start: int) -> TaskDraft:
    span = _trimmed(text, start, len(text))
    said = text[span.start : span.end]
    return _with_source(said, said, text[max(0, start - _BEFORE) : start], span)


def _pieces(text: str) -> Iterator[_Piece]:
    """The pieces of a message. Of a very long one, the middle is one block of data."""
    english = is_english(masked_text(text[:4000]))
    if len(text) <= _HEAD + _TAIL:
        yield from _read(text, 0, len(text), english=english)
        return
    head = text.rfind("\n", _HEAD // 2, _HEAD) + 1 or _HEAD
    tail = text.find("\n", len(text) - _TAIL) + 1 or len(text) - _TAIL
    yield from _read(text, 0, head, english=english)
    yield _Piece(kind="limit", start=head, end=tail)
    yield from _read(text, tail, len(text), english=english)


def _read(text: str, begin: int, stop: int, *, english: bool) -> Iterator[_Piece]:
    intro: _Piece | None = None
    for kind, start, end in blocks(text[begin:stop]):
        deadline.check()
        block = Block(kind, begin + start, begin + end)
        if block.kind == "data":
            yield _Piece(kind="limit", start=block.start, end=block.end, data=True)
        elif block.kind == "item":
            yield _item(text, block, intro)
        else:
            for piece in _prose(text, block, english=english):
                intro = piece
                yield piece


def _prose(text: str, block: Block, *, english: bool) -> Iterator[_Piece]:
    for start, end in sentences(text, block.start, block.end):
        deadline.check()
        if not english:
            courtesy = kind_of(text[start:end].strip()) == "courtesy"
            yield _Piece(kind="courtesy" if courtesy else "directive", start=start, end=end)
            continue
        body = item_body(text, Block("item", start, end))
        for left, right in clauses(text, body, end):
            kind = _kind(text[left:right])
            if left == body > start and kind not in _OWN:
                kind = "directive"  # an item of a list within a sentence
            yield _Piece(kind=kind, start=left, end=right)


def _item(text: str, block: Block, intro: _Piece | None) -> _Piece:
    kind = _kind(text[item_body(text, block) : block.end])
    if intro is None and kind not in _OWN:
        return _Piece(kind="directive", start=block.start, end=block.end)  # only a list
    if kind in _OWN or intro is None or intro.kind not in _OWN:
        return _Piece(kind=kind, start=block.start, end=block.end)
    above = text[intro.start : intro.end].strip()
    if not above.endswith(":"):
        return _Piece(kind="limit", start=block.start, end=block.end)
    return _Piece(kind="directive", start=block.start, end=block.end, intro=above)


def _kind(said: str) -> Kind:
    return kind_of(masked_text(said[:2000]).strip())


def _grouped(text: str, pieces: list[_Piece]) -> list[_Group]:
    groups: list[_Group] = []
    waiting: list[_Piece] = []
    for index, piece in enumerate(pieces):
        if piece.kind == "courtesy" or _only_announces(text, pieces, index):
            continue
        if piece.kind in _OWN:
            if groups and piece.kind == "prohibition":
                waiting = _hand_back(text, groups[-1], waiting)
            groups.append(_Group(piece, waiting))
            waiting = []
        elif groups and not waiting and _looks_back(text, piece):
            groups[-1].after.append(piece)
        else:
            waiting.append(piece)
    if groups:
        groups[-1].after.extend(waiting)
    return groups


def _hand_back(text: str, group: _Group, waiting: list[_Piece]) -> list[_Piece]:
    """Whole sentences before a prohibition belong to the order before it; returns the others."""
    whole = 0
    for piece in waiting:
        if not text[piece.start : piece.end].rstrip().endswith((".", "!", "?")):
            break
        whole += 1
    group.after += waiting[:whole]
    return waiting[whole:]


def _only_announces(text: str, pieces: list[_Piece], index: int) -> bool:
    """Whether a piece only says that a list follows, or is repeated in its items."""
    piece = pieces[index]
    said = text[piece.start : piece.end].strip()
    if not said.endswith(":") or index + 1 == len(pieces):
        return False
    return bool(pieces[index + 1].intro == said or _GENERIC.match(said[:200]))


def _looks_back(text: str, piece: _Piece) -> bool:
    return piece.kind == "limit" or _BACKWARD.match(text[piece.start : piece.end]) is not None


def _draft(text: str, group: _Group, said_before: str) -> tuple[TaskDraft, str]:
    """The task of a group, and its words without those of the task before."""
    context = _joined(text, group.before).strip()
    order = _order(text, group.asks)
    if not context or context.endswith((".", "!", "?", ":")):
        order = _capital(order)
    limits = _joined(text, group.after)
    said = f"{context} {order}".strip() + (limits if limits.startswith("\n") else f" {limits}")
    said = said.rstrip(" ,;:–—")
    span = _trimmed(text, group.start, group.end)
    whole = said
    if said_before and not context and _REFERS.search(order):
        whole = f"{said} (after: {_shortened(said_before)})"
    if group.asks.kind == "prohibition" or _only_asks(text, group.asks):
        return TaskDraft(text=whole, span=span), said
    before = text[max(0, group.asks.start - _BEFORE) : group.asks.start]
    told = [piece for piece in group.after if piece.kind == "limit" and not piece.data]
    return _with_source(whole, f"{order} {_joined(text, told)}".strip(), before, span), said


def _only_asks(text: str, piece: _Piece) -> bool:
    return piece.kind == "question" and not request_end(text[piece.start : piece.end])


def _with_source(whole: str, order: str, before: str, span: Span) -> TaskDraft:
    source = delegated_source(order, before)
    return TaskDraft(
        text=whole, span=span, source=source, scope=whole if source is not None else None
    )


def _order(text: str, piece: _Piece) -> str:
    """The words of an order, complete without those around it."""
    start = item_body(text, Block("item", piece.start, piece.end))
    raw = text[start : piece.end]
    said = raw[_lead(raw) :].strip().rstrip(",;–—").rstrip()
    if piece.intro:
        return f"{piece.intro} {said}"
    asked = request_end(said)
    if asked and asked < len(said):
        ends = "." if said.endswith("?") else ""
        return said[asked:].rstrip("?! ") + ends
    if piece.kind == "question":
        return f"Find out: {said}"
    return said


def _lead(raw: str) -> int:
    match = _CONNECTOR.match(raw[:60])
    return match.end() if match is not None and match.end() < len(raw.rstrip()) else 0


def _joined(text: str, pieces: list[_Piece]) -> str:
    """The words of pieces, on lines of their own where they were."""
    parts: list[str] = []
    for piece in pieces:
        alone = piece.start > 0 and text[piece.start - 1] == "\n"
        parts += ["\n" if alone else " ", text[piece.start : piece.end].strip()]
    return "".join(parts).strip(" ")


def _capital(said: str) -> str:
    first = said.split(" ", 1)[0]
    return (
        said[:1].upper() + said[1:] if first.replace("'", "").replace("’", "").isalpha() else said
    )


def _shortened(said: str) -> str:
    flat = " ".join(said[: 2 * _REMINDER].split()).rstrip(".!?")
    if len(flat) <= _REMINDER:
        return flat
    return flat[: flat.rfind(" ", 0, _REMINDER) + 1 or _REMINDER].rstrip() + " ..."


def _trimmed(text: str, start: int, end: int) -> Span:
    said = text[start:end]
    left = start + len(said) - len(said.lstrip(" \t\r\n,;"))
    return Span(start=left, end=max(left, start + len(said.rstrip())))
