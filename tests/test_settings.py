"""Settings: where they come from, which wins, and what is said about wrong ones."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from taskshield.core.errors import ConfigError
from taskshield.core.judge_options import CascadeOptions
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from taskshield.settings import CascadeSettings, PolicySettings, Settings, load


def test_defaults_are_those_of_the_engine() -> None:
    assert load({}, environment={}).policy.to_policy() == Policy()


def test_every_rule_reaches_the_engine() -> None:
    given = {
        "misaligned": {"read": "observe"},
        "tools": {"send": "block"},
        "authorisation": {"unasked": {"external": "escalate"}},
        "text": "escalate",
        "output": "redact",
        "outage": {"write": "escalate"},
        "output_outage": "withhold",
        "rounds": 5,
        "epsilon": 0.25,
        "tiers": {"send": "financial"},
        "objectives": "off",
        "trusted_context": ["project_file"],
        "unknown_task": "escalate",
        "history_tokens": 77,
    }
    assert set(given) == set(PolicySettings.model_fields)
    default = Policy()
    assert load({"policy": given}, environment={}).policy.to_policy() == Policy(
        misaligned={**default.misaligned, Tier.READ: "observe"},
        tools={"send": "block"},
        authorisation={"unasked": {Tier.EXTERNAL: "escalate"}},
        text="escalate",
        output="redact",
        outage={**default.outage, Tier.WRITE: "escalate"},
        output_outage="withhold",
        trusted_context=frozenset({"project_file"}),
        unknown_task="escalate",
        rounds=5,
        epsilon=0.25,
        tiers={"send": Tier.FINANCIAL},
        objectives="off",
        history_tokens=77,
    )


def test_the_defaults_of_the_cascade_are_the_judges_own() -> None:
    assert load({}, environment={}).cascade.to_options() == CascadeOptions()
    assert set(CascadeSettings.model_fields) == {each.name for each in fields(CascadeOptions)}


def test_every_rule_reaches_the_cascade() -> None:
    variables = {
        "TASKSHIELD_CASCADE__TIERS": '["access", "write"]',
        "TASKSHIELD_CASCADE__BAND": "0.5",
        "TASKSHIELD_CASCADE__READ_TASKS": "llm",
        "TASKSHIELD_CASCADE__ON_OUTAGE": "fail",
        "TASKSHIELD_LLM": "openai:m",
    }
    settings = load({"judge": "cascade"}, environment=variables)
    assert settings.llm == "openai:m"
    assert settings.cascade.to_options() == CascadeOptions(
        tiers=frozenset({Tier.ACCESS, Tier.WRITE}), band=0.5, read_tasks="llm", on_outage="fail"
    )


def test_the_defaults_are_those_of_the_documentation() -> None:
    text = (Path(__file__).parent.parent / "docs" / "settings.md").read_text()
    documented = dict(re.findall(r"^\| `([\w.]+)` \| ([\d.]+) \|", text, re.MULTILINE))
    numbers = dict(numbers_of(Settings().model_dump()))
    assert {key: float(value) for key, value in documented.items()} == numbers


def numbers_of(section: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """All settings that are numbers, those of sections in sections too."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from numbers_of(value, f"{prefix}{key}.")
        elif type(value) in (int, float):
            yield f"{prefix}{key}", value


def test_what_is_not_given_as_an_argument_does_not_hide_other_places() -> None:
    variables = {"TASKSHIELD_JUDGE": "openai:variable"}
    assert load({"judge": None}, environment=variables).judge == "openai:variable"


def test_the_variables_of_the_process_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKSHIELD_RETRIES", "7")
    assert load({}).retries == 7


