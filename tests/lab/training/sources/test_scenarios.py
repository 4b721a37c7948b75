import json
from pathlib import Path
from typing import Any

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.training.sources.scenario_files import read_scenarios, read_styles
from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Scenario, Style

RAW = Path(__file__).parents[4] / "lab" / "data" / "training"


def raw_scenario(**changes: Any) -> dict[str, Any]:
    line = (RAW / "scenarios" / "money.jsonl").read_text("utf-8").splitlines()[0]
    return {**json.loads(line), **changes}


def written(folder: Path, *values: object) -> Path:
    (folder / "some.jsonl").write_text("\n".join(map(json.dumps, values)), "utf-8")
    return folder


def test_all_files_are_well_formed(
    scenarios: tuple[Scenario, ...], styles: tuple[Style, ...]
) -> None:
    assert len(scenarios) >= 530 and len({one.domain for one in scenarios}) >= 202
    assert len(styles) >= 338
    assert all(any(INJECTION_SLOT in step.output for step in one.steps) for one in scenarios)


def test_a_scenario_is_read_with_all_its_parts(tmp_path: Path) -> None:
    raw = raw_scenario()
    (scenario,) = read_scenarios(written(tmp_path, raw))
    assert [step.call.args for step in scenario.steps] == [
        step["call"]["args"] for step in raw["steps"]
    ]
    assert [attack.goal for attack in scenario.attacks] == [one["goal"] for one in raw["attacks"]]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"domain": 3}, "'domain'"),
        ({"steps": []}, "No step's output has the mark"),
        ({"turns": ["no"]}, "object"),
        ({"also_fine": [{"name": "nothing", "args": {}}]}, "no tool 'nothing'"),
        (
            {"attacks": [{"goal": "x", "calls": [], "kind": "spend"}]},
            "needs calls and one of the kinds",
        ),
        ({"drift": [{"after": 99, "call": {}}]}, "'after'"),
        ({"tools": [{"name": "a", "description": "", "parameters": {}, "tier": "odd"}]}, "odd"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    folder = written(tmp_path, raw_scenario(), raw_scenario(id="other", **changes))
    with pytest.raises(WireFormatError, match=rf"some\.jsonl:2: .*{reason}"):
        read_scenarios(folder)


def test_steps_are_checked(tmp_path: Path) -> None:
    def broken(**changes: Any) -> Path:
        raw = raw_scenario()
        raw["steps"][0].update(changes)
        return written(tmp_path, raw)

    with pytest.raises(WireFormatError, match="not in the output of its step"):
        read_scenarios(broken(benign=["Never said."]))
    with pytest.raises(WireFormatError, match="list of texts"):
        read_scenarios(broken(benign=[1]))
    name = raw_scenario()["steps"][0]["call"]["name"]
    with pytest.raises(WireFormatError, match="no parameter zzz"):
        read_scenarios(broken(call={"name": name, "args": {"zzz": 1}}))
    raw = raw_scenario()
    raw["turns"] *= 2
    raw["steps"][0]["turn"] = 1
    with pytest.raises(WireFormatError, match="order of the turns"):
        read_scenarios(written(tmp_path, raw))


def test_ids_are_unique_and_templates_have_a_goal(tmp_path: Path) -> None:
    style = {"id": "s", "style": "any", "template": "{goal}"}
    with pytest.raises(WireFormatError, match="some.jsonl:2: An earlier line has the same id"):
        read_styles(written(tmp_path, style, style))
    with pytest.raises(WireFormatError, match="no {goal}"):
        read_styles(written(tmp_path, {**style, "template": "nothing"}))


def test_an_empty_folder_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no .jsonl file"):
        read_styles(tmp_path)
