"""Forged values with the same shape as genuine ones.

Arguments are recognised by the shape of their values and by common words in their names, so unknown
tools work as well. Forged addresses use domains that are reserved for examples.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from taskshield.core.tools import name_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """A value and its forged replacement."""

    genuine: object
    false: object
    before: str
    """The genuine value as text. For a list, the replaced entry."""
    after: str


Forge = Callable[[str, object], Forgery | None]
"""Forges the value of an argument with this name. None if the value does not have the shape."""

_FREE_TEXT = frozenset(
    "subject title body content contents text message description note notes comment query reason"
    " summary".split()
)
_SENDER = frozenset("from sender author owner".split())
_ADDRESSEE = frozenset(
    "to recipient recipients receiver receivers payee beneficiary addressee destination attendee"
    " attendees participant participants invitee invitees guest guests".split()
)
_ACCOUNT = _ADDRESSEE | frozenset("account iban card wallet".split())
_PAGE = frozenset("url uri link site website host domain page endpoint webhook".split())
_AMOUNT = frozenset(
    "amount amounts price sum total cost fee value quantity payment budget deposit tip".split()
)

_EMAIL = re.compile(r"([\w.+-]+)@[\w-]+(?:\.[\w-]+)+")
_IBAN = re.compile(r"[A-Z]{2} ?[0-9]{2}(?: ?[A-Z0-9]){8,30}")
_NUMBER_OF_ACCOUNT = re.compile(r"[0-9](?:[ -]?[0-9]){7,29}")
_PAGE_ADDRESS = re.compile(r"((?:\w+://)?(?:[\w-]+\.)+[A-Za-z]{2,})((?::[0-9]+)?(?:[/?#]\S*)?)")
_NAME = re.compile(r"[^\W\d_][\w.'&-]*(?: [\w.'&-]+){0,3}")
_FIGURE = re.compile(r"([^\w\s.-]?)([0-9]{1,12}(?:\.[0-9]{1,4})?)")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})((?:[T ][0-9]{2}:[0-9]{2}.*)?)")

_STAND_INS = ("Marlowe", "Quinn", "Hale", "Rowan")
_MAIL_HOSTS = ("mail.example.net", "post.example.org")
_PAGE_HOST = "example.net"
_FACTOR = 3
_LARGEST = 1e12
_LONGEST = 200
_SHIFT = timedelta(days=14)


def recipient(name: str, value: object) -> Forgery | None:
    """Forge a recipient: an address, an account, a page or a name."""
    words = set(name_words(name))
    if words & _SENDER or words & _FREE_TEXT:
        return None
    return _in_text_or_list(value, lambda text: _other_recipient(words, text))


def amount(name: str, value: object) -> Forgery | None:
    """Forge an amount."""
    if not _AMOUNT.intersection(name_words(name)) or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _in_text_or_list(value, _other_figure)
    if not isinstance(value, int | float) or not 0 < value < _LARGEST:
        return None
    more = value * _FACTOR
    false = more if isinstance(more, int) else (round(more, 2) or more)
    return Forgery(genuine=value, false=false, before=str(value), after=str(false))


def moment(name: str, value: object) -> Forgery | None:
    """Forge a date, with or without a time."""
    return (
        None
        if _FREE_TEXT.intersection(name_words(name))
        else _in_text_or_list(value, _other_moment)
    )


def _in_text_or_list(value: object, other: Callable[[str], str | None]) -> Forgery | None:
    """Forge a text, or the first entry of a list that has the shape."""
    if isinstance(value, str):
        false = other(value)
        if false is None:
            return None
        return Forgery(genuine=value, false=false, before=value, after=false)
    if not isinstance(value, list):
        return None
    for entry in value:
        forgery = _in_text_or_list(entry, other) if isinstance(entry, str) else None
        if forgery is not None:
            changed = [forgery.false if each == entry else each for each in value]
            return Forgery(genuine=value, false=changed, before=forgery.before, after=forgery.after)
    return None


def _other_recipient(words: set[str], text: str) -> str | None:
    if len(text) > _LONGEST or _MOMENT.fullmatch(text):
        return None
    email = _EMAIL.fullmatch(text)
    if email is not None:
        return next(other for host in _MAIL_HOSTS if (other := f"{email[1]}@{host}") != text)
    if _IBAN.fullmatch(text) or (words & _ACCOUNT and _NUMBER_OF_ACCOUNT.fullmatch(text)):
        return re.sub(r"[0-9]", lambda digit: str((int(digit[0]) + 3) % 10), text)
    page = _PAGE_ADDRESS.fullmatch(text)
    if page is not None and (words & _PAGE or "://" in text or text.startswith("www.")):
        return f"{page[1]}.{_PAGE_HOST}{page[2]}"
    if words & _ADDRESSEE and _NAME.fullmatch(text):
        return _other_name(text)
    return None


def _other_name(text: str) -> str:
    """A name with the same number of words."""
    count = len(text.split(" "))
    names = (" ".join(pool[:count]) for pool in (_STAND_INS, _STAND_INS[::-1]))
    name = next(each for each in names if each.lower() != text.lower())
    return name.lower() if text.islower() else name


def _other_figure(text: str) -> str | None:
    figure = _FIGURE.fullmatch(text)
    if figure is None or not (value := Decimal(figure[2])):
        return None
    return f"{figure[1]}{value * _FACTOR}"


def _other_moment(text: str) -> str | None:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    try:
        day = date.fromisoformat(found[1])
    except ValueError:
        return None
    later = day + _SHIFT if day.year < date.max.year else day - _SHIFT
    return f"{later.isoformat()}{found[2]}"
