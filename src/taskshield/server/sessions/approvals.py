"""Approvals: approve, deny, and wait until a person has decided."""

import asyncio
import time
from collections.abc import Callable

from taskshield.core.store import Approval, Store
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.checker import SessionChecker

_POLL_S = 0.5
"""Seconds after which a waiting request reads the store: another replica may have decided."""


class Approvals:
    """Approvals of all tenants. An approval past its deadline has expired and counts as denied."""

    def __init__(
        self, store: Store, checker: SessionChecker, publish: Callable[[Approval], None]
    ) -> None:
        self._store = store
        self._checker = checker
        self._publish = publish
        self._changed = asyncio.Condition()
        self._closing = False

    async def get(self, tenant: str, id: str) -> Approval:
        """An approval as it is now.

        Raises:
            RequestError: There is no such approval.
        """
        found = await self._store.approval(tenant, id)
        if found is None:
            raise RequestError(404, "not_found", "There is no such approval.")
        return found

    async def wait(self, tenant: str, id: str, seconds: float) -> Approval:
        """Wait until an approval is decided, at most so many seconds."""
        end = time.monotonic() + seconds
        while True:
            approval = await self.get(tenant, id)
            left = end - time.monotonic()
            if approval.status != "pending" or left <= 0 or self._closing:
                return approval
            async with self._changed:
                try:
                    await asyncio.wait_for(self._changed.wait(), min(left, _POLL_S))
                except TimeoutError:
                    continue

    async def approve(self, tenant: str, id: str, *, by: str, note: str = "") -> Approval:
        """Allow the calls that wait for an approval, once and until the user's next message.

        It may be called again after a failure.

        Raises:
            RequestError: There is no such approval, it was denied or has expired, or the user has
                written again.
        """
        approval = await self.get(tenant, id)
        if approval.status == "pending":
            snapshot = await self._checker.finder.newest(tenant, approval.session)
            if id not in snapshot.content.approvable:
                raise RequestError(
                    409, "too_late", "The user has written again since. Nothing waits for approval."
                )
            approval = await self._decide(approval, approve=True, by=by, note=note)
        if approval.status != "approved":
            raise _decided_otherwise(approval)
        await self._checker.apply_approval(tenant, approval.session, id)
        return approval

    async def deny(self, tenant: str, id: str, *, by: str, note: str = "") -> Approval:
        """Deny the calls that wait for an approval.

        Raises:
            RequestError: There is no such approval, it was approved, or it has expired.
        """
        approval = await self.get(tenant, id)
        if approval.status == "pending":
            approval = await self._decide(approval, approve=False, by=by, note=note)
        if approval.status != "denied":
            raise _decided_otherwise(approval)
        return approval

    async def stop_waiting(self) -> None:
        """End all waiting requests: the server is about to stop."""
        self._closing = True
        await self._notify()

    async def _decide(self, approval: Approval, *, approve: bool, by: str, note: str) -> Approval:
        decided = await self._store.decide(
            approval.tenant, approval.id, approve=approve, by=by, note=note
        )
        if decided is None:
            raise RequestError(404, "not_found", "There is no such approval.")
        self._publish(decided)
        await self._notify()
        return decided

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def _decided_otherwise(approval: Approval) -> RequestError:
    return RequestError(409, "already_decided", f"The approval is already {approval.status}.")
