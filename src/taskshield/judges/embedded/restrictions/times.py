"""Another day or time than the user named."""

import re
from collections.abc import Iterator
from datetime import date

from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.wording.moments import Moments, moments, stamp
from taskshield.judges.embedded.restrictions.wording.said import Place, Said

_DATED = frozenset("create buy move change".split())
_KEYS = re.compile(
    r"(?:^|_|\b)(?:start|date|day|time|when|at|begin|new|datum|tag|zeit|uhrzeit|beginn|jour"
    r"|heure|fecha|hora|dia"
    r"|data|ora|giorno|dag|tijd|slot|on|starts?|from|weekday|hour)(?:$|_|\b)"
)
_OTHER = re.compile(r"due|remind|notify|alert|until|end")
_AT = re.compile(
    r"\b(?:on|for|to|at|until|till|am|um|auf|für|le|à|pour|el|a|al|para|il|alle|per|op|om|voor"
    r"|na|kl)\s+(?:the |le |la"
    r" |den |las |next |this |coming |nächsten |kommenden )?$"
)
_RANGE = re.compile(r"(?:\d\s?(?:to|-|–|bis|and|or)|not on(?: a)?)\s$")
_AMENDS = re.compile(
    r"\b(?:sorry|i meant?|make (?:it|that)|correction|pardon|je voulais dire|scusa|perdón|quería"
    r" decir"
    r"|entschuldigung|ich meinte|ik bedoelde|desculpa)\b"
)
_LONGEST = 30
"""Words of a message whose time is surely that of the call."""


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of a call's days and times with those that the user named."""
    said = scene.request[0]
    asked = scene.act.acts & said.asks or len(said.low.split()) <= 5 or _AMENDS.search(said.low)
    if (
        not (scene.act.changes and asked)
        or said.plural
        or scene.delegated
        or len(said.low.split()) > _LONGEST
    ):
        return
    for key, low, value in scene.act.short:
        if _OTHER.search(key.lower()) or not _KEYS.search(
            re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
        ):
            continue
        place = _differs(scene, said, low)
        if place is not None:
            yield scene.found("time", said, place, f"{value.path}: {value.text}")
            return


def _differs(scene: Scene, said: Said, low: str) -> Place | None:
    """The user's words about a time that this value differs from."""
    named = said.moments
    at = stamp(low)
    if at is not None:
        day: date | None = at[0]
        clock = at[1]
        given = Moments(frozenset([at[0].weekday()]), frozenset([(at[0].month, at[0].day)]))
    else:
        given, day, clock = moments(low), None, None
        if len(given.clocks) and not given.days and not given.weekdays:
            clock = max(given.clocks)
    if len(named.weekdays) == 1 and not named.days and given.weekdays:
        if not given.weekdays & named.weekdays and not _elsewhere(scene, low[:10], day):
            return _where(said, "weekday")
        if day is not None and not given.weekdays & named.weekdays:
            return None
    if len(named.days) == 1 and not named.weekdays and given.days:
        if not given.days & named.days and not _elsewhere(scene, low[:10], day):
            return _where(said, "day")
    hours = {(hour % 12, minute) for hour, minute in named.clocks}
    if clock is not None and len(hours) == 1 and clock not in named.clocks:
        if not (at is None and len(given.clocks) > 1 and given.clocks & named.clocks):
            return _where(said, "clock")
    return None


def _elsewhere(scene: Scene, written: str, day: date | None) -> bool:
    """Whether a day stands in the user's words in another message."""
    return any(
        day is not None and (day.month, day.day) in one.moments.days for one in scene.index.said
    )


def _where(said: Said, kind: str) -> Place | None:
    """The place of the time in the user's words, where a preposition binds it to the order."""
    for place, found in said.moments.places:
        if _RANGE.search(said.low[max(0, place[0] - 8) : place[0]]):
            return None
        if found == kind and len(said.low.split()) <= 5:
            return Place(*place)
        before = said.low[max(0, place[0] - 20) : place[0]]
        if found == kind and (_AT.search(before) or _AT.search(before + said.low[place[0]])):
            return Place(*place)
        if (
            found == kind
            and kind == "clock"
            and re.match(r"(?:at|um|à|a las|alle|às|om|kl)\b", said.low[place[0] :])
        ):
            return Place(*place)
    return None
