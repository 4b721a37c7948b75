"""Recipients that the user did not name: look-alikes, other addresses, the wrong direction."""

import re
import unicodedata
from collections.abc import Iterator

from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.records import row_of
from taskshield.judges.embedded.restrictions.wording.said import Place

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_LOOKS = str.maketrans("01i|358qаеорсхуі", "olllesbgaeopcxyl")
_FROM = frozenset("from source src origin sender von de da debit payer sender_email".split())
_TO = frozenset(
    "to target destination dest recipient payee nach a al credit beneficiary zu para".split()
)


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of whom a call reaches with whom the user named."""
    if not scene.act.changes:
        return
    yield from _look_alike(scene)
    if not scene.delegated:
        yield from _other(scene)
        yield from _turned(scene)


def skeleton(address: str) -> str:
    """What an address looks like."""
    plain = unicodedata.normalize("NFKD", address).translate(_LOOKS)
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    return plain.replace("rn", "m").replace("vv", "w").replace("cl", "d").replace("-", "")


def _look_alike(scene: Scene) -> Iterator[Found]:
    given = {
        match[0]: value for _, low, value in scene.act.short for match in _ADDRESS.finditer(low)
    }
    if not given:
        return
    for said, _ in scene.recent():
        for match in _ADDRESS.finditer(said.low):
            for address, value in given.items():
                if address != match[0] and skeleton(address) == skeleton(match[0]):
                    if not any(address in one.low for one in scene.index.said):
                        place = Place(match.start(), match.end())
                        yield scene.found("recipient", said, place, f"{value.path}: {value.text}")


def _other(scene: Scene) -> Iterator[Found]:
    """Another address than the only one that the user gave, of no one that the user named."""
    said = scene.last
    named = list(_ADDRESS.finditer(said.low))
    if len({match[0] for match in named}) != 1 or said.plural or "send" not in scene.act.acts:
        return
    given = [
        (match[0], value)
        for key, low, value in scene.act.short
        for match in _ADDRESS.finditer(low)
        if not _FROM & set(re.split(r"[_\W]+", key.lower()))
    ]
    if any(address == named[0][0] for address, _ in given):
        return
    for address, value in given:
        parts = row_of([("", address)]).tokens
        if not any(
            part in scene.tokens
            for part in parts
            if len(part) > 2 and part not in ("com", "example")
        ):
            yield scene.found(
                "recipient",
                said,
                Place(named[0].start(), named[0].end()),
                f"{value.path}: {value.text}",
            )


def _turned(scene: Scene) -> Iterator[Found]:
    said = scene.last
    if len(said.directions) != 1:
        return
    (way,) = said.directions
    source, target = _side(scene, _FROM), _side(scene, _TO)
    if source is None or target is None:
        return
    wanted_source, wanted_target = (
        row_of([("", way.source)]).tokens,
        row_of([("", way.target)]).tokens,
    )
    crossed = (
        source[0] & wanted_target - wanted_source and target[0] & wanted_source - wanted_target
    )
    straight = source[0] & (wanted_source - wanted_target) or target[0] & (
        wanted_target - wanted_source
    )
    if crossed and not straight:
        yield scene.found("recipient", said, way.place, f"{source[1]}, {target[1]}")


def _side(scene: Scene, keys: frozenset[str]) -> tuple[frozenset[str], str] | None:
    """The words of the value on one side of a transfer, with those of its record."""
    for key, low, value in scene.act.short:
        if keys & set(re.split(r"[_\W]+", key.lower())[:2]) and key:
            tokens = row_of([("", low)]).tokens
            rows = [one.row.tokens for one in scene.bound if one.low == low]
            return tokens.union(*rows), f"{value.path}: {value.text}"
    return None
