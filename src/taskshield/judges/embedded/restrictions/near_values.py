"""Values that almost are what the user said: another digit, another name, the one before."""

import re
from collections import Counter
from collections.abc import Iterator

from taskshield.judges.embedded.restrictions.act import Value
from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.records import shape
from taskshield.judges.embedded.restrictions.wording.quantities import numbers
from taskshield.judges.embedded.restrictions.wording.said import Place, Said
from taskshield.judges.embedded.restrictions.wording.words import STOP, stem

_TOKEN = re.compile(r"[\w][\w@.+/#'’!:-]*[\w]|\w")
_AMENDS = re.compile(
    r"\b(?:no|nope|sorry|mistake|i meant?|i mean|rather|make (?:it|that)|correction|typo"
    r"|actually|instead|not"
    r"|pardon|excuse|perdón|perdona|scusa|scusi|no espera|mejor|desculp\w*|entschuldig\w*|sorry"
    r"|doch|statt"
    r"|moment|nein|non|nee|nie|przepraszam|förlåt|pardon|yok|извини\w*|нет)\b|不对|应该是|訂正|すみません|間違"
)
_LONGEST = 60
"""Words of a message in which one value is surely the one that is meant."""


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of a call's values with the values that the user wrote."""
    if not scene.act.changes or scene.delegated:
        return
    said = scene.request[0]
    if len(said.low.split()) > _LONGEST:
        return
    own = {low for _, low, _ in scene.act.short}
    for key, low, value in scene.act.short:
        digits = re.findall(r"\d+", low)
        if value.kind in ("date", "time", "flag") or "@" in low or " " in low:
            continue
        if low in scene.tokens or any(one in scene.tokens for one in digits):
            continue
        place = _keyed(said, key, low, own) or _near(said, low, own, value)
        if place is not None:
            yield scene.found("object", said, place, _does(value))
    yield from _answered(scene, said)
    if _AMENDS.search(said.low) and len(scene.index.said) > 1:
        yield from _superseded(scene, said, own)


def _does(value: Value) -> str:
    return f"{value.path}: {value.text}" if value.path else value.text


def _keyed(said: Said, key: str, low: str, own: set[str]) -> Place | None:
    """The user's words for this argument, as in "lot 77", where the call says 79."""
    single = said.brief or not re.search(r"[.!?\n]\s\w", said.low)
    if said.plural or len(key) < 3 or not single or sum(map(str.isdigit, low)) < 2:
        return None
    root = stem(key.lower().removesuffix("_id").removesuffix("_no"))
    found = []
    words = list(_TOKEN.finditer(said.low))
    for one, after in zip(words, words[1:], strict=False):
        if stem(one[0]) == root and any(map(str.isdigit, after[0])):
            if said.low[one.end() : after.start()].strip(" #"):
                continue
            found.append(Place(one.start(), after.end()))
            given = after[0]
    if len(found) != 1 or given in own or not _alike(given, low):
        return None
    return found[0]


def _alike(one: str, other: str) -> bool:
    """Whether both are written in the same way."""
    return shape(one) == shape(other) or (one.isdigit() and other.isdigit())


def _near(said: Said, low: str, own: set[str], value: Value) -> Place | None:
    """A value of the user that this one is almost."""
    if value.kind in ("name", "address"):
        return None
    for match in _TOKEN.finditer(said.low):
        word = match[0].rstrip(".,:!'")
        if word == low or word in own or word in STOP or not _is_slip(word, low):
            continue
        if any(word in one for one in own):
            continue
        if not numbers(word) & numbers(low):
            return Place(match.start(), match.start() + len(word))
    return None


def _is_slip(word: str, low: str) -> bool:
    """Whether one id is the other with digits reversed."""
    if sum(map(str.isdigit, word)) < 2 or len(word) < 3 or any(mark in word for mark in ":/@"):
        return False
    return Counter(word) == Counter(low) and shape(word) == shape(low)


def _answered(scene: Scene, said: Said) -> Iterator[Found]:
    """The other number of the agent's question than the one that the user answers with."""
    asked = scene.index.question_before(said.message)
    numbers_said = re.findall(r"\d{2,}", said.low)
    if asked is None or len(said.low.split()) > 4 or len(numbers_said) != 1 or said.plural:
        return
    (chosen,) = numbers_said
    offered = set(re.findall(r"\d{2,}", asked[1]))
    if chosen not in offered or chosen in scene.act.text:
        return
    for _, low, value in scene.act.short:
        others = [one for one in re.findall(r"\d{2,}", low) if one in offered]
        if value.kind not in ("date", "time") and any(len(one) == len(chosen) for one in others):
            at = said.low.find(chosen)
            yield scene.found("object", said, Place(at, at + len(chosen)), _does(value))
            return


def _superseded(scene: Scene, said: Said, own: set[str]) -> Iterator[Found]:
    """A value of an earlier message in whose place the newest one names another."""
    earlier = frozenset().union(*(one.tokens for one in scene.index.said[-3:-1]))
    for _, low, value in scene.act.short:
        if low in said.tokens or low not in earlier or not any(map(str.isdigit, low)):
            continue
        for match in _TOKEN.finditer(said.low):
            word = match[0].rstrip(".,:!'")
            same = word != low and len(word) > 2 and shape(word) == shape(low)
            if same and word not in own and word not in earlier and any(map(str.isdigit, word)):
                yield scene.found(
                    "object", said, Place(match.start(), match.start() + len(word)), _does(value)
                )
    for _, unit, values, value in scene.act.amounts:
        new = [one for one in said.quantities if one.unit == unit or not one.unit]
        old = [one for each in scene.index.said[-3:-1] for one in each.quantities
               if one.values & values and (one.unit == unit or not one.unit)]  # fmt: skip
        if unit and len(new) == 1 and old and not new[0].values & values and not said.plural:
            if not any(new[0].values & other for _, _, other, _ in scene.act.amounts):
                yield scene.found("limit", said, Place(new[0].start, new[0].end), _does(value))
