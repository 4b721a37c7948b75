"""The judges "openai:MODEL" and "anthropic:MODEL", as entry points load them."""

from taskshield.core.chat import ChatClient
from taskshield.core.errors import ConfigError
from taskshield.core.options import JudgeOptions
from taskshield.judges.llm.judge import LLMJudge


def openai(options: JudgeOptions) -> LLMJudge:
    """A judge over an OpenAI-compatible endpoint."""
    _need_model("openai", options)
    from taskshield.clients.openai import OpenAIClient  # the SDK is heavy and optional

    return _judge(
        OpenAIClient(
            model=options.model,
            base_url=options.base_url,
            api_key=options.api_key,
            timeout_s=options.timeout_s,
            retries=options.retries,
        ),
        options,
    )


def anthropic(options: JudgeOptions) -> LLMJudge:
    """A judge over Anthropic's Messages API."""
    _need_model("anthropic", options)
    from taskshield.clients.anthropic import AnthropicClient  # the SDK is heavy and optional

    return _judge(
        AnthropicClient(
            model=options.model,
            base_url=options.base_url,
            api_key=options.api_key,
            timeout_s=options.timeout_s,
            retries=options.retries,
        ),
        options,
    )


def _need_model(kind: str, options: JudgeOptions) -> None:
    if not options.model:
        raise ConfigError(f'judge: a model is needed, e.g. "{kind}:MODEL"')


def _judge(client: ChatClient, options: JudgeOptions) -> LLMJudge:
    return LLMJudge(
        client,
        scheme=options.scheme,
        max_check_tokens=options.max_check_tokens,
        max_answer_tokens=options.max_answer_tokens,
    )
