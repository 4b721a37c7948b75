"""The wrong one of several: another id, another row of the list, or one that was left out."""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.restrictions.acts import named
from taskshield.judges.embedded.restrictions.found import Bound, Found, Scene
from taskshield.judges.embedded.restrictions.records import shape
from taskshield.judges.embedded.restrictions.wording.said import Place, Said
from taskshield.judges.embedded.restrictions.wording.words import STOP, WORD, act_of

_RELATIVE = frozenset(
    "who whom that which says said from by with whichever whose where qui que der die".split()
)


_NAME = re.compile(
    r"[^\W\d_][\w'’.-]{0,20} [^\W\d_][\w'’-]{2,20}(?: [^\W\d_][\w'’-]{2,20})?(?=\W|$)"
)
_LONGEST = 25
"""Words of a message that is about one thing."""


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of the things that a call acts on with those that the user named."""
    if not scene.act.changes:
        return
    yield from _excluded(scene)
    if scene.delegated:
        return
    yield from _by_id(scene)
    if scene.act.aims:
        yield from _by_description(scene)
        yield from _by_name(scene)
        yield from _by_cell(scene)


def _excluded(scene: Scene) -> Iterator[Found]:
    for said, later in scene.recent(3):
        for one in said.exclusions:
            if any(_takes_up(one.names, other, scene) for other in later) or scene.act.acts == {
                "send"
            }:
                continue
            if all(named(name, scene) for name in one.names):
                yield scene.found("object", said, one.place)


def _takes_up(names: frozenset[str], said: Said, scene: Scene) -> bool:
    """Whether a later message speaks of what was left out, or asks for such an act."""
    words = {word.removesuffix("'s") for word in said.tokens}
    return bool(names & words) or bool(said.asks & scene.act.acts) or said.goes_ahead


def _is_id(token: str) -> bool:
    digits = sum(map(str.isdigit, token))
    return digits >= 2 and len(token) > 2 and "." not in token and ":" not in token


def _by_id(scene: Scene) -> Iterator[Found]:
    for said in scene.request:
        ids = {token for token in said.tokens if _is_id(token)}
        if said.plural or not ids:
            continue
        for one in scene.bound:
            column = one.row.column(one.low)
            if column is None or not any(map(str.isdigit, one.low)):
                continue
            others = [
                token
                for token in ids
                for number in one.listing.with_token.get(token, ())
                if number != one.number
                and not _meant(scene, one, number)
                and shape(token) == shape(one.low)
                and one.listing.rows[number].column(token) == column
            ]
            if others and not any(token in scene.touched for token in others):
                at = said.low.find(others[0])
                yield scene.found("object", said, Place(at, at + len(others[0])), one.does)


def _meant(scene: Scene, one: Bound, other: int) -> bool:
    """Whether any word of the user points at the record, and not at the other one as well."""
    rival = one.listing.rows[other].tokens
    return any(
        token in scene.tokens and token not in STOP
        for token in one.row.tokens
        if token not in rival
    )


def _by_description(scene: Scene) -> Iterator[Found]:
    """The user names one record by words of its own, and the call takes another."""
    said = scene.request[0]
    asked = len(said.low.split()) <= 20 or said.asks & scene.act.acts
    if said.plural or said.exclusions or said.prohibitions or not asked:
        return
    if len(said.low.split()) > _LONGEST:
        return
    for match in WORD.finditer(said.low):
        word, at = match[0].removesuffix("'s"), match.start()
        before = said.low[:at].split()[-1:]
        if word in _RELATIVE or (before and before[0] in _RELATIVE):
            continue
        capital = said.text[at].isupper() and (at > 0 or said.brief)
        if len(word) > 2 and word.isalpha() and capital and word not in STOP and not act_of(word):
            yield from _not_named(scene, said, word, at)


def _by_name(scene: Scene) -> Iterator[Found]:
    """The user writes the whole name of one record, and the call takes another."""
    said = scene.request[0]
    if said.plural or said.exclusions or len(said.low.split()) > 2 * _LONGEST:
        return
    for one in scene.bound:
        if len(one.listing.rows) > 60:
            continue
        column = one.row.column(one.low)
        if one.value.kind == "number" and len(one.low) < 4:
            continue  # an amount
        for number, row in enumerate(one.listing.rows):
            if number == one.number or column is None or _meant(scene, one, number):
                continue
            if len(row.cells) != len(one.row.cells):
                continue
            for place, (key, cell) in enumerate(row.cells):
                name = _NAME.match(cell)
                if name is None or (
                    one.value.kind == "name" and (key or str(place)) != column.split()[0]
                ):
                    continue
                whole_name = name[0]
                at = said.low.find(whole_name)
                if at < 0 and whole_name.count(" ") == 2:  # without the title
                    whole_name = whole_name.partition(" ")[2]
                    at = said.low.find(whole_name)
                whole = (
                    at >= 0
                    and said.text[at].isupper()
                    and not said.low[at + len(whole_name) :][:1].isalpha()
                )
                if whole and not any(whole_name in low for _, low, _ in scene.act.short):
                    yield scene.found("object", said, Place(at, at + len(whole_name)), one.does)
                    return


def _by_cell(scene: Scene) -> Iterator[Found]:
    """The user writes what one record is called, and the call takes another by its name."""
    said = scene.request[0]
    if said.plural or said.exclusions or len(said.low.split()) > _LONGEST:
        return
    for one in scene.bound:
        column = one.row.column(one.low)
        if column is None or not one.low.isalpha() or one.low in scene.tokens:
            continue
        called = [row.called(column) for row in one.listing.rows]
        if None in called or len(set(called)) < len(called):
            continue  # no name of the record
        for number, name in enumerate(called):
            if name not in said.tokens or name in STOP or not name or len(name) < 3:
                continue
            if number != one.number and name.isalpha() and not _meant(scene, one, number):
                if not any(name in low for _, low, _ in scene.act.short):
                    at = said.low.find(name)
                    yield scene.found("object", said, Place(at, at + len(name)), one.does)
                    return


def _not_named(scene: Scene, said: Said, word: str, at: int) -> Iterator[Found]:
    for one in scene.bound:
        if one.listing.rarity(word) != 1:
            continue
        (other,) = one.listing.with_token[word]
        if _meant(scene, one, other):
            continue
        row = one.listing.rows[other]
        column = one.row.column(one.low)
        if other == one.number or column is None or len(row.cells) != len(one.row.cells):
            continue
        if any(bound.number == other and bound.listing is one.listing for bound in scene.bound):
            continue
        names = one.value.kind in ("name", "address")
        if any(
            word in WORD.findall(cell)
            and len(cell.split()) <= 4
            and (not names or (key or str(place)) == column)
            for place, (key, cell) in enumerate(row.cells)
        ):
            yield scene.found("object", said, Place(at, at + len(word)), one.does)
