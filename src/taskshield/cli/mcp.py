"""`taskshield mcp`: a guard in front of MCP servers."""

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from taskshield.cli.terminal import complain, remark
from taskshield.core.errors import ConfigError, UpstreamError
from taskshield.core.messages import digest
from taskshield.settings import PREFIX, load

if TYPE_CHECKING:  # an extra
    from taskshield.integrations.mcp import Checks, Pins, Target

_DESCRIPTION = """\
Guard MCP servers: calls of tools are checked before they reach a server, and
everything that a server says before the client gets it.
"""
_EPILOG = """\
MCP does not transmit the user's task. Give it with --task, or name a session
of a taskshield server that gets the user's messages from a proxy or a hook:
use --server with --session, or let the client name the session with each
request. Without a task, calls with side effects are blocked.

The command gets the whole environment except the variables of taskshield. On
standard error, lines of taskshield begin with "taskshield:"; others are those
of the wrapped server.

exit status:
  0  the client has ended, or the tools were accepted
  1  the wrapped server could not be started, or ended before the client
  2  the command line or the settings are wrong
"""
_SERVER_ENDED = 1
_TERMINATED = 128 + signal.SIGTERM
_PACKAGE = "taskshield.integrations.mcp"
_REMARKS = {
    "clean": "",
    "poisoned": ", though its description tries to direct the agent",
    "unchecked": ", though its description could not be checked",
}
"""Added to an accepted tool, by the judge's verdict on its description."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "mcp",
        help="guard MCP servers",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    wrapped = parser.add_argument_group("the wrapped server")
    wrapped.add_argument(
        "command", nargs="*", metavar="COMMAND", help="command that starts it; after --"
    )
    wrapped.add_argument("--url", help="address of a running server")
    wrapped.add_argument(
        "--mcp-servers", metavar="FILE", help="several servers, from a file with mcpServers"
    )
    wrapped.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="serve clients over HTTP, at /mcp or, with several servers, /NAME/mcp",
    )
    goal = parser.add_argument_group("the user's task")
    goal.add_argument("--task", help="the task in the user's words")
    goal.add_argument("--server", metavar="URL", help="taskshield server that checks")
    goal.add_argument("--session", metavar="ID", help="session of that server")
    goal.add_argument(
        "--key-env", metavar="NAME", help="environment variable with the server's API key"
    )
    goal.add_argument(
        "--no-goal",
        choices=("reads", "allow", "refuse"),
        default="reads",
        help="calls that are allowed while the task is not known (default: reads)",
    )
    tools = parser.add_argument_group("descriptions of tools")
    tools.add_argument(
        "--poisoned",
        choices=("withhold", "replace"),
        default="withhold",
        help="what happens to a tool whose description directs the agent (default: withhold)",
    )
    tools.add_argument("--pins", metavar="FILE", help="file for the hashes of the accepted tools")
    tools.add_argument(
        "--accept", action="store_true", help="accept all tools as they are now, and exit"
    )
    judging = parser.add_argument_group("judging in this process")
    judging.add_argument(
        "--judge", metavar="NAME", help="name of the judge, for example openai:gpt-4o-mini"
    )
    judging.add_argument("--llm", metavar="NAME", help="LLM judge of the judge cascade")
    judging.add_argument("--base-url", metavar="URL", help="address of the judge's endpoint")
    judging.add_argument("--config", metavar="FILE", help="YAML or TOML file with settings")
    parser.set_defaults(run=run, extra="mcp")


def run(given: argparse.Namespace) -> int:
    """Guard until the client ends, and return the exit status.

    Raises:
        TaskShieldError: The command line or a setting is wrong.
    """
    _check_options(given)
    address = None if given.listen is None else _address(given.listen)
    targets = _targets(given)
    pins = {name: _pins(given.pins, name, target) for name, target in targets.items()}
    _log_to_stderr()
    try:
        if given.accept:
            return asyncio.run(_accept(given, targets, pins))
        return asyncio.run(_serve(given, targets, pins, address))
    except UpstreamError as error:
        complain(str(error))
        return _SERVER_ENDED
    except asyncio.CancelledError:
        return _TERMINATED


async def _serve(
    given: argparse.Namespace,
    targets: "Mapping[str, Target]",
    pins: "Mapping[str, Pins]",
    address: tuple[str, int] | None,
) -> int:
    from taskshield.integrations.mcp import Gateway, Rules, serve_http, serve_stdio

    rules = Rules(no_goal=given.no_goal, poisoned=given.poisoned)
    async with _checks(given) as checks:
        if not checks.begin().goal_known:
            remark("The user's task is not known. Give it with --task, or use --server.")
        gateways: dict[str, Gateway] = {
            name: Gateway(target, checks, rules=rules, pins=pins[name])
            for name, target in targets.items()
        }
        if address is not None:
            paths = {f"/{name}/mcp" if name else "/mcp": each for name, each in gateways.items()}
            await serve_http(paths, *address)
            return 0
        (gateway,) = gateways.values()
        with suppress(NotImplementedError):  # on systems where a signal ends the process at once
            main = asyncio.current_task()
            assert main is not None
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main.cancel)
        await serve_stdio(gateway)
        return 0


async def _accept(
    given: argparse.Namespace, targets: "Mapping[str, Target]", pins: "Mapping[str, Pins]"
) -> int:
    from taskshield.integrations.mcp.tools.acceptance import accept
    from taskshield.integrations.mcp.tools.review import Reviewer

    async with _checks(given) as checks:
        reviewer = Reviewer(checks)
        for name, target in targets.items():
            for tool, verdict in (await accept(target, pins[name], reviewer)).items():
                place = f"{name}: {tool!r}" if name else repr(tool)
                print(f"accepted: {place}{_REMARKS[verdict]}")
    return 0


@asynccontextmanager
async def _checks(given: argparse.Namespace) -> "AsyncIterator[Checks]":
    """The checks of a server, if one is named; otherwise of a judge in this process."""
    from taskshield.api.shields import AsyncShield
    from taskshield.integrations.mcp import LocalChecks, RemoteChecks

    arguments = {"judge": given.judge, "llm": given.llm, "base_url": given.base_url}
    if given.server is None:
        async with AsyncShield(config=given.config, **arguments) as shield:
            yield LocalChecks(shield, task=given.task)
        return
    async with RemoteChecks(
        given.server,
        key=_key(given.key_env),
        session=given.session,
        task=given.task,
        policy=load(arguments, config=given.config).policy.to_policy(),
    ) as checks:
        yield checks


def _check_options(given: argparse.Namespace) -> None:
    """Refuse options that do not fit together."""
    wrapped = [bool(given.command), given.url is not None, given.mcp_servers is not None]
    if sum(wrapped) != 1:
        raise ConfigError("Give exactly one of COMMAND, --url and --mcp-servers.")
    if given.mcp_servers is not None and given.listen is None and not given.accept:
        raise ConfigError(
            "--mcp-servers: Several servers can only be reached over HTTP. Add --listen."
        )
    if given.server is None and (given.session is not None or given.key_env is not None):
        raise ConfigError("--session and --key-env need a server. Add --server.")
    if given.session is not None and given.task is not None:
        raise ConfigError(
            "--session and --task cannot be combined: the session has its own tasks. Remove one."
        )
    if given.accept and given.pins is None:
        raise ConfigError("--accept needs a file of pins. Add --pins.")


def _targets(given: argparse.Namespace) -> "dict[str, Target]":
    """The wrapped servers by name; a single server has an empty name."""
    from taskshield.integrations.mcp import Address, Command, read_targets

    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(PREFIX) and name != given.key_env
    }
    if given.mcp_servers is not None:
        return read_targets(Path(given.mcp_servers), environment)
    if given.url is not None:
        return {"": Address(url=given.url)}
    return {"": Command(argv=tuple(given.command), env=environment)}


def _pins(path: str | None, name: str, target: "Target") -> "Pins":
    from taskshield.integrations.mcp import Command, FilePins, Pins

    if path is None:
        return Pins()
    # Not the command itself: its arguments may be secret.
    words = target.argv if isinstance(target, Command) else (target.url,)
    return FilePins(Path(path), name or f"server-{digest(*words)[:16]}")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError("--listen: The address is not valid. Give one such as 127.0.0.1:8790.")
    return host.strip("[]"), int(port)


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise ConfigError(
            f"--key-env: The environment variable {variable} is not set. Set it to the API key."
        )
    return key


def _log_to_stderr() -> None:
    """Show the logs of the gateway and not those of the SDK, which quote conversations."""
    logger = logging.getLogger(_PACKAGE)
    logger.handlers[:] = [_Remarks()]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for name in ("mcp", "httpx2", "uvicorn"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Remarks(logging.Handler):
    """Writes log records like the command's other remarks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        remark(record.getMessage())
