"""What a call would do to the world, so that a blocked one is known again in other words.

The effect of a call is whom and what it reaches: recipients, addresses, ids, amounts. Its wording,
options, letter case, blanks and the format of numbers do not change it. A call that reaches someone
or something else is another call.

Effects are kept as short hashes beside the fingerprints of refused calls, so that a session stores
no more of what was said.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from taskshield.core.messages import ToolCall, digest
from taskshield.core.tools import Tier, name_words

_MARK = "effect"
_LEAVES = 5_000
"""Values of a call that are read."""
_LONGEST = 2_000
"""Characters of a value that are read."""
_KEPT_TARGETS, _KEPT_WORDS = 16, 24
_ALIKE = 0.65
"""More than this share of a text's words are in another that says the same."""
_WORDING = frozenset(
    "body caption comment content description memo message note reason remark subject summary text"
    " title".split()
)
"""Words in names of arguments that only say something, and reach no one."""
_RECIPIENTS = frozenset(
    "account address addressee attendee bcc beneficiary bic cc channel contact destination email"
    " endpoint group guest handle host iban invitee mail member participant payee phone receiver"
    " recipient server target to url uri user username webhook".split()
)
_THINGS = frozenset(
    "amount appointment branch bucket card database dir directory doc document event file filename"
    " folder id ids invoice item key name number order path price product quantity record repo"
    " repository sum table ticket total transaction value".split()
)
_COMMANDS = frozenset("cmd code command commands script shell sql".split())
_OPTIONS = frozenset(
    "delay height index limit max min offset page position priority retries retry size timeout"
    " width".split()
)
"""Words in names of numbers that reach nothing."""
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?![\w-])"
    r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
)
"""Mail addresses, names of hosts, IP addresses."""
_NUMBER = re.compile(r"[^\w.,-]{0,3}(-?\d[\d.,' ]{0,30})[^\w]{0,3}")
_ACCOUNT = re.compile(r"(?=(?:\D{0,46}\d){4})[a-z]{0,6}\d[a-z0-9]{6,40}|\+?\d{7,20}")
_NUMBERS = re.compile(r"(?<!\w)\d[\d.,']{0,30}")
_BLANKS = re.compile(r"[\s-]")
_WORD = re.compile(r"\w{1,40}")


@dataclass(slots=True)
class _Reach:
    """Whom and what a call reaches, and what it says."""

    addresses: set[str] = field(default_factory=set)
    """Recipients, accounts and hosts."""
    things: set[str] = field(default_factory=set)
    """Ids, names, amounts."""
    words: set[str] = field(default_factory=set)
    commands: bool = False
    """Whether it runs a command, whose words say what it does."""


def effect_of(call: ToolCall, tier: Tier, user_text: str) -> str:
    """A text that stands for the effect of a refused call.

    What the user did not name is what may have made the call misaligned: a call that reaches it
    again has the same effect, whatever else it reaches. Where the user named everything, all of it
    counts.
    """
    reach = _reach(call)
    said = _Said(user_text)
    addresses = {one for one in reach.addresses if not said.names(one)}
    things = {one for one in reach.things if not said.names(one)}
    if not addresses and not things:
        addresses, things = reach.addresses, reach.things
        unnamed = False
    else:
        unnamed = bool(addresses)
    wording = reach.commands or tier is Tier.WRITE or (tier is Tier.EXTERNAL and not unnamed)
    wording = wording or not (addresses or things)
    return " ".join(
        (
            _MARK,
            _short(call.name),
            tier.value,
            _joined(sorted(addresses)[:_KEPT_TARGETS]),
            _joined(sorted(things)[:_KEPT_TARGETS]),
            _joined(sorted(reach.words)[:_KEPT_WORDS] if wording else ()),
        )
    )


