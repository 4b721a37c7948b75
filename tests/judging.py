"""A judge for tests of the engine: answers from functions, without any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Contradiction,
    Score,
    TaskAssessment,
    TaskDraft,
    Trace,
)
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from taskshield.core.usage import Usage
from taskshield.judges.llm.model_answers import locate


@dataclass(kw_only=True)
class TableJudge:
    """By default a user message is one task, no text holds a directive and all calls score 1."""

    name: str = "table"
    drafts: Callable[[str], Sequence[TaskDraft]] = lambda text: [TaskDraft(text=text)]
    objectives: Sequence[str] = ()
    directives: Callable[[str], Sequence[str]] = lambda text: ()
    score: Callable[[str, str], float] = lambda instruction, task: 1.0
    taint: Callable[[str, str], float] = lambda instruction, tainted: 0.0
    rules_out: Callable[[str, SessionView], Sequence[Contradiction]] = lambda instruction, view: ()
    error: Exception | None = None
    """Raised instead of any answer."""
    epsilon: float = 0.0
    seen: list[Message] = field(default_factory=list)
    views: list[SessionView] = field(default_factory=list)
    closed: bool = False

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        self._look(message, view)
        of_user = message.level is Level.USER
        objectives = self.objectives if view.unread_system or not of_user else ()
        return TaskAssessment(
            tasks=tuple(self.drafts(message.text)) if of_user else (),
            objectives=tuple(TaskDraft(text=text) for text in objectives),
            trace=self._trace(),
        )

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        self._look(message, view)
        found = [
            self._assessed(text, view, message=message) for text in self.directives(message.text)
        ]
        calls = [
            self._assessed(call.describe(), view, call_id=call.id) for call in message.tool_calls
        ]
        return Assessment(items=(*found, *calls), trace=self._trace())

    async def aclose(self) -> None:
        self.closed = True

    def _look(self, message: Message, view: SessionView) -> None:
        self.seen.append(message)
        self.views.append(view)
        if self.error is not None:
            raise self.error

    def _assessed(
        self,
        text: str,
        view: SessionView,
        *,
        message: Message | None = None,
        call_id: str | None = None,
    ) -> AssessedInstruction:
        return AssessedInstruction(
            text=text,
            span=None if message is None else locate(text, message.text),
            call_id=call_id,
            scores=tuple(_score(task.id, self.score(text, task.text)) for task in view.tasks),
            objective_scores=tuple(
                _score(goal.id, self.score(text, goal.text)) for goal in view.objectives
            ),
            taint_scores=tuple(
                _score(item.id, self.taint(text, item.instruction.text)) for item in view.tainted
            ),
            epsilon=self.epsilon,
            contradictions=tuple(self.rules_out(text, view)),
        )

    def _trace(self) -> Trace:
        return Trace(judge=self.name, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5))


def _score(target: str, value: float) -> Score:
    return Score(target=target, value=value, reason=f"{value:g} for {target}")
