"""`taskshield hook`: the command that an agent's hooks run, once for each event.

Claude Code continues unchecked if a hook fails with any status but 2. So every failure here becomes
an answer that stops the agent; if not even that can be written, the status is 2.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from taskshield.adapters.claude_code.events import Event, OtherEvent, UserPrompt, parse
from taskshield.cli.missing_packages import explain
from taskshield.cli.serve import add_store, server_arguments
from taskshield.cli.terminal import remark
from taskshield.core.errors import (
    ConfigError,
    ConversationError,
    TaskShieldError,
    UpstreamError,
)
from taskshield.server.routes.claude_code.replies import CHECK_HEADER, PATH, reply, unchecked
from taskshield.settings import Settings, load

_DESCRIPTION = """\
A hook of Claude Code: reads one event from the standard input and prints the
answer. Between events the session is kept in the server's store. With --url, a
running server answers.
"""
_EPILOG = """\
exit status:
  0  the answer was printed; if something failed, it stops the agent
  2  there is no answer; Claude Code stops the call and shows the reason

With any other status the agent would continue unchecked. To stop it even if the
command cannot be started, use the hook
`taskshield hook claude-code || exit 2`.
"""
_NO_ANSWER = 2
_TIMEOUT_S = 150.0
"""Longer than the server's own limit, so that its answer with the reason arrives first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `hook claude-code`."""

    config: str | None
    store: str | None
    url: str | None
    """URL of a running server; None to judge in this process."""
    key_env: str | None
    """Variable that holds the server's API key."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser("hook", help="answer a hook of an agent")
    agents = parser.add_subparsers(title="agents", metavar="AGENT", required=True)
    claude = agents.add_parser(
        "claude-code",
        help="a command hook of Claude Code",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    claude.add_argument("--url", help="a running server, e.g. http://127.0.0.1:8787")
    claude.add_argument("--key-env", metavar="NAME", help="variable with the server's API key")
    claude.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    add_store(claude)
    claude.set_defaults(run=lambda given: run(_options(given)))


def run(options: Options) -> int:
    """Answer the event on the standard input and return the exit status."""
    if sys.stdout is None:  # closed: no one would get the answer
        return _NO_ANSWER
    event: Event | None = None
    try:
        body = b"" if sys.stdin is None else sys.stdin.buffer.read()
        event = parse(body)
        answer = _answer(options, body, event)
    except Exception as error:  # of any kind: the agent must not continue unchecked
        known = explain(error, "server") if isinstance(error, ModuleNotFoundError) else error
        why = str(known) if isinstance(known, TaskShieldError) else type(known).__name__
        remark(f"The hook failed: {why}")
        answer = unchecked(event, why).body
    print(json.dumps(answer))
    return 0


def _answer(options: Options, body: bytes, event: Event) -> dict[str, object]:
    if isinstance(event, OtherEvent):
        return {}
    if options.url is not None:
        return _ask_server(options.url, body, _key(options.key_env))
    settings = load({"server": server_arguments(store=options.store)}, config=options.config)
    if _loses_sessions(settings):
        raise ConfigError(
            "server.store, server.store_texts: A hook needs a store that keeps its session between"
            " events. Use SQLite or Postgres and store texts, or give a running server with --url."
        )
    return asyncio.run(_judge_here(settings, options.config, event))


async def _judge_here(settings: Settings, config: str | None, event: Event) -> dict[str, object]:
    """The answer of a judge in this process."""
    # Not above: the server's packages are an extra, which --url does not need.
    from taskshield.own_surroundings import own_resources
    from taskshield.server.access.auth import DEFAULT_TENANT
    from taskshield.server.http.errors import RequestError
    from taskshield.server.sessions.audit_records import TextRedaction
    from taskshield.server.sessions.checker import SessionChecker
    from taskshield.server.sessions.configured_store import open_configured
    from taskshield.wiring import build_judge

    async with AsyncExitStack() as closing:
        judge = build_judge(settings)
        closing.push_async_callback(judge.aclose)
        store = await open_configured(settings.server)
        closing.push_async_callback(store.aclose)
        if isinstance(event, UserPrompt):  # once in a while: no server may be running that does it
            await store.prune(older_than=_retention(settings), keep=settings.server.max_records)
        checker = SessionChecker(
            judge=judge,
            policy=settings.policy.to_policy(),
            store=store,
            redaction=TextRedaction(redact=settings.server.redact_secrets),
            approval_time=timedelta(seconds=settings.server.approval_s),
            own=replace(own_resources(settings, config=config), port=settings.server.port),
        )
        try:
            return (await reply(checker, DEFAULT_TENANT, event)).body
        except RequestError as error:
            raise ConversationError(error.problem.message) from None


def _loses_sessions(settings: Settings) -> bool:
    store = settings.server.store
    in_memory = store is not None and store.get_secret_value() == "memory:"
    return in_memory or not settings.server.store_texts


def _retention(settings: Settings) -> timedelta | None:
    days = settings.server.retention_days
    return None if days is None else timedelta(days=days)


def _ask_server(url: str, body: bytes, key: Mapping[str, str]) -> dict[str, object]:
    """The answer of a running server. It must be a taskshield server."""
    connection, path = _connection(url)
    try:
        connection.request("POST", path + PATH, body, {"content-type": "application/json", **key})
        response = connection.getresponse()
        text = response.read()
    except (OSError, HTTPException) as error:
        raise UpstreamError(
            f"The server at --url cannot be reached ({type(error).__name__})."
        ) from None
    finally:
        connection.close()
    if response.status != 200 or response.headers[CHECK_HEADER] is None:
        raise UpstreamError(
            f"The server at --url is not a taskshield server (status {response.status})."
        )
    answer: dict[str, object] = json.loads(text)
    return answer


def _connection(url: str) -> tuple[HTTPConnection, str]:
    """A connection, and the prefix of paths.

    It follows no redirect: the key must not go to another server.
    """
    kinds = {"http": HTTPConnection, "https": HTTPSConnection}
    try:
        parts = urlsplit(url)
        host, port, kind = parts.hostname, parts.port, kinds.get(parts.scheme)
    except ValueError:
        host = kind = port = None
    if host is None or kind is None:
        raise ConfigError("--url: This is no HTTP address. Give one such as http://127.0.0.1:8787.")
    return kind(host, port, timeout=_TIMEOUT_S), parts.path.rstrip("/")


def _key(variable: str | None) -> dict[str, str]:
    if variable is None:
        return {}
    if not os.environ.get(variable):
        raise ConfigError(f"--key-env: The variable {variable} is not set.")
    return {"x-taskshield-key": os.environ[variable]}


def _options(given: argparse.Namespace) -> Options:
    return Options(config=given.config, store=given.store, url=given.url, key_env=given.key_env)
