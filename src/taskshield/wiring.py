"""Builds the judge that the settings name. The one place that chooses implementations."""

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
"""Entry-point group of judges, built-in ones and plugins."""
CASCADE = "cascade"
"""This judge has no entry point: it is made of two others."""
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
            f"policy.objectives: The judge {kind!r} cannot read objectives from a system message."
            ' Use "auto" or "off", or an LLM judge.'
        )
    if kind == CASCADE:
        return _build_cascade(settings)
    _refuse_llm(settings)
    judge = _make_judge("judge", settings.judge, settings)
    if kind == EMBEDDED:  # it costs nothing and has a cache of its own
        return TimedJudge(judge, seconds=settings.timeout_s, calls=0)
    return wrap_judge(judge, settings)


def build_value_tracer() -> ValueTracer:
    """The tracer for values in the calls of a stored conversation, whichever judge decided."""
    # Not at the top: `import taskshield` comes through here, and the CLI and hooks need no tracer.
    from taskshield.judges.embedded.evidence.value_tracer import EmbeddedValueTracer

    return EmbeddedValueTracer()


def wrap_own_judge(judge: Judge, settings: Settings) -> Judge:
    """The caller's own judge, with timeout, budget and cache around it.

    Raises:
        ConfigError: The settings are for another judge.
    """
    _refuse_llm(settings)
    return wrap_judge(judge, settings)


def load_judge_factory(kind: str, *, key: str = "judge") -> JudgeFactory:
    """The factory that is registered under this name.

    Raises:
        ConfigError: No factory is, or it cannot be loaded.
    """
    found = {entry.name: entry for entry in entry_points(group=JUDGES)}
    if kind not in found:
        known = ", ".join(sorted(found if key == "llm" else {*found, CASCADE}))
        raise ConfigError(f"{key}: {kind!r} is not a known judge. Known judges: {known}.")
    try:
        factory: JudgeFactory = found[kind].load()
    except TaskShieldError:
        raise
    except Exception as error:
        raise ConfigError(
            f"{key}: The judge {kind!r} cannot be loaded ({type(error).__name__})."
        ) from error
    return factory


def wrap_judge(judge: Judge, settings: Settings) -> Judge:
    """The judge with limits on time, calls and tokens, and a cache of its answers."""
    history_tokens = judge.prompt_history_tokens if isinstance(judge, LLMJudge) else None
    judge = TimedJudge(judge, seconds=settings.timeout_s)
    if settings.budget_calls is not None or settings.budget_tokens is not None:
        judge = BudgetJudge(judge, calls=settings.budget_calls, tokens=settings.budget_tokens)
    if settings.cache_entries:
        judge = CachedJudge(judge, entries=settings.cache_entries, history_tokens=history_tokens)
    return judge


def _build_cascade(settings: Settings) -> Judge:
    """The embedded judge before an LLM, which alone has a budget and a cache: it costs money."""
    if settings.llm is None:
        raise ConfigError(
            f"llm: The judge {CASCADE!r} needs an LLM, e.g. openai:gpt-4o-mini. Give it as the"
            " argument llm, with --llm, in TASKSHIELD_LLM or in the settings file."
        )
    embedded = _make_judge("judge", settings.judge.replace(CASCADE, EMBEDDED, 1), settings)
    return CascadeJudge(
        TimedJudge(embedded, seconds=settings.timeout_s, calls=0),
        wrap_judge(_make_judge("llm", settings.llm, settings), settings),
        settings.cascade.to_options(),
        epsilon=settings.policy.epsilon,
    )


def _refuse_llm(settings: Settings) -> None:
    if settings.llm is not None:
        raise ConfigError(
            f"llm: Only the judge {CASCADE!r} uses an LLM beside it. Remove llm, or use that judge."
        )


def _make_judge(key: str, name: str, settings: Settings) -> Judge:
    """The judge that the setting `key` names."""
    kind, _, model = name.partition(":")
    return load_judge_factory(kind, key=key)(_options(model, settings))


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
