"""Whether a text runs the guard's own command, sets its variables or ends its process."""

import re

from taskshield.engine.own_resources.values import OwnResources, Reach

_COMMAND = re.compile(
    r"\btaskshield(?:\.exe)?\s++(?:--?[\w=./-]++\s++)*+"
    r"(?:audit|bench|check|db|doctor|hook|keys|mcp|serve|train)\b"
    r"|-m\s*+taskshield\b|\btaskshield\.(?:cli|server|settings|stores|wiring)\b"
)
_KEYS = re.compile(r"\btaskshield(?:\.exe)?\s++(?:--?[\w=./-]++\s++)*+(?:db|keys)\b")
_VARIABLE = re.compile(r"\bTASKSHIELD_\w")
_WORD = re.compile(r"[^\s'\"`;|&<>()$,]+")
_SEPARATORS = re.compile(r"[;&|\n]+")
_ENDING = frozenset(
    "docker kill killall kubectl launchctl nerdctl pgrep pidof pkill podman service skill"
    " supervisorctl systemctl taskkill".split()
)
"""Programs that end another one, find it to that end, or reach into its container."""
_INSTALLERS = frozenset("conda pdm pip pip3 pipx poetry uv".split())
_INSTALLING = frozenset("add install remove uninstall update upgrade".split())
_PROGRAM = re.compile("|".join(sorted(_ENDING | _INSTALLERS)))
_BY_PATTERN = frozenset({"killall", "pkill", "pgrep", "pidof"})
_LITERAL = re.compile(r"[\w/-]{3,}")
_ARGUMENTS = 32
_EVERYTHING = frozenset({"-1", "0"})


def named_command(text: str, own: OwnResources) -> Reach | None:
    """What of the guard a command runs, sets or ends."""
    if _VARIABLE.search(text):
        return Reach(what="its settings", names=("taskshield_",))
    lower = text.casefold()
    if _COMMAND.search(lower):
        return Reach(what="its command line", names=())
    if _PROGRAM.search(lower) is None:
        return None
    words = _WORD.findall(lower)
    programs = {word.rpartition("/")[2] for word in words}
    named = any("taskshield" in word and "/" not in word for word in words)
    if named and (
        not programs.isdisjoint(_ENDING)
        or not (programs.isdisjoint(_INSTALLERS) or programs.isdisjoint(_INSTALLING))
    ):
        return Reach(what="its process", names=())
    for line in _SEPARATORS.split(lower):
        if _ends_process(_WORD.findall(line), own):
            return Reach(what="its process", names=())
    return None


def makes_keys(text: str) -> bool:
    """Whether a text that is written somewhere has the guard's command for keys or its store."""
    return _KEYS.search(text.casefold()) is not None


def _ends_process(words: list[str], own: OwnResources) -> bool:
    """Whether a command ends the guard's process: by number, by a pattern, or with all others."""
    for position, word in enumerate(words):
        program = word.rpartition("/")[2]
        given = words[position + 1 : position + _ARGUMENTS]
        if program == "kill":
            if str(own.process) in given or not _EVERYTHING.isdisjoint(given[1:]):
                return True
        elif program in _BY_PATTERN and own.command_line:
            patterns = [one for one in given if not one.startswith("-")]
            if patterns and all(_fits(one, own.command_line) for one in patterns):
                return True
    return False


def _fits(pattern: str, command_line: str) -> bool:
    """Whether a pattern may fit the command line of the guard: in doubt, it does."""
    literals = _LITERAL.findall(pattern)
    if not literals:
        return not pattern.isalnum()
    return all(literal in command_line for literal in literals)
