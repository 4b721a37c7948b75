"""Sessions of a checker in tests: their records, and the same conversation in the library."""

from collections.abc import Callable

from taskshield.core.decisions import Decision
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.store import AuditQuery, AuditRecord, Store
from taskshield.engine.session import EngineSession
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.snapshots import RequestSource
from tests.server.stage import TENANT, TOOLS, judge

HERE, PROXY, AZURE = RequestSource("test"), RequestSource("proxy"), RequestSource("azure")


async def records(store: Store, tenant: str = TENANT) -> list[AuditRecord]:
    page = await store.search(tenant, AuditQuery(), limit=200)
    return list(reversed(page.items))


async def in_library(messages: tuple[Message, ...]) -> list[Decision]:
    """The same messages in a session without any server."""
    state = SessionState(id="s", tools={spec.name: spec for spec in TOOLS})
    session = EngineSession(judge=judge(), policy=Policy(), state=state)
    return [await session.add(message) for message in messages]


async def one_by_one(
    replica_of: Callable[[int], SessionChecker], messages: tuple[Message, ...]
) -> list[Decision]:
    """The messages in a session, each to the checker of its number."""
    await replica_of(0).create_session(TENANT, id="s", tools=TOOLS)
    decisions: list[Decision] = []
    for number, message in enumerate(messages):
        checked = await replica_of(number).check(TENANT, "s", [message], source=HERE)
        decisions += checked.decisions
    return decisions
