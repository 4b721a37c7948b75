"""Whether the server may be relied on: its self-test has passed, and its store answers."""

import asyncio

from taskshield.core.errors import StoreError
from taskshield.core.judge import Judge
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.server.operations.logs import log
from taskshield.server.operations.self_test import SelfTest, self_test

_AGAIN_S = 30.0
"""How long to wait after a self-test that failed: an endpoint may be back by then."""


class Readiness:
    """Knows the outcome of the last self-test."""

    def __init__(self, judge: Judge, policy: Policy, store: Store) -> None:
        self._judge = judge
        self._policy = policy
        self._store = store
        self._last: SelfTest | None = None
        self._ping: asyncio.Task[bool] | None = None

    async def test(self) -> SelfTest:
        """Run the self-test now."""
        self._last = await self_test(self._judge, self._policy)
        log("self-test", passed=self._last.passed, failures=list(self._last.failures))
        return self._last

    async def test_until_passed(self) -> None:
        """Run the self-test, again and again where it fails."""
        while True:
            if (await self.test()).passed:
                return
            await asyncio.sleep(_AGAIN_S)

    async def reasons(self) -> list[str]:
        """Why the server is not ready; empty where it is."""
        found = ["the self-test has not been run yet"] if self._last is None else []
        if self._last is not None:
            found += self._last.failures
        if not await self._store_answers():
            found.append("the store cannot be used")
        return found

    async def _store_answers(self) -> bool:
        """Whether the store can be written; asked once, however many want to know at the time."""
        if self._ping is None or self._ping.done():
            self._ping = asyncio.create_task(self._pinged())
        return await asyncio.shield(self._ping)

    async def _pinged(self) -> bool:
        try:
            await self._store.ping()
        except StoreError:
            return False
        return True
