"""Whether the server is ready: its self-test has passed, and its store can be used."""

import asyncio

from taskshield.core.errors import StoreError
from taskshield.core.judge import Judge
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.server.operations.logs import log
from taskshield.server.operations.self_test import SelfTest, self_test

_RETRY_S = 30.0
"""Seconds until a self-test that failed is run again: an endpoint may be back by then."""


class Readiness:
    """The result of the last self-test, and whether the store can be used."""

    def __init__(self, judge: Judge, policy: Policy, store: Store) -> None:
        self._judge = judge
        self._policy = policy
        self._store = store
        self._last: SelfTest | None = None
        self._ping: asyncio.Task[bool] | None = None

    async def run_self_test(self) -> SelfTest:
        """Run the self-test now."""
        self._last = await self_test(self._judge, self._policy)
        log("self-test", passed=self._last.passed, failures=list(self._last.failures))
        return self._last

    async def run_until_passed(self) -> None:
        """Run the self-test until it passes."""
        while True:
            if (await self.run_self_test()).passed:
                return
            await asyncio.sleep(_RETRY_S)

    async def reasons(self) -> list[str]:
        """Why the server is not ready; empty where it is."""
        found = ["The self-test has not run yet."] if self._last is None else []
        if self._last is not None:
            found += self._last.failures
        if not await self._store_works():
            found.append("The store cannot be used.")
        return found

    async def _store_works(self) -> bool:
        """Whether the store can be used. Requests at the same time share one ping."""
        if self._ping is None or self._ping.done():
            self._ping = asyncio.create_task(self._try_ping())
        return await asyncio.shield(self._ping)

    async def _try_ping(self) -> bool:
        try:
            await self._store.ping()
        except StoreError:
            return False
        return True
