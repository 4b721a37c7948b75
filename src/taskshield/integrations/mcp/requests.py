"""A request of a client, and what can be read from it before it goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp.shared.dispatcher import Outbound
from mcp_types import CLIENT_CAPABILITIES_META_KEY, INVALID_PARAMS, PROTOCOL_VERSION_META_KEY

from taskshield.integrations.mcp.checking import Session

SESSION_META = "taskshield/session"
"""Where in `_meta` a client names its session."""
SESSION_HEADER = "x-taskshield-session"
"""The same over HTTP."""

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client asks for."""

    method: str
    params: Params
    client: Outbound
    """The way back to the client while it waits."""
    session: Session
    """For requests that name none."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of HTTP, where it came that way."""
    greeted: Params = field(default_factory=dict)
    """Capabilities from the client's handshake, in protocols that have one."""

    @property
    def meta(self) -> Params:
        """What is said beside the params."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    @property
    def modern(self) -> bool:
        """Whether each request says by itself what a handshake said before."""
        return PROTOCOL_VERSION_META_KEY in self.meta

    @property
    def named(self) -> str | None:
        """The session that the request names.

        Raises:
            MCPError: That is not a name.
        """
        name = self.meta.get(SESSION_META)
        if name is None:
            name = self.headers.get(SESSION_HEADER)
        if name is not None and not (isinstance(name, str) and name):
            raise MCPError(INVALID_PARAMS, f"_meta[{SESSION_META!r}] must be a session's id")
        return name

    @property
    def can_ask_people(self) -> bool:
        """Whether the client can show a question to its user."""
        given = self.meta.get(CLIENT_CAPABILITIES_META_KEY) if self.modern else self.greeted
        asking = given.get("elicitation") if isinstance(given, Mapping) else None
        # Older clients say no more than that they can.
        return isinstance(asking, Mapping) and (not asking or "form" in asking)

    def passed_on(self) -> dict[str, Any]:
        """The params for the server, without what is for the gateway."""
        if SESSION_META not in self.meta:
            return dict(self.params)
        meta = {key: value for key, value in self.meta.items() if key != SESSION_META}
        return {**self.params, "_meta": meta}

    def beside(self) -> dict[str, Any]:
        """The `_meta` for another request on behalf of the same client."""
        own = (SESSION_META, "progressToken")
        return {key: value for key, value in self.meta.items() if key not in own}
