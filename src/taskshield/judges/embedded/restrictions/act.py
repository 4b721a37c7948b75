"""A call as it is compared with the user's words: what it does, and its values by meaning."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier, name_words
from taskshield.judges.embedded.grammar.directive_openers import opens_order
from taskshield.judges.embedded.restrictions.wording.phrases import CJK_ACTS
from taskshield.judges.embedded.restrictions.wording.quantities import UNIT, numbers
from taskshield.judges.embedded.restrictions.wording.words import (
    LOOKING,
    STOP,
    UNCLEAR,
    WORD,
    act_of,
    acts_of_tool,
    lowered,
    stem,
)

_COMMAND = re.compile(
    r"\bgit\s(?:-\S{1,40}\s){0,6}(?P<git>push|commit|merge)\b|(?:^|[;&|]\s{0,3}|sudo\s"
    r"|xargs\s)(?P<rm>rm|rmdir|shred|unlink)\s"
    r"|\b(?P<delete>delete|prune|purge|uninstall|destroy)\b|\b(?:npm|twine|cargo"
    r"|poetry)\s(?P<publish>publish|upload)\b"
    r"|\b(?P<mail>sendmail|mailx?|mutt)\s|\b(?P<run>systemctl\s(?:re)?start|reboot|shutdown"
    r"|kubectl\sapply|terraform\sapply)\b"
)
_NAMES = {
    "git": "",
    "rm": "delete",
    "delete": "delete",
    "publish": "publish",
    "mail": "send",
    "run": "run",
}
_MONEY = frozenset(
    "amount total sum price cost fee budget bid eur euro euros usd dollars chf gbp betrag preis"
    " summe"
    " montant prix importe monto precio importo prezzo valor preço bedrag prijs kwota cena"
    " belopp tutar"
    " fiyat summa deposit refund payment 金额 价格 金額".split()
)
_COUNT = frozenset(
    "quantity qty count number copies tickets seats units items"
    " pieces"
    " anzahl menge nombre quantité cantidad número quantità quantidade aantal ilość antal adet"
    " miktar"
    " num pax stück 数量 人数 個数".split()
)
_DETERMINERS = frozenset("a an the one some all any new your another this every each up".split())
_MEANS = frozenset("call execute invoke navigate open run use visit".split())
"""Verbs of tools with which everything is done, a look as well."""
_LONG = 120


class Value(Protocol):
    """A value of a call's arguments."""

    @property
    def path(self) -> str:
        """Where it stands."""
        ...

    @property
    def text(self) -> str:
        """As the model wrote it."""
        ...

    @property
    def kind(self) -> str:
        """What it is by its shape."""
        ...

    @property
    def trivial(self) -> bool:
        """Whether it is too common to point at anything."""
        ...


