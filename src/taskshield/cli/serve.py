"""`taskshield serve`: run the server."""

import argparse
from importlib.util import find_spec

from taskshield.core.errors import MissingExtraError
from taskshield.settings import load

_DESCRIPTION = """\
Run the server: the native API, and every wire format that taskshield speaks.
It writes one JSON object a line about what it does to the standard error
output, and never what is said in a conversation.
"""
_EPILOG = """\
All options are also settings, under `server` in the settings file and as
TASKSHIELD_SERVER__HOST, TASKSHIELD_SERVER__PORT and so on. The URL of a store
can hold a password: better give it as TASKSHIELD_SERVER__STORE.

Where others can reach the address, API keys are needed; `taskshield keys`
makes them. The server is ready when GET /readyz says so: after its self-test.

exit status:
  2  the settings are wrong, or the address or the store cannot be used
"""
_NEEDED = (
    "aiohttp",
    "alembic",
    "certifi",
    "fastapi",
    "httptools",
    "opentelemetry",
    "prometheus_client",
    "sqlalchemy",
    "uvicorn",
    "uvloop",
)


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "serve",
        help="run the server",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", metavar="ADDRESS", help="where to listen; 127.0.0.1")
    parser.add_argument("--port", metavar="PORT", help="where to listen; 8787")
    parser.add_argument("--judge", metavar="NAME", help="who judges, e.g. openai:gpt-4o-mini")
    parser.add_argument(
        "--llm", metavar="NAME", help="whom the judge cascade asks, e.g. openai:gpt-4o-mini"
    )
    parser.add_argument("--base-url", metavar="URL", help="address of the judge's endpoint")
    parser.add_argument("--config", metavar="FILE", help="settings, a YAML or TOML file")
    add_store(parser)
    parser.set_defaults(run=run)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the store."""
    parser.add_argument(
        "--store", metavar="URL", help="where to remember, e.g. sqlite:///taskshield.db"
    )


def run(given: argparse.Namespace) -> int:
    """Serve until the process is told to stop.

    Raises:
        TaskShieldError: A setting is wrong, or the address or the store cannot be used.
    """
    settings = load(
        {
            "judge": given.judge,
            "llm": given.llm,
            "base_url": given.base_url,
            "server": server_arguments(host=given.host, port=given.port, store=given.store),
        },
        config=given.config,
    )
    needs_server()
    from taskshield.server.run import serve

    serve(settings)
    return 0


def server_arguments(**given: object) -> dict[str, object]:
    """Options of the section `server`, without those that were not given."""
    return {key: value for key, value in given.items() if value is not None}


def needs_server() -> None:
    """Say what to install where the server's packages are missing.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError(package, "server")
