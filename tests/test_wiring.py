"""Judges by name: built-ins and plugins load the same way, and broken ones raise."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from taskshield import wiring
from taskshield.core.errors import ConfigError, MissingExtraError
from taskshield.core.options import JudgeOptions
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.llm.judge import LLMJudge
from taskshield.judges.timeout import TimedJudge
from taskshield.settings import Settings
from taskshield.wiring import build_judge, judge_factory, wrapped
from tests.judging import TableJudge

SEEN: list[JudgeOptions] = []


def plugin(options: JudgeOptions) -> TableJudge:
    SEEN.append(options)
    return TableJudge(name=f"plugin:{options.model}")


def lacking(options: JudgeOptions) -> TableJudge:
    raise MissingExtraError("something", "some")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def register(name: str, target: str) -> None:
        found = EntryPoints([EntryPoint(name=name, value=target, group=wiring.JUDGES)])
        monkeypatch.setattr(wiring, "entry_points", lambda group: found.select(group=group))

    return register


@pytest.mark.parametrize("name", ["openai:gpt-x", "anthropic:claude-x"])
def test_the_built_in_judges_load_by_name(name: str) -> None:
    judge = build_judge(Settings(judge=name, api_key="sk-test"))  # type: ignore[arg-type]
    assert judge.name == name


@pytest.mark.parametrize("name", ["openai", "anthropic:"])
def test_a_model_is_needed(name: str) -> None:
    with pytest.raises(ConfigError, match="a model is needed"):
        build_judge(Settings(judge=name))


def test_no_judge_is_an_error_that_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="judge: none is set"):
        build_judge(Settings())


def test_an_unknown_judge_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="'nobody' is not a known judge; .*anthropic, openai"):
        judge_factory("nobody")


def test_a_plugin_gets_the_settings(registered: Callable[[str, str], None]) -> None:
    registered("mine", "tests.test_wiring:plugin")
    settings = Settings(judge="mine:a:b", base_url="http://x", retries=5, scheme="per_instruction")
    assert build_judge(settings).name == "plugin:a:b"
    options = SEEN.pop()
    assert (options.base_url, options.retries, options.api_key) == ("http://x", 5, None)
    assert options.scheme == "per_instruction"


def test_a_key_is_not_shown_by_the_options() -> None:
    assert "sk-secret" not in repr(JudgeOptions(api_key="sk-secret"))


def test_a_broken_plugin_raises(registered: Callable[[str, str], None]) -> None:
    registered("broken", "tests.no_such_module:plugin")
    with pytest.raises(ConfigError, match="'broken' cannot be loaded: ModuleNotFoundError"):
        judge_factory("broken")


def test_a_missing_extra_is_passed_on(registered: Callable[[str, str], None]) -> None:
    registered("lacking", "tests.test_wiring:lacking")
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[some\]'"):
        build_judge(Settings(judge="lacking"))


def test_time_budget_and_cache_are_wrapped_around_the_judge() -> None:
    plain = TableJudge()
    assert isinstance(wrapped(plain, Settings()), CachedJudge)
    assert isinstance(wrapped(plain, Settings(cache_entries=0)), TimedJudge)
    assert isinstance(wrapped(plain, Settings(cache_entries=0, budget_calls=1)), BudgetJudge)
    assert isinstance(wrapped(plain, Settings(cache_entries=0, budget_tokens=1)), BudgetJudge)


def test_the_factories_make_llm_judges() -> None:
    factory = judge_factory("openai")
    assert isinstance(factory(JudgeOptions(model="m", api_key="k")), LLMJudge)
