"""Another one of a list than the user chose: "the second one", "the cheapest", "only 1 and 3"."""

from collections.abc import Iterator

from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.records import Listing
from taskshield.judges.embedded.restrictions.wording.quantities import quantities
from taskshield.judges.embedded.restrictions.wording.said import Choice, Place, Said
from taskshield.judges.embedded.restrictions.wording.words import STOP

_MOST_SHOWN = 40
"""Rows that an agent's text may put to the user."""
_FEW = 14
"""Words of a message that mainly chooses."""


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of a call with what the user chose from a list."""
    if scene.act.aims and not scene.delegated:
        yield from _by_choice(scene)


def _by_choice(scene: Scene) -> Iterator[Found]:
    said = scene.last
    if said.numbers is not None:
        yield from _by_numbers(scene, said, *said.numbers)
        return
    if said.plural or len(said.low.split()) > _FEW:
        return
    choice = _chosen(scene, said)
    if choice is None:
        return
    listing = _shown(scene, said)
    if listing is None:
        return
    chosen = _pick(listing, choice)
    if chosen is None:
        return
    for low, does in _pointers(scene):
        rows = listing.rows_of(low)
        if len(rows) == 1 and rows[0] != chosen:
            yield scene.found("object", said, choice.place, does)
            return
        if rows:
            return
    for one in scene.bound:
        if one.value.kind not in ("identifier", "number", "account", "address"):
            continue
        own = [token for token in one.row.tokens if one.listing.rarity(token) == 1]
        rows = [
            row for token in own if listing.rarity(token) == 1 for row in listing.with_token[token]
        ]
        if rows and chosen not in rows:
            yield scene.found("object", said, choice.place, one.does)
            return


def _by_numbers(scene: Scene, said: Said, place: Place, numbers: frozenset[int]) -> Iterator[Found]:
    """Another item of the agent's numbered list than those that the user answers with."""
    asked = scene.index.question_before(said.message)
    listing = None if asked is None else scene.index.lists.get(asked[0])
    if listing is None or max(numbers) > len(listing.rows):
        return
    for low, does in _pointers(scene):
        rows = listing.rows_of(low)
        if rows and not any(row + 1 in numbers for row in rows):
            yield scene.found("object", said, place, does)
            return


def _chosen(scene: Scene, said: Said) -> Choice | None:
    """The choice that belongs to what the call does."""
    if len(said.choices) == 1 and len(said.orders) < 2:
        return said.choices[0]
    found = []
    for choice in said.choices:
        before = [one for one in said.orders if one.place.start < choice.place.start]
        if before and before[-1].act in scene.act.acts:
            found.append(choice)
    return found[0] if len(found) == 1 else None


def _pointers(scene: Scene) -> Iterator[tuple[str, str]]:
    for _, low, value in scene.act.short:
        if (
            value.kind in ("identifier", "number", "name", "account", "address", "path")
            and not value.trivial
        ):
            yield low, f"{value.path}: {value.text}"


def _shown(scene: Scene, said: Said) -> Listing | None:
    """The list that the user chooses from: the agent's, or else the newest records."""
    asked = scene.index.question_before(said.message)
    if asked is not None and asked[0] in scene.index.lists:
        return scene.index.lists[asked[0]]
    records = [
        one
        for number in sorted(scene.index.records, reverse=True)
        if number < said.message
        for one in scene.index.records[number][:1]
        if len(one.rows) > 1
    ][:1]
    if not records:
        return None
    if asked is None:
        return records[0]
    return _mentioned(records[0], asked[1])


def _mentioned(listing: Listing, text: str) -> Listing | None:
    """The rows that a text of the agent mentions, in its order."""
    places = []
    for row in listing.rows[:_MOST_SHOWN]:
        own = [
            at
            for token in row.tokens
            if len(token) > 2
            and token not in STOP
            and listing.rarity(token) == 1
            and (at := text.find(token, 0, 4000)) >= 0
        ]
        if own:
            places.append((min(own), row))
    if len(places) < 2:
        return None
    return Listing([row for _, row in sorted(places, key=lambda one: one[0])], ordered=True)


def _pick(listing: Listing, choice: Choice) -> int | None:
    if choice.index is not None:
        count = len(listing.rows)
        index = choice.index if choice.index >= 0 else count + choice.index
        return index if 0 <= index < count else None
    if choice.superlative != "cheap":
        return None
    prices = []
    for row in listing.rows:
        found = [one.value for key, cell in row.cells for one in quantities(cell)
                 if one.unit == "money" or "price" in key or "cost" in key]  # fmt: skip
        if len(found) != 1:
            return None
        prices.append(found[0])
    least = min(prices)
    return prices.index(least) if prices.count(least) == 1 else None
