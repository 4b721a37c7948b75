"""Requests to a model for a verdict: with a budget, and with one retry after an unusable answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, assert_never

from pydantic import BaseModel

from taskshield.core.chat import ChatClient, ChatReply, ChatRequest, ChatTurn
from taskshield.core.errors import (
    JudgeOutputInvalid,
    JudgeOverwhelmed,
    JudgeTimeout,
    JudgeUnavailable,
    UpstreamError,
)
from taskshield.core.usage import NO_USAGE, Usage, estimate_tokens
from taskshield.judges.llm.fence import Fence
from taskshield.judges.llm.model_answers import AnswerError, parse
from taskshield.judges.llm.prompt_files import Prompt

_ATTEMPTS = 2

Answer = TypeVar("Answer", bound=BaseModel)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[Answer, Result]):
    """One request: its fixed prompt, its text for a given fence, and how to read the answer."""

    name: str
    """The schema's name for the endpoint."""
    prompt: Prompt
    schema: Mapping[str, object]
    text: Callable[[Fence], str]
    answer: type[Answer]
    read: Callable[[Answer, Fence], Result]
    """Reads the answer; raises AnswerError if it is not a complete verdict."""


class CheckRequests:
    """The requests of one check. The token limit applies to all of them together."""

    def __init__(self, client: ChatClient, *, max_tokens: int, max_answer_tokens: int) -> None:
        self._client = client
        self._max_tokens = max_tokens
        self._max_answer_tokens = max_answer_tokens
        self.usage = NO_USAGE
        """The usage so far."""
        self.prompts: list[str] = []
        """Names of the prompts that were used."""

    async def ask(self, question: Question[Answer, Result]) -> Result:
        """Get the verdict. After an unusable answer, the model is asked once more.

        Raises:
            JudgeError: There was no usable answer, or the token limit is used up.
        """
        problem = ""
        for _ in range(_ATTEMPTS):
            fence = Fence()  # a new one each time: the model may have repeated the last one
            reply = await self._send(question, fence, problem)
            try:
                return question.read(_usable(reply, question.answer, fence), fence)
            except AnswerError as error:
                problem = str(error)
        if reply.finish == "length":
            raise JudgeOverwhelmed("The message has too much to judge.", usage=self.usage)
        raise JudgeOutputInvalid(f"The model gave no usable verdict: {problem}.", usage=self.usage)

    async def _send(
        self, question: Question[Answer, Result], fence: Fence, problem: str
    ) -> ChatReply:
        if question.prompt.name not in self.prompts:
            self.prompts.append(question.prompt.name)
        text = question.text(fence)
        if problem:
            text += f"\n\n# Note\nAn earlier answer could not be used: {problem}. Answer again."
        needed = estimate_tokens(question.prompt.text) + estimate_tokens(text)
        if self.usage.tokens + needed + self._max_answer_tokens > self._max_tokens:
            raise JudgeOverwhelmed(
                f"The check needs more than its limit of {self._max_tokens} tokens.",
                usage=self.usage,
            )
        request = ChatRequest(
            system=question.prompt.text,
            turns=(ChatTurn(role="user", text=text),),
            schema_name=question.name,
            schema=question.schema,
            max_tokens=self._max_answer_tokens,
        )
        try:
            reply = await self._client.complete(request)
        except UpstreamError as error:
            kind = JudgeTimeout if error.timeout else JudgeUnavailable
            raise kind(str(error), usage=self.usage) from error
        self.usage += _usage_of(reply, needed)
        return reply


def _usable(reply: ChatReply, kind: type[Answer], fence: Fence) -> Answer:
    match reply.finish:
        case "refusal":
            raise AnswerError("the model declined to answer")
        case "length":
            raise AnswerError(
                "the answer was cut off; list ten entries at most, the gravest ones, with reasons"
                " of a few words"
            )
        case "stop" | "other":
            return parse(reply.text, kind, fence)
        case _ as unreachable:
            assert_never(unreachable)


def _usage_of(reply: ChatReply, prompt_tokens: int) -> Usage:
    """The usage of a reply; an estimate if the endpoint reports none, so that limits apply."""
    usage = reply.usage
    return replace(
        usage,
        prompt_tokens=usage.prompt_tokens or prompt_tokens,
        completion_tokens=usage.completion_tokens or estimate_tokens(reply.text),
    )
