"""`taskshield serve`: run the server."""

import argparse
import ipaddress
import os
import sys
from contextlib import suppress

from taskshield.settings import load

_DESCRIPTION = """\
Run the server: the native API, the proxy and all other wire formats. It prints
its address, how to point an agent at it and, on a terminal, a link that logs
you in once on its page. It logs to the standard error output, one JSON object
in each line. Logs never hold text of a conversation.
"""
_EPILOG = """\
All options are also settings, under `server` in the settings file and as
TASKSHIELD_SERVER__HOST, TASKSHIELD_SERVER__PORT and so on. If the URL of the
store holds a password, give it as TASKSHIELD_SERVER__STORE.

If other machines can reach the address, the server requires API keys. Make them
with `taskshield keys create`. The server is ready when GET /readyz says so,
after its self-test.

exit status:
  2  the settings are wrong, or the address or the store cannot be used
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "serve",
        help="run the server",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser)
    parser.set_defaults(run=run, extra="server")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options that are settings."""
    parser.add_argument(
        "--host", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument("--port", metavar="PORT", help="port to listen on (default: 8787)")
    parser.add_argument("--judge", metavar="NAME", help="the judge, e.g. openai:gpt-4o-mini")
    parser.add_argument(
        "--llm", metavar="NAME", help="the LLM of the judge cascade, e.g. openai:gpt-4o-mini"
    )
    parser.add_argument("--base-url", metavar="URL", help="base URL of the judge's endpoint")
    parser.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    add_store(parser)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the store."""
    parser.add_argument(
        "--store", metavar="URL", help="URL of the store, e.g. sqlite:///taskshield.db"
    )


def run(given: argparse.Namespace) -> int:
    """Serve until the process is stopped.

    Raises:
        TaskShieldError: A setting is wrong, or the address or the store cannot be used.
    """
    settings = load(given_settings(given), config=given.config)
    from taskshield.server.run import serve

    serve(settings, Terminal(), config=given.config)
    return 0


def given_settings(given: argparse.Namespace) -> dict[str, object]:
    """The settings that were given as options."""
    return {
        "judge": given.judge,
        "llm": given.llm,
        "base_url": given.base_url,
        "server": server_arguments(host=given.host, port=given.port, store=given.store),
    }


def server_arguments(**given: object) -> dict[str, object]:
    """The given options of the section `server`."""
    return {key: value for key, value in given.items() if value is not None}


def directions(host: str, port: int, needs_key: bool, link: str | None = None) -> str:
    """Where a server is found that listens on this address, and how an agent uses it."""
    root = _root(host, port)
    everywhere = ipaddress.ip_address(host).is_unspecified
    word = "set" if os.name == "nt" else "export"
    lines = [
        f"taskshield: {root}/ shows what the shield sees. Point an agent at it:",
        f"  {word} OPENAI_BASE_URL={root}/v1",
        f"  {word} ANTHROPIC_BASE_URL={root}",
    ]
    if everywhere:
        name = root.rpartition(":")[0].removeprefix("http://")
        lines.append(f"On other machines, write this machine's name instead of {name}.")
    if needs_key:
        lines.append(
            "Requests need a key (`taskshield keys create`) in the header x-taskshield-key."
        )
    elif link is not None:
        lines.append(
            "Open this link to look and to approve. It works once; then a new one follows:"
        )
        lines.append(f"  {root}/{link}")
    else:
        lines.append(
            "To look and to approve, make a key: `taskshield keys create --name me --scope check"
            " --scope approve`. From then on, agents need keys, too."
        )
    return "\n".join(lines)


class Terminal:
    """Tells the person who starts the server where it is.

    The link is shown on a terminal only: agents may be able to read the file to which output goes.
    """

    def __init__(self) -> None:
        self._root = ""

    @property
    def shows_links(self) -> bool:
        """Whether the output is a terminal."""
        return sys.stdout is not None and not sys.stdout.closed and sys.stdout.isatty()

    def listening(self, host: str, port: int, needs_key: bool, link: str | None) -> None:
        """The server accepts requests."""
        self._root = _root(host, port)
        _say(directions(host, port, needs_key, link))

    def renewed(self, link: str) -> None:
        """The link was used."""
        _say(f"Someone has logged in with the link. The next one:\n  {self._root}/{link}")


def _root(host: str, port: int) -> str:
    """The address for clients on this machine."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        address = ipaddress.ip_address("127.0.0.1" if address.version == 4 else "::1")
    return f"http://{f'[{address}]' if address.version == 6 else address}:{port}"


def _say(text: str) -> None:
    with suppress(OSError, ValueError):  # no one reads the output: the server runs all the same
        if sys.stdout is not None:
            print(text, flush=True)
