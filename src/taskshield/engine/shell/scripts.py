"""Which arguments of a call are commands, and which are programs."""

from collections.abc import Iterator
from typing import NamedTuple

from taskshield.core.messages import Json, ToolCall
from taskshield.core.tools import name_words

_COMMANDS = frozenset("cmd command commands script shell".split())
_CODE = frozenset("code source program snippet cell".split())
_RUNNERS = frozenset(
    "bash cmd command commands console execute exec powershell run sh shell terminal zsh".split()
)
"""Words in names of tools that run whatever they get."""
_PROSE = frozenset(
    "answer body caption comment content contents description details html instruction instructions"
    " label markdown message name note pattern prompt query question reason regex reply search"
    " string subject summary tag text title url".split()
)
"""Words in names of arguments that are no commands, even where nothing is known of the tool."""


class Script(NamedTuple):
    """A text that a call runs."""

    text: str
    is_code: bool
    """Whether it is a program, and no command."""


def scripts(call: ToolCall, *, declared: bool = True) -> Iterator[Script]:
    """The commands and programs that a call runs.

    Args:
        call: The call.
        declared: Whether the tool's definition is known. If not, every argument may be a command.
    """
    arguments = call.parse_arguments()
    runs = not _RUNNERS.isdisjoint(name_words(call.name))
    if arguments is None:
        if runs or not declared:
            yield Script(call.arguments, is_code=False)
        return
    waiting: list[tuple[str, Json]] = list(arguments.items())
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.items())
            continue
        words = frozenset(name_words(key))
        is_code = not words.isdisjoint(_CODE)
        run = runs or not words.isdisjoint(_COMMANDS) or (not declared and _PROSE.isdisjoint(words))
        if isinstance(value, list):
            texts = [one for one in value if isinstance(one, str)]
            waiting.extend((key, one) for one in value if not isinstance(one, str))
            if run:
                yield Script(" ".join(map(_quoted, texts)), is_code=False)
            waiting.extend((key, one) for one in texts if any(map(str.isspace, one)))
        elif isinstance(value, str) and (run or is_code):
            yield Script(value, is_code)


def _quoted(word: str) -> str:
    """A word of a list of arguments; signs of the shell mean nothing there, but may be meant."""
    return "'" + word.replace("'", "'\\''") + "'" if any(map(str.isspace, word)) else word
