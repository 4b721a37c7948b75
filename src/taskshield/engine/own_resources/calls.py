"""Which calls reach the guard itself, and whether the user asked for it. Pure.

An agent could approve its own calls, read the keys or stop the guard this way. So such a call is
never a read call, and serves no task whose words do not speak of the guard.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier
from taskshield.engine.own_resources.addresses import names_address
from taskshield.engine.own_resources.commands import makes_keys, named_command
from taskshield.engine.own_resources.paths import named_file
from taskshield.engine.own_resources.spellings import spellings
from taskshield.engine.own_resources.values import OwnResources, Reach

_WRITTEN = frozenset(
    "body comment content contents description file_text html insert_text markdown message"
    " new_source new_str new_string note old_str old_string pattern prompt query regex subject text"
    " title".split()
)
"""Arguments with prose or with the content of a file: they may speak of the guard. They count where
they have a request or a command that could only serve to get around it."""
_LONG, _LONGEST = 65_536, 262_144
"""Characters of a message's calls that are read in every spelling, and as they are written. In
longer ones only names are looked for: no one writes such a command, and no session may wait."""
Care = Literal["spellings", "words", "names"]
"""How closely a call is read."""
_REQUEST = re.compile(r"/(?:api|page|hooks|contentsafety)\b")
_ALWAYS = ("taskshield", "task shield", "task-shield")


def reaches(message: Message, tiers: Mapping[str, Tier], own: OwnResources) -> dict[str, Reach]:
    """What of the guard the calls of a message reach, by the id of the call."""
    length = sum(len(call.arguments) for call in message.tool_calls)
    care: Care = "spellings" if length <= _LONG else "words" if length <= _LONGEST else "names"
    found = ((call.id, reach_of(call, tiers[call.name], own, care)) for call in message.tool_calls)
    return {id: reach for id, reach in found if reach is not None}


def reach_of(
    call: ToolCall, tier: Tier, own: OwnResources, care: Care = "spellings"
) -> Reach | None:
    """What of the guard a call reaches.

    Args:
        call: The call.
        tier: The risk tier of its tool.
        own: What belongs to the guard.
        care: How closely it is read.
    """
    arguments = call.parse_arguments()
    if care == "names":
        return _of_names(call.arguments.casefold(), own)
    for name, text in [("", call.arguments)] if arguments is None else texts(arguments):
        if name.casefold() not in _WRITTEN:
            reach = _of_command(text, tier, own, patterns=care == "spellings")
        elif tier.side_effects:
            reach = _of_written(text, own)
        else:
            reach = None  # what is searched for
        if reach is not None:
            return reach
    return None


def speaks_of(words: str, reach: Reach) -> bool:
    """Whether words of the user ask for what a call reaches."""
    said = words.casefold()
    return any(name in said for name in (*_ALWAYS, *reach.names))


def _of_command(text: str, tier: Tier, own: OwnResources, *, patterns: bool) -> Reach | None:
    for form in spellings(text) if patterns else (text,):
        if names_address(form, own):
            return _address(own)
        reach = named_command(form, own) or named_file(
            form, own, changes=tier.side_effects, patterns=patterns
        )
        if reach is not None:
            return reach
    return None


def _of_names(text: str, own: OwnResources) -> Reach | None:
    files = (path.rpartition("/")[2].casefold() for path in own.files)
    names = ("taskshield", *files, *(() if own.port is None else (f":{own.port}",)))
    return Reach(what="its name", names=()) if any(name in text for name in names) else None


def _of_written(text: str, own: OwnResources) -> Reach | None:
    if makes_keys(text):
        return Reach(what="its command line", names=())
    if _REQUEST.search(text) is not None and names_address(text, own):
        return _address(own)
    return named_file(text, own, changes=False, hooks=False, patterns=False)


def _address(own: OwnResources) -> Reach:
    return Reach(what="its address", names=(f":{own.port}", f"port {own.port}"))


def texts(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The texts in arguments, each with the name of its argument. A list of words is a command."""
    waiting: list[tuple[str, object]] = list(arguments.items())
    while waiting:
        name, value = waiting.pop()
        match value:
            case str() | int():
                yield name, str(value)
            case dict():
                waiting += value.items()
            case list():
                yield name, " ".join(item for item in value if isinstance(item, str))
                waiting += [(name, item) for item in value if not isinstance(item, str)]
            case _:
                pass  # null or a fraction
