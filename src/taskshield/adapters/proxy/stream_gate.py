"""The gate that one streamed answer passes through, in any wire format.

Text goes to the client at once. From the first sign of a tool call, or of the end, all events are
buffered until the answer is complete and judged. Then they are released as they came, or without
the refused calls. Or they are dropped because the model tries again: then the client's stream
continues with the provider's next stream, as if both were one message.

The `Assembly` of a wire format knows what its events mean, and its `Outlet` how to write them. What
an event holds beside what was understood does not pass: it is written again, or refused.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal, Protocol

from taskshield.adapters.proxy.exchange import Body, Reply
from taskshield.adapters.proxy.sse import Event, frame
from taskshield.adapters.proxy.strict_json import object_of
from taskshield.adapters.proxy.usage import added
from taskshield.core.errors import ConversationError, WireFormatError

MAX_ANSWER = 64 * 2**20
"""Longest answer that is accepted, in bytes of one provider stream."""

_INCOMPLETE = (
    "[Task Shield] The provider closed the connection before its response was complete. Its tool"
    " calls were not checked and are removed."
)

Disposition = Literal["keep_alive", "pass", "buffer", "end", "error"]
"""What is done with an event.

- keep_alive: it goes to the client at once, because it only keeps the connection open
- pass: it goes to the client, unless events are buffered already
- buffer: it is buffered, and so are all that follow
- end: it is buffered, and completes the answer
- error: the provider failed; it goes to the client, and what is buffered is dropped
"""

Payload = Body | None
"""The JSON in an event. None for the mark at the end of OpenAI's streams."""


class Assembly(Protocol):
    """Puts the events of one provider stream together."""

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """Add an event; what to do with it, and the event without its ambiguities.

        Where the event has none, it is given back as the same object.

        Raises:
            WireFormatError: It is not an event of this format.
        """

    def is_complete(self) -> bool:
        """Whether the answer is complete where the stream ends here without saying so."""

    def response(self) -> Body:
        """The answer as it would be without streaming."""

    def calls(self) -> Sequence[Hashable]:
        """The indices in the stream of the calls, in the order of the calls."""


