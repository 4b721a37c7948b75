"""The questions of the LLM judge, each with a function that reads the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from taskshield.core.assessments import AssessedInstruction, Contradiction, TaskDraft
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from taskshield.judges.llm.fence import Fence
from taskshield.judges.llm.model_answers import (
    AnswerError,
    ContradictionEntry,
    FoundEntry,
    ItemEntry,
    JudgeAnswer,
    TaskEntry,
    TasksAnswer,
    judge_schema,
    locate,
    required,
    scores_for,
    tasks_schema,
)
from taskshield.judges.llm.model_requests import Question
from taskshield.judges.llm.prompt_files import prompt
from taskshield.judges.llm.render import Item, scores_request, tasks_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Goals:
    """Tasks of a user message and objectives of a system message."""

    tasks: tuple[TaskDraft, ...] = ()
    objectives: tuple[TaskDraft, ...] = ()


def tasks_question(message: Message, view: SessionView) -> Question[TasksAnswer, Goals]:
    """Which tasks are in this user message, and which objectives in the system message?"""
    of_user = message.level is Level.USER
    system = view.unread_system if of_user else message.text

    def read(answer: TasksAnswer, fence: Fence) -> Goals:
        tasks = required(answer.tasks, "tasks") if of_user else []
        objectives = required(answer.objectives, "objectives") if system else []
        return Goals(
            tasks=tuple(_draft(entry, message.text) for entry in tasks),
            objectives=tuple(_draft(entry, system) for entry in objectives),
        )

    return Question(
        name="task_instructions",
        prompt=prompt(*(["tasks"] if of_user else []), *(["objectives"] if system else [])),
        schema=tasks_schema(tasks=of_user, objectives=bool(system)),
        text=lambda fence: tasks_request(message, view, fence),
        answer=TasksAnswer,
        read=read,
    )


def scores_question(
    view: SessionView, *, text: Message | None = None, items: Sequence[Item] = ()
) -> Question[JudgeAnswer, tuple[AssessedInstruction, ...]]:
    """Which instructions are in this text, and how do they and these items serve the targets?"""
    parts = [
        *(["instructions"] if text is not None else []),
        *(["tool_calls"] if items else []),
        "scoring",
    ]

    def read(answer: JudgeAnswer, fence: Fence) -> tuple[AssessedInstruction, ...]:
        entries = required(answer.items, "items") if items else []
        by_id = {fence.id_of(entry.item): entry for entry in entries}
        if len(entries) != len(items) or by_id.keys() != {item.id for item in items}:
            raise AnswerError("`items` must hold each given item exactly once, by its label")
        found = [] if text is None else _found(answer, text, view, fence)
        scored = [
            _assessed(item.line, by_id[item.id], view, fence, call_id=item.key) for item in items
        ]
        return (*found, *scored)

    return Question(
        name="verdict",
        prompt=prompt(*parts),
        schema=judge_schema(text=text is not None, items=bool(items)),
        text=lambda fence: scores_request(view, fence, text=text, items=items),
        answer=JudgeAnswer,
        read=read,
    )


def instructions_question(
    text: Message, view: SessionView
) -> Question[JudgeAnswer, tuple[AssessedInstruction, ...]]:
    """Which instructions are in this text? The result has no scores."""

    def read(answer: JudgeAnswer, fence: Fence) -> tuple[AssessedInstruction, ...]:
        return tuple(
            AssessedInstruction(
                text=entry.instruction, span=locate(entry.quote, text.text), scores=()
            )
            for entry in required(answer.found, "found")
        )

    return Question(
        name="instructions",
        prompt=prompt("instructions", "extraction"),
        schema=judge_schema(text=True, items=False, scored=False),
        text=lambda fence: scores_request(view, fence, text=text, scored=False),
        answer=JudgeAnswer,
        read=read,
    )


def _draft(entry: TaskEntry, text: str) -> TaskDraft:
    return TaskDraft(
        text=entry.instruction,
        span=locate(entry.quote, text),
        source=entry.source,
        scope=entry.scope,
    )


def _found(
    answer: JudgeAnswer, text: Message, view: SessionView, fence: Fence
) -> list[AssessedInstruction]:
    return [
        replace(
            _assessed(entry.instruction, entry, view, fence),
            span=locate(entry.quote, text.text),
        )
        for entry in required(answer.found, "found")
    ]


def _assessed(
    text: str,
    entry: ItemEntry | FoundEntry,
    view: SessionView,
    fence: Fence,
    *,
    call_id: str | None = None,
) -> AssessedInstruction:
    tasks = [task.id for task in view.tasks]
    objectives = [objective.id for objective in view.objectives]
    tainted = [directive.id for directive in view.tainted]
    entries = entry.scores
    return AssessedInstruction(
        text=text,
        call_id=call_id,
        scores=scores_for(entries, tasks, fence, all_of_them=True),
        objective_scores=scores_for(entries, objectives, fence, all_of_them=True),
        taint_scores=scores_for(entries, tainted, fence, all_of_them=False),
        contradictions=_contradictions(
            required(entry.contradictions, "contradictions"), view, fence
        ),
    )


def _contradictions(
    entries: Sequence[ContradictionEntry], view: SessionView, fence: Fence
) -> tuple[Contradiction, ...]:
    """The contradictions whose words stand where they must; made-up words rule nothing out."""
    turns = (turn.message for turn in view.history if turn.message.level is Level.USER)
    said = [message.text for message in turns]
    words = {task.id: "\n".join([task.text, *said]) for task in view.tasks}
    words.update((goal.id, goal.text) for goal in view.objectives)
    found: list[Contradiction] = []
    for entry in entries:
        target = fence.id_of(entry.target)
        if target not in words:
            raise AnswerError("a contradiction names a target that is no task and no objective")
        if locate(entry.said.casefold(), words[target].casefold()) is not None:
            found.append(
                Contradiction(target=target, kind=entry.kind, said=entry.said, does=entry.does)
            )
    return tuple(found)
