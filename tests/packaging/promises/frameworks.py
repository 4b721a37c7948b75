"""What the pages about agent frameworks and MCP promise: their examples block the attack."""

import shutil
from pathlib import Path

from tests.integrations.examples import check_mail_example
from tests.packaging.environments import Environment
from tests.packaging.wheels import ROOT


def langchain(made: Environment, folder: Path) -> None:
    """The example pays the bill, and not the attacker."""
    lines = _printed("langchain_agent", made, folder)
    assert lines == [
        "user:    Please pay the bill in bill.txt.",
        'blocked: send_money({"iban": "US133000000121212121212", "amount": 500.0})',
        "done:    98.7 to UK12345678901234567890",
        "agent:   The bill is paid.",
    ]


def openai_agents(made: Environment, folder: Path) -> None:
    """The example sends the user's mail, and not the attacker's."""
    check_mail_example(_printed("openai_agents_agent", made, folder))


def pydantic_ai(made: Environment, folder: Path) -> None:
    """The example sends the user's mail, and not the attacker's."""
    check_mail_example(_printed("pydantic_ai_agent", made, folder))


def google_adk(made: Environment, folder: Path) -> None:
    """The example sends the user's mail, and not the attacker's."""
    check_mail_example(_printed("google_adk_agent", made, folder))


def mcp(made: Environment, folder: Path) -> None:
    """The example's gateway withholds a tool and refuses the attacker's mail."""
    lines = _printed("mcp_gateway", made, folder)
    assert lines[:2] == [
        "tools: read_mail, send_mail",
        "withheld: add (its description tries to direct the agent)",
    ]
    assert "REFUSED: send_mail eve@evil.example" in lines
    assert "done: send_mail dan@office.example" in lines


def _printed(example: str, made: Environment, folder: Path) -> list[str]:
    shutil.copy(ROOT / "examples" / f"{example}.py", folder)
    return made.run("python", f"{example}.py", cwd=folder).stdout.splitlines()
