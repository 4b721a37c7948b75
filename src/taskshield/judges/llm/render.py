"""Writes a session's view as the text of a request. Everything from the conversation is quoted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskshield.core.instructions import TaintedDirective
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.quotations import shorten
from taskshield.core.tools import ToolSpec
from taskshield.judges.llm.fence import Fence

_SCORE = "SCORE"
_DESCRIPTION_LENGTH = 1_000
"""Most characters of a description; the author of a tool must not fill up the request."""
_TAINTED_BYTES = 500
"""Most bytes of a tainted directive, which an attacker wrote; a session stores more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item to score: a tool call, or an instruction that was found before."""

    key: str
    """The caller's name of it. Unlike the ids of targets, it may come from the conversation."""
    kind: str
    line: str
    """The item in one line."""
    text: str
    """The item as the model gets it."""

    @property
    def id(self) -> str:
        """The id for its label; ids of targets have another format."""
        return f"item:{self.key}"


def call_item(call: ToolCall, tools: Mapping[str, ToolSpec]) -> Item:
    """A tool call as an item."""
    spec = tools.get(call.name)
    about = "(not a declared tool)" if spec is None else spec.description[:_DESCRIPTION_LENGTH]
    text = _fields(tool=call.name, said_to_do=about, arguments=call.arguments)
    return Item(key=call.id, kind="call", line=call.describe(), text=text)


def instruction_item(number: int, instruction: str, answered: ToolCall | None) -> Item:
    """An instruction as an item; it was found in the agent's text or in the output of a call."""
    place = "the agent's text" if answered is None else f"the output of {answered.describe()}"
    text = _fields(instruction=instruction, found_in=place)
    return Item(key=str(number), kind="instruction", line=instruction, text=text)


def tasks_request(message: Message, view: SessionView, fence: Fence) -> str:
    """The request to read tasks of a user message, objectives of the system message, or both."""
    system = message.text if message.level is Level.SYSTEM else view.unread_system
    earlier = [fence.quote("user", turn.message.text) for turn in view.history]
    read = [fence.quote("system", system)] if system else []
    form: dict[str, object] = {"seal": fence.seal}
    if message.level is Level.USER:
        read.append(fence.quote("user", message.text))
        form["tasks"] = [{"quote": "...", "instruction": "...", "source": None, "scope": None}]
    if system:
        form["objectives"] = [{"quote": "...", "instruction": "..."}]
    return _joined(
        _words(fence),
        _section("Earlier messages of the user", earlier),
        _section("To be read", read),
        _answer(form),
    )


def scores_request(
    view: SessionView,
    fence: Fence,
    *,
    text: Message | None = None,
    items: Sequence[Item] = (),
    scored: bool = True,
) -> str:
    """The request to judge the text of a message, given items, or both."""
    judged = [] if text is None else [_text(text, view, fence)]
    judged += [fence.quote(item.kind, item.text, fence.label(item.id)) for item in items]
    targets = [*(task.id for task in view.tasks), *(goal.id for goal in view.objectives)]
    scores = [{"target": fence.label(id), "reason": "...", "score": _SCORE} for id in targets]
    entry = {"contradictions": [], "scores": scores} if scored else {}
    form: dict[str, object] = {"seal": fence.seal}
    if text is not None:
        form["found"] = [{"quote": "...", "instruction": "...", **entry}]
    if items:
        form["items"] = [{"item": fence.label(item.id), **entry} for item in items]
    return _joined(
        _words(fence),
        _section("The user's tasks", _tasks(view, fence)),
        _section(
            "Objectives of the system message",
            [fence.quote("objective", goal.text, fence.label(goal.id)) for goal in view.objectives],
        ),
        _section(
            "Instructions found in tool output that do not serve the user",
            [
                fence.quote("tainted", _with_origin(tainted), fence.label(tainted.id))
                for tainted in view.tainted
            ],
        ),
        _section("What happened before", [_turn(turn, fence) for turn in view.history]),
        _section("To be judged", judged),
        _answer(form),
    )


def _tasks(view: SessionView, fence: Fence) -> list[str]:
    quoted = []
    for task in view.tasks:
        text = task.text
        if task.grant is not None:
            text += f"\n(grant to: {task.grant.source}; scope: {task.grant.scope})"
        quoted.append(fence.quote("task", text, fence.label(task.id)))
    return quoted


def _turn(turn: HistoryEntry, fence: Fence) -> str:
    message = turn.message
    if message.level is Level.TOOL:
        return _output(message, turn.answered, fence)
    quotes = [fence.quote(message.level.value, message.text)] if message.text else []
    for call in message.tool_calls:
        fate = "call refused" if call.id in turn.refused else "call"
        quotes.append(fence.quote(fate, call.describe()))
    return "\n".join(quotes)


def _text(message: Message, view: SessionView, fence: Fence) -> str:
    if message.level is not Level.TOOL:
        return fence.quote("assistant", message.text)
    return _output(message, view.answered, fence)


def _output(message: Message, answered: ToolCall | None, fence: Fence) -> str:
    origin = "an unknown call" if answered is None else answered.describe()
    quotes = (fence.quote("origin of the output", origin), fence.quote("output", message.text))
    return "\n".join(quotes)


def _with_origin(tainted: TaintedDirective) -> str:
    origin = tainted.instruction.origin
    place = "an unknown call" if origin.tool is None else f"{origin.tool}({origin.arguments})"
    text = shorten(tainted.instruction.text, _TAINTED_BYTES)
    return _fields(instruction=text, found_in=f"the output of {place}")


def _fields(**fields: str) -> str:
    """Texts of different origin in one quotation; as JSON, so that none can imitate another."""
    return json.dumps(fields, ensure_ascii=False)


def _words(fence: Fence) -> str:
    return f"fence: {fence.word}\nseal: {fence.seal}"


def _section(title: str, quotes: list[str]) -> str:
    return "\n".join([f"# {title}", *(quotes or ["(none)"])])


def _answer(form: Mapping[str, object]) -> str:
    """The form of the answer. Without it, models that get no schema omit fields.

    The example of a score is not a number, because a small model would copy it.
    """
    written = json.dumps(form).replace(f'"{_SCORE}"', "<0 to 1>")
    return f"# Form of the answer\n{written}"


def _joined(*parts: str) -> str:
    return "\n\n".join(parts)
