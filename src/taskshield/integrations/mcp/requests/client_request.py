"""A request of a client, and what the gateway reads from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp.shared.dispatcher import Outbound
from mcp_types import CLIENT_CAPABILITIES_META_KEY, INVALID_PARAMS, PROTOCOL_VERSION_META_KEY

from taskshield.integrations.mcp.checks.protocols import Session

SESSION_META = "taskshield/session"
"""The key in `_meta` by which a client names its session."""
SESSION_HEADER = "x-taskshield-session"
"""The same over HTTP."""

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a client."""

    method: str
    params: Params
    client: Outbound
    """The way back to the client until the request is answered."""
    session: Session
    """The session, unless the request names another one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers, if it arrived over HTTP."""
    handshake_capabilities: Params = field(default_factory=dict)
    """The client's capabilities, in protocols with a handshake."""
    carried: dict[str, Any] = field(default_factory=dict)
    """What an earlier request of the same call carried for the server."""

    @property
    def meta(self) -> Params:
        """The request's metadata."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    @property
    def modern(self) -> bool:
        """Whether the protocol has no handshake: each request carries the client's data."""
        return PROTOCOL_VERSION_META_KEY in self.meta

    @property
    def session_name(self) -> str | None:
        """The session that the request names.

        Raises:
            MCPError: The name is not valid.
        """
        name = self.meta.get(SESSION_META)
        if name is None:
            name = self.headers.get(SESSION_HEADER)
        if name is not None and not (isinstance(name, str) and name):
            raise MCPError(INVALID_PARAMS, f"_meta[{SESSION_META!r}] must be the id of a session.")
        return name

    @property
    def can_ask_user(self) -> bool:
        """Whether the client can show a question to its user."""
        given = (
            self.meta.get(CLIENT_CAPABILITIES_META_KEY)
            if self.modern
            else self.handshake_capabilities
        )
        elicitation = given.get("elicitation") if isinstance(given, Mapping) else None
        # Older clients send an empty object.
        return isinstance(elicitation, Mapping) and (not elicitation or "form" in elicitation)

    def params_for_server(self) -> dict[str, Any]:
        """The params without the parts that are for the gateway."""
        params = {**self.params, **self.carried}
        if SESSION_META not in self.meta:
            return params
        meta = {key: value for key, value in self.meta.items() if key != SESSION_META}
        return {**params, "_meta": meta}

    def meta_for_other_requests(self) -> dict[str, Any]:
        """The `_meta` of another request on behalf of the same client."""
        own = (SESSION_META, "progressToken")
        return {key: value for key, value in self.meta.items() if key not in own}
