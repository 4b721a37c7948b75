"""From settings to a judge. The one place that picks implementations."""

from collections.abc import Callable
from importlib.metadata import entry_points

from taskshield.core.errors import ConfigError, TaskShieldError
from taskshield.core.judge import Judge
from taskshield.core.options import JudgeOptions
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.timeout import TimedJudge
from taskshield.settings import Settings

JUDGES = "taskshield.judges"
"""Entry-point group of judges. Built-ins and plugins register in the same way."""

JudgeFactory = Callable[[JudgeOptions], Judge]


def build_judge(settings: Settings) -> Judge:
    """The judge that the settings name, with timeout, budget and cache around it.

    Raises:
        ConfigError: No judge is named, it is unknown, or it cannot be loaded.
    """
    if settings.judge is None:
        raise ConfigError(
            "judge: none is set; name one, e.g. openai:gpt-4o-mini, as the argument judge, with"
            " --judge on the command line, in TASKSHIELD_JUDGE or in the settings file"
        )
    kind, _, model = settings.judge.partition(":")
    return wrapped(judge_factory(kind)(_options(model, settings)), settings)


def judge_factory(kind: str) -> JudgeFactory:
    """The factory registered under this name. An unknown or broken one raises."""
    found = {entry.name: entry for entry in entry_points(group=JUDGES)}
    if kind not in found:
        known = ", ".join(sorted(found))
        raise ConfigError(f"judge: {kind!r} is not a known judge; there are: {known}")
    try:
        factory: JudgeFactory = found[kind].load()
    except TaskShieldError:
        raise
    except Exception as error:
        raise ConfigError(f"judge: {kind!r} cannot be loaded: {type(error).__name__}") from error
    return factory


def wrapped(judge: Judge, settings: Settings) -> Judge:
    """The judge with its time and spending bounded and its answers remembered."""
    judge = TimedJudge(judge, seconds=settings.timeout_s)
    if settings.budget_calls is not None or settings.budget_tokens is not None:
        judge = BudgetJudge(judge, calls=settings.budget_calls, tokens=settings.budget_tokens)
    if settings.cache_entries:
        judge = CachedJudge(judge, entries=settings.cache_entries)
    return judge


def _options(model: str, settings: Settings) -> JudgeOptions:
    key = settings.api_key
    return JudgeOptions(
        model=model,
        base_url=settings.base_url,
        api_key=None if key is None else key.get_secret_value(),
        timeout_s=settings.request_timeout_s,
        retries=settings.retries,
        scheme=settings.scheme,
        max_check_tokens=settings.max_check_tokens,
        max_answer_tokens=settings.max_answer_tokens,
    )
