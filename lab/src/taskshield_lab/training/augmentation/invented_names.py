"""Invented names, and capitalised words that are no names."""

from collections.abc import Container
from random import Random

_GIVEN = tuple(
    (
        "anouk bastian celeste dmitri esther farouk greta hamish ingrid jasper katya leandro "
        "mireille nadia oskar priya quentin rosalind soren tamsin ulrich vesna wendell ximena "
        "yusuf zelda amara bjorn chidi dilys emeka fiona goran hester imogen joaquin kwame lucia "
        "magnus nikolai odile paloma ramona saskia thandi ursula viktor winona yolanda zoran"
    ).split()
)
_AFTER_CONSONANT = (
    "arwick elburn indale ostrand ulver amsey ethmoor illard oakes umfrey andel erris ivenor "
    "ombray unstead alloway entwood irkham orrin ashby"
).split()
_AFTER_VOWEL = (
    "lder rnsby mbrose stwick ndrake lmgate shcombe lverton rkwell ndover bbot ckley ddis "
    "ffield ggar llard mmett nnis rrow tter"
).split()

NOT_NAMES = frozenset(
    (
        "january february march april june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday sept "
        "english german french spanish portuguese italian japanese chinese hindi arabic european "
        "europe germany france spain portugal italy japan china india brazil london paris berlin "
        "none true false null http https html json yaml utf example test invalid mail email info "
        "with from this that your please dear regards subject date status total note"
    ).split()
)


def invent_name(initial: str, taken: Container[str], rng: Random) -> str:
    """A name in lower case with this initial that is not taken."""
    ready = [name for name in _GIVEN if name[0] == initial and name not in taken]
    if ready and rng.random() < 0.3:
        return rng.choice(ready)
    tails = _AFTER_VOWEL if initial in "aeiou" else _AFTER_CONSONANT
    free = [name for tail in tails if (name := initial + tail) not in taken]
    if free:
        return rng.choice(free)
    return next(
        name
        for tail in tails
        for more in ("son", "ley", "by", "ton", "wyn", "ette", "ova", "sen")
        if (name := initial + tail + more) not in taken
    )
