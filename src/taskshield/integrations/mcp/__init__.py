"""A gateway in front of MCP servers: tool calls, results and descriptions are checked.

    shield = AsyncShield()
    checks = LocalChecks(shield, task="Summarise my notes.")
    gateway = Gateway(Command(argv=("python", "notes_server.py")), checks)
    asyncio.run(serve_stdio(gateway))

is what `taskshield mcp --task "Summarise my notes." -- python notes_server.py` does.
"""

from taskshield.core.errors import MissingExtraError

try:
    import httpx2 as _httpx2  # noqa: F401
    import mcp as _mcp  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:
    raise MissingExtraError(str(error.name), "mcp") from error

from taskshield.integrations.mcp.checks.local import LocalChecks
from taskshield.integrations.mcp.checks.protocols import Checks, Session
from taskshield.integrations.mcp.checks.remote import RemoteChecks
from taskshield.integrations.mcp.connections.http import http_app, serve_http
from taskshield.integrations.mcp.connections.stdio import serve_stdio
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.rules import Rules
from taskshield.integrations.mcp.targets import Address, Command, Target, read_targets
from taskshield.integrations.mcp.tools.pins import FilePins, Pins

__all__ = [
    "Address",
    "Checks",
    "Command",
    "FilePins",
    "Gateway",
    "LocalChecks",
    "Pins",
    "RemoteChecks",
    "Rules",
    "Session",
    "Target",
    "http_app",
    "read_targets",
    "serve_http",
    "serve_stdio",
]
