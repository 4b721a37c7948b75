"""Errors of the gateway itself. Errors of a wrapped server are its words, and are judged."""

from mcp import MCPError


class GatewayError(MCPError):
    """An error for the client with the gateway's own words."""
