"""Live agents as AgentDojo pipelines: a model at an endpoint, with a shield or a defence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
from agentdojo.agent_pipeline import AgentPipeline
from agentdojo.agent_pipeline.agent_pipeline import DEFENSES, PipelineConfig

from taskshield.api.shields import Shield
from taskshield.clients.endpoint import check_base_url, resolve_key
from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo.pipeline_elements import guarded_pipeline
from taskshield_lab.bench.records import NO_DEFENCE
from taskshield_lab.bench.run.anthropic_agent import AnthropicAgentModel
from taskshield_lab.bench.run.openai_agent import OpenAIAgentModel

Model = Any
Pipeline = Any
"""AgentDojo has no type hints that a checker could read."""

DEFENCES = (NO_DEFENCE, *DEFENSES)
"""No defence, and the defences that come with AgentDojo."""
_DETECTOR = "transformers_pi_detector"
_FILTER = "tool_filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A live agent. Its key comes from the environment only."""

    model: str
    """Provider and model: "openai:MODEL" or "anthropic:MODEL"."""
    base_url: str | None = None
    """Address of a compatible endpoint. None takes the provider's."""
    defence: str = NO_DEFENCE
    """One of AgentDojo's defences, or "none"."""
    timeout_s: float = 120.0
    """Time limit for each read or write, in seconds."""
    retries: int = 2
    """Retries after 429, 5xx, a timeout or a broken connection."""


def build_pipeline(agent: Agent, shield: Shield | None = None) -> Pipeline:
    """The agent with its defence, or guarded by a shield. Nothing is sent yet.

    Raises:
        ConfigError: A name is unknown, a key is missing, or the options exclude each other.
    """
    check_agent(agent, guarded=shield is not None)
    model = _model(agent)
    return _baseline(model, agent.defence) if shield is None else guarded_pipeline(model, shield)


def check_agent(agent: Agent, *, guarded: bool) -> None:
    """Check the options of an agent without building its pipeline.

    Raises:
        ConfigError: A name is unknown, or the options exclude each other.
    """
    if agent.defence not in DEFENCES:
        there = ", ".join(DEFENCES)
        raise ConfigError(f"The defence {agent.defence!r} does not exist. Choose one of: {there}.")
    if agent.defence != NO_DEFENCE and guarded:
        raise ConfigError(
            f"The defence {agent.defence!r} and a shield cannot guard the same agent. Choose one."
        )


def _model(agent: Agent) -> Model:
    provider, colon, name = agent.model.partition(":")
    if provider not in _PROVIDERS or not colon or not name:
        there = ", ".join(f'"{each}:MODEL"' for each in _PROVIDERS)
        raise ConfigError(f"The agent {agent.model!r} does not exist. Choose one of: {there}.")
    check_base_url(agent.base_url)
    return _PROVIDERS[provider](agent, name)


def _openai(agent: Agent, name: str) -> Model:
    variable = "OPENAI_API_KEY"
    sdk = openai.OpenAI(
        api_key=resolve_key(None, base_url=agent.base_url, variable=variable),
        base_url=agent.base_url,
        timeout=agent.timeout_s,
        max_retries=agent.retries,
    )
    return OpenAIAgentModel(sdk, name, variable=variable)


def _anthropic(agent: Agent, name: str) -> Model:
    variable = "ANTHROPIC_API_KEY"
    sdk = anthropic.Anthropic(
        api_key=resolve_key(None, base_url=agent.base_url, variable=variable),
        base_url=agent.base_url,
        timeout=agent.timeout_s,
        max_retries=agent.retries,
    )
    return AnthropicAgentModel(sdk, name, variable=variable)


_PROVIDERS: Mapping[str, Callable[[Agent, str], Model]] = {
    "openai": _openai,
    "anthropic": _anthropic,
}


def _baseline(model: Model, defence: str) -> Pipeline:
    """AgentDojo's own pipeline, with its defence or none."""
    if defence == _FILTER and not isinstance(model, OpenAIAgentModel):
        raise ConfigError(f'The defence {defence!r} works with "openai:MODEL" only.')
    config = PipelineConfig(
        llm=model,
        model_id=None,
        defense=None if defence == NO_DEFENCE else defence,
        system_message_name=None,
        system_message=None,
    )
    if defence == _DETECTOR:
        return _with_detector(config)
    return AgentPipeline.from_config(config)


def _with_detector(config: PipelineConfig) -> Pipeline:
    """With the detector, a model that is downloaded from a hub when the pipeline is built."""
    try:
        return AgentPipeline.from_config(config)
    except ImportError as error:
        raise ConfigError(
            f"The defence {_DETECTOR!r} needs the packages transformers and torch."
            " Run: pip install 'agentdojo[transformers]'"
        ) from error
    except (OSError, ValueError) as error:  # as transformers reports what it cannot load
        raise ConfigError(
            f"The defence {_DETECTOR!r} needs weights that are not available here:"
            " protectai/deberta-v3-base-prompt-injection-v2, from Hugging Face or its cache."
        ) from error
