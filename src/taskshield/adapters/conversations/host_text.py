"""Messages whose author is not the one that their role names.

A host of an agent writes into messages of the user, and sends system messages in mid-conversation.
Its text is data: it is searched for orders and adds no task. `host_marks` says what a host wrote.
Policy may trust such text, so a message says what it is (`HostMessage`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from taskshield.adapters.conversations import host_marks
from taskshield.adapters.conversations.host_marks import Piece
from taskshield.adapters.parsing.json_reader import Field, filled
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import ContextKind, HostMessage, Message, Opaque, Part, Text

Place = TypeVar("Place")


def arranged(given: Iterable[tuple[Message, Place]]) -> list[tuple[Message, Place | None]]:
    """Messages with the level of their authors; those that were cut have no place any more.

    A host's text follows the user's words beside it, and before the first words of the user it
    waits for these: whether an order serves the user's tasks is known only after them.
    """
    found: list[tuple[Message, Place | None]] = []
    early: list[Message] = []
    begun = spoken = False
    for message, place in given:
        for each in by_author(message, begun=begun):
            own = each is message
            if not own and not spoken and each.level is Level.TOOL:
                early.append(each)
                continue
            found.append((each, place if own else None))
            begun = begun or each.level is not Level.SYSTEM
            if each.level is Level.USER:
                spoken = True
                found += ((waiting, None) for waiting in early)
                early = []
    return [*found, *((waiting, None) for waiting in early)]


def messages_by_author(given: Iterable[Message]) -> tuple[Message, ...]:
    """The same, for formats in which places do not matter."""
    return tuple(message for message, _ in arranged((each, None) for each in given))


def by_author(message: Message, *, begun: bool) -> tuple[Message, ...]:
    """A message, cut into what its role says and what a host wrote.

    Args:
        message: Of any level.
        begun: Whether anyone but the system has spoken before.
    """
    if message.level is Level.SYSTEM and begun:
        return (HostMessage(level=Level.TOOL, parts=message.parts, context="system_message"),)
    if message.level is Level.SYSTEM:
        cut = [host_marks.project_files(text) for text in _texts(message)]
    elif message.level is Level.USER:
        cut = _user_pieces(message)
    else:
        return (message,)
    flat = [piece for pieces in cut for piece in pieces]
    if not any(piece.by_host for piece in flat):
        return (message,)
    own: list[Part] = [Text(text=piece.text) for piece in flat if not piece.by_host]
    own += (part for part in message.parts if isinstance(part, Opaque))
    kept = (replace(message, parts=tuple(own)),) if own else ()
    return (*kept, *_contexts(flat))


def beside_results(parts: Iterable[Part], interruptible: bool) -> Iterator[Message]:
    """What stands beside results of tools in a user message of Anthropic's format.

    An agent may put text of a tool there, so it is data. Only Claude Code is known to put nothing
    there that a tool wrote; what follows its note that the user interrupted it is the user's.

    Args:
        parts: Texts and other parts, in order.
        interruptible: Whether the host is Claude Code.
    """
    own: list[Part] = []
    interrupted = False
    for part in parts:
        if isinstance(part, Opaque):
            own.append(part)
            continue
        if host_marks.is_interruption(part.text):
            interrupted = interruptible
        for piece in host_marks.pieces(part.text):
            if piece.by_host:
                yield from _contexts([piece])
            elif interrupted:
                own.append(Text(text=piece.text))
            else:
                yield _context(piece.text, "text_beside_result")
    if own:
        yield Message(level=Level.USER if interrupted else Level.TOOL, parts=tuple(own))


def attachment(block: Field) -> Message | None:
    """The words of a file beside the user's own, which are data; None where there are none."""
    inner = block["file"].value if isinstance(block["file"].value, dict) else block.mapping()
    words = filled(output_parts(block))
    if not any(part != Text(text=str(inner.get("file_id"))) for part in words if _is_text(part)):
        return None  # the id of a file says nothing
    return Message(level=Level.TOOL, parts=words)


def _user_pieces(message: Message) -> list[list[Piece]]:
    texts = _texts(message)
    cut = [host_marks.pieces(text) for text in texts]
    opening = next((n for n, text in enumerate(texts) if host_marks.opens_quotation(text)), None)
    if opening is None:
        return cut
    ends = [n for n, text in enumerate(texts) if n > opening and host_marks.ends_quotation(text)]
    last = ends[-1] if ends else len(texts) - 1
    quoted = [Piece(text=text, by_host=True) for text in texts[opening : last + 1] if text.strip()]
    return [*cut[:opening], quoted, *cut[last + 1 :]]


def _contexts(pieces: Iterable[Piece]) -> Iterator[Message]:
    for piece in pieces:
        if piece.by_host:
            yield _context(piece.text, "project_file" if piece.is_project_file else None)


def _context(text: str, kind: ContextKind | None) -> Message:
    parts = (Text(text=text),)
    if kind is None:
        return Message(level=Level.TOOL, parts=parts)
    return HostMessage(level=Level.TOOL, parts=parts, context=kind)


def _is_text(part: Part) -> bool:
    return isinstance(part, Text)


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]
