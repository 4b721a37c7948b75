"""OpenAI chat completions as a stream.

Choices and calls are numbered from 0 in the order in which they appear, because clients find them
by their place. Once one choice is buffered, all are. Over several rounds the client sees the id of
the first round, the texts of all with a blank line between them, and the sum of usage.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.json_edits import assembled, index_of, without
from taskshield.adapters.proxy.openai_chat.members import (
    CALLED,
    check_call,
    check_content,
    with_more,
)
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.strict_json import check_members
from taskshield.adapters.proxy.usage import added

_CHUNK = "chat.completion.chunk"
_LEGACY = -1
"""The number of a call in the deprecated `function_call`, which has none of its own."""
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
        if not isinstance(payload.get("choices"), list):
            raise chunk["choices"].wrong("a list")
        choices = [self._choice(choice) for choice in chunk["choices"].elements()]
        members = without(payload, "choices").items()
        self._head.update((key, value) for key, value in members if value is not None)
        acts = any(_acts(choice) for choice in choices)
        same = all(one is other for one, other in zip(choices, payload["choices"], strict=True))
        if acts and payload.get("object") != _CHUNK:
            same, payload = False, {**payload, "object": _CHUNK}  # others are left out by an SDK
        return "buffer" if acts else "pass", payload if same else {**payload, "choices": choices}

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

    def _choice(self, field: Field) -> Body:
        """A piece of a choice; the same object where nothing in it is ambiguous."""
        check_members(field, "delta", "message")
        index = index_of(field["index"])
        if index not in self._choices:
            self._choices[index] = _Choice(len(self._choices))
        choice = self._choices[index]
        delta = choice.delta(field["delta"])
        given: Body = dict(field.mapping())
        piece = {**without(given, "message"), "delta": delta, "index": choice.number}
        if given.get("message") is not None:
            # Some servers repeat the text so far. What is more than a text is refused.
            field["delta"].mapping()
            check_members(field["message"], "content")
        choice.add(piece)
        return field.value if piece == given else piece  # type: ignore[return-value]


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

    def add(self, choice: Body) -> None:
        """Add a piece of the choice, but for its calls."""
        self._deltas.append(without(choice["delta"], "role", "tool_calls"))
        self._logprobs.append(choice.get("logprobs"))
        members = without(choice, "delta", "index", "logprobs").items()
        self.members.update((key, value) for key, value in members if value is not None)

    def numbers(self) -> list[int]:
        """The numbers of the calls, in the order in which an answer lists them."""
        legacy = any(delta.get("function_call") is not None for delta in self._deltas)
        return [*range(len(self._calls)), *([_LEGACY] if legacy else [])]

    def whole(self) -> Body:
        """The choice without streaming."""
        calls = {"tool_calls": [_whole_call(call) for call in self._calls]} if self._calls else {}
        message = {"content": None, **assembled([{}, *self._deltas]), **calls, "role": "assistant"}
        return {**self.members, "logprobs": assembled(self._logprobs), "message": message}


class ChatOutlet:
    """The chunks that the client sees."""

    def __init__(self) -> None:
        self._head: Body = {}
        self._seen: set[int] = set()
        self._with_role: set[int] = set()
        self._with_text: set[int] = set()
        self._needs_gap: set[int] = set()  # choices with text of an earlier round
        self._numbers: dict[int, Numbering] = {}
        self._earlier_usage: object = None

    def note_passed(self, payload: Payload) -> None:
        """Take note of a chunk that is passed to the client as it is."""
        if payload is None or payload.get("error"):
            return
        self._note_head(payload)
        for choice in payload["choices"]:
            self._seen.add(choice["index"])
            self._note_delta(choice["index"], choice.get("delta") or {})

    def renumber(self, payload: Body) -> list[Body]:
        """A chunk in the client's numbering; empty where nothing is left of it."""
        if payload.get("error"):
            return [payload]
        choices = [self._choice(choice) for choice in payload["choices"]]
        kept = [choice for choice in choices if self._has_use(choice)]
        usage = payload.get("usage")
        if choices and not kept and usage is None:
            return []
        self._note_head(payload)
        counted = {} if usage is None else {"usage": added(self._earlier_usage, usage)}
        return [{**payload, **self._head, **counted, "choices": kept}]

    def without_calls(
        self, buffered: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The buffered chunks without the dropped calls; the note stands before the calls left."""
        with_dropped, with_kept = _choices_of(dropped), _choices_of(kept)
        noted: set[object] = set()
        revised: list[Payload] = []
        for payload in buffered:
            if payload is None:
                revised.append(None)
                continue
            choices: list[Body] = []
            for choice in payload["choices"]:
                number = choice["index"]
                reduced = _reduced(choice, dropped, ended=number not in with_kept)
                if (
                    _acts(reduced)
                    and number not in noted
                    and (number in with_dropped or not dropped)
                ):
                    noted.add(number)
                    revised += self.renumber(self._noted(payload, reduced, note))
                    reduced = {**reduced, "delta": without(reduced["delta"], "content")}
                choices.append(reduced)
            revised += self.renumber({**payload, "choices": choices})
        return revised

    def continues_passed(self, payload: Payload) -> bool:
        """Nothing in this format begins that must be ended."""
        return False

    def start_round(self, usage: object) -> None:
        """Another provider stream begins."""
        self._earlier_usage = usage
        self._needs_gap = set(self._with_text)
        self._numbers.clear()

    def failure_event(self, message: str) -> Body:
        """An error as OpenAI sends it in the middle of a stream; its SDK raises it."""
        error = {"message": message, "type": "server_error", "param": None, "code": None}
        return {"error": error}

    def _choice(self, choice: Body) -> Body:
        number, delta = choice["index"], dict(choice["delta"])
        if number in self._with_role:
            delta.pop("role", None)
        if delta.get("content") and number in self._needs_gap:
            self._needs_gap.discard(number)
            given = delta["content"]
            gap: Any = [{"type": "text", "text": GAP}] if isinstance(given, list) else GAP
            delta["content"] = gap + given
        if delta.get("tool_calls"):
            numbers = self._numbers.setdefault(number, Numbering())
            delta["tool_calls"] = [
                {**call, "index": numbers.of(call["index"])} for call in delta["tool_calls"]
            ]
        self._note_delta(number, delta)
        return {**choice, "delta": delta}

    def _has_use(self, choice: Body) -> bool:
        """Whether the client learns anything from a piece, if only that there is such a choice."""
        new = choice["index"] not in self._seen
        self._seen.add(choice["index"])
        return new or bool(choice["delta"]) or bool(choice.get("finish_reason"))

    def _note_head(self, chunk: Body) -> None:
        """All chunks of an answer share these."""
        for key in ("id", "created"):
            if chunk.get(key) and key not in self._head:
                self._head[key] = chunk[key]

    def _note_delta(self, choice: int, delta: Body) -> None:
        if delta.get("role"):
            self._with_role.add(choice)
        if delta.get("content"):
            self._with_text.add(choice)

    def _noted(self, chunk: Body, choice: Body, note: str) -> Body:
        """A chunk of its own for the note, with the text of the chunk that it stands before."""
        number, text = choice["index"], choice["delta"].get("content") or ""
        if not text and number in self._with_text - self._needs_gap:
            note = GAP + note
        delta = {"role": "assistant", "content": with_more(text, note)}
        choice = {"index": number, "delta": delta, "finish_reason": None}
        return {**without(chunk, "usage", "obfuscation"), "choices": [choice]}


def _other(known: object, given: object) -> bool:
    return bool(known) and bool(given) and known != given


def _once(pieces: list[Body]) -> Body:
    """The members of a call that do not grow."""
    given = ((key, piece[key]) for piece in reversed(pieces) for key in _ONCE if piece.get(key))
    return dict(given)


def _whole_call(pieces: list[Body]) -> Body:
    return {**_once(pieces), **assembled([without(piece, "index", *_ONCE) for piece in pieces])}


def _acts(choice: Body) -> bool:
    """Whether a piece of a choice is of a call or of the end: both must wait for the judge."""
    return bool(choice.get("finish_reason")) or any(choice["delta"].get(key) for key in CALLED)


def _choices_of(calls: set[Hashable]) -> set[object]:
    return {call[0] for call in calls if isinstance(call, tuple)}


def _reduced(choice: Body, dropped: set[Hashable], *, ended: bool) -> Body:
    """A piece of a choice without the dropped calls."""
    number, delta = choice["index"], choice["delta"]
    calls = [
        call for call in delta.get("tool_calls") or () if (number, call["index"]) not in dropped
    ]
    others = without(
        delta, "tool_calls", *(["function_call"] if (number, _LEGACY) in dropped else [])
    )
    reason = choice.get("finish_reason")
    return {
        **choice,
        "delta": {**others, "tool_calls": calls} if calls else others,
        **({"finish_reason": "stop"} if ended and reason in CALLED else {}),
    }
