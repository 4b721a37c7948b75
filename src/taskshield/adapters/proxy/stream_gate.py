"""The gate that one streamed answer passes through, whichever wire it comes over.

Text goes to the client at once. From the first sign of a tool call, and in any case from the first
sign of the end, everything is held until the message is whole and somebody has judged it. Then it
goes on as it came, or without the refused calls, or not at all because the model tries again: then
the next stream goes on in the client's stream as if it were one message.

A wire's `Assembly` knows what its events mean, and its `Outlet` how to write them.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal, Protocol

from taskshield.adapters.proxy.exchange import Body, Reply
from taskshield.adapters.proxy.json_edits import object_of
from taskshield.adapters.proxy.sse import Event, frame
from taskshield.adapters.proxy.usage import added
from taskshield.core.errors import ConversationError, WireFormatError

MAX_ANSWER = 64 * 2**20
"""Longest answer that is taken, in bytes of one upstream stream."""

_TRUNCATED = (
    "[Task Shield] The upstream's answer broke off. Tool calls in it were not checked and are not"
    " passed on."
)

Step = Literal["aside", "pass", "hold", "end", "error"]
"""What becomes of an event.

- aside: it keeps the connection alive and says nothing; it never waits
- pass: it goes on, unless something is held already
- hold: it is held, and so is all that follows
- end: it is held, and with it the message is whole
- error: the upstream gave up; this goes on, and what is held does not
"""

Payload = Body | None
"""What an event says. None for the mark at the end of OpenAI's streams."""


class Assembly(Protocol):
    """Puts the events of one upstream stream together."""

    def take(self, payload: Payload) -> tuple[Step, Payload]:
        """What to do with an event, and the event with its ambiguities removed.

        Raises:
            WireFormatError: It is not an event of this wire.
        """

    def finished(self) -> bool:
        """Whether the message is whole, should the stream end here without saying so."""

    def response(self) -> Body:
        """The answer as it would have come without streaming."""

    def calls(self) -> Sequence[Hashable]:
        """Which of the stream's indices each call of the answer has, in the order of the calls."""


class Outlet(Protocol):
    """Writes what the client sees, over all rounds."""

    def shown(self, payload: Payload) -> None:
        """Take note of an event that goes to the client as it is."""

    def written(self, payload: Body) -> list[Body]:
        """An event in the client's numbering; empty where the client has no use for it."""

    def revised(
        self, held: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The held events without the dropped calls, and with a note to the user."""

    def concerns_shown(self, payload: Payload) -> bool:
        """Whether an event belongs to a part of the message that the client knows already."""

    def start_round(self, spent: object) -> None:
        """Another upstream stream begins; so much was spent on those before."""

    def failure(self, message: str) -> Body:
        """The event that says that no more will come."""


class Gate:
    """The way of one answer to the client."""

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
        self._taken = 0
        self._verbatim = True
        self._held: list[tuple[Event, Payload]] = []
        self._state: Literal["open", "whole", "over"] = "open"
        self._response: Body | None = None
        self._reply: Reply | None = None
        self._spent: object = None

    @property
    def response(self) -> Body | None:
        """The answer as it would have come without streaming, once it is whole."""
        return self._response

    @property
    def complete(self) -> Reply | None:
        """The answer, read, once it is whole. Now it can be judged."""
        return self._reply

    def feed(self, event: Event) -> list[bytes]:
        """What may go to the client at once.

        Raises:
            WireFormatError: The upstream sent what is not of this wire, or too much of it. Nothing
                that is held may go on then: end the client's stream with `failed`.
        """
        self._taken += len(event.raw)
        if self._taken > self._limit:
            raise WireFormatError(f"the answer is longer than {self._limit} bytes")
        if self._state == "over":
            return []
        if not event.data:
            return [event.raw]
        step, payload = self._assembly.take(None if event.done else object_of(event.data))
        if step == "aside":
            return [event.raw]
        if step == "error":
            self._verbatim = self._verbatim and not self._held
            self._response = self._reply = None
            self._end()
            return self._passed(event, payload)
        if step == "pass" and not self._held:
            return self._passed(event, payload)
        self._held.append((event, payload))
        if self._state == "whole" and self._assembly.response() != self._response:
            self._state, self._response, self._reply = "open", None, None
            raise WireFormatError("the upstream changed its answer after the end of it")
        if step == "end":
            self._complete()
        return []

    def close(self) -> None:
        """The upstream's stream is over. If the answer is not complete now, it broke off."""
        if self._state == "open" and self._assembly.finished():
            self._complete()

    def release(self) -> list[bytes]:
        """Everything that was held, as it came."""
        held = self._judged()
        return [data for event, payload in held for data in self._passed(event, payload)]

    def release_without(self, refused: Collection[str], note: str) -> list[bytes]:
        """What was held without the refused calls, and with a note that says why."""
        held = self._judged()
        assert self._reply is not None
        ids = [call.id for message in self._reply.messages for call in message.tool_calls]
        calls = list(zip(ids, self._assembly.calls(), strict=True))
        revised = self._outlet.revised(
            [payload for _, payload in held],
            {place for id, place in calls if id in refused},
            {place for id, place in calls if id not in refused},
            note,
        )
        return [_written(payload) for payload in revised]

    def next_round(self) -> list[bytes]:
        """Drop what is held: the events fed from now on are of the next upstream stream.

        What comes back are the endings of parts of the message that the client has seen begin.
        """
        held = self._judged()
        assert self._response is not None
        self._verbatim = False
        endings = [
            data
            for event, payload in held
            if self._outlet.concerns_shown(payload)
            for data in self._passed(event, payload)
        ]
        self._spent = added(self._spent, self._response.get("usage"))
        self._outlet.start_round(self._spent)
        self._assembly = self._new_assembly()
        self._response, self._reply = None, None
        self._state, self._taken = "open", 0
        return endings

    def failed(self, message: str) -> list[bytes]:
        """The end of a client's stream that cannot go on. What is held is dropped.

        Empty where the stream has ended already, for instance with an error of the upstream.
        """
        if self._state == "over":
            return []
        self._end()
        return [frame(self._outlet.failure(message))]

    def truncated(self) -> list[bytes]:
        """The end of a client's stream whose upstream broke off."""
        return self.failed(_TRUNCATED)

    def _complete(self) -> None:
        if self._state == "open":
            self._response = self._assembly.response()
            self._reply = self._read(self._response)
            self._state = "whole"

    def _judged(self) -> list[tuple[Event, Payload]]:
        if self._state != "whole":
            raise ConversationError(
                "only an answer that is complete can be released, and only once"
            )
        return self._end()

    def _end(self) -> list[tuple[Event, Payload]]:
        held, self._held = self._held, []
        self._state = "over"
        return held

    def _passed(self, event: Event, payload: Payload) -> list[bytes]:
        if self._verbatim or payload is None:
            self._outlet.shown(payload)
            return [event.raw]
        return [frame(each) for each in self._outlet.written(payload)]


def _written(payload: Payload) -> bytes:
    return b"data: [DONE]\n\n" if payload is None else frame(payload)
