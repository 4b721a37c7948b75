"""The LLM judge: extraction and scoring of a whole message in one call."""

from dataclasses import replace
from typing import assert_never

from taskshield.core.assessments import AssessedInstruction, Assessment, TaskAssessment, Trace
from taskshield.core.chat import ChatClient
from taskshield.core.history import recent
from taskshield.core.judge import SessionView
from taskshield.core.judge_options import Scheme
from taskshield.core.messages import Message
from taskshield.judges.llm.model_requests import Asker
from taskshield.judges.llm.questions import extraction, judgement, reading_of
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
            scheme: One call a message, or the paper's one call an instruction.
            max_check_tokens: A check that would take more, prompts and answers, is an outage.
            max_answer_tokens: Limit of a single answer.
            prompt_history_tokens: How much of the past the model is shown, besides the user's
                messages.
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
        """How much of the past it looks at, besides the user's messages."""
        return self._prompt_history_tokens

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """Read a user or system message, or both at once, in one call."""
        asker = self._asker()
        goals = await asker.ask(reading_of(message, view))
        return TaskAssessment(
            tasks=goals.tasks,
            objectives=goals.objectives,
            trace=self._trace(asker),
        )

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """Find and score the instructions of an assistant or tool message."""
        view = replace(view, history=recent(view.history, self._prompt_history_tokens))
        calls = [call_item(call, view.tools) for call in message.tool_calls]
        text = message if message.text.strip() else None
        asker = self._asker()
        match self._scheme:
            case "batched":
                items = await asker.ask(judgement(view, text=text, items=calls))
            case "per_instruction":
                items = await _one_by_one(asker, view, text=text, calls=calls)
            case _ as unreachable:
                assert_never(unreachable)
        return Assessment(items=items, trace=self._trace(asker))

    def _asker(self) -> Asker:
        return Asker(
            self._client,
            max_tokens=self._max_check_tokens,
            max_answer_tokens=self._max_answer_tokens,
        )

    def _trace(self, asker: Asker) -> Trace:
        return Trace(judge=self.name, prompt=" ".join(asker.prompts), usage=asker.usage)


async def _one_by_one(
    asker: Asker, view: SessionView, *, text: Message | None, calls: list[Item]
) -> tuple[AssessedInstruction, ...]:
    """The paper's scheme: find the instructions, then ask about each on its own."""
    found = () if text is None else await asker.ask(extraction(text, view))
    scored: list[AssessedInstruction] = []
    for number, item in enumerate(found):
        given = instruction_item(number, item.text, view.answered)
        (answer,) = await asker.ask(judgement(view, items=[given]))
        scored.append(replace(answer, span=item.span, call_id=None))
    for call in calls:
        (answer,) = await asker.ask(judgement(view, items=[call]))
        scored.append(answer)
    return tuple(scored)
