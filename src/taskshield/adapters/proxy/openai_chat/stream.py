"""OpenAI chat completions as a stream.

Choices and calls are numbered from 0 in the order in which they appear, because clients find them
by their place. Once one choice is buffered, all are.
"""

from collections.abc import Hashable, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.json_edits import assembled, index_of, without
from taskshield.adapters.proxy.openai_chat.members import (
    CALLED,
    LEGACY,
    acts,
    check_call,
    check_content,
    is_text,
)
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.strict_json import check_members

_CHUNK = "chat.completion.chunk"
_ONCE = ("id", "type")
"""Members of a call that do not grow, though some servers repeat them."""


class ChatAssembly:
    """The chunks of one stream as one answer."""

    def __init__(self) -> None:
        self._head: Body = {}
        self._choices: dict[int, _Choice] = {}

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """What to do with a chunk, and the chunk with each call under a number of its own."""
        if payload is None:
            return "end", None
        chunk = Field(value=payload, key="chunk")
        if payload.get("error"):
            check_members(chunk, "choices")
            return "error", {"error": payload["error"]}
        check_members(chunk, "choices")
        given = payload.get("choices")
        if not isinstance(given, list):
            raise chunk["choices"].wrong("a list")
        for key, value in payload.items():
            if value is not None and key != "choices":
                self._head[key] = value
        if all(map(is_text, given)):
            said = [self._said(choice) for choice in given]
            return "pass", payload if said == given else {**payload, "choices": said}
        choices = [self._choice(choice) for choice in chunk["choices"].elements()]
        waits = any(acts(choice) for choice in choices)
        same = all(one is other for one, other in zip(choices, payload["choices"], strict=True))
        if waits and payload.get("object") != _CHUNK:
            same, payload = False, {**payload, "object": _CHUNK}  # others are left out by an SDK
        return "buffer" if waits else "pass", payload if same else {**payload, "choices": choices}

    def is_complete(self) -> bool:
        """Whether every choice has said why it stopped."""
        choices = self._choices.values()
        return bool(choices) and all(choice.members.get("finish_reason") for choice in choices)

    def response(self) -> Body:
        """The answer as it would be without streaming."""
        choices = [{"index": choice.number, **choice.whole()} for choice in self._choices.values()]
        head = without(self._head, "obfuscation")
        return {**head, "object": "chat.completion", "choices": choices}

    def calls(self) -> Sequence[Hashable]:
        """Choice and number of each call."""
        return [
            (choice.number, call) for choice in self._choices.values() for call in choice.numbers()
        ]

    def _said(self, piece: Body) -> Body:
        """A piece of text; the same object where its choice keeps its number."""
        choice = self._choice_at(piece["index"])
        choice.say(piece["delta"])
        return piece if choice.number == piece["index"] else {**piece, "index": choice.number}

    def _choice_at(self, index: int) -> "_Choice":
        if index not in self._choices:
            self._choices[index] = _Choice(len(self._choices))
        return self._choices[index]

    def _choice(self, field: Field) -> Body:
        """A piece of a choice; the same object where nothing in it is ambiguous."""
        check_members(field, "delta", "message")
        choice = self._choice_at(index_of(field["index"]))
        delta = choice.delta(field["delta"])
        given: Body = dict(field.mapping())
        piece = {**without(given, "message"), "delta": delta, "index": choice.number}
        if given.get("message") is not None:
            # Some servers repeat the text so far. What is more than a text is refused.
            field["delta"].mapping()
            check_members(field["message"], "content")
        choice.add(piece)
        unchanged = field.value
        return unchanged if isinstance(unchanged, dict) and piece == unchanged else piece


class _Choice:
    """One choice, as far as it has arrived."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.members: Body = {}
        self._deltas: list[Body] = []
        self._logprobs: list[object] = []
        self._calls: list[list[Body]] = []
        self._current: dict[int | None, int] = {}

    def delta(self, field: Field) -> Body:
        """What is new in a piece, with each call under a number of its own."""
        if not field.given:
            return {}
        check_members(field, "content", *CALLED)
        check_content(field["content"])
        delta: Body = dict(field.mapping())
        if delta.get("tool_calls"):
            delta["tool_calls"] = [self._call(call) for call in field["tool_calls"].elements()]
        if delta.get("function_call"):
            check_members(field["function_call"], "arguments")
        return delta

    def _call(self, field: Field) -> Body:
        """A piece of a call, numbered so that no two calls share a number.

        Some servers give every call the number 0, or none; then a new id tells a new call.
        """
        check_call(field)
        piece = dict(field.mapping())
        index = index_of(field["index"]) if field["index"].given else None
        number = self._current.get(index)
        known = {} if number is None else _once(self._calls[number])
        if number is None or _other(known.get("id"), piece.get("id")):
            number = self._current[index] = len(self._calls)
            self._calls.append([])
        elif _other(known.get("type"), piece.get("type")):
            raise field["type"].refused("a call cannot be of two types")
        elif "id" in known:
            piece.pop("id", None)  # some clients would join it to the first one
        self._calls[number].append(piece)
        return {**piece, "index": number}

    def say(self, delta: Body) -> None:
        """Add a piece of text."""
        self._deltas.append(without(delta, "role"))

    def add(self, choice: Body) -> None:
        """Add a piece of the choice, but for its calls."""
        self._deltas.append(without(choice["delta"], "role", "tool_calls"))
        self._logprobs.append(choice.get("logprobs"))
        members = without(choice, "delta", "index", "logprobs").items()
        self.members.update((key, value) for key, value in members if value is not None)

    def numbers(self) -> list[int]:
        """The numbers of the calls, in the order in which an answer lists them."""
        legacy = any(delta.get("function_call") is not None for delta in self._deltas)
        return [*range(len(self._calls)), *([LEGACY] if legacy else [])]

    def whole(self) -> Body:
        """The choice without streaming."""
        calls = {"tool_calls": [_whole_call(call) for call in self._calls]} if self._calls else {}
        message = {"content": None, **assembled([{}, *self._deltas]), **calls, "role": "assistant"}
        return {**self.members, "logprobs": assembled(self._logprobs), "message": message}


def _other(known: object, given: object) -> bool:
    return bool(known) and bool(given) and known != given


def _once(pieces: list[Body]) -> Body:
    """The members of a call that do not grow."""
    given = ((key, piece[key]) for piece in reversed(pieces) for key in _ONCE if piece.get(key))
    return dict(given)


def _whole_call(pieces: list[Body]) -> Body:
    return {**_once(pieces), **assembled([without(piece, "index", *_ONCE) for piece in pieces])}
