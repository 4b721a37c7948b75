"""From settings to a judge. The one place that picks implementations."""

from collections.abc import Callable
from importlib.metadata import entry_points

from taskshield.core.errors import ConfigError, TaskShieldError
from taskshield.core.judge import Judge
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.provenance import ValueTracer
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.cascade import CascadeJudge
from taskshield.judges.llm.judge import LLMJudge
from taskshield.judges.timeout import TimedJudge
from taskshield.settings import Settings

JUDGES = "taskshield.judges"
"""Entry-point group of judges. Built-ins and plugins register in the same way."""
CASCADE = "cascade"
"""The judge that is made of two others, and so has no entry point."""
EMBEDDED = "embedded"

JudgeFactory = Callable[[JudgeOptions], Judge]


def build_judge(settings: Settings) -> Judge:
    """The judge that the settings name, with timeout, budget and cache around it.

    Raises:
        ConfigError: The judge is unknown, cannot be loaded, or cannot do what the policy asks for.
    """
    kind = settings.judge.partition(":")[0]
    if kind in (EMBEDDED, CASCADE) and settings.policy.objectives == "on":
        raise ConfigError(
            f"policy.objectives: the judge {kind!r} reads no objectives from a system message;"
            ' choose another judge, or "auto" or "off"'
        )
    if kind == CASCADE:
        return _cascade(settings)
    _without_llm(settings)
    judge = _made("judge", settings.judge, settings)
    if kind == EMBEDDED:  # it costs nothing, and remembers by itself what it has read
        return TimedJudge(judge, seconds=settings.timeout_s)
    return wrapped(judge, settings)


def build_value_tracer() -> ValueTracer:
    """What traces the values of a stored conversation's calls, whichever judge decided."""
    # Not at the top: `import taskshield` comes through here, and the CLI and hooks need no tracer.
    from taskshield.judges.embedded.evidence.value_tracer import EmbeddedValueTracer

    return EmbeddedValueTracer()


def adopt_judge(judge: Judge, settings: Settings) -> Judge:
    """A judge of the caller's own, with timeout, budget and cache around it.

    Raises:
        ConfigError: The settings are for another judge.
    """
    _without_llm(settings)
    return wrapped(judge, settings)


def judge_factory(kind: str, *, key: str = "judge") -> JudgeFactory:
    """The factory registered under this name. An unknown or broken one raises."""
    found = {entry.name: entry for entry in entry_points(group=JUDGES)}
    if kind not in found:
        known = ", ".join(sorted(found if key == "llm" else {*found, CASCADE}))
        raise ConfigError(f"{key}: {kind!r} is not a known judge; there are: {known}")
    try:
        factory: JudgeFactory = found[kind].load()
    except TaskShieldError:
        raise
    except Exception as error:
        raise ConfigError(f"{key}: {kind!r} cannot be loaded: {type(error).__name__}") from error
    return factory


def wrapped(judge: Judge, settings: Settings) -> Judge:
    """The judge with its time and spending bounded and its answers remembered."""
    looked_at = judge.prompt_history_tokens if isinstance(judge, LLMJudge) else None
    judge = TimedJudge(judge, seconds=settings.timeout_s)
    if settings.budget_calls is not None or settings.budget_tokens is not None:
        judge = BudgetJudge(judge, calls=settings.budget_calls, tokens=settings.budget_tokens)
    if settings.cache_entries:
        judge = CachedJudge(judge, entries=settings.cache_entries, history_tokens=looked_at)
    return judge


def _cascade(settings: Settings) -> Judge:
    """The embedded judge before an LLM. Only what costs money has a budget and a cache."""
    if settings.llm is None:
        raise ConfigError(
            f"llm: the judge {CASCADE!r} needs one, e.g. openai:gpt-4o-mini, as the argument llm,"
            " with --llm on the command line, in TASKSHIELD_LLM or in the settings file"
        )
    return CascadeJudge(
        _made("judge", settings.judge.replace(CASCADE, EMBEDDED, 1), settings),
        wrapped(_made("llm", settings.llm, settings), settings),
        settings.cascade.to_options(),
        epsilon=settings.policy.epsilon,
    )


def _without_llm(settings: Settings) -> None:
    if settings.llm is not None:
        raise ConfigError(f"llm: only the judge {CASCADE!r} asks one; it is not the judge here")


def _made(key: str, name: str, settings: Settings) -> Judge:
    """The judge that the setting `key` names."""
    kind, _, model = name.partition(":")
    return judge_factory(kind, key=key)(_options(model, settings))


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
        prompt_history_tokens=settings.prompt_history_tokens,
    )