def test_a_file_given_as_an_argument_wins_over_the_variable(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.yaml", tmp_path / "other.yaml"
    mine.write_text("retries: 7\n")
    other.write_text("retries: 1\n")
    assert load({}, config=mine, environment={"TASKSHIELD_CONFIG": str(other)}).retries == 7


def test_settings_cannot_be_changed_once_they_are_loaded() -> None:
    settings = load({}, environment={})
    with pytest.raises(ValidationError):
        settings.timeout_s = 1.0
    with pytest.raises(ValidationError):
        settings.policy.rounds = 9


def test_arguments_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "shield.yaml"
    file.write_text("judge: openai:file\ntimeout_s: 1\nretries: 1\npolicy:\n  rounds: 1\n")
    variables = {"TASKSHIELD_JUDGE": "openai:variable", "TASKSHIELD_TIMEOUT_S": "2"}
    settings = load({"judge": "openai:argument"}, config=file, environment=variables)
    assert (settings.judge, settings.timeout_s, settings.retries) == ("openai:argument", 2.0, 1)
    assert settings.policy.rounds == 1


def test_sections_are_merged_key_by_key(tmp_path: Path) -> None:
    file = tmp_path / "shield.toml"
    file.write_text('[policy]\nrounds = 1\n[policy.tools]\nsend = "block"\n')
    settings = load(
        {"policy": {"text": "observe"}},
        config=file,
        environment={"TASKSHIELD_POLICY__TOOLS__PAY": "escalate"},
    )
    policy = settings.policy.to_policy()
    assert policy.rounds == 1 and policy.text == "observe"
    assert policy.tools == {"send": "block", "pay": "escalate"}


def test_a_variable_may_hold_a_json_object() -> None:
    variables = {"TASKSHIELD_POLICY__TIERS": '{"Send-It": "financial"}'}
    assert load({}, environment=variables).policy.tiers == {"Send-It": Tier.FINANCIAL}


def test_tiers_that_are_not_named_keep_their_default() -> None:
    settings = load({"policy": {"outage": {"read": "block"}}}, environment={})
    policy = settings.policy.to_policy()
    assert policy.outage == {tier: "block" for tier in Tier}
    assert policy.misaligned == Policy().misaligned


def test_the_file_may_be_named_by_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "shield.yml"
    file.write_text("retries: 7\n")
    assert load({}, environment={"TASKSHIELD_CONFIG": str(file)}).retries == 7
    file.write_text("")
    assert load({}, environment={"TASKSHIELD_CONFIG": str(file)}) == Settings()


@pytest.mark.parametrize(
    ("variables", "arguments", "message"),
    [
        ({"TASKSHIELD_TIMEOUT_S": "soon"}, {}, "timeout_s: .*from the environment"),
        ({"TASKSHIELD_POLICY__OUTPT": "eat"}, {}, "policy.outpt: no such setting .*environment"),
        ({"TASKSHIELD_POLICY__OUTPUT": "eat"}, {}, "policy.output: .*'redact'.*environment"),
        ({"TASKSHIELD_POLICY": "strict"}, {}, "policy: .*environment"),
        ({"TASKSHIELD_POLICY__TOOLS": "{oops"}, {}, "policy.tools: .*environment"),
        ({}, {"retries": -1}, "retries: .*from arguments"),
        ({}, {"epsilon": 1}, "epsilon: no such setting .*arguments"),
        ({}, {"policy": {"misaligned": {"reads": "block"}}}, "policy.misaligned.reads.*arguments"),
        (
            {},
            {"policy": {"authorisation": {"unaksed": {"external": "escalate"}}}},
            "policy.authorisation.unaksed: .*'asked', 'implied', 'unasked' or .*arguments",
        ),
        (
            {"TASKSHIELD_POLICY__AUTHORISATION__UNASKED__EXTERN": "escalate"},
            {},
            "policy.authorisation.unasked.extern: .*'external'.*environment",
        ),
        (
            {},
            {"policy": {"authorisation": {"unasked": {"external": "allow"}}}},
            "policy.authorisation.unasked.external: .*'escalate' or 'block'.*arguments",
        ),
        ({}, {"policy": {"epsilon": float("nan")}}, "policy.epsilon: .*arguments"),
        ({}, {"timeout_s": float("inf")}, "timeout_s: "),
        ({}, {"timeout_s": 0}, "timeout_s: .*greater than 0"),
        ({}, {"request_timeout_s": 0}, "request_timeout_s: .*greater than 0"),
        ({}, {"budget_calls": 0}, "budget_calls: .*greater than or equal to 1"),
        ({}, {"cache_entries": -1}, "cache_entries: .*greater than or equal to 0"),
        ({}, {"prompt_history_tokens": 0}, "prompt_history_tokens: .*greater than or equal to 1"),
        ({}, {"cascade": {"band": -1}}, "cascade.band: .*greater than or equal to 0"),
        ({}, {"cascade": {"on_outage": "allow"}}, "cascade.on_outage: .*'embedded' or 'fail'"),
        ({"TASKSHIELD_CASCADE__TIERS": "[oops"}, {}, "cascade.tiers: .*environment"),
        ({"TASKSHIELD_CASCADE__TIERS": "access"}, {}, "cascade.tiers: .*environment"),
        ({}, {"policy": {"rounds": -1}}, "policy.rounds: .*greater than or equal to 0"),
        ({}, {"policy": {"epsilon": -0.1}}, "policy.epsilon: .*greater than or equal to 0"),
    ],
)
def test_a_wrong_setting_is_named_with_its_source(
    variables: dict[str, str], arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load(arguments, environment=variables)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", b"judge: [", "a.yaml is not valid YAML, line 1"),
        ("a.toml", b"judge = ", "a.toml is not valid TOML"),
        ("a.yaml", b"rounds: " + b"9" * 5_000, "a.yaml is not valid YAML"),
        ("a.toml", b"rounds = " + b"9" * 5_000, "a.toml is not valid TOML"),
        ("a.yaml", b"judge: " + b"[" * 5_000, "a.yaml is not valid YAML"),
        ("a.yaml", b"- 1\n", "a.yaml must hold keys and values"),
        ("a.yaml", b"\xff\xfe", "settings file .* cannot be read .UnicodeDecodeError"),
        ("a.yaml", b"rounds: 3\n", "rounds: no such setting .from .*a.yaml"),
        ("a.yaml", b"1: 3\n", "1: "),
        ("a.yaml", b"judge: !!python/object/apply:os.getcwd []\n", "a.yaml is not valid YAML"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load({}, config=file, environment={})


def test_a_missing_file_is_an_error_not_a_default(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="settings file .* cannot be read .FileNotFoundError"):
        load({}, config=tmp_path / "none.yaml", environment={})


def test_a_secret_is_never_shown() -> None:
    settings = load({"api_key": "sk-very-secret"}, environment={})
    assert "very-secret" not in repr(settings) + str(settings) + settings.model_dump_json()
    with pytest.raises(ConfigError) as caught:
        load({"api_key": ["sk-very-secret"]}, environment={})
    assert "very-secret" not in str(caught.value) and "api_key" in str(caught.value)
    with pytest.raises(ValidationError) as direct:
        Settings.model_validate({"api_key": ["sk-very-secret"]})
    assert "very-secret" not in str(direct.value)
