"""Servers that listen on a socket: in a thread with a judge of the test, or in a process."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvloop

from taskshield.core.assessments import TaskAssessment
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message
from taskshield.core.store import Store
from taskshield.server.access.login_link import LoginLink
from taskshield.server.access.logins import COOKIE, CSRF_HEADER
from taskshield.server.app import create_app
from taskshield.server.run import Server, bind_socket
from taskshield.settings import load
from tests.judging import TableJudge

SCRIPT = Path(sys.executable).with_name("taskshield")


OWNERS: dict[str, dict[str, str]] = {}
"""By the address of a server: what the page of the person sends who logged in with its link."""


class Gated(TableJudge):
    """A judge that starts to read a user message and waits until the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()
        self.gate = threading.Event()

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        if "gate" in message.text:
            self.began.set()
            await asyncio.to_thread(self.gate.wait)
        return await super().tasks(message, view)


class Listening:
    """A server in a thread."""

    def __init__(self, server: Server, port: int, link: LoginLink) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        made = link.log_in(link.token)
        assert made is not None
        OWNERS[self.url] = _headers(self.url, made.cookie, made.token)
        self._server = server

    @property
    def owner(self) -> dict[str, str]:
        """Headers of the page, for the person who logged in with the link."""
        return OWNERS[self.url]

    def stop(self) -> None:
        """Stop it, like a signal."""
        self._server.should_exit = True


@contextmanager
def in_thread(
    judge: Judge, store: Store, *, policy: dict[str, Any] | None = None, **server: Any
) -> Iterator[Listening]:
    given = load({"server": server, "policy": policy}, environment={})
    with bind_socket("127.0.0.1", 0) as socket:
        link = LoginLink()
        app = create_app(given, judge=judge, store=store, link=link)
        running = Server(app, shutdown_s=30)
        port = socket.getsockname()[1]

        def serve() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(running.serve(sockets=[socket]))

        thread = threading.Thread(target=serve)
        thread.start()
        here = Listening(running, port, link)
        while not running.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield here
        finally:
            here.stop()
            thread.join()


@dataclass(frozen=True)
class Process:
    """A server in a process of its own."""

    running: "subprocess.Popen[str]"
    url: str
    lines: list[str]
    """What it has written to standard error so far."""

    @property
    def owner(self) -> dict[str, str]:
        """Headers of the page, for the person who logged in with the link that a terminal shows."""
        return OWNERS[self.url]


@contextmanager
def in_process(*options: str, **environment: str) -> Iterator[Process]:
    """`taskshield serve` on a free port, once it listens."""
    with listening([str(SCRIPT), "serve", "--port", "0", *options], environment) as process:
        yield process


@contextmanager
def in_terminal(*options: str, **environment: str) -> Iterator[Process]:
    """`taskshield serve` in a terminal, by whose link a person has logged in."""
    ours, theirs = os.openpty()
    command = [str(SCRIPT), "serve", "--port", "0", *options]
    with open(ours, encoding="utf-8") as shown:
        with listening(command, environment, output=theirs) as process:
            link = next(line.strip() for line in shown if "#/login/" in line)
            url, _, token = link.partition("/#/login/")
            login = {"json": {"token": token}, "headers": {"origin": url}}
            answer = httpx.post(f"{url}/page/login", **login, timeout=60)  # type: ignore[arg-type]
            OWNERS[url] = _headers(url, answer.cookies[COOKIE], answer.json()["csrf"])
            yield process


def person(server: Listening | Process, *, timeout: float = 5) -> httpx.Client:
    """A client that sends what the page sends."""
    return httpx.Client(base_url=server.url, headers=server.owner, timeout=timeout)


def _headers(url: str, cookie: str, token: str) -> dict[str, str]:
    return {"cookie": f"{COOKIE}={cookie}", CSRF_HEADER: token, "origin": url}


@contextmanager
def listening(
    command: Sequence[str], environment: Mapping[str, str], *, output: int | None = None
) -> Iterator[Process]:
    """A server that this command starts, once it listens."""
    running = subprocess.Popen(
        command,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    if output is not None:
        os.close(output)
    assert running.stderr is not None
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(running.stderr or ()))
    try:
        port = _port(running.stderr, lines)
        reader.start()
        yield Process(running, f"http://127.0.0.1:{port}", lines)
    finally:
        running.kill()
        running.wait()
        if reader.ident is not None:
            reader.join()
        running.stderr.close()


def _port(written: Iterable[str], lines: list[str]) -> int:
    """Read what a server writes until it listens."""
    for line in written:
        lines.append(line)
        told: dict[str, Any] = json.loads(line) if line.startswith("{") else {"event": line}
        if told["event"] == "listening":
            port: int = told["port"]
            return port
    raise AssertionError(lines)
