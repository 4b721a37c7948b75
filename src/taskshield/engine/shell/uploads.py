"""Which hosts a command sends the content of files to: `curl -T`, `scp`, `nc host < file`.

Downloads, and requests that carry only what stands in the command, are not of interest here.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

from taskshield.engine.shell.command_lines import READS, Command, split_line
from taskshield.engine.shell.hosts import REMOTE, url_hosts
from taskshield.engine.shell.senders import RULES

_DEEPEST = 6
"""Commands in commands (`sh -c "..."`) that are read."""
_WRAPPERS = frozenset(
    "! builtin busybox chronic command do doas else env exec if ionice nice nohup proxychains"
    " setsid stdbuf sudo then time timeout torify torsocks until while xargs".split()
)
_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_SHELLS = frozenset("ash bash dash eval fish ksh sh su zsh".split())
_KNOWN = frozenset((*RULES, *_SHELLS))
_ASSIGNED = re.compile(r"([A-Za-z_]\w{0,60})\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,60})")
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]{1,253})")
_DECODES = re.compile(r"base64\s{1,9}-{1,2}[dD]")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,20000}={0,2}")
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
    waiting = [(text, 0)]
    while waiting:
        line, depth = waiting.pop()
        commands = split_line(line)
        held = _held(commands)
        for command in commands:
            words = [_filled(word, held) for word in command.words]
            found += [_upload(host, command) for host in _hosts(command, words)]
        found += _pushes(commands)
        if depth < _DEEPEST:
            waiting += ((inner, depth + 1) for inner in _inner(line, commands))
    return [one for one in found if not _LOOPBACK.fullmatch(one.host)]


def _upload(host: str, command: Command) -> Upload:
    words = [*command.words, *command.inputs, *command.outputs]
    return Upload(host=host, command=" ".join(words))


def _held(commands: list[Command]) -> frozenset[str]:
    """The variables that hold the content of files."""
    names: set[str] = set()
    for command in commands:
        for word in command.words:
            match = _ASSIGNED.fullmatch(word)
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
    for place in _programs(words):
        name = _name(words[place])
        rule = RULES.get(name) or RULES.get(name.rstrip("0123456789."))
        if rule is not None:
            yield from (host.replace(READS, "") for host in rule(command, words[place + 1 :]))


def _programs(words: list[str]) -> Iterator[int]:
    """The places of words that are run as programs."""
    expected, wrapped = True, False
    for place, word in enumerate(words):
        if word in _RUNS:
            expected, wrapped = True, False
        elif expected and _ASSIGNED.fullmatch(word) is None:
            name = _name(word)
            if name in _WRAPPERS:
                wrapped = True
            elif name in _KNOWN or not wrapped:
                yield place
                expected = False


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower()


def _inner(line: str, commands: list[Command]) -> Iterator[str]:
    """Further lines that these commands run in a shell."""
    shells = False
    for command in commands:
        names = [_name(word) for word in command.words]
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
            if command.words and _name(command.words[0]) in ("echo", "printf"):
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
