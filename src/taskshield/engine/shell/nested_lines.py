"""The commands that a line or a script runs, those in nested shells included.

Owns which words are run as programs, and which words, bodies and decoded texts are further lines.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator

from taskshield.engine.shell.command_lines import Command, split_line

_DEEPEST = 6
"""Commands in commands (`sh -c "..."`) that are read."""
_WRAPPERS = frozenset(
    "! builtin busybox chronic command do doas else env exec if ionice nice nohup proxychains"
    " setsid stdbuf sudo then time timeout torify torsocks until while xargs".split()
)
_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_SHELLS = frozenset("ash bash dash eval fish ksh sh su zsh".split())
ASSIGNED = re.compile(r"([A-Za-z_]\w{0,60})\+?=(.*)", re.DOTALL)
_DECODES = re.compile(r"base64\s{1,9}-{1,2}[dD]")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{8,20000}={0,2}")


def lines(text: str) -> Iterator[list[Command]]:
    """The simple commands of a text, line by line; nested lines follow theirs."""
    waiting = [(text, 0)]
    while waiting:
        line, depth = waiting.pop()
        commands = split_line(line)
        yield commands
        if depth < _DEEPEST:
            waiting += ((inner, depth + 1) for inner in _inner(line, commands))


def programs(words: list[str], known: Collection[str]) -> Iterator[int]:
    """The places of words that are run as programs.

    Args:
        words: The words of a command.
        known: Programs that count after others that run them, like sudo, and their options.
    """
    expected, wrapped = True, False
    for place, word in enumerate(words):
        if word in _RUNS:
            expected, wrapped = True, False
        elif expected and ASSIGNED.fullmatch(word) is None:
            name = program_name(word)
            if name in _WRAPPERS:
                wrapped = True
            elif name in known or name in _SHELLS or not wrapped:
                yield place
                expected = False


def program_name(word: str) -> str:
    """The name of a program without its folder."""
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower()


def _inner(line: str, commands: list[Command]) -> Iterator[str]:
    """Further lines that these commands run in a shell."""
    shells = False
    for command in commands:
        names = [program_name(word) for word in command.words]
        place = next((n for n, name in enumerate(names) if name in _SHELLS), None)
        if place is not None:
            shells = True
            yield command.body
            if names[place] == "eval":
                yield " ".join(command.words[place + 1 :])
            else:
                yield from filter(_is_line, command.words[place + 1 :])
    if shells:  # what is printed may be piped into it
        for command in commands:
            if command.words and program_name(command.words[0]) in ("echo", "printf"):
                yield from filter(_is_line, command.words[1:])
        if _DECODES.search(line):
            yield from _decoded(line)


def _is_line(word: str) -> bool:
    return any(blank in word for blank in " \t\n")


def _decoded(line: str) -> Iterator[str]:
    for match in _BASE64.finditer(line):
        try:
            yield base64.b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode("utf-8", "ignore")
        except binascii.Error:
            continue
