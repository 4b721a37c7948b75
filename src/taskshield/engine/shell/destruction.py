"""Commands that destroy a whole machine, disk or home folder: `rm -rf /`.

What is removed within a project or a folder is for the judge. This module finds what no words of
the user can mean that do not speak of removing.
"""

import re
from collections.abc import Callable, Mapping
from itertools import islice

from taskshield.core.safe_text import one_line
from taskshield.engine.shell.nested_lines import lines, program_name, programs

_SYSTEM = "bin boot dev etc home lib lib64 library opt root sbin srv system usr users var windows"
_WHOLE = re.compile(
    r"(?:[a-z]:)?/{0,9}(?:\.{1,2}/{1,9}){0,9}(?:\.{1,2})?\*{0,2}"
    rf"|(?:[a-z]:)?/{{1,9}}(?:{'|'.join(_SYSTEM.split())})(?:/{{1,9}}\*{{0,2}})?"
    r"|(?:~|\$home|\$\{home\}|%userprofile%|\$env:userprofile|/{1,9}(?:home|users)/{1,9}[^/\s]{1,64})"
    r"(?:/{1,9}\.?\*{0,2})?"
    r"|%systemroot%|%systemdrive%/?\*?",
)
"""The root, a folder of the system, or a home folder, and all that is in it."""
_ROOTED = re.compile(r"[/~$%]|[a-z]:")
_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md)\w*|//\./physicaldrive\d"
)
_BOMB = re.compile(r":\s?\(\s?\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:|%0\|%0")
_CODE = re.compile(
    r"(?:rmtree|rmdirSync|rmSync|rm_rf|remove_dir_all|RemoveAll|rimraf)\s?\(\s?['\"](?:/|~|[A-Za-z]:[\\/]{1,2})['\"]"
)
_FILTERS = frozenset({"-name", "-iname", "-path", "-regex", "-mtime", "-size", "-user", "-empty"})
_SHOWN = 60
_ASKS = re.compile(
    r"\b(?:delet|remov|wip(?:e|ing)|eras|format|destroy|nuke|purg|shred|uninstall|reset|reinstall"
    r"|partition|overwrit|install\b.{0,40}\b(?:os|linux|windows)|clean up|clear out|rm -)"
    r"|lösch|entfern|formatier|zurücksetz|supprim|efface|formate|borra|elimin|cancell|formatta"
    r"|удали|сотри|формат|删除|格式化|削除|フォーマット|삭제|포맷",
    re.IGNORECASE,
)
"""Words with which users ask for something to be removed."""


def destroys(text: str) -> str | None:
    """The words of a command that destroys a machine, a disk or a home folder."""
    if _BOMB.search(text) is not None or _CODE.search(text) is not None:
        return text
    for commands in lines(text):
        for command in commands:
            for output in command.outputs:
                if _DEVICE.fullmatch(output.lower()):
                    return " ".join((*command.words, ">", output))
            for place in programs(command.words, _RULES):
                rule = _RULES.get(program_name(command.words[place]).partition(".")[0])
                given = [word.replace("\\", "/").lower() for word in command.words[place + 1 :]]
                if rule is not None and rule(given):
                    return " ".join(command.words[place:])
    return None


def glance(text: str) -> str:
    """The parts of a long text in which something may be destroyed."""
    return "\n".join(islice((match[0] for match in _MAY.finditer(text)), _PARTS))


def reason_against(command: str) -> str:
    """Why a call with such a command serves no task."""
    shown = one_line(command, _SHOWN)
    return f"No task of yours asks to remove a whole system, disk or home folder ({shown})."


def asks_to_remove(said: str) -> bool:
    """Whether words of the user may ask for something to be removed."""
    return _ASKS.search(said) is not None


Rule = Callable[[list[str]], bool]
"""Whether a program that gets these words destroys a machine, a disk or a home folder."""


def _is_whole(word: str) -> bool:
    return _ROOTED.match(word) is not None and _WHOLE.fullmatch(word.rstrip("/") or "/") is not None


def _recursive(given: list[str]) -> bool:
    """Removes or changes all that is in a folder: rm -rf, chmod -R."""
    deep = any(
        word in ("--recursive", "/s", "-recurse", "--no-preserve-root")
        or re.fullmatch(r"-[a-z]{0,9}r[a-z]{0,9}", word)
        for word in given
    )
    return deep and any(map(_is_whole, given))


def _finds(given: list[str]) -> bool:
    does = "-delete" in given or bool({"rm", "shred", "unlink"}.intersection(given))
    return does and _FILTERS.isdisjoint(given) and any(map(_is_whole, given[:2]))


def _writes_device(given: list[str]) -> bool:
    return any(_DEVICE.fullmatch(word.removeprefix("of=")) for word in given)


def _copies_to_device(given: list[str]) -> bool:
    return any(word.startswith("of=") and _DEVICE.fullmatch(word[3:]) for word in given)


def _moves(given: list[str]) -> bool:
    return given[-1:] == ["/dev/null"] and any(map(_is_whole, given))


def _formats(given: list[str]) -> bool:
    return any(re.fullmatch(r"[a-z]:/?", word) for word in given)


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("rm", "del", "erase", "rd", "rmdir", "remove-item", "ri", "chmod", "chown", "chgrp")
        + ("srm", "rimraf", "icacls"),
        _recursive,
    ),
    "find": _finds,
    "dd": _copies_to_device,
    **dict.fromkeys(
        ("mkfs", "wipefs", "blkdiscard", "sfdisk", "sgdisk", "parted", "mke2fs", "mkswap", "shred"),
        _writes_device,
    ),
    "mv": _moves,
    "format": _formats,
}
_MAY = re.compile(rf"(?:\b(?:{'|'.join(sorted(_RULES))})|>)[^\n;|&]{{1,200}}", re.IGNORECASE)
_PARTS = 200
