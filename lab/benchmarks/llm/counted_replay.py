"""Replays conversations through a real session and counts the requests to the model."""

from collections.abc import Iterable
from dataclasses import dataclass

import rule_based_model

from taskshield import AsyncSession, AsyncShield, Level, Message
from taskshield.clients.scripted import ScriptedClient
from taskshield.core.chat import ChatRequest
from taskshield.core.decisions import Check
from taskshield.core.judge_options import Scheme
from taskshield.core.usage import NO_USAGE, Usage, estimate_tokens
from taskshield.judges.llm.judge import LLMJudge

_NO_LIMIT = 100_000_000
"""Tokens for one check. With the default, long checks of the paper's scheme would fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A recorded or made-up conversation."""

    system: str = ""
    messages: tuple[Message, ...]
    """All messages but the system message, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one message."""

    level: Level
    check: Check
    usage: Usage
    characters: int
    """Characters of the prompts."""
    text: bool
    """Whether the message has any text."""
    calls: int
    """Tool calls in the message."""
    instructions: int
    """Tool calls, and instructions in its text."""


async def replay(
    runs: Iterable[Transcript], *, scheme: Scheme = "batched", cache_entries: int = 0
) -> list[Cost]:
    """The cost of every message of these runs, all under one shield."""
    client = ScriptedClient(rule_based_model.answer)
    judge = LLMJudge(client, scheme=scheme, max_check_tokens=_NO_LIMIT)
    costs = []
    async with AsyncShield(judge, cache_entries=cache_entries) as shield:
        for run in runs:
            session = shield.session(system=run.system)
            costs += [await _cost(session, message, client) for message in run.messages]
    return costs


async def _cost(session: AsyncSession, message: Message, client: ScriptedClient) -> Cost:
    client.requests.clear()
    decision = await session.add(message)
    return Cost(
        level=message.level,
        check=decision.check,
        usage=_usage(client.requests),
        characters=sum(len(text) for request in client.requests for text in _texts(request)),
        text=bool(message.text.strip()),
        calls=len(message.tool_calls),
        instructions=len(decision.findings),
    )


def _texts(request: ChatRequest) -> list[str]:
    return [request.system, *(turn.text for turn in request.turns)]


def _usage(requests: list[ChatRequest]) -> Usage:
    used = NO_USAGE
    for request in requests:
        tokens = sum(estimate_tokens(text) for text in _texts(request))
        used += Usage(calls=1, prompt_tokens=tokens)
    return used
