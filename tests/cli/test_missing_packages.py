"""Imports that fail, and what the user is told to install."""

import subprocess
import sys
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from typing import NoReturn

import pytest

from taskshield.cli import missing_packages
from taskshield.cli.missing_packages import explain

_RUN = """
import sys
sys.modules.update(dict.fromkeys({hidden!r}))
from taskshield.cli.main import main
sys.exit(main({words!r}))
"""


def complaint(words: list[str], *hidden: str, given: str = "", status: int = 2) -> str:
    """What the command line says where these packages are not installed."""
    code = _RUN.format(hidden=hidden, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("uvicorn", "uvicorn", "server"),
        ("prometheus_client", "prometheus-client", "server"),
        ("opentelemetry", "opentelemetry-api", "server"),
        ("opentelemetry.trace", "opentelemetry-api", "server"),
        ("opentelemetry.sdk.trace", "opentelemetry-sdk", "otel"),
        ("opentelemetry.exporter", "opentelemetry-exporter-otlp-proto-http", "otel"),
        ("asyncpg", "asyncpg", "postgres"),
        ("mcp.server", "mcp", "mcp"),
        ("httpx2", "httpx2", "mcp"),
        ("google.adk", "google-adk", "google-adk"),
        ("pydantic_ai", "pydantic-ai-slim", "pydantic-ai"),
        ("pyarrow.parquet", "pyarrow", "audit"),
        ("ray", "ray", "ray"),
        ("taskshield_lab.bench", "taskshield-lab", "eval"),
        ("starlette", "starlette", "server"),  # which fastapi needs
    ],
)
def test_the_extra_is_the_one_that_brings_the_package(
    module: str, package: str, extra: str
) -> None:
    told = str(explain(ModuleNotFoundError(name=module), extra))
    assert (
        told == f"The package {package!r} is not installed. Run: pip install 'taskshield[{extra}]'"
    )


def test_without_a_command_any_extra_that_brings_it_is_named() -> None:
    told = str(explain(ModuleNotFoundError(name="uvicorn")))
    assert "pip install 'taskshield[mcp]'" in told or "pip install 'taskshield[server]'" in told


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("numpy", "'numpy' is not installed, though taskshield needs it"),
        ("yaml", "'pyyaml' is not installed, though taskshield needs it"),
        ("taskshield.core.messages", "installation is damaged"),
        (None, "installation is damaged"),
        ("of_a_plugin.parts", "no extra of taskshield brings it"),
    ],
)
def test_what_no_extra_brings(module: str | None, words: str) -> None:
    assert words in str(explain(ModuleNotFoundError(name=module)))


def test_where_nothing_of_an_extra_is_installed_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(distribution: str) -> NoReturn:
        raise PackageNotFoundError(distribution)

    own = metadata.requires
    monkeypatch.setattr(
        missing_packages,
        "requires",
        lambda name: own(name) if name == "taskshield" else absent(name),
    )
    monkeypatch.setattr(missing_packages, "version", absent)
    told = str(explain(ModuleNotFoundError(name="starlette.requests"), "server"))
    assert told.startswith("The package 'starlette' is not installed")
    assert "pip install 'taskshield[server]'" in told


def test_serve_names_the_first_package_that_is_missing() -> None:
    told = complaint(["serve", "--store", "memory:", "--port", "0"], "uvicorn")
    assert "'uvicorn'" in told and "pip install 'taskshield[server]'" in told


def test_keys_and_mcp_name_their_extras() -> None:
    keys = complaint(["keys", "list"], "sqlalchemy")
    assert "'sqlalchemy'" in keys and "pip install 'taskshield[server]'" in keys
    mcp = complaint(["mcp", "--", "true"], "mcp")
    assert "'mcp'" in mcp and "pip install 'taskshield[mcp]'" in mcp


def test_a_hook_blocks_and_says_what_to_install() -> None:
    event = '{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hello"}'
    told = complaint(["hook", "claude-code"], "starlette", given=event, status=0)
    assert "pip install 'taskshield[server]'" in told
