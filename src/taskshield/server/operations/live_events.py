"""What happens now, for whoever is looking: the last events of each tenant, and who follows them.

In one process: a replica tells of what it has decided itself. Nobody has a queue of their own. All
read from the same bounded buffer, and who falls so far behind that something is lost is told so.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

from taskshield.server.http.errors import RequestError

_KEPT = 500
"""Events of a tenant that can still be asked for."""
_FOLLOWERS = 100
"""Streams of a tenant that may be open at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened."""

    name: str
    data: str
    """JSON in one line."""
    id: str


@dataclass(slots=True)
class _Channel:
    """What a tenant's followers see."""

    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_KEPT))
    count: int = 0
    """How many there ever were."""
    followers: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by another one, when there are more."""

    def wake(self) -> None:
        self.news.set()
        self.news = asyncio.Event()


class Live:
    """Events of all tenants, each of which sees its own."""

    def __init__(self) -> None:
        # Numbers begin anew with the process, so an id names the process, too.
        self._run = secrets.token_hex(4)
        self._channels: dict[str, _Channel] = {}
        self._closed = False

    def tell(self, tenant: str, name: str, data: str) -> None:
        """Let a tenant's followers know."""
        channel = self._channel(tenant)
        channel.count += 1
        channel.events.append(Event(name=name, data=data, id=self._id(channel.count)))
        channel.wake()

    async def follow(
        self, tenant: str, last: str | None, pause_s: float
    ) -> AsyncGenerator[Event | None]:
        """Events as they happen, from the one after `last` on; first of all a "start".

        A "reset" in the place of events means that some are gone. None means that nothing has
        happened for so many seconds.

        Raises:
            Refused: Too many follow already.
        """
        channel = self._channel(tenant)
        if channel.followers >= _FOLLOWERS:
            raise RequestError(429, "too_many_streams", f"{_FOLLOWERS} streams are open already")
        channel.followers += 1
        try:
            async for event in self._followed(channel, last, pause_s):
                yield event
        finally:
            channel.followers -= 1

    def close(self) -> None:
        """Let all followers go: the server is about to stop."""
        self._closed = True
        for channel in self._channels.values():
            channel.wake()

    async def _followed(
        self, channel: _Channel, last: str | None, pause_s: float
    ) -> AsyncIterator[Event | None]:
        seen = channel.count if last is None else self._number(channel, last)
        yield self._event("start", channel.count if seen is None else seen)
        while not self._closed:
            news = channel.news
            if seen is None or seen < channel.count - len(channel.events):
                seen = channel.count
                yield self._event("reset", seen)
            elif seen < channel.count:
                event = channel.events[seen - channel.count]
                seen += 1
                yield event
            else:
                try:
                    await asyncio.wait_for(news.wait(), pause_s)
                except TimeoutError:
                    yield None

    def _channel(self, tenant: str) -> _Channel:
        return self._channels.setdefault(tenant, _Channel())

    def _event(self, name: str, number: int) -> Event:
        return Event(name=name, data="{}", id=self._id(number))

    def _id(self, number: int) -> str:
        return f"{self._run}-{number}"

    def _number(self, channel: _Channel, id: str) -> int | None:
        """How many events somebody has seen; None where this process did not tell them."""
        run, _, number = id.partition("-")
        if run != self._run or not (number.isascii() and number.isdigit() and len(number) < 20):
            return None
        return int(number) if int(number) <= channel.count else None
