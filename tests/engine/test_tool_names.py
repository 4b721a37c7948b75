"""Names that no one can read, or that look like others, and calls that say more than the name."""

import json

import pytest

from taskshield.core.messages import ToolCall
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec, is_unreadable
from taskshield.engine.risk_tiers import tier_of, tiers_of
from tests.engine.sessions import run, session

UNREADABLE = [
    "",
    " ",
    "\t\n",
    "\x1b[2J",
    "\x00",
    "Ba\u200bsh",
    "\u3164",
    "\u2800",
    "get\nfile",
    "\u202eelif_daer",
    "mcp__x__",
    "mcp__x__ ",
    "\ud800",
    "-",
    "__",
    "📁",
]


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_call_of_a_name_that_cannot_be_read_never_passes(name: str) -> None:
    assert is_unreadable(name)
    assert tier_of(name, {}, Policy()) is Tier.ACCESS
    conversation = session()
    run(conversation.user("Clean up the disk"))
    decision = run(conversation.tool_call(name, {"command": "rm -rf /"}))
    assert not decision.allowed
    assert "does not show" in decision.findings[0].reason
    again = session()
    again.declare(ToolSpec(name=name, description="Returns the time."))
    run(again.user("What time is it?"))
    assert not run(again.tool_call(name, {})).allowed


@pytest.mark.parametrize("name", ["Bash", "naïve_tool", "検索", "get file", "mcp__x__y", "7"])
def test_a_name_in_any_language_can_be_read(name: str) -> None:
    assert not is_unreadable(name)


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("B\u0430sh", Tier.ACCESS),  # a Cyrillic a
        ("re\u0430d_file", Tier.ACCESS),
        ("\uff22\uff41\uff53\uff48", Tier.DESTRUCTIVE),  # full-width
        ("Bash ", Tier.DESTRUCTIVE),
        ("bash", Tier.DESTRUCTIVE),
        ("añadir_nota", Tier.WRITE),
        ("read_файл", Tier.WRITE),
        ("read_file", Tier.WRITE),
    ],
)
def test_an_undeclared_name_that_looks_like_another_is_no_read(name: str, tier: Tier) -> None:
    declared = {known: ToolSpec(name=known) for known in ("Bash", "read_files")}
    assert tier_of(name, declared, Policy()) is tier


def test_a_declared_name_is_matched_exactly() -> None:
    policy = Policy(tiers={"look": Tier.READ})
    for name in ("look ", "Look", "LOOK", "l\u043e\u043ek"):
        assert tier_of(name, {}, policy).side_effects


def _call(name: str, *names: str) -> ToolCall:
    arguments = json.dumps(dict.fromkeys(names, "x"))
    return ToolCall(id="-".join((name, *names)), name=name, arguments=arguments)


def test_the_arguments_of_a_call_can_raise_its_tier() -> None:
    tools = {"list_files": ToolSpec(name="list_files")}

    def tier(*calls: ToolCall, policy: Policy | None = None) -> dict[str, Tier]:
        return tiers_of(calls, tools, policy or Policy())

    assert tier(_call("read_file", "path")) == {"read_file": Tier.WRITE}
    assert tier(_call("read_file", "command")) == {"read_file": Tier.DESTRUCTIVE}
    assert tier(_call("read_file", "url")) == {"read_file": Tier.EXTERNAL}
    assert tier(_call("list_files", "url")) == {"list_files": Tier.READ}
    assert tier(_call("list_files", "shellScript")) == {"list_files": Tier.DESTRUCTIVE}
    both = (_call("list_files", "cmd"), _call("list_files", "path"))
    assert tier(*both) == tier(*reversed(both)) == {"list_files": Tier.DESTRUCTIVE}
    assert tier(ToolCall(id="c", name="list_files", arguments="rm -rf /")) == {
        "list_files": Tier.READ
    }
    chosen = Policy(tiers={"list_files": Tier.READ})
    assert tier(*both, policy=chosen) == {"list_files": Tier.READ}
