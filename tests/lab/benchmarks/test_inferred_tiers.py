import json
import sys
from pathlib import Path

import inferred_tiers
import pytest

from taskshield.core.tools import Tier
from taskshield_lab.training.sources.scenarios import Tool


def tool(name: str, tier: Tier) -> Tool:
    return Tool(name=name, description="", parameters={}, tier=tier)


def test_tools_are_counted_by_labelled_and_inferred_tier() -> None:
    tools = (
        tool("get_order", Tier.READ),
        tool("list_orders", Tier.READ),
        tool("zorb", Tier.READ),
        tool("delete_order", Tier.DESTRUCTIVE),
    )
    found = inferred_tiers.taken_for(tools)
    assert found["read"] == {"read": 2, "write": 1}
    assert found["destructive"] == {"destructive": 1}
    assert found.keys() == {tier.value for tier in Tier} and found["financial"] == {}


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tiers.py", "--results", str(tmp_path)])
    inferred_tiers.main()
    written = json.loads((tmp_path / "tiers.json").read_text(encoding="utf-8"))
    assert written["scenarios"] > 2000 and written["taken_for"].keys() == {
        tier.value for tier in Tier
    }
    assert sum(written["taken_for"]["read"].values()) > 5000
    assert "written to tiers.json" in capsys.readouterr().out
