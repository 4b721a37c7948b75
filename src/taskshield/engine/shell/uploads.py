"""Which hosts a command sends the content of files to: `curl -T`, `scp`, `nc host < file`.

Downloads, and requests that carry only what stands in the command, are not of interest here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from taskshield.engine.shell.command_lines import READS, Command
from taskshield.engine.shell.hosts import REMOTE, url_hosts
from taskshield.engine.shell.nested_lines import ASSIGNED, lines, program_name, programs
from taskshield.engine.shell.senders import RULES

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,60})")
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]{1,253})")
_LOOPBACK = re.compile(
    r"localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Upload:
    """Content of files that a command sends away."""

    host: str
    command: str
    """The words of the command."""


def uploads(text: str) -> list[Upload]:
    """Everything that a command line or a script sends away."""
    found: list[Upload] = []
    for commands in lines(text):
        held = _held(commands)
        for command in commands:
            words = [_filled(word, held) for word in command.words]
            found += [_upload(host, command) for host in _hosts(command, words)]
        found += _pushes(commands)
    return [one for one in found if not _LOOPBACK.fullmatch(one.host)]


def _upload(host: str, command: Command) -> Upload:
    words = [*command.words, *command.inputs, *command.outputs]
    return Upload(host=host, command=" ".join(words))


def _held(commands: list[Command]) -> frozenset[str]:
    """The variables that hold the content of files."""
    names: set[str] = set()
    for command in commands:
        for word in command.words:
            match = ASSIGNED.fullmatch(word)
            if match is not None and READS in match[2]:
                names.add(match[1])
        if not {"read", "mapfile", "readarray"}.isdisjoint(command.words):
            names.update(filter(str.isidentifier, command.words))
        match command.words:
            case ["for", name, "in", *values] if any(READS in value for value in values):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _filled(word: str, held: frozenset[str]) -> str:
    """The word with a mark where a variable holds content."""
    if held and "$" in word and not held.isdisjoint(_VARIABLE.findall(word)):
        return word + READS
    return word


def _hosts(command: Command, words: list[str]) -> Iterator[str]:
    """The hosts that one command sends content of files to."""
    for output in command.outputs:
        device = _DEVICE.match(output)
        if device is not None:
            yield device[1]
    for place in programs(words, RULES):
        name = program_name(words[place])
        rule = RULES.get(name) or RULES.get(name.rstrip("0123456789."))
        if rule is not None:
            yield from (host.replace(READS, "") for host in rule(command, words[place + 1 :]))


def _pushes(commands: list[Command]) -> Iterator[Upload]:
    """A push to a remote that the same line has added."""
    pushes = any("git" in one.words and "push" in one.words for one in commands)
    for command in commands:
        adds = {"remote", "git"} <= set(command.words)
        if pushes and adds and not {"add", "set-url"}.isdisjoint(command.words):
            for host in url_hosts(command.words, bare=False) or [
                match[1] for word in command.words if (match := REMOTE.match(word))
            ]:
                yield _upload(host, command)