class Outlet(Protocol):
    """Writes what the client sees, over all rounds."""

    def note_passed(self, payload: Payload) -> None:
        """Take note of an event that is passed to the client as it is."""

    def renumber(self, payload: Body) -> list[Body]:
        """An event in the client's numbering; empty where the client has no use for it."""

    def without_calls(
        self, buffered: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The buffered events without the dropped calls, and with a note to the user."""

    def continues_passed(self, payload: Payload) -> bool:
        """Whether an event belongs to a part of the message that the client has seen begin."""

    def start_round(self, usage: object) -> None:
        """Another provider stream begins, after streams with this usage."""

    def failure_event(self, message: str) -> Body:
        """An event that ends the stream with an error."""


class Gate:
    """Lets one answer pass to the client, over all its rounds."""

    def __init__(
        self,
        *,
        assembly: Callable[[], Assembly],
        outlet: Outlet,
        read: Callable[[Body], Reply],
        limit: int = MAX_ANSWER,
    ) -> None:
        self._new_assembly = assembly
        self._assembly = assembly()
        self._outlet = outlet
        self._read = read
        self._limit = limit
        self._length = 0
        self._verbatim = True
        self._buffered: list[tuple[bytes | None, Payload]] = []
        self._state: Literal["open", "complete", "ended"] = "open"
        self._response: Body | None = None
        self._reply: Reply | None = None
        self._earlier_usage: object = None

    @property
    def response(self) -> Body | None:
        """The answer as it would be without streaming, once it is complete."""
        return self._response

    @property
    def complete(self) -> Reply | None:
        """The answer as messages, once it is complete. Now it can be judged."""
        return self._reply

    def feed(self, event: Event) -> list[bytes]:
        """What may go to the client at once.

        Raises:
            WireFormatError: The provider sent what is not of this format, or too much of it. What
                is buffered must not pass then: end the client's stream with `fail`.
        """
        self._length += len(event.raw)
        if self._length > self._limit:
            raise WireFormatError(f"the answer is longer than {self._limit} bytes")
        if self._state == "ended":
            return []
        if not event.data:
            return [event.comments] if event.comments else []
        given = None if event.done else object_of(event.data)
        named = _is_named_by_type(event, given)
        disposition, payload = self._assembly.add(given)
        raw = event.raw if named and event.plain and payload is given else None
        if disposition == "keep_alive":
            return [_data(payload) if raw is None else raw]
        if disposition == "error":
            self._verbatim = self._verbatim and not self._buffered
            self._response = self._reply = None
            self._end()
            return self._pass_on(raw, payload)
        if disposition == "pass" and not self._buffered:
            return self._pass_on(raw, payload)
        if self._state == "complete" and payload is not None:
            self._state, self._response, self._reply = "open", None, None
            raise WireFormatError("the answer goes on after its end")
        self._buffered.append((raw, payload))
        if disposition == "end":
            self._complete()
        return []

    def close(self) -> None:
        """The provider's stream has ended. An answer that is not complete now never will be."""
        if self._state == "open" and self._assembly.is_complete():
            self._complete()

    def release(self) -> list[bytes]:
        """Everything that is buffered, as it came."""
        buffered = self._take_buffered()
        return [data for raw, payload in buffered for data in self._pass_on(raw, payload)]

    def release_without(self, refused: Collection[str], note: str) -> list[bytes]:
        """What is buffered without the refused calls, and with a note that says why."""
        buffered = self._take_buffered()
        assert self._reply is not None
        ids = [call.id for message in self._reply.messages for call in message.tool_calls]
        calls = list(zip(ids, self._assembly.calls(), strict=True))
        revised = self._outlet.without_calls(
            [payload for _, payload in buffered],
            {place for id, place in calls if id in refused},
            {place for id, place in calls if id not in refused},
            note,
        )
        return [_data(payload) for payload in revised]

    def next_round(self) -> list[bytes]:
        """Drop what is buffered: the next events are those of the provider's next stream.

        Returned are the ends of parts of the message that the client has seen begin.
        """
        buffered = self._take_buffered()
        assert self._response is not None
        self._verbatim = False
        endings = [
            data
            for raw, payload in buffered
            if self._outlet.continues_passed(payload)
            for data in self._pass_on(raw, payload)
        ]
        self._earlier_usage = added(self._earlier_usage, self._response.get("usage"))
        self._outlet.start_round(self._earlier_usage)
        self._assembly = self._new_assembly()
        self._response, self._reply = None, None
        self._state, self._length = "open", 0
        return endings

    def fail(self, message: str) -> list[bytes]:
        """End a client's stream with an error. What is buffered is dropped.

        Empty where the stream has ended already, for instance with an error of the provider.
        """
        if self._state == "ended":
            return []
        self._end()
        return [frame(self._outlet.failure_event(message))]

    def fail_incomplete(self) -> list[bytes]:
        """End a client's stream because the provider's stream ended too early."""
        return self.fail(_INCOMPLETE)

    def _complete(self) -> None:
        if self._state == "open":
            self._response = self._assembly.response()
            self._reply = self._read(self._response)
            self._state = "complete"

    def _take_buffered(self) -> list[tuple[bytes | None, Payload]]:
        if self._state != "complete":
            raise ConversationError(
                "only an answer that is complete can be released, and only once"
            )
        return self._end()

    def _end(self) -> list[tuple[bytes | None, Payload]]:
        buffered, self._buffered = self._buffered, []
        self._state = "ended"
        return buffered

    def _pass_on(self, raw: bytes | None, payload: Payload) -> list[bytes]:
        """An event as it came, as far as it was plain, or in the client's numbering."""
        if self._verbatim or payload is None:
            self._outlet.note_passed(payload)
            return [_data(payload) if raw is None else raw]
        return [frame(each) for each in self._outlet.renumber(payload)]


def _is_named_by_type(event: Event, payload: Payload) -> bool:
    """Whether clients that go by the name of an event find in it what was read."""
    kind = None if payload is None else payload.get("type")
    if event.name is not None and kind is not None and event.name != kind:
        raise WireFormatError("an event of the stream has another name than its type")
    return event.name is None or kind is not None


def _data(payload: Payload) -> bytes:
    return b"data: [DONE]\n\n" if payload is None else frame(payload)
