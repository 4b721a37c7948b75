"""The chunks of a chat completion that the client sees.

Over several rounds the client sees the id of the first round, the texts of all with a blank line
between them, and the sum of usage.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.json_edits import without
from taskshield.adapters.proxy.openai_chat.members import CALLED, LEGACY, acts, with_more
from taskshield.adapters.proxy.stream_gate import Payload
from taskshield.adapters.proxy.usage import added


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
                    acts(reduced)
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


def _choices_of(calls: set[Hashable]) -> set[object]:
    return {call[0] for call in calls if isinstance(call, tuple)}


def _reduced(choice: Body, dropped: set[Hashable], *, ended: bool) -> Body:
    """A piece of a choice without the dropped calls."""
    number, delta = choice["index"], choice["delta"]
    calls = [
        call for call in delta.get("tool_calls") or () if (number, call["index"]) not in dropped
    ]
    others = without(
        delta, "tool_calls", *(["function_call"] if (number, LEGACY) in dropped else [])
    )
    reason = choice.get("finish_reason")
    return {
        **choice,
        "delta": {**others, "tool_calls": calls} if calls else others,
        **({"finish_reason": "stop"} if ended and reason in CALLED else {}),
    }
