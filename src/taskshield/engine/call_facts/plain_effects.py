"""What the arguments of a call plainly do, where nothing else is known of its tool.

A tool that no one declared may be called `read_file` and run commands. An argument that is a
command, a query or an address says more than such a name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from taskshield.core.messages import ToolCall
from taskshield.core.safe_text import one_line
from taskshield.core.tools import Tier, name_words
from taskshield.engine.own_resources.calls import texts
from taskshield.engine.risk_tiers import says_it_reads
from taskshield.engine.shell.nested_lines import lines, program_name, programs
from taskshield.engine.shell.scripts import Script
from taskshield.engine.wording.verbs import SEVERITY

_CHANGING = frozenset(
    "chgrp chmod chown cp dd del erase halt insmod install kill killall ln mkdir mkfs mkswap mv"
    " passwd pkill poweroff rd reboot rm rmdir rmmod shred shutdown taskkill tee touch truncate"
    " umount unlink useradd userdel usermod wipefs".split()
)
"""Programs that always change something."""
_RUNS_THEM = frozenset(
    "bash cli cmd command commands console database db exec execute powershell query run sh shell"
    " sql sqlite terminal zsh".split()
)
"""Words in names of tools that get commands or queries: such a name hides nothing."""
_CHANGES_DATA = re.compile(
    r"\s{0,9}(?:delete\s{1,9}from|drop\s{1,9}(?:table|database|schema|view|index|column|user|role)"
    r"|truncate\s{1,9}(?:table\s{1,9})?\w+\s{0,9}(?:;|$)|alter\s{1,9}(?:table|user|role|database)"
    r"|update\s{1,9}[\w.\"`\[\]]{1,80}\s{1,9}set|insert\s{1,9}into|merge\s{1,9}into"
    r"|replace\s{1,9}into)\b",
    re.IGNORECASE,
)
_CHANGES_RIGHTS = re.compile(
    r"\s{0,9}(?:grant|revoke)\s{1,9}[\w, ]{1,80}\s{1,9}(?:on|to|from)\b", re.IGNORECASE
)
_IN_PATHS = frozenset("/*=")
_WORD = re.compile(r"\w+")
_SHOWN = 60
_ADDRESS = re.compile(r"\s{0,9}(?:https?|wss?|s?ftps?|ssh|s3|gs)://\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainEffect:
    """What an argument does."""

    tier: Tier
    text: str
    """The argument."""


def plain_effect(call: ToolCall, found: Iterable[Script]) -> PlainEffect | None:
    """The gravest that the arguments of a call plainly do; None if they say nothing.

    Args:
        call: The call.
        found: Its arguments that may be commands or programs.
    """
    arguments = call.parse_arguments()
    given = [("", call.arguments)] if arguments is None else texts(arguments)
    effects = [PlainEffect(tier=Tier.DESTRUCTIVE, text=text) for text, _ in found if _runs(text)]
    for _, text in given:
        tier = _tier_of(text)
        if tier is not None:
            effects.append(PlainEffect(tier=tier, text=text))
    return max(effects, key=lambda one: SEVERITY.index(one.tier), default=None)


def is_disguised(name: str, effect: PlainEffect) -> bool:
    """Whether a tool that says it reads is made to change something."""
    hides = _RUNS_THEM.isdisjoint(name_words(name))
    return hides and says_it_reads(name) and effect.tier is not Tier.EXTERNAL


def names_effect(said: str, effect: PlainEffect) -> bool:
    """Whether words of the user speak of such a command or query."""
    opening = _WORD.findall(effect.text.casefold())[:2]
    return set(opening) <= set(_WORD.findall(said.casefold()))


def reason_against(effect: PlainEffect) -> str:
    """Why a call that is disguised serves no task."""
    shown = one_line(effect.text, _SHOWN)
    return f"Its tool is named as one that reads, but no one declared it, and it gets: {shown}."


def _tier_of(text: str) -> Tier | None:
    if _CHANGES_RIGHTS.match(text):
        return Tier.ACCESS
    if _CHANGES_DATA.match(text):
        return Tier.DESTRUCTIVE
    return Tier.EXTERNAL if _ADDRESS.match(text) else None


def _runs(text: str) -> bool:
    """Whether a text is a command of a program that changes something."""
    for commands in lines(text):
        for command in commands:
            for place in programs(command.words, _CHANGING):
                name, given = program_name(command.words[place]), command.words[place + 1 :]
                if name in _CHANGING and any(map(_is_parameter, given)):
                    return True
    return False


def _is_parameter(word: str) -> bool:
    """Whether a word is an option or a path: "kill the lights" has none."""
    return word[:1] in ("-", "~", "$", ".") or not _IN_PATHS.isdisjoint(word)
