"""Whether the server is ready: its self-test has passed, and its store can be used."""

import asyncio
import logging
from dataclasses import dataclass

from taskshield.core.errors import StoreError, StoreState
from taskshield.core.judge import Judge
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.server.operations.logs import log
from taskshield.server.operations.self_test import SelfTest, self_test

_RETRY_S = 30.0
"""Seconds until a self-test that failed is run again: an endpoint may be back by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReady:
    """Why the server is not ready."""

    reasons: tuple[str, ...]
    """What is wrong and what to do: one or two sentences each."""
    store: StoreState | None
    """What is wrong with the store, in one word for programs."""


class Readiness:
    """The result of the last self-test, and whether the store can be used."""

    def __init__(self, judge: Judge, policy: Policy, store: Store) -> None:
        self._judge = judge
        self._policy = policy
        self._store = store
        self._last: SelfTest | None = None
        self._ping: asyncio.Task[StoreError | None] | None = None
        self._failed: str | None = None
        """What was wrong with the store when it was last asked; None where it worked."""

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

    async def problem(self) -> NotReady | None:
        """Why the server is not ready; None where it is."""
        found = ["The self-test has not run yet."] if self._last is None else []
        if self._last is not None:
            found += self._last.failures
        failure = await self._store_failure()
        if failure is not None:
            found.append(_public(failure))
        if not found:
            return None
        return NotReady(reasons=tuple(found), store=None if failure is None else failure.state)

    async def _store_failure(self) -> StoreError | None:
        """Why the store cannot be used. Requests at the same time share one ping."""
        if self._ping is None or self._ping.done():
            self._ping = asyncio.create_task(self._try_ping())
        return await asyncio.shield(self._ping)

    async def _try_ping(self) -> StoreError | None:
        try:
            await self._store.ping()
        except StoreError as error:
            self._log(_public(error), error.state)
            return error
        self._log(None, None)
        return None

    def _log(self, failed: str | None, state: StoreState | None) -> None:
        """Log what has changed. Probes come every few seconds, and would say it again and again."""
        if failed == self._failed:
            return
        self._failed = failed
        if failed is None:
            log("the store works again")
        else:
            log("store cannot be used", level=logging.ERROR, state=state, reason=failed)


def _public(error: StoreError) -> str:
    """What anyone may read. Only messages about the store as a whole hold no data for certain."""
    return "The store cannot be used." if error.state is None else str(error)
