"""Amounts against the user's words: over a limit, another than named, or one that was corrected."""

import re
from collections.abc import Iterator

from taskshield.core.assessments import ContradictionKind
from taskshield.judges.embedded.restrictions.act import Value
from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.wording.quantities import Quantity, in_base, quantities
from taskshield.judges.embedded.restrictions.wording.said import Correction, Limit, Place, Said
from taskshield.judges.embedded.restrictions.wording.words import WORD, stem

_AMENDS = re.compile(r"\b(?:no,? wait|wait,? no|make (?:it|that)|sorry|i mean)\b")
_EACH = re.compile(
    r"\W{0,3}(?:\w{1,12}\s)?(?:each|apiece|per|a (?:head|night|person|piece|month|day|week|go)"
    r"|an hour|pro|par|por|al|je"
    r"|/|p\.?p\b|la nuit|die nacht|im monat|every)\b"
)
_PER = re.compile(r"\b(?:per|pro|par|por|je|every|each)\s$")
_UNSURE = re.compile(
    r"conver|equivalen|exchang|umrechn|\b(?:worth|point|komma|virgule|coma|on it|in total"
    r"|altogether|total|half|share|rest)\b"
)
"""Words beside which an amount may be worked out."""
_STATES = re.compile(
    r"\b(?:is|are|am|was|were|have|has|had|'s|'ve|already|ist|sind|hat|haben|habe|war|schon|est"
    r"|sont|a|ont|está|están|è|sono|ha"
    r"|hanno|tem|heeft|is|zijn|jest|są|är|har|used|owes?|costs?)\b"
)
"""In front of an amount that is so already."""
_RECENT = 40
"""Messages and numbers of the user that an amount may be worked out of."""
_SPENDS = frozenset("buy pay approve create send change".split())
_PRICES = tuple(
    "price cost total amount preis betrag prix precio prezzo preço prijs cena fee rate fiyat pris"
    " montant importe".split()
)  # fmt: skip


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of a call's amounts with those that the user named."""
    if not scene.act.changes:
        return
    yield from _limits(scene)
    yield from _corrected(scene)
    named = list(_named(scene))
    yield from named or _noughts(scene)


def _does(value: Value) -> str:
    return f"{value.path}: {value.text}" if value.path else value.text


def _limits(scene: Scene) -> Iterator[Found]:
    for said, later in scene.recent(4):
        if _AMENDS.search(said.low):
            continue
        for limit in said.limits:
            if _EACH.match(said.low[limit.quantity.end : limit.quantity.end + 40]):
                continue
            if any(one.limits or _same_unit(one, limit.quantity) for one in later):
                continue
            for key, unit, values, value in scene.act.amounts:
                if not _comparable(limit.quantity, unit, key, said, limit=True):
                    continue
                _, most = in_base(limit.quantity.value, limit.quantity.unit or unit)
                _, much = in_base(min(values), unit or limit.quantity.unit)
                if much > most * 1.005:
                    yield scene.found(_kind(limit), said, limit.place, _does(value))
            paid = any(unit == "money" for _, unit, _, _ in scene.act.amounts)
            if limit.quantity.unit == "money" and scene.act.acts & _SPENDS and not paid:
                yield from _records(scene, said, limit)


def _records(scene: Scene, said: Said, limit: Limit) -> Iterator[Found]:
    """The price in the record that the call picks, against the limit."""
    for one in scene.bound:
        prices = [
            found.value
            for key, cell in one.row.cells
            for found in quantities(cell)
            if found.unit == "money" or (any(word in key for word in _PRICES) and not found.unit)
        ]
        if len(prices) == 1 and prices[0] > limit.quantity.value * 1.005:
            yield scene.found(_kind(limit), said, limit.place, _does(one.value))


def _kind(limit: Limit) -> ContradictionKind:
    return "condition" if limit.condition else "limit"


def _same_unit(said: Said, quantity: Quantity) -> bool:
    return any(one.unit in (quantity.unit, "") for one in said.quantities)


def _comparable(
    quantity: Quantity,
    unit: str,
    key: str,
    said: Said,
    scene: Scene | None = None,
    *,
    limit: bool = False,
) -> bool:
    """Whether a number of the call measures what the user's number measures."""
    if quantity.unit:
        return bool(unit) and in_base(1, quantity.unit)[0] == in_base(1, unit)[0]
    if limit and not quantity.noun:
        return unit == "money" and len(said.limits) == 1
    behind = {stem(word) for word in WORD.findall(said.low[quantity.end : quantity.end + 25])[:2]}
    named = {stem(word) for word in WORD.findall(key.replace("_", " ").lower()) if len(word) > 3}
    if unit == "count" and behind and scene is not None:
        items = {stem(word) for _, low, _ in scene.act.short for word in WORD.findall(low)}
        if behind & items:
            return True
    if named & behind and (key[-1:] in "sn" or unit == "count" or len(named) > 1):
        return True
    return unit == "money" and _follows_verb(quantity, said)


