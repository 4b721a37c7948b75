"""Runs the server: opens the socket, runs uvicorn around the app, and stops it cleanly."""

import asyncio
import math
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import uvicorn
from fastapi import FastAPI

from taskshield.core.errors import ConfigError
from taskshield.own_surroundings import own_resources
from taskshield.server.access.local_requests import check_binding, is_loopback
from taskshield.server.access.login_link import LoginLink
from taskshield.server.app import create_app
from taskshield.server.http.slow_clients import Connection
from taskshield.server.operations import logs, process_memory, telemetry
from taskshield.server.services import Services
from taskshield.server.sessions.configured_store import open_configured
from taskshield.server.uvicorn_internals import ReportingServer
from taskshield.settings import Settings

_KEEP_ALIVE_S = 75
"""Seconds that a connection may be idle: longer than clients and load balancers keep one."""


class Announce(Protocol):
    """What the person who starts the server is told."""

    @property
    def shows_links(self) -> bool:
        """Whether only that person can see it."""

    def listening(self, host: str, port: int, needs_key: bool, link: str | None) -> None:
        """The server accepts requests at an address, with a key or without.

        Args:
            host: The address.
            port: The port.
            needs_key: Whether requests need an API key.
            link: The end of the link with which the person logs in; None where there is none.
        """

    def renewed(self, link: str) -> None:
        """Someone has logged in with the link. The next link ends like this."""


def serve(settings: Settings, announce: Announce, *, config: str | None = None) -> None:
    """Serve until the process gets a signal to stop.

    Args:
        settings: All settings.
        announce: Told when the server accepts requests.
        config: The settings file, where it was given.

    Raises:
        ConfigError: A setting is wrong, or the address cannot be used.
        StoreError: The database cannot be used.
    """
    process_memory.prepare()
    logs.configure()
    telemetry.configure()
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(_serve(settings, announce, config))


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes event loops: uvloop where it is installed, which Windows has none of."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


async def _serve(settings: Settings, announce: Announce, config: str | None) -> None:
    server = settings.server
    with bind_socket(server.host, server.port) as listening_socket:
        store = await open_configured(server)
        try:
            await check_binding(server.host, store)
            needs_key = not is_loopback(server.host) or bool(await store.keys())
            link = LoginLink(announce.renewed) if announce.shows_links and not needs_key else None
            own = own_resources(settings, config=config, serves=True)
            own = replace(own, port=listening_socket.getsockname()[1])
            app = create_app(settings, store=store, link=link, own=own)
        except BaseException:
            await store.aclose()
            raise
        running = Server(
            app,
            math.ceil(server.shutdown_s),
            announce=lambda host, port: announce.listening(
                host, port, needs_key, None if link is None else link.fragment
            ),
        )
        process_memory.settle()
        keeping = asyncio.create_task(process_memory.keep_small())
        try:
            await running.serve(sockets=[listening_socket])
        finally:
            keeping.cancel()


def bind_socket(host: str, port: int) -> socket.socket:
    """Bind a socket to the address, so that no other process can take it while the server starts.

    Raises:
        ConfigError: There is no such address, or it is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening_socket = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"server.host: {host} cannot be used: {error.strerror}") from None
    try:
        if os.name == "posix":  # on Windows, another program could then take the port as well
            listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening_socket.bind(address)
    except OSError as error:
        listening_socket.close()
        raise ConfigError(f"server.port: {host}:{port} cannot be used: {error.strerror}") from None
    return listening_socket


class Server(ReportingServer):
    """uvicorn around the app. Before it stops, it ends requests that wait for news or a person."""

    def __init__(
        self, app: FastAPI, shutdown_s: int, *, announce: Callable[[str, int], None] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="none",  # the one that already runs
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=shutdown_s,
            )
        )
        self._app = app
        self._announce = announce

    def listening(self, sockets: list[socket.socket]) -> None:
        """Log and announce the addresses."""
        running: Services = self._app.state.services
        for each in sockets:
            host, port = each.getsockname()[:2]
            logs.log("listening", host=host, port=port, judge=running.settings.judge)
            if self._announce is not None:
                self._announce(host, port)

    async def stopping(self) -> None:
        """End the requests that wait, so that the server need not wait for them."""
        running: Services = self._app.state.services
        running.live.close()
        await running.approvals.stop_waiting()
