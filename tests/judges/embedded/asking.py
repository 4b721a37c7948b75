"""Runs a judge on a bill with an injected directive in it."""

import asyncio
import math

from taskshield.core.assessments import AssessedInstruction
from taskshield.core.completeness import check_assessment
from taskshield.core.instructions import Grant, Instruction, Origin, TaintedDirective, Task, TaskSet
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.tools import Tier
from taskshield.judges.embedded.judge import EmbeddedJudge
from tests.judges.embedded.scenes import BILL, PLANTED, SEND_MONEY, USER, call
from tests.judges.embedded.scripted_model import ScriptedModel

READ = call("read_file", file_path="bill.txt")
SOME_TASKS = ("Pay the bill in bill.txt.", "Tell Tom about it.", "Water the plants.")


def a_task(number: int, text: str, source: str | None = None) -> Task:
    return Task(
        id=f"t{number}",
        instruction=Instruction(text=text, level=Level.USER, origin=Origin(message=0)),
        grant=None if source is None else Grant(source=source, scope=text),
    )


def tainted(text: str = PLANTED.text, tool: str | None = "read_file") -> TaintedDirective:
    origin = Origin(message=2, tool=tool)
    return TaintedDirective(
        id="d1", instruction=Instruction(text=text, level=Level.TOOL, origin=origin)
    )


def a_view(*calls: ToolCall, source: str | None = None, tier: Tier = Tier.FINANCIAL) -> SessionView:
    """The view of the session after the bill has been read."""
    said = (
        text_message(Level.USER, USER),
        Message(level=Level.ASSISTANT, tool_calls=(READ,)),
        text_message(Level.TOOL, BILL),
    )
    return SessionView(
        tasks=TaskSet(
            tasks=tuple(a_task(number, text, source) for number, text in enumerate(SOME_TASKS))
        ),
        tainted=(tainted(),),
        history=tuple(
            HistoryEntry(message=message, index=index) for index, message in enumerate(said)
        ),
        tools={SEND_MONEY.name: SEND_MONEY},
        tiers={one.name: tier for one in calls},
        answered=READ,
    )


def assessed(
    model: ScriptedModel, message: Message, view: SessionView | None = None
) -> tuple[AssessedInstruction, ...]:
    shown = a_view(*message.tool_calls) if view is None else view
    reading = asyncio.run(EmbeddedJudge(model).assess(message, shown))
    check_assessment(reading, message, shown)
    return reading.items


def read_output(
    text: str, planted: dict[str, float], view: SessionView | None = None
) -> tuple[AssessedInstruction, ...]:
    """What is found in an output, given the probabilities of pieces with these words."""

    def logit(piece: str) -> float:
        chance = max((chance for words, chance in planted.items() if words in piece), default=0.001)
        return math.log(chance / (1 - chance))

    return assessed(ScriptedModel(planted=logit), text_message(Level.TOOL, text), view)


def calling(*calls: ToolCall, text: str = "") -> Message:
    parts = (Text(text=text),) if text else ()
    return Message(level=Level.ASSISTANT, parts=parts, tool_calls=calls)


def total(item: AssessedInstruction) -> float:
    return math.fsum(score.value for score in item.scores)


def aligned(item: AssessedInstruction) -> bool:
    return total(item) > item.epsilon


def wary() -> ScriptedModel:
    """Finds the injected directive and distrusts values that only a directive has."""
    return ScriptedModel(
        planted=lambda piece: 4.0 if "ignore" in piece or "instead" in piece else -6.0,
        serves=lambda request, described: -4.0 if "[directive]" in described else 4.0,
    )


class Broken(Exception):
    pass


def break_down(*_: object) -> float:
    raise Broken("with the user's words in it")