def _follows_verb(quantity: Quantity, said: Said) -> bool:
    """Whether a number is an amount of money, as in "pay him 500"."""
    if quantity.noun or len(said.quantities) != 1:
        return False
    between = [
        said.low[one.place.end : quantity.start].split()
        for one in said.orders
        if one.act in ("pay", "send", "refund") and one.place.end <= quantity.start
    ]
    return any(len(words) <= 1 and not any(map(str.isdigit, "".join(words))) for words in between)


def _corrected(scene: Scene) -> Iterator[Found]:
    for said, later in scene.recent(3):
        for one in said.corrections:
            if any(one.old in other.tokens for other in later):
                continue
            yield from _takes_old(scene, said, one)


def _takes_old(scene: Scene, said: Said, one: Correction) -> Iterator[Found]:
    old, new = quantities(one.old), quantities(one.new)
    if old and new:
        numbers = [(values, value) for _, _, values, value in scene.act.amounts]
        if any(values & new[0].values for values, _ in numbers):
            return
        for values, value in numbers:
            if values & old[0].values and max(values) > 1:
                yield scene.found("limit", said, one.place, _does(value))
    elif one.old in scene.touched and one.new not in scene.touched:
        for _, low, value in scene.act.short:
            if len(low.split()) <= 4 and one.old in low.split():
                yield scene.found("object", said, one.place, _does(value))


def _named(scene: Scene) -> Iterator[Found]:
    """Another amount than the only one that the user named."""
    said = scene.request[0]
    if said.plural or said.limits or scene.delegated or _UNSURE.search(said.low):
        return
    for key, unit, values, value in scene.act.amounts:
        alike = [one for one in said.quantities if _comparable(one, unit, key, said, scene)]
        if len(alike) != 1:
            continue
        (quantity,) = alike
        if not _ordered(said, quantity):
            continue
        _, wanted = in_base(quantity.value, quantity.unit or unit)
        given = {in_base(one, unit)[1] for one in values}
        if any(abs(one - wanted) <= 0.011 * abs(wanted) for one in given):
            continue
        slips = any(_slipped(one, wanted) for one in given)
        if _said(scene, values) if slips else _known(scene, values):
            continue
        yield scene.found("limit", said, _around(quantity), _does(value))


def _noughts(scene: Scene) -> Iterator[Found]:
    """A number of the user with noughts too many or too few, whatever it counts."""
    said = scene.request[0]
    if said.plural or scene.delegated or _UNSURE.search(said.low) or not said.brief:
        return
    whole = [one for one in said.quantities if len(str(one.value).rstrip("0").strip(".")) > 1]
    for _, unit, values, value in scene.act.amounts:
        near = [
            one
            for one in whole
            if one.unit in ("", unit) and any(_slipped(given, one.value) for given in values)
        ]
        if len(near) == 1 and not _known(scene, values):
            yield scene.found("limit", said, _around(near[0]), _does(value))


def _ordered(said: Said, quantity: Quantity) -> bool:
    """Whether an amount is one to act with, not one that is so already."""
    start = max(said.low.rfind(mark, 0, quantity.start) for mark in ".!?;\n") + 1
    if _PER.search(said.low[max(0, quantity.start - 8) : quantity.start]):
        return False
    if _STATES.search(said.low, start, quantity.start):
        return False
    stops = [at for mark in ".!?\n" if (at := said.low.find(mark, quantity.end)) >= 0]
    short = len(said.low[start : min(stops, default=len(said.low))].split()) <= 12
    return (
        said.brief or short or any(start <= one.place.start < quantity.start for one in said.orders)
    )


def _around(quantity: Quantity) -> Place:
    return Place(quantity.start, quantity.end)


def _slipped(given: float, wanted: float) -> bool:
    """Whether an amount is another by noughts too many or too few."""
    return any(abs(given - wanted * power) < 1e-6 * given for power in (0.01, 0.1, 10, 100, 1000))


def _said(scene: Scene, values: frozenset[float]) -> bool:
    return any(values & each.values for one in scene.index.said for each in one.quantities)


def _known(scene: Scene, values: frozenset[float]) -> bool:
    """Whether a number was said, stands in a record, or is easily worked out of those said."""
    newest = [each for one in scene.index.said[-_RECENT:] for each in one.quantities][-_RECENT:]
    said = {value for each in newest for value in each.values}
    near = set(said)
    for one in said if len(said) > 1 else ():
        near.update(one * times for times in (2, 3, 4, 0.5, 0.25))
        near.update(result for other in said for result in (one * other, one + other, one - other))
        near.update(one / other for other in said if other)
    if any(abs(value - one) <= 0.006 * abs(one) for value in values for one in near):
        return True
    return any(scene.index.has_number(value) for value in values)
