"""Connects to a wrapped server: its streams, and the headers that HTTP needs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, assert_never

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types import PROTOCOL_VERSION_META_KEY

from taskshield.integrations.mcp.connections.limited_client import LimitedClient
from taskshield.integrations.mcp.connections.process import process_streams
from taskshield.integrations.mcp.targets import Address, Command, Target
from taskshield.integrations.mcp.tls import tls_context

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
"""The limits of the SDK's own client: a server may be silent while a tool works."""


def transport(target: Target) -> Transport:
    """Open the streams of a server. A command is started, and ended with all its children."""
    match target:
        case Command():
            return process_streams(target)
        case Address():
            return _over_http(target)
        case _ as unreachable:
            assert_never(unreachable)


@asynccontextmanager
async def _over_http(target: Address) -> AsyncIterator[Any]:
    headers = {**target.headers, "accept-encoding": "identity"}
    async with (
        LimitedClient(headers=headers, timeout=_TIMEOUT, verify=tls_context()) as client,
        streamable_http_client(target.url, http_client=client) as streams,
    ):
        yield streams


def headers_of(
    method: str,
    params: Mapping[str, Any],
    *,
    negotiated: str | None,
    schema: Mapping[str, object] | None,
) -> dict[str, str]:
    """Headers that repeat parts of a message, for HTTP routers that do not read bodies.

    Args:
        method: Method of the message.
        params: Params of the message.
        negotiated: The protocol's version, if there was a handshake.
        schema: Schema of the arguments, if the message calls a known tool.
    """
    meta = params.get("_meta")
    version = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, Mapping) else None
    if not isinstance(version, str):
        return {} if negotiated is None else {MCP_PROTOCOL_VERSION_HEADER: negotiated}
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    name = params.get(NAME_BEARING_METHODS.get(method, ""))
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    arguments = params.get("arguments")
    if isinstance(arguments, Mapping) and find_invalid_x_mcp_header(schema) is None:
        headers.update(mcp_param_headers(x_mcp_header_map(schema), arguments))
    return headers
