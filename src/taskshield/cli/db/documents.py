"""Reads the documents in rows of a store, whichever part of the server wrote them."""

from taskshield.adapters.stored.agent_hooks import MEMORY
from taskshield.adapters.stored.cases import CASE
from taskshield.adapters.stored.documents import NewerFormat
from taskshield.server.proxy.removed_calls import REMOVED_CALLS
from taskshield.server.proxy.removed_calls import TENANT_SUFFIX as PROXY_SUFFIX
from taskshield.server.routes.agent_hooks.session_memory import TENANT_SUFFIX as HOOKS_SUFFIX
from taskshield.server.sessions import head_and_parts, serialization
from taskshield.stores.maintenance.check import NewerDocument, Parts, Row


def read_documents(table: str, row: Row, parts: Parts) -> None:
    """Read what is stored as a document in a row.

    Raises:
        NewerDocument: A newer release wrote it.
        WireFormatError: It cannot be read.
    """
    try:
        _read(table, row, parts)
    except NewerFormat as error:
        raise NewerDocument(str(error)) from None


def _read(table: str, row: Row, parts: Parts) -> None:
    if table == "taskshield_records" and row["case"] is not None:
        CASE.read(row["case"])
    if table != "taskshield_sessions" or row["state"] is None:
        return
    tenant, state = row["tenant"], row["state"]
    if tenant.endswith(PROXY_SUFFIX):
        REMOVED_CALLS.read(state)
    elif tenant.endswith(HOOKS_SUFFIX):
        MEMORY.read(state)
    else:
        _read_session(state, parts)


def _read_session(state: str, parts: Parts) -> None:
    if head_and_parts.is_head(state):
        head_and_parts.join(state, parts())
    else:
        serialization.read(state)
