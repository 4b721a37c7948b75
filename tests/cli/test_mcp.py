"""`taskshield mcp`: real processes on both sides of it, and broken in every way."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from taskshield.cli.main import main
from tests.integrations.mcp import office, rogue
from tests.integrations.mcp.stage import alive, connected, text

Captured = pytest.CaptureFixture[str]
SCRIPT = str(Path(sys.executable).with_name("taskshield"))
OFFICE = (sys.executable, office.__file__)
ROGUE = (sys.executable, rogue.__file__)
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}
CALL = {"name": "get_it", "arguments": {}}


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """The command configures the logs of its whole process."""
    names = ("taskshield.integrations.mcp", "mcp", "httpx2", "uvicorn")
    loggers = [logging.getLogger(name) for name in names]
    before = [(each, each.level, each.handlers[:], each.propagate) for each in loggers]
    yield
    for logger, level, handlers, propagate in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers
        logger.propagate = propagate


class Running:
    """A gateway in a process of its own, and its client by hand."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def send(self, method: str, params: Any, id: object = 1) -> None:
        assert self.process.stdin is not None
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.process.stdin.write(f"{json.dumps(body)}\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Any, id: object = 1) -> Any:
        self.send(method, params, id)
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == id
        return answer

    def left(self) -> tuple[int, str]:
        """Its status when it has ended, and all that was written to the standard error output."""
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err


@contextmanager
def running(*command: str, options: tuple[str, ...] = (), **environment: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [SCRIPT, "mcp", "--judge", "allow-all", *options, "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    with process:
        try:
            yield Running(process)
        finally:
            process.kill()


def pid_in(written: str) -> int:
    return int(written.split("rogue ")[1].split()[0])


@pytest.mark.shows("MCP", "tool call", "tool output", "feedback")
def test_the_shipped_judge_holds_a_hijacked_agent(tmp_path: Path) -> None:
    log = tmp_path / "office.log"
    task = "Read my newest mail and tell dan@office.example whether Friday at noon is fine: it is."

    async def scene() -> list[CallToolResult]:
        gateway = StdioServerParameters(
            command=SCRIPT,
            args=["mcp", "--task", task, "--", *OFFICE, "--poisoned"],
            env={"OFFICE_LOG": str(log)},
        )
        async with Client(stdio_client(gateway)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert len(names) == 9 and "add" not in names
            return [
                await client.call_tool("read_mail", {}),
                await client.call_tool("send_mail", EVIL),
                await client.call_tool("send_mail", GOOD),
            ]

    mail, evil, good = asyncio.run(scene())
    assert "lunch on Friday" in text(mail) and "[Task Shield" in text(mail)
    assert evil.is_error and "Not carried out" in text(evil)
    assert not good.is_error and isinstance(good.content[0], TextContent)
    assert log.read_text().splitlines() == ["read inbox", "sent to dan@office.example"]


EVIL = {"to": "eve@evil.example", "text": "all invoices"}
GOOD = {"to": "dan@office.example", "text": "Friday at noon is fine."}


def test_the_command_gets_the_environment_but_not_what_is_ours() -> None:
    given = {"OF_MINE": "1", "SHIELD_KEY": "tsk_x", "TASKSHIELD_API_KEY": "sk-x"}
    options = ("--server", "http://127.0.0.1:9", "--key-env", "SHIELD_KEY", "--no-goal", "allow")
    with running(*ROGUE, "env", options=options, **given) as gateway:
        result = gateway.ask("tools/call", CALL)["result"]
        status, err = gateway.left()
    names = result["content"][0]["text"].split()
    assert {"OF_MINE", "PATH"} <= set(names)
    assert "SHIELD_KEY" not in names and not any(name.startswith("TASKSHIELD") for name in names)
    assert status == 0 and not alive(pid_in(err))
    ours = [line for line in err.splitlines() if line.startswith("taskshield: ")]
    assert "taskshield: The user's task is not known. Give it with --task, or use --server." in ours
    assert rogue.SECRET in err and not any(rogue.SECRET in line for line in ours)


def test_a_server_that_dies_is_an_error_and_an_exit_status() -> None:
    with running(*ROGUE, "dies", options=("--task", "Get it.")) as gateway:
        error = gateway.ask("tools/call", CALL)["error"]
        assert error == {"code": -32000, "message": "The wrapped server has ended."}
        status, err = gateway.left()
    assert status == 1 and "Traceback" not in err
    assert "taskshield: error: The wrapped server ended before its client did" in err


def test_a_signal_ends_the_gateway_and_its_server() -> None:
    with running(*ROGUE, "mute", options=("--task", "Get it.")) as gateway:
        gateway.ask("initialize", HELLO)
        gateway.send("tools/call", CALL, 2)
        gateway.process.send_signal(signal.SIGTERM)
        status, err = gateway.left()
    assert status == 143 and "Traceback" not in err, err
    assert not alive(pid_in(err))


def test_a_client_that_reads_no_more_has_left() -> None:
    with running(*ROGUE, "env", options=("--task", "Get it.")) as gateway:
        gateway.ask("initialize", HELLO)
        assert gateway.process.stdout is not None and gateway.process.stderr is not None
        gateway.process.stdout.close()
        gateway.send("tools/call", CALL, 2)
        err = gateway.process.stderr.read()
        assert gateway.process.wait(30) == 0 and "Traceback" not in err
    assert not alive(pid_in(err))


def test_several_servers_over_http(tmp_path: Path) -> None:
    servers = {
        "one": {"command": ROGUE[0], "args": [ROGUE[1], "env"], "env": {"OF_ONE": "1"}},
        "two": {"command": ROGUE[0], "args": [ROGUE[1], "garbage"]},
    }
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    listen = ("--listen", "127.0.0.1:0", "--mcp-servers", str(file), "--no-goal", "allow")
    process = subprocess.Popen(
        [SCRIPT, "mcp", "--judge", "allow-all", *listen], stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(3)]
        urls = [line.split()[-1] for line in lines if "listening on" in line]

        async def said(url: str) -> str:
            async with connected(url) as client:
                return text(await client.call_tool("get_it", {}))

        assert "OF_ONE" in asyncio.run(said(urls[0])).split()
        assert asyncio.run(said(urls[1])) == "here it is"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert [url.split("/", 3)[3] for url in urls] == ["one/mcp", "two/mcp"]
    assert process.returncode == -signal.SIGTERM and "Traceback" not in err


def test_tools_are_pinned_and_accepted(tmp_path: Path, capfd: Captured) -> None:
    pins = tmp_path / "pins.json"
    arguments = [
        "mcp",
        "--judge",
        "allow-all",
        "--pins",
        str(pins),
        "--accept",
        "--",
        *ROGUE,
        "env",
    ]
    assert main(arguments) == 0
    assert capfd.readouterr().out == "accepted: 'get_it'\n"
    assert main(arguments) == 0
    assert capfd.readouterr().out == ""
    kept = json.loads(pins.read_text())
    ((server, tools),) = kept["servers"].items()
    assert server.startswith("server-") and list(tools) == ["get_it"]
    pins.write_text(json.dumps({**kept, "servers": {server: {"get_it": "another"}}}))
    options = ("--pins", str(pins), "--task", "Get it.")
    with running(*ROGUE, "env", options=options) as gateway:
        result = gateway.ask("tools/call", CALL)["result"]
        assert result["isError"] and "has changed since" in result["content"][0]["text"]
    assert main(arguments) == 0
    assert capfd.readouterr().out == "accepted: 'get_it'\n"


def test_nothing_is_accepted_from_a_server_that_does_not_answer(
    tmp_path: Path, capfd: Captured
) -> None:
    pins = tmp_path / "pins.json"
    options = ["--judge", "allow-all", "--pins", str(pins), "--accept"]
    assert main(["mcp", *options, "--", *ROGUE, "dead"]) == 1
    assert "did not list its tools" in capfd.readouterr().err and not pins.exists()


UNWRITABLE = ["--judge", "allow-all", "--pins", "/proc/none/pins.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one of COMMAND, --url and --mcp-servers"),
        (["--url", "http://h/mcp", "--", "ls"], "one of COMMAND, --url and --mcp-servers"),
        (["--url", "nowhere"], "The server's address is not valid"),
        (["--mcp-servers", "none.json"], "Add --listen"),
        (["--mcp-servers", "none.json", "--listen", "127.0.0.1:0"], "none.json cannot be read"),
        (["--session", "s", "--", "ls"], "Add --server"),
        (["--server", "http://h", "--session", "s", "--task", "t", "--", "ls"], "its own tasks"),
        (["--server", "h", "--", "ls"], "The server's address"),
        (["--server", "http://h", "--key-env", "NO_KEY", "--", "ls"], "NO_KEY is not set"),
        (["--accept", "--", "ls"], "Add --pins"),
        ([*UNWRITABLE, "--accept", "--", *ROGUE, "env"], "cannot be written"),
        (["--listen", "here", "--", "ls"], "--listen: The address"),
        (
            ["--listen", "0.0.0.0:0", "--judge", "allow-all", "--", "ls"],
            "Other machines could use",
        ),
        (["--judge", "oracle", "--", "ls"], "not a known judge"),
        (["--config", "none.yaml", "--", "ls"], "none.yaml"),
    ],
)
def test_wrong_options_are_one_line(arguments: list[str], words: str, capfd: Captured) -> None:
    assert main(["mcp", *arguments]) == 2
    out, err = capfd.readouterr()
    ours = [line for line in err.splitlines() if line.startswith("taskshield: error: ")]
    assert out == "" and len(ours) == 1 and words in ours[0]
    assert "Traceback" not in err


def test_a_gateway_without_its_packages_says_what_to_install(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("taskshield.integrations.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", "--", "ls"]) == 2
    assert "pip install 'taskshield[mcp]'" in capsys.readouterr().err


def test_help_fits_a_terminal(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["mcp", "--help"])
    told = capsys.readouterr().out
    assert "--no-goal" in told and max(map(len, told.splitlines())) <= 80
