"""Judges by name: built-ins and plugins load the same way, and broken ones raise."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from pydantic import SecretStr

from taskshield import Shield, wiring
from taskshield.clients.scripted import ScriptedClient
from taskshield.core.assessments import TaskAssessment
from taskshield.core.errors import (
    ConfigError,
    JudgeBudgetExceeded,
    JudgeOverwhelmed,
    JudgeTimeout,
    MissingExtraError,
    ModelError,
)
from taskshield.core.instructions import Instruction, Origin, Task, TaskSet
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import Tier
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.cascade import CascadeJudge
from taskshield.judges.llm.judge import LLMJudge
from taskshield.judges.timeout import TimedJudge
from taskshield.settings import PolicySettings, Settings
from taskshield.wiring import build_judge, load_judge_factory, wrap_judge, wrap_own_judge
from tests.judging import TableJudge
from tests.model import Rules

SEEN: list[JudgeOptions] = []


def plugin(options: JudgeOptions) -> TableJudge:
    SEEN.append(options)
    return TableJudge(name=f"plugin:{options.model}")


def lacking(options: JudgeOptions) -> TableJudge:
    raise MissingExtraError("something", "some")


def embedded(options: JudgeOptions) -> TableJudge:
    name = f"embedded:{options.model}" if options.model else "embedded"
    return TableJudge(name=name, score=lambda text, task: 0.6, epsilon=0.5)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    entries: list[EntryPoint] = []

    def register(name: str, target: str) -> None:
        entries.append(EntryPoint(name=name, value=target, group=wiring.JUDGES))
        found = EntryPoints(entries)
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
        prompt_history_tokens=70,
    )
    judge = load_judge_factory(kind)(options)
    assert isinstance(judge, LLMJudge) and judge.prompt_history_tokens == 70
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
    with pytest.raises(ConfigError, match="The model is missing"):
        build_judge(Settings(judge=name))


def test_the_embedded_judge_is_the_default() -> None:
    assert build_judge(Settings()).name == "embedded"


@pytest.mark.parametrize("judge", ["embedded", "cascade"])
def test_a_judge_without_objectives_refuses_the_policy_that_demands_them(
    judge: str,
) -> None:
    settings = Settings(judge=judge, llm="mine:m", policy=PolicySettings(objectives="on"))
    with pytest.raises(ConfigError, match=r"^policy\.objectives: The judge"):
        build_judge(settings)


def test_the_error_on_an_unknown_judge_lists_the_known_ones() -> None:
    with pytest.raises(
        ConfigError,
        match="'unknown' is not a known judge. Known judges: .*allow-all, anthropic, .*openai",
    ):
        load_judge_factory("unknown")


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
        prompt_history_tokens=70,
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
        prompt_history_tokens=70,
    )
    build_judge(Settings(judge="mine"))
    assert SEEN.pop() == JudgeOptions()


def test_a_key_is_not_shown_by_the_options() -> None:
    assert "sk-secret" not in repr(JudgeOptions(api_key="sk-secret"))


def test_a_broken_plugin_raises(registered: Callable[[str, str], None]) -> None:
    registered("broken", "tests.no_such_module:plugin")
    with pytest.raises(ConfigError, match="'broken' cannot be loaded .ModuleNotFoundError"):
        load_judge_factory("broken")


def test_a_missing_extra_is_passed_on(registered: Callable[[str, str], None]) -> None:
    registered("lacking", "tests.test_wiring:lacking")
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[some\]'"):
        build_judge(Settings(judge="lacking"))


def test_time_budget_and_cache_are_wrapped_around_the_judge() -> None:
    plain = TableJudge()
    assert isinstance(wrap_judge(plain, Settings()), CachedJudge)
    assert isinstance(wrap_judge(plain, Settings(cache_entries=0)), TimedJudge)
    assert isinstance(wrap_judge(plain, Settings(cache_entries=0, budget_calls=1)), BudgetJudge)
    assert isinstance(wrap_judge(plain, Settings(cache_entries=0, budget_tokens=1)), BudgetJudge)


def test_the_wrappers_keep_to_the_settings() -> None:
    class Slow(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
            await asyncio.sleep(60)
            raise AssertionError

    user = text_message(Level.USER, "go")
    slow = wrap_judge(Slow(), Settings(timeout_s=0.02, request_timeout_s=50))
    with pytest.raises(JudgeTimeout, match="within 0.02 s"):
        asyncio.run(slow.tasks(user, SessionView()))
    for settings in (Settings(budget_calls=1), Settings(budget_tokens=1)):
        judge = wrap_judge(TableJudge(), settings)
        asyncio.run(judge.tasks(user, SessionView()))
        with pytest.raises(JudgeBudgetExceeded):
            asyncio.run(judge.tasks(text_message(Level.USER, "on"), SessionView()))
        assert asyncio.run(judge.tasks(user, SessionView())).trace.cached


def test_the_cache_remembers_as_many_answers_as_the_settings_say() -> None:
    inner = TableJudge()
    judge = wrap_judge(inner, Settings(cache_entries=2))
    users = [text_message(Level.USER, text) for text in ("one", "two", "three")]
    for user in (*users[:2], *users[:2]):
        asyncio.run(judge.tasks(user, SessionView()))
    assert len(inner.seen) == 2
    for user in (users[2], users[0]):
        asyncio.run(judge.tasks(user, SessionView()))
    assert len(inner.seen) == 4


def test_the_factories_make_llm_judges() -> None:
    factory = load_judge_factory("openai")
    assert isinstance(factory(JudgeOptions(model="m", api_key="k")), LLMJudge)


def test_the_cache_of_an_llm_judge_knows_how_far_it_looks_back() -> None:
    def asked(tokens: int) -> int:
        client = Rules().client()
        judge = wrap_judge(LLMJudge(client, prompt_history_tokens=tokens), Settings())
        for number in range(2):
            old = HistoryEntry(message=text_message(Level.ASSISTANT, f"{number}" * 400))
            new = HistoryEntry(message=text_message(Level.ASSISTANT, "x" * 400))
            view = SessionView(history=(old, new))
            asyncio.run(judge.assess(text_message(Level.ASSISTANT, "going"), view))
        return len(client.requests)

    assert (asked(4_000), asked(60)) == (2, 1)


USER = text_message(Level.USER, "go")
CALL = Message(
    level=Level.ASSISTANT, tool_calls=(ToolCall(id="c", name="pay", arguments='{"to": "x"}'),)
)
PAYING = SessionView(tiers={"pay": Tier.FINANCIAL})


@pytest.fixture
def cascading(registered: Callable[[str, str], None]) -> None:
    registered("embedded", "tests.test_wiring:embedded")
    registered("mine", "tests.test_wiring:plugin")


@pytest.mark.usefixtures("cascading")
def test_a_cascade_is_the_embedded_judge_before_an_llm() -> None:
    judge = build_judge(Settings(judge="cascade", llm="mine:m"))
    assert isinstance(judge, CascadeJudge)
    assert judge.name == "cascade(embedded, plugin:m)"
    assert SEEN.pop().model == "m"
    assert asyncio.run(judge.tasks(USER, SessionView())).trace.judge == "embedded"
    assert asyncio.run(judge.assess(CALL, PAYING)).trace.judge == "plugin:m"


@pytest.mark.usefixtures("cascading")
def test_a_cascade_can_use_a_custom_embedded_model() -> None:
    judge = build_judge(Settings(judge="cascade:my/weights", llm="mine:m"))
    assert judge.name == "cascade(embedded:my/weights, plugin:m)"


def test_the_model_of_a_cascade_is_a_folder() -> None:
    with pytest.raises(ModelError, match="gpt-x"):
        build_judge(Settings(judge="cascade:gpt-x", llm="openai:m", api_key="sk-test"))  # type: ignore[arg-type]


@pytest.mark.usefixtures("cascading")
def test_only_the_llm_of_a_cascade_has_a_cache_and_a_budget() -> None:
    judge = build_judge(Settings(judge="cascade", llm="mine:m", budget_calls=1))
    readings = [asyncio.run(judge.assess(CALL, PAYING)) for _ in range(2)]
    assert [reading.trace.cached for reading in readings] == [False, True]
    users = [asyncio.run(judge.tasks(USER, SessionView())) for _ in range(2)]
    assert not any(reading.trace.cached for reading in users)
    other = replace(CALL, tool_calls=(replace(CALL.tool_calls[0], arguments="{}"),))
    alone = asyncio.run(judge.assess(other, PAYING))
    assert alone.trace.judge == "embedded (plugin:m out: budget)"


@pytest.mark.usefixtures("cascading")
def test_a_cascade_keeps_to_the_settings() -> None:
    def asked(**settings: object) -> str:
        told = {"judge": "cascade", "llm": "mine:m", **settings}
        judge = build_judge(Settings.model_validate(told))
        return asyncio.run(judge.assess(CALL, PAYING)).trace.judge

    assert asked(cascade={"tiers": ["access"]}) == "embedded"  # no task, so no score: clear
    assert asked(cascade={"tiers": ["financial"]}) == "plugin:m"
    judge = build_judge(
        Settings.model_validate(
            {"judge": "cascade", "llm": "mine:m", "cascade": {"read_tasks": "llm"}}
        )
    )
    assert asyncio.run(judge.tasks(USER, SessionView())).trace.judge == "plugin:m"


@pytest.mark.parametrize("epsilon", [None, 0.01])
@pytest.mark.usefixtures("cascading")
def test_a_cascade_uses_the_threshold_of_the_policy(epsilon: float | None) -> None:
    task = Instruction(text="go", level=Level.USER, origin=Origin(message=0))
    view = SessionView(
        tasks=TaskSet(tasks=(Task(id="t1", instruction=task),)), tiers={"pay": Tier.READ}
    )
    judge = build_judge(
        Settings(judge="cascade", llm="mine:m", policy=PolicySettings(epsilon=epsilon))
    )
    reading = asyncio.run(judge.assess(CALL, view))  # 0.6 is near 0.5 and far from 0.01
    assert reading.trace.judge == ("plugin:m" if epsilon is None else "embedded")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(judge="cascade"), "^llm: The judge 'cascade' needs an LLM, .*TASKSHIELD_LLM"),
        (Settings(judge="cascade:m"), "^llm: The judge 'cascade' needs an LLM"),
        (Settings(judge="cascade", llm="unknown:m"), "^llm: 'unknown' is not a known judge"),
        (Settings(judge="cascade", llm="cascade"), "^llm: 'cascade' is not a known .*: embedded, "),
        (Settings(judge="mine:m", llm="mine:m"), "^llm: Only the judge 'cascade'"),
        (Settings(judge="unknown"), "^judge: 'unknown' .* judges: cascade, embedded, mine.$"),
        (Settings(llm="mine:m"), "^llm: Only the judge 'cascade'"),
    ],
)
@pytest.mark.usefixtures("cascading")
def test_a_wrong_cascade_is_an_error_that_names_the_key(settings: Settings, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_judge(settings)


def test_a_cascade_needs_the_embedded_judge(registered: Callable[[str, str], None]) -> None:
    registered("mine", "tests.test_wiring:plugin")
    with pytest.raises(ConfigError, match="^judge: 'embedded' is not a known judge"):
        build_judge(Settings(judge="cascade", llm="mine:m"))


def test_a_custom_judge_refuses_the_setting_llm() -> None:
    with pytest.raises(ConfigError, match="^llm: Only the judge 'cascade'"):
        wrap_own_judge(TableJudge(), Settings(llm="mine:m"))


@pytest.mark.usefixtures("cascading")
def test_a_shield_tells_what_a_cascade_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKSHIELD_LLM", "mine:m")
    with Shield(judge="cascade") as shield:
        session = shield.session()
        session.user("Pay Ada")
        session.tool_call("send_money", {"to": "Ada"})
        assert (shield.usage.saved, session.state.usage.saved) == (1, 1)
        assert shield.usage.fallbacks == 0
    with pytest.raises(ConfigError, match="^llm: Only the judge"):
        Shield(TableJudge())
