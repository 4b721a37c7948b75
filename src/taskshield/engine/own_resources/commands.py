"""Whether a text runs the guard's own command, sets its variables or ends its process."""

import re
from fnmatch import fnmatchcase

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
    "docker kill killall kubectl launchctl nerdctl net pgrep pidof pkill podman sc service skill"
    " spps stop-process stop-service supervisorctl systemctl taskkill wmic".split()
)
"""Programs that end another one, find it to that end, or reach into its container."""
_BY_NUMBER = frozenset(
    "criu dlv gcore gdb kill lldb ltrace nsenter prlimit ps py-spy renice spps stop-process strace"
    " taskkill wmic".split()
)
"""Programs that get the number of a process that they end, change or look into."""
_BY_NUMBER_IN_CODE = re.compile(r"\bkill(?:pg)?\(\s*+-?(\d{1,9})|/proc/(\d{1,9}|[^\s/]*[*?$\[])/")
_LOOKED_INTO = re.compile(r"/(?:environ|mem|fd|maps|root|cwd|auxv|syscall)\b")
_ALL_OF_A_USER = re.compile(
    r"\b(?:pkill|killall|skill)\s[^;|&\n]{0,80}?-{1,2}u|\bloginctl\s++(?:kill|terminate)"
)
_MACHINE = frozenset("halt poweroff reboot shutdown telinit restart-computer stop-computer".split())
_MACHINE_NAMES = ("boot", "restart", "shut", "power", "halt", "stop", "turn off", "switch off")
_REPLACED = re.compile(
    r"\balias\s++taskshield\b|/(?:s?bin|scripts)/taskshield\b|\btaskshield[\w@.-]{0,40}\."
    r"(?:service|socket|timer|plist|container)\b|\b(?:site|user)customize\b|site-packages/[^\s/]*\.pth\b"
)
"""What is started in place of the guard, or with it."""
_HOOKS_OFF = re.compile(r"disableallhooks|\bclaude\s++(?:config|mcp\s++(?:remove|add|reset))\b")
_INSTALLERS = frozenset("conda pdm pip pip3 pipx poetry uv".split())
_INSTALLING = frozenset("add install remove uninstall update upgrade".split())
_PROGRAM = re.compile("|".join(sorted(_ENDING | _BY_NUMBER | _INSTALLERS)))
_BY_PATTERN = frozenset({"killall", "pkill", "pgrep", "pidof"})
_LITERAL = re.compile(r"[\w/-]{3,}")
_BY_IMAGE = frozenset({"taskkill", "stop-process", "spps"})
_WILD = frozenset("*?[")
_LONGEST_PATTERN = 64
_ARGUMENTS = 32
_EVERYTHING = frozenset({"-1", "0"})


def named_command(text: str, own: OwnResources) -> Reach | None:
    """What of the guard a command runs, sets or ends."""
    if _VARIABLE.search(text):
        return Reach(what="its settings", names=("taskshield_",))
    lower = text.casefold()
    if _COMMAND.search(lower):
        return Reach(what="its command line", names=())
    if _REPLACED.search(lower):
        return Reach(what="what starts it", names=("customize", ".pth"))
    if _HOOKS_OFF.search(lower):
        return Reach(what="the settings of the agent", names=("hook", "mcp", "claude"))
    if own.process is not None and (
        _names_number(lower, own.process) or _ALL_OF_A_USER.search(lower) is not None
    ):
        return Reach(what="its process", names=())
    if own.process is not None and any(map(_ends_machine, _SEPARATORS.split(lower))):
        return Reach(what="the machine that it runs on", names=_MACHINE_NAMES)
    if _PROGRAM.search(lower) is None:
        return None
    words = _WORD.findall(lower)
    programs = {word.rpartition("/")[2] for word in words}
    named = any(map(_names_guard, words))
    if named and (
        not programs.isdisjoint(_ENDING)
        or not (programs.isdisjoint(_INSTALLERS) or programs.isdisjoint(_INSTALLING))
    ):
        return Reach(what="its process", names=())
    for line in _SEPARATORS.split(lower):
        if _ends_process(_WORD.findall(line), own):
            return Reach(what="its process", names=())
    return None


def _names_guard(word: str) -> bool:
    """Whether a word is its name, a pattern for it, or a file with the number of its process."""
    if "taskshield" in word:
        return "/" not in word or word.endswith(".pid")
    if not word[:3].isalnum() or len(word) > _LONGEST_PATTERN or _WILD.isdisjoint(word):
        return False
    return any(fnmatchcase(name, word) for name in ("taskshield", "taskshield.service"))


def _names_number(text: str, process: int) -> bool:
    """Whether a program looks into a process of this number, or into those of a pattern."""
    for match in _BY_NUMBER_IN_CODE.finditer(text):
        if match[1] == str(process) or match[2] == str(process):
            return True
        if match[2] and not match[2].isdecimal() and _LOOKED_INTO.match(text, match.end() - 1):
            return True
    return False


def _ends_machine(line: str) -> bool:
    words = [word for word in _WORD.findall(line)[:6] if word not in ("sudo", "doas", "exec")]
    if not words:
        return False
    program = words[0].rpartition("/")[2].removesuffix(".exe")
    asked = program == "systemctl" and not _MACHINE.isdisjoint(words)
    return asked or (program in _MACHINE and "--help" not in words)


def makes_keys(text: str) -> bool:
    """Whether a text that is written somewhere has the guard's command for keys or its store."""
    return _KEYS.search(text.casefold()) is not None


def _ends_process(words: list[str], own: OwnResources) -> bool:
    """Whether a command ends the guard's process: by number, by a pattern, or with all others."""
    for position, word in enumerate(words):
        program = word.rpartition("/")[2]
        given = words[position + 1 : position + _ARGUMENTS]
        if program in _BY_NUMBER and any(_number(one) == str(own.process) for one in given):
            return True
        if program == "kill" and not _EVERYTHING.isdisjoint(given[1:]):
            return True
        if program in _BY_IMAGE and own.command_line:
            images = [one.removesuffix(".exe") for one in given if not one.startswith(("-", "/"))]
            if any(image in own.command_line for image in images if len(image) > 2):
                return True
        elif program in _BY_PATTERN and own.command_line:
            patterns = [one for one in given if not one.startswith("-")]
            if patterns and all(_fits(one, own.command_line) for one in patterns):
                return True
    return False


def _number(word: str) -> str:
    return word.rpartition("=")[2].lstrip("-")


def _fits(pattern: str, command_line: str) -> bool:
    """Whether a pattern may fit the command line of the guard: in doubt, it does."""
    literals = _LITERAL.findall(pattern)
    if not literals:
        return not pattern.isalnum()
    return all(literal in command_line for literal in literals)
