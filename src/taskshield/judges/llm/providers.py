"""The judges "openai:MODEL" and "anthropic:MODEL", for the entry points.

A client is imported only when it is used: the SDKs are large and optional.
"""

from typing import Protocol

from taskshield.core.chat import ChatClient
from taskshield.core.errors import ConfigError
from taskshield.core.judge_options import JudgeOptions
from taskshield.judges.llm.judge import LLMJudge


class _ClientFactory(Protocol):
    def __call__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        timeout_s: float,
        retries: int,
    ) -> ChatClient: ...


def openai(options: JudgeOptions) -> LLMJudge:
    """A judge over an OpenAI-compatible endpoint."""
    from taskshield.clients.openai import OpenAIClient

    return _judge(OpenAIClient, options)


def anthropic(options: JudgeOptions) -> LLMJudge:
    """A judge over Anthropic's Messages API."""
    from taskshield.clients.anthropic import AnthropicClient

    return _judge(AnthropicClient, options)


def _judge(client: _ClientFactory, options: JudgeOptions) -> LLMJudge:
    if not options.model:
        raise ConfigError(
            "judge: The model is missing. Name it after the colon, as in openai:gpt-4o-mini."
        )
    return LLMJudge(
        client(
            model=options.model,
            base_url=options.base_url,
            api_key=options.api_key,
            timeout_s=options.timeout_s,
            retries=options.retries,
        ),
        scheme=options.scheme,
        max_check_tokens=options.max_check_tokens,
        max_answer_tokens=options.max_answer_tokens,
        prompt_history_tokens=options.prompt_history_tokens,
    )
