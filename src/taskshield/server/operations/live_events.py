"""Live events: the last events of each tenant, for the clients that follow them.

Each replica publishes its own decisions only. There is no queue for each follower: all read the
same bounded buffer, and a follower that is so slow that it missed events gets a "reset".
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

from taskshield.server.http.errors import RequestError

_BUFFERED = 500
"""Events of a tenant that stay in the buffer."""
_FOLLOWERS = 100
"""Streams that a tenant may have open at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event."""

    name: str
    data: str
    """JSON in one line."""
    id: str


@dataclass(slots=True)
class _Channel:
    """The events of one tenant."""

    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_BUFFERED))
    count: int = 0
    """Number of events since the process started."""
    followers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by a new one, when there are more."""

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class LiveEvents:
    """Events of all tenants. A tenant sees its own."""

    def __init__(self) -> None:
        # Numbers start again with the process, so an id names the process as well.
        self._run = secrets.token_hex(4)
        self._channels: dict[str, _Channel] = {}
        self._closed = False

    @property
    def bytes(self) -> int:
        """Bytes of the events in all buffers."""
        channels = self._channels.values()
        return sum(len(event.data) for channel in channels for event in channel.events)

    def publish(self, tenant: str, name: str, data: str) -> None:
        """Send an event to the followers of a tenant."""
        channel = self._channel(tenant)
        channel.count += 1
        channel.events.append(Event(name=name, data=data, id=self._id(channel.count)))
        channel.wake()

    async def follow(
        self, tenant: str, last: str | None, pause_s: float
    ) -> AsyncGenerator[Event | None]:
        """Events as they happen, from the one after `last` on. The first one is a "start".

        A "reset" means that events are missing. None means that there was no event for `pause_s`
        seconds.

        Raises:
            RequestError: The tenant has too many streams open.
        """
        channel = self._channel(tenant)
        if channel.followers >= _FOLLOWERS:
            raise RequestError(
                429,
                "too_many_streams",
                f"{_FOLLOWERS} event streams are open already. Close one first.",
            )
        channel.followers += 1
        try:
            async for event in self._followed(channel, last, pause_s):
                yield event
        finally:
            channel.followers -= 1

    def close(self) -> None:
        """End all streams: the server is about to stop."""
        self._closed = True
        for channel in self._channels.values():
            channel.wake()

    async def _followed(
        self, channel: _Channel, last: str | None, pause_s: float
    ) -> AsyncIterator[Event | None]:
        seen = channel.count if last is None else self._number(channel, last)
        yield self._event("start", channel.count if seen is None else seen)
        while not self._closed:
            changed = channel.changed
            if seen is None or seen < channel.count - len(channel.events):
                seen = channel.count
                yield self._event("reset", seen)
            elif seen < channel.count:
                event = channel.events[seen - channel.count]
                seen += 1
                yield event
            else:
                try:
                    await asyncio.wait_for(changed.wait(), pause_s)
                except TimeoutError:
                    yield None

    def _channel(self, tenant: str) -> _Channel:
        return self._channels.setdefault(tenant, _Channel())

    def _event(self, name: str, number: int) -> Event:
        return Event(name=name, data="{}", id=self._id(number))

    def _id(self, number: int) -> str:
        return f"{self._run}-{number}"

    def _number(self, channel: _Channel, id: str) -> int | None:
        """Number of the event with this id; None where this process did not publish it."""
        run, _, number = id.partition("-")
        if run != self._run or not (number.isascii() and number.isdigit() and len(number) < 20):
            return None
        return int(number) if int(number) <= channel.count else None
