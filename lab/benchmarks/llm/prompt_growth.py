"""Measures whether prompts grow in a made-up conversation of 200 messages."""

from counted_replay import Transcript, replay

from taskshield import Level, Message, ToolCall
from taskshield.core.messages import text_message

LENGTH = 200
SHOWN = (5, 20, 100, 200)
"""All of these are tool output, so they are comparable."""


async def prompt_growth() -> dict[int, int]:
    """Prompt characters for some messages, by number from 1."""
    messages = tuple(_message(number) for number in range(1, LENGTH + 1))
    costs = await replay([Transcript(messages=messages)])
    return {number: costs[number - 1].characters for number in SHOWN}


def _message(number: int) -> Message:
    """One of five kinds in turn: a plan, a call, its output, another call, its output."""
    if number == 1:
        return text_message(Level.USER, "Go through my notes one by one and list the open points.")
    match number % 5:
        case 1:
            return text_message(Level.ASSISTANT, f"I will go on with note {number}.")
        case 2 | 4:
            call = ToolCall(
                id=f"c{number}", name="read_note", arguments=f'{{"note": "note-{number + 1}.txt"}}'
            )
            return Message(level=Level.ASSISTANT, tool_calls=(call,))
        case _:
            text = f"Note {number}. " + "The meeting was long and left some points open. " * 10
            output = text_message(Level.TOOL, text)
            return Message(level=Level.TOOL, parts=output.parts, answers=f"c{number - 1}")