@dataclass(frozen=True)
class Act:
    """A call, its acts and its values."""

    call: ToolCall
    tier: Tier
    values: tuple[Value, ...]
    """The values of its arguments."""
    description: str = ""
    """What the tool says of itself."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the tool's name."""
        return tuple(name_words(self.call.name)) or tuple(WORD.findall(self.call.name.lower()))

    @cached_property
    def acts(self) -> frozenset[str]:
        """What it does; nothing where it only looks something up or cannot be told."""
        if not self.tier.side_effects:
            return frozenset()
        writes = any(len(one.text.split()) > 3 for one in self.values[:50])
        own = tuple(WORD.findall(lowered(self.call.name).replace("_", " ")))
        named = acts_of_tool(self.words, writes=writes) | acts_of_tool(own, writes=writes)
        clear = [word for word in own if word not in UNCLEAR and act_of(word) is not None]
        if len(self.values) < 2 and not writes and not clear:
            named = frozenset()  # "proof.file" may only read
        if self.commands:
            named = frozenset()
        for text in self.commands:
            for match in _COMMAND.finditer(lowered(text[:4000])):
                group = match.lastgroup or ""
                named |= {_NAMES[group] or match[group]}
        first = [word for word in self._described[: 0 if self.commands else 4] if word not in STOP][
            :1
        ]
        if (
            first
            and first[0] in UNCLEAR
            and self._described[1:2]
            and (self._described[1] not in _DETERMINERS)
        ):
            first = []  # "Text of a letter"
        named |= {act for word in first if not named and (act := act_of(word)) is not None}
        named |= {act for name, act in CJK_ACTS.items() if name in self.call.name}
        return frozenset(named)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The command lines among its values."""
        return tuple(one.text for one in self.values if one.path in ("command", "cmd", "args"))

    @cached_property
    def _described(self) -> tuple[str, ...]:
        return tuple(WORD.findall(lowered(self.description[:120])))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its name and of the verb of its description."""
        names = WORD.findall(lowered(self.call.name).replace("_", " "))
        return frozenset(map(stem, (*self.words, *names, *self._described[:1]))) - {""}

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The stem of its name, if that is one word, and of the verb of its description."""
        names = self.words if len(self.words) == 1 else ()
        return frozenset(map(stem, (*names, *self._described[:1])))

    @cached_property
    def changes(self) -> bool:
        """Whether it surely does more than to look something up."""
        if not self.tier.side_effects:
            return False
        shown = {word.removesuffix("s") for word in self._described[:3]} | set(self.words) - {
            "return"
        }
        return bool(self.acts) or not shown & LOOKING

    @cached_property
    def surely(self) -> bool:
        """Whether its name, or an English description, says that it does something."""
        if not self.changes:
            return False
        first = self._described[0].removesuffix("s") if self._described else ""
        verb = len(self._described) > 1 and self._described[1] in _DETERMINERS
        return bool(self.acts) or (
            verb and not self.commands and first not in LOOKING and opens_order(f"{first} it")
        )

    @cached_property
    def described_verb(self) -> str:
        """The verb that its English description begins with, if that is not one of looking."""
        if not self.changes or not self._described or self.commands or _MEANS & set(self.words):
            return ""
        first, following = self._described[0], self._described[1:2]
        verb = f"{first[:-3]}y" if first.endswith("ies") else first.removesuffix("s")
        noun = following == ("of",) or verb in LOOKING | _MEANS
        return "" if noun or not opens_order(f"{verb} it") else verb

    @cached_property
    def aims(self) -> bool:
        """Whether it is sure enough to act on the thing that it names."""
        return self.surely or (self.changes and len(self.values) > 1)

    @cached_property
    def short(self) -> tuple[tuple[str, str, Value], ...]:
        """Its short values: the last word of their path, and in lower case."""
        return tuple(
            (_key(one.path), lowered(one.text.strip()), one)
            for one in self.values[:200]
            if one.text.strip() and len(one.text) <= _LONG and one.kind != "flag"
        )

    @cached_property
    def text(self) -> str:
        """All its values in lower case, cut."""
        return lowered("\n".join(one.text for one in self.values)[:8000])

    @cached_property
    def amounts(self) -> tuple[tuple[str, str, frozenset[float], Value], ...]:
        """Its numbers: the key, the unit that the key or the value names, and the value."""
        found = []
        for key, low, one in self.short:
            match = re.fullmatch(r"[$€£¥]?\s?(-?\d[\d.,' ]*)\s?([^\W\d_]{1,10}|[%€$£])?", low)
            if match is None or one.kind in ("date", "time", "account"):
                continue
            values = numbers(match[1].strip(" .,'"))
            if values:
                found.append((key, UNIT.get(match[2] or "", "") or _unit(key), values, one))
        return tuple(found)


def _key(path: str) -> str:
    return re.sub(r"\[\d+\]", "", path).rsplit(".", 1)[-1]


def _unit(key: str) -> str:
    words = name_words(key) or WORD.findall(key.lower())
    for word in words:
        if word in _MONEY:
            return "money"
        if word in UNIT and len(word) > 1:
            return UNIT[word]
        if word in _COUNT:
            return "count"
    return ""