class _Said:
    """What the user said."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._packed = _BLANKS.sub("", self._text)
        self._words = frozenset(_WORD.findall(self._text))
        self._numbers = frozenset(map(_number, _NUMBERS.findall(self._text)))

    def names(self, value: str) -> bool:
        """Whether the user named a value, or whom a mail address belongs to."""
        number = _number(value)
        if number is not None and number in self._numbers:
            return True
        owner, at, _ = value.partition("@")
        words = [word for word in re.split(r"[\W\d_]+", owner) if len(word) > 2]
        if at and words and self._words.issuperset(words):
            return True
        return number is None and (value in self._text or value in self._packed)


class Effects:
    """The effects that a session has refused."""

    def __init__(self, refused: frozenset[str]) -> None:
        self._known = [one.split(" ") for one in refused if one.startswith(f"{_MARK} ")]

    def __len__(self) -> int:
        return len(self._known)

    def include(self, call: ToolCall, tier: Tier) -> bool:
        """Whether a call has an effect that was refused."""
        if not self._known:
            return False
        reach = _reach(call)
        own = {_short(one) for one in reach.addresses | reach.things}
        words = {_short(word) for word in reach.words}
        name = _short(call.name)
        return any(
            _is_same(parts, name, tier, own, words) for parts in self._known if len(parts) == 6
        )


def _is_same(parts: list[str], name: str, tier: Tier, own: set[str], words: set[str]) -> bool:
    addresses, things, said = (frozenset(filter(None, part.split(","))) for part in parts[3:])
    same_tool = parts[1] == name
    if not same_tool and not (parts[2] == tier.value and addresses):
        return False
    if not own >= addresses | things:
        return False
    if not said:
        return bool(addresses or things)
    return len(said & words) > _ALIKE * len(said)


def _reach(call: ToolCall) -> _Reach:
    reach = _Reach()
    for key, value in _leaves(call):
        words = frozenset(name_words(key))
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            if _OPTIONS.isdisjoint(words):
                reach.things.add(_number(str(value)) or str(value))
        else:
            _read(value[:_LONGEST], words, reach)
    return reach


def _read(value: str, key: frozenset[str], reach: _Reach) -> None:
    plain = _plain(value).strip()
    number = _NUMBER.fullmatch(plain)
    packed = _BLANKS.sub("", plain)
    if not _COMMANDS.isdisjoint(key):
        reach.commands = True
        reach.addresses |= set(_ADDRESS.findall(plain))
        reach.words |= set(_WORD.findall(_ADDRESS.sub(" ", plain)))
    elif _WORDING & key and not _RECIPIENTS & key:
        reach.words |= set(_WORD.findall(plain))
    elif _ACCOUNT.fullmatch(packed):
        reach.addresses.add(packed)
    elif number is not None:
        if not _OPTIONS & key:
            reach.things.add(_number(number[1]) or plain)
    elif _THINGS & key and not _RECIPIENTS & key:
        reach.things.add(" ".join(plain.split()))
    elif addresses := set(_ADDRESS.findall(plain)):
        reach.addresses |= addresses
    elif _RECIPIENTS & key:
        reach.addresses.add(" ".join(plain.split()))
    else:
        reach.words |= set(_WORD.findall(plain))


def _leaves(call: ToolCall) -> Iterator[tuple[str, str | int | float]]:
    """The values in the arguments, each with the name that is closest to it."""
    try:
        found: object = json.loads(call.arguments)
    except (ValueError, RecursionError):
        found = call.arguments
    waiting: list[tuple[str, object]] = [("", found)]
    left = _LEAVES
    while waiting and left:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((key, one) for one in value)
        elif isinstance(value, str | int | float):
            left -= 1
            yield key, value


def _number(text: str) -> str | None:
    """A number in one format: 1,000.50 is 1000.5."""
    text = re.sub(r"[\s']", "", text).rstrip(".,")
    if "," in text and ("." not in text or text.rfind(",") > text.rfind(".")):
        whole, _, rest = text.rpartition(",")
        grouped = len(rest) == 3 and "." not in text
        text = f"{whole}{rest}" if grouped else f"{whole.replace('.', '')}.{rest}"
    try:
        return f"{Decimal(text.replace(',', '')).normalize():f}"
    except ArithmeticError:
        return None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _joined(values: list[str] | tuple[()]) -> str:
    return ",".join(_short(one) for one in values)


def _short(value: str) -> str:
    return digest(value)[:12]
