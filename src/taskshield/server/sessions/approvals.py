"""People who are asked: deciding an approval, and waiting until somebody has."""

import asyncio
import time
from collections.abc import Callable

from taskshield.core.store import Approval, Store
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.checker import SessionChecker

_POLL_S = 0.5
"""How often a waiting request looks into the store, where another replica may have written."""


class Approvals:
    """Approvals of all tenants. One past its deadline has expired, which denies it."""

    def __init__(
        self, store: Store, checker: SessionChecker, decided: Callable[[Approval], None]
    ) -> None:
        self._store = store
        self._checker = checker
        self._decided = decided
        self._news = asyncio.Condition()
        self._closing = False

    async def get(self, tenant: str, id: str) -> Approval:
        """An approval as it is now.

        Raises:
            Refused: There is none.
        """
        found = await self._store.approval(tenant, id)
        if found is None:
            raise RequestError(404, "not_found", "there is no such approval")
        return found

    async def wait(self, tenant: str, id: str, seconds: float) -> Approval:
        """An approval once it is decided, or as it is after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            approval = await self.get(tenant, id)
            left = end - time.monotonic()
            if approval.status != "pending" or left <= 0 or self._closing:
                return approval
            async with self._news:
                try:
                    await asyncio.wait_for(self._news.wait(), min(left, _POLL_S))
                except TimeoutError:
                    continue

    async def approve(self, tenant: str, id: str, *, by: str, note: str = "") -> Approval:
        """Let through what was held back, once and until the user speaks again.

        Asked for again after a failure, it goes on where it stopped.

        Raises:
            Refused: There is no such approval, it was decided otherwise, or it comes too late.
        """
        approval = await self.get(tenant, id)
        if approval.status == "pending":
            snapshot = await self._checker.finder.newest(tenant, approval.session)
            if id not in snapshot.content.approvable:
                raise RequestError(
                    409, "too_late", "the user has spoken since; it is pointless now"
                )
            approval = await self._decide(approval, approve=True, by=by, note=note)
        if approval.status != "approved":
            raise _decided_otherwise(approval)
        await self._checker.apply_approval(tenant, approval.session, id)
        return approval

    async def deny(self, tenant: str, id: str, *, by: str, note: str = "") -> Approval:
        """Say no.

        Raises:
            Refused: There is no such approval, or it was decided otherwise.
        """
        approval = await self.get(tenant, id)
        if approval.status == "pending":
            approval = await self._decide(approval, approve=False, by=by, note=note)
        if approval.status != "denied":
            raise _decided_otherwise(approval)
        return approval

    async def stop_waiting(self) -> None:
        """Let all who wait go: the server is about to stop."""
        self._closing = True
        await self._tell()

    async def _decide(self, approval: Approval, *, approve: bool, by: str, note: str) -> Approval:
        decided = await self._store.decide(
            approval.tenant, approval.id, approve=approve, by=by, note=note
        )
        if decided is None:
            raise RequestError(404, "not_found", "there is no such approval")
        self._decided(decided)
        await self._tell()
        return decided

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


def _decided_otherwise(approval: Approval) -> RequestError:
    return RequestError(409, "already_decided", f"the approval is {approval.status} already")
