"""Judges by name: built-ins and plugins load the same way, and broken ones raise."""

import asyncio
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from pydantic import SecretStr

from taskshield import wiring
from taskshield.clients.scripted import ScriptedClient
from taskshield.core.errors import (
    ConfigError,
    JudgeBudgetExceeded,
    JudgeOverwhelmed,
    JudgeTimeout,
    MissingExtraError,
)
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, text_message
from taskshield.core.options import JudgeOptions
from taskshield.core.readings import TasksReading
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.llm.judge import LLMJudge
from taskshield.judges.timeout import TimedJudge
from taskshield.settings import Settings
from taskshield.wiring import build_judge, judge_factory, wrapped
from tests.judging import TableJudge
from tests.model import Rules

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


@pytest.mark.parametrize(
    "name", ["openai:gpt-x", "anthropic:claude-x", "allow-all", "block-side-effects"]
)
def test_the_built_in_judges_load_by_name(name: str) -> None:
    judge = build_judge(Settings(judge=name, api_key="sk-test"))  # type: ignore[arg-type]
    assert judge.name == name


@pytest.mark.parametrize(
    ("kind", "client"), [("openai", "OpenAIClient"), ("anthropic", "AnthropicClient")]
)
def test_a_built_in_judge_and_its_client_get_every_option(
    kind: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[dict[str, object], ScriptedClient]] = []

    def make(**options: object) -> ScriptedClient:
        scripted = Rules().client()
        made.append((options, scripted))
        return scripted

    monkeypatch.setattr(f"taskshield.clients.{kind}.{client}", make)
    options = JudgeOptions(
        model="m",
        base_url="http://x",
        api_key="sk-secret",
        timeout_s=4,
        retries=5,
        scheme="per_instruction",
        max_check_tokens=6_000,
        max_answer_tokens=90,
    )
    judge = judge_factory(kind)(options)
    ((given, scripted),) = made
    assert given == {
        "model": "m",
        "base_url": "http://x",
        "api_key": "sk-secret",
        "timeout_s": 4,
        "retries": 5,
    }
    step = text_message(Level.ASSISTANT, "going")
    asyncio.run(judge.assess(step, SessionView()))
    assert [(each.schema_name, each.max_tokens) for each in scripted.requests] == [
        ("instructions", 90)
    ]
    with pytest.raises(JudgeOverwhelmed, match="6000 tokens"):
        asyncio.run(judge.assess(text_message(Level.TOOL, "word " * 6_000), SessionView()))


@pytest.mark.parametrize("name", ["openai", "anthropic:"])
def test_a_model_is_needed(name: str) -> None:
    with pytest.raises(ConfigError, match="a model is needed"):
        build_judge(Settings(judge=name))


def test_no_judge_is_an_error_that_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="judge: none is set"):
        build_judge(Settings())


def test_an_unknown_judge_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(
        ConfigError, match="'nobody' is not a known judge; .*allow-all, anthropic, .*openai"
    ):
        judge_factory("nobody")


def test_a_plugin_gets_the_settings(registered: Callable[[str, str], None]) -> None:
    registered("mine", "tests.test_wiring:plugin")
    settings = Settings(
        judge="mine:a:b",
        base_url="http://x",
        api_key=SecretStr("sk-secret"),
        timeout_s=9,
        request_timeout_s=4,
        retries=5,
        scheme="per_instruction",
        max_check_tokens=900,
        max_answer_tokens=90,
    )
    assert build_judge(settings).name == "plugin:a:b"
    assert SEEN.pop() == JudgeOptions(
        model="a:b",
        base_url="http://x",
        api_key="sk-secret",
        timeout_s=4,
        retries=5,
        scheme="per_instruction",
        max_check_tokens=900,
        max_answer_tokens=90,
    )
    build_judge(Settings(judge="mine"))
    assert SEEN.pop() == JudgeOptions()


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


def test_the_wrappers_keep_to_the_settings() -> None:
    class Slow(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TasksReading:
            await asyncio.sleep(60)
            raise AssertionError

    user = text_message(Level.USER, "go")
    slow = wrapped(Slow(), Settings(timeout_s=0.02, request_timeout_s=50))
    with pytest.raises(JudgeTimeout, match="within 0.02 s"):
        asyncio.run(slow.tasks(user, SessionView()))
    for settings in (Settings(budget_calls=1), Settings(budget_tokens=1)):
        judge = wrapped(TableJudge(), settings)
        asyncio.run(judge.tasks(user, SessionView()))
        with pytest.raises(JudgeBudgetExceeded):
            asyncio.run(judge.tasks(text_message(Level.USER, "on"), SessionView()))
        assert asyncio.run(judge.tasks(user, SessionView())).trace.cached


def test_the_cache_remembers_as_many_answers_as_the_settings_say() -> None:
    inner = TableJudge()
    judge = wrapped(inner, Settings(cache_entries=2))
    users = [text_message(Level.USER, text) for text in ("one", "two", "three")]
    for user in (*users[:2], *users[:2]):
        asyncio.run(judge.tasks(user, SessionView()))
    assert len(inner.seen) == 2
    for user in (users[2], users[0]):
        asyncio.run(judge.tasks(user, SessionView()))
    assert len(inner.seen) == 4


def test_the_factories_make_llm_judges() -> None:
    factory = judge_factory("openai")
    assert isinstance(factory(JudgeOptions(model="m", api_key="k")), LLMJudge)
