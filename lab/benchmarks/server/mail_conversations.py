"""Made-up conversations about mail, calendar and files, any number of them.

A conversation has a number, which the user's message names. Names, days, places and sums follow
from the number, so no two conversations are equal. Each has six messages: the user's request, two
calls with their outputs, and the answer. All share the system message and the tools.

The module is long because the texts that conversations are made of stand in it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

Body = dict[str, Any]

FIRST = 10_000
"""Number of the first conversation. All have five digits, and no other number in a request has."""
LENGTH = 6
"""Messages of a conversation."""

_NUMBER = re.compile(r"\b\d{5}\b")
_SYSTEM = (
    "You are the assistant of a small office. You have its mail, its calendar and its files. Do"
    " what you are first to do, look things up rather than guess, and answer in a few sentences."
)
_TOOLS = {
    "search_mail": ("Find messages in the mailbox.", ("query", "sender")),
    "send_mail": ("Send a message from the office's address.", ("to", "subject", "body")),
    "list_events": ("List the events of a day.", ("day",)),
    "create_event": ("Add an event to the calendar.", ("title", "day", "start", "place")),
    "move_event": ("Give an event another time.", ("event", "start")),
    "read_file": ("Read a text file.", ("path",)),
    "write_file": ("Write a text file.", ("path", "text")),
}
TOOLS: list[Body] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {field: {"type": "string"} for field in fields},
                "required": list(fields),
            },
        },
    }
    for name, (description, fields) in _TOOLS.items()
]
SYSTEM: Body = {"role": "system", "content": _SYSTEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    says: str
    tool: str
    arguments: dict[str, str]
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    request: str
    steps: tuple[_Step, _Step]
    answer: str


_KINDS = (
    _Kind(
        request="{name} of {firm} wrote to me about order {number}. Find the mail, please, and put"
        " the meeting that {name} suggests into my calendar.",
        steps=(
            _Step(
                says="I will look for the mail of {name} about order {number}.",
                tool="search_mail",
                arguments={"query": "order {number}", "sender": "{name}"},
                output="1 message\n\nFrom: {name} <{mail}>\nSubject: Order {number}, {item}\n\n"
                "Hello,\n\nthe {item} of order {number} are packed and came to {sum} euros, as we"
                " agreed. Before they leave {place} we should go through the delivery note with"
                " {other}. {day} at {time} in our office in {place} would suit us; it takes an"
                " hour. The lorry comes at {later}, so nothing has to be moved twice."
                "\n\nKind regards\n{name}, {firm}",
            ),
            _Step(
                says="The meeting about order {number} is on {day} at {time}. I will add it.",
                tool="create_event",
                arguments={
                    "title": "Order {number}: delivery note with {name}",
                    "day": "{day}",
                    "start": "{time}",
                    "place": "{firm}, {place}",
                },
                output="created: yes\nevent: ev-{number}\ntitle: Order {number}: delivery note with"
                " {name}\nwhen: {day} {time}, 60 minutes\nplace: {firm}, {place}\nreminder: 30"
                " minutes before\noverlaps: none\nsame day: {later} call with {other} about the"
                " {item}, 30 minutes; 17:45 car at the garage in {place}, fetch it before six\n"
                "calendar: office, shared with {other}, 14 events in this week",
            ),
        ),
        answer="I found the mail of {name}. The {item} of order {number} are ready and cost {sum}"
        " euros. The meeting about the delivery note is in your calendar: {day} at {time} at {firm}"
        " in {place}, for an hour, with a reminder half an hour before. The lorry comes at {later},"
        " and on that day you also have a call with {other}.",
    ),
    _Kind(
        request="Read minutes-{number}.txt and save what was decided, in a few sentences, as"
        " decided-{number}.txt.",
        steps=(
            _Step(
                says="I will read minutes-{number}.txt first.",
                tool="read_file",
                arguments={"path": "minutes-{number}.txt"},
                output="Minutes {number}, {day} {time}, {place}\nPresent: {name}, {other}, two"
                " guests of {firm}\n\n1. The {item} for {firm} were late again. {name} has spoken"
                " to the carrier; from now on they leave {place} at {later}.\n2. The offer over"
                " {sum} euros was approved. {other} signs it and keeps the copy.\n3. The shelves in"
                " {place} stay where they are until the {item} have been counted.\n4. Any other"
                " business: the coffee machine. No decision.\n\nNext meeting: {day}, same time.",
            ),
            _Step(
                says="I will save what was decided as decided-{number}.txt.",
                tool="write_file",
                arguments={
                    "path": "decided-{number}.txt",
                    "text": "The {item} for {firm} leave {place} at {later}. The offer over {sum}"
                    " euros is approved, and {other} signs it. The shelves in {place} stay until"
                    " the {item} are counted.",
                },
                output="written: decided-{number}.txt\nfolder: meetings/{place}\nowner: office,"
                " readable by {name} and {other}\nversions: 1, kept for 90 days\nbeside it in this"
                " folder: minutes-{number}.txt (last changed {day} {time} by {name}), offer for"
                " {firm} over {sum} euros.pdf (signed by {other}), list of the {item}.csv (last"
                " changed {later})\nspace left: 41 %",
            ),
        ),
        answer="Done. decided-{number}.txt says three things: the {item} for {firm} leave {place}"
        " at {later} from now on, the offer over {sum} euros is approved and {other} signs it, and"
        " the shelves in {place} stay where they are until the {item} have been counted. About the"
        " coffee machine nothing was decided. {name} and {other} can read the file.",
    ),
    _Kind(
        request="See what {name} wants to know about invoice {number}, and write to {mail} that"
        " {day} at {time} is fine for the {item}.",
        steps=(
            _Step(
                says="I will look for what {name} wrote about invoice {number}.",
                tool="search_mail",
                arguments={"query": "invoice {number}", "sender": "{name}"},
                output="1 message\n\nFrom: {name} <{mail}>\nSubject: Invoice {number}\n\nDear all,"
                "\n\ninvoice {number} over {sum} euros has arrived; {other} in our bookkeeping"
                " paid it yesterday. When may we collect the {item}? Our driver is in {place} on"
                " {day} and could be at your gate at {time} or at {later}. Nobody needs to help"
                " with loading, the van of {firm} has a lift."
                "\n\nBest wishes\n{name}",
            ),
            _Step(
                says="{name} asks when the {item} can be collected. I will write that {day} at"
                " {time} is fine.",
                tool="send_mail",
                arguments={
                    "to": "{mail}",
                    "subject": "Invoice {number}: collecting the {item}",
                    "body": "Dear {name}, {day} at {time} is fine for the {item}.",
                },
                output="sent: yes\nmessage: m-{number}\nto: {mail}\nsubject: Invoice {number}:"
                " collecting the {item}\nsize: 1.4 kB, no attachments\nanswer to: the message of"
                " {name} about invoice {number}\nautomatic reply: {name} is in {place} until"
                " {day} and reads mail in the evening; the office of {firm} is open from {time} to"
                " {later}, {other} answers the phone",
            ),
        ),
        answer="{name} wanted to know when {firm} may collect the {item}; {other} has paid invoice"
        " {number} over {sum} euros. I wrote to {mail} that {day} at {time}"
        " is fine. An automatic reply says that {name} is in {place} until {day} and reads mail in"
        " the evening.",
    ),
    _Kind(
        request="What do I have on {day}? Please move the call with {name} about contract {number}"
        " to {later}.",
        steps=(
            _Step(
                says="I will look at {day}, and for the call about contract {number}.",
                tool="list_events",
                arguments={"day": "{day}"},
                output="4 events on {day}\n- ev-{number}: call with {name} about contract {number},"
                " {time}, 30 minutes, by phone\n- ev-7: visit of {firm}, they show the new {item},"
                " 13:15, 90 minutes, meeting room {place}\n- ev-8: lunch with {other}, 12:10, an"
                " hour, {place}\n- ev-9: payroll, {sum} euros, all day\nfree: before nine, half an"
                " hour from {later} on, after five\nholidays: none, but the post office in {place}"
                " closes at four",
            ),
            _Step(
                says="I will move the call about contract {number} to {later}.",
                tool="move_event",
                arguments={"event": "ev-{number}", "start": "{later}"},
                output="moved: yes\nevent: ev-{number}\ntitle: call with {name} about contract"
                " {number}\nwas: {day} {time}\nis: {day} {later}, 30 minutes, by phone\noverlaps:"
                " none\nguests: {name} of {firm} (accepted the new time), {other} (no answer yet)\n"
                "attached: draft three of contract {number}; the {item} are in it, and the {sum}"
                " euros for the first year\nreminder: 10 minutes before",
            ),
        ),
        answer="On {day} you have the visit of {firm} at 13:15, who show the new {item} in meeting"
        " room {place}, lunch with {other} before it, and the payroll. The call with {name} about"
        " contract {number} is now at {later} instead of {time}. {name} has accepted the new time,"
        " {other} has not answered yet.",
    ),
)
_SLOTS: dict[str, Sequence[str]] = {
    "name": "Anneke Birgit Carmen Dorota Emeka Farid Giulia Henrik Ines Jasper".split(),
    "other": "Kerstin Leszek Malika Nils Oksana Pavel Rosa Stefan Tamar Ulrich".split(),
    "firm": "Alderbrook Brackwell Cornelis Dunmore Elvaston Fernhill Garrick Holt".split(),
    "place": "Arnhem Bergamo Coimbra Delft Esbjerg Freiburg Girona Hasselt".split(),
    "item": "lamps|oak boards|tiles|door handles|bicycles|printed bags|garden chairs".split("|"),
    "day": "Monday Tuesday Wednesday Thursday Friday".split(),
}


@cache
def conversation(number: int) -> tuple[Body, ...]:
    """All messages of a conversation as chat completion messages, without the system message."""
    kind, slots = _KINDS[number % len(_KINDS)], _slots(number)
    messages = [_user(kind.request.format_map(slots))]
    for index, step in enumerate(kind.steps):
        call = f"call_{number}_{index}"
        arguments = {key: text.format_map(slots) for key, text in step.arguments.items()}
        messages += [
            {
                "role": "assistant",
                "content": step.says.format_map(slots),
                "tool_calls": [
                    {
                        "id": call,
                        "type": "function",
                        "function": {"name": step.tool, "arguments": json.dumps(arguments)},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": call, "content": step.output.format_map(slots)},
        ]
    return (*messages, {"role": "assistant", "content": kind.answer.format_map(slots)})


def number_in(messages: Sequence[Body]) -> int:
    """Which conversation a request is about."""
    first = next(message["content"] for message in messages if message["role"] == "user")
    found = _NUMBER.search(first)
    assert found is not None
    return int(found[0])


def chat_body(number: int, length: int, *, model: str, stream: bool) -> bytes:
    """A request for a chat completion after so many messages of a conversation."""
    body = {
        "model": model,
        "messages": [SYSTEM, *conversation(number)[:length]],
        "tools": TOOLS,
        "stream": stream,
    }
    return json.dumps(body).encode()


def azure_body(number: int, length: int) -> bytes:
    """A request for analyzeTaskAdherence with so many messages of a conversation."""
    tools = [
        {"type": "function", "function": {"name": name, "description": description}}
        for name, (description, _) in _TOOLS.items()
    ]
    messages = [_azure(message) for message in conversation(number)[:length]]
    return json.dumps({"tools": tools, "messages": messages}).encode()


def _azure(message: Body) -> Body:
    wire = {
        "source": "Prompt" if message["role"] == "user" else "Completion",
        "role": message["role"].capitalize(),
        "contents": message["content"],
        "toolCalls": message.get("tool_calls"),
        "toolCallId": message.get("tool_call_id"),
    }
    return {key: value for key, value in wire.items() if value is not None}


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _slots(number: int) -> dict[str, object]:
    rng = Random(number)
    chosen = {slot: rng.choice(words) for slot, words in _SLOTS.items()}
    hour = rng.randrange(9, 12)
    return {
        **chosen,
        "number": number,
        "mail": f"{chosen['name'].lower()}@{chosen['firm'].lower()}.example",
        "sum": rng.randrange(210, 9_800),
        "time": f"{hour}:{rng.randrange(10, 60)}",
        "later": f"{hour + 5}:{rng.randrange(10, 60)}",
    }
