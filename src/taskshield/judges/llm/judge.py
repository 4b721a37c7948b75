"""The LLM judge: extraction and scoring of a whole message in one call."""

from dataclasses import replace
from typing import assert_never

from taskshield.core.assessments import AssessedInstruction, Assessment, TaskAssessment, Trace
from taskshield.core.chat import ChatClient
from taskshield.core.history import recent
from taskshield.core.judge import SessionView
from taskshield.core.judge_options import Scheme
from taskshield.core.messages import Message
from taskshield.judges.llm.model_requests import CheckRequests
from taskshield.judges.llm.questions import instructions_question, scores_question, tasks_question
from taskshield.judges.llm.render import Item, call_item, instruction_item


class LLMJudge:
    """A judge over any chat model."""

    def __init__(
        self,
        client: ChatClient,
        *,
        scheme: Scheme = "batched",
        max_check_tokens: int = 32_000,
        max_answer_tokens: int = 4_000,
        prompt_history_tokens: int = 4_000,
    ) -> None:
        """Make a judge.

        Args:
            client: The model. The judge closes it.
            scheme: One request for each message, or, as in the paper, one for each instruction.
            max_check_tokens: Most tokens of a check, prompts and answers; more is an outage.
            max_answer_tokens: Most tokens of an answer.
            prompt_history_tokens: How much of the history the model gets, in addition to the
                user's messages.
        """
        self._client = client
        self._scheme = scheme
        self._max_check_tokens = max_check_tokens
        self._max_answer_tokens = max_answer_tokens
        self._prompt_history_tokens = prompt_history_tokens

    @property
    def name(self) -> str:
        """The client's name."""
        return self._client.name

    @property
    def prompt_history_tokens(self) -> int:
        """How much of the history the judge reads, in addition to the user's messages."""
        return self._prompt_history_tokens

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """Read tasks and objectives of a user message, a system message or both, in one call."""
        requests = self._requests()
        answer = await requests.ask(tasks_question(message, view))
        return TaskAssessment(
            tasks=answer.tasks,
            objectives=answer.objectives,
            trace=self._trace(requests),
        )

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """Find and score the instructions of an assistant or tool message."""
        view = replace(view, history=recent(view.history, self._prompt_history_tokens))
        calls = [call_item(call, view.tools) for call in message.tool_calls]
        text = message if message.text.strip() else None
        requests = self._requests()
        match self._scheme:
            case "batched":
                items = await requests.ask(scores_question(view, text=text, items=calls))
            case "per_instruction":
                items = await _one_by_one(requests, view, text=text, calls=calls)
            case _ as unreachable:
                assert_never(unreachable)
        return Assessment(items=items, trace=self._trace(requests))

    def _requests(self) -> CheckRequests:
        return CheckRequests(
            self._client,
            max_tokens=self._max_check_tokens,
            max_answer_tokens=self._max_answer_tokens,
        )

    def _trace(self, requests: CheckRequests) -> Trace:
        return Trace(judge=self.name, prompt=" ".join(requests.prompts), usage=requests.usage)


async def _one_by_one(
    requests: CheckRequests, view: SessionView, *, text: Message | None, calls: list[Item]
) -> tuple[AssessedInstruction, ...]:
    """The paper's scheme: find the instructions, then judge each with its own request."""
    found = () if text is None else await requests.ask(instructions_question(text, view))
    scored: list[AssessedInstruction] = []
    for number, item in enumerate(found):
        numbered = instruction_item(number, item.text, view.answered)
        (answer,) = await requests.ask(scores_question(view, items=[numbered]))
        scored.append(replace(answer, span=item.span, call_id=None))
    for call in calls:
        (answer,) = await requests.ask(scores_question(view, items=[call]))
        scored.append(answer)
    return tuple(scored)
