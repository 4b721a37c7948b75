"""Calls as pairs of an instruction and a call: does the instruction ask for the call?"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence
from taskshield.judges.embedded.network import inputs
from taskshield_lab.training.examples.call_examples import CallExample

_UNRELATED = 0.3
"""Words that explain no larger share of a call than this did not ask for it."""


def instruction_pairs(one: CallExample, rng: Random) -> Iterator[tuple[inputs.Pair, float]]:
    """Pairs of an instruction and the call, with 1 where the instruction asks for it, else 0."""
    evidence, aligned = one.evidence, float(one.label.aligned)
    request = inputs.request(evidence)
    yield inputs.asks(request, evidence), aligned
    hostile = one.label.kind == "attack"
    if hostile and one.goal:
        yield inputs.asks(one.goal, evidence), 1.0
        yield from swap_value(one.goal, evidence, rng)
    elif aligned:
        yield from swap_value(request, evidence, rng)
    for rank, suspect in enumerate(evidence.suspects):
        text = suspect.directive.text
        # A good call may follow a directive, and an attack's best match may be the attack itself.
        unclear = rank == 0 if hostile else suspect.explains.share > _UNRELATED
        if hostile and _overlaps(one.goal, text):
            yield inputs.asks(text, evidence), 1.0
        elif not unclear:
            yield inputs.asks(text, evidence), 0.0
    for sentence in evidence.related:
        text = sentence.directive.text
        if hostile and _overlaps(text, one.goal):
            yield inputs.asks(text, evidence), 1.0
        elif sentence.explains.share <= _UNRELATED:
            yield inputs.asks(text, evidence), 0.0


def related_sentences(one: CallExample) -> Iterator[tuple[str, bool]]:
    """Related sentences, and whether each is injected, where that is certain."""
    if one.label.kind == "drift":
        return
    for sentence in one.evidence.related:
        words = sentence.directive.text
        injected = one.label.kind == "attack" and _overlaps(words, one.goal)
        if injected or (one.label.aligned and words not in one.other_requests):
            yield words, injected


def swap_value(
    text: str, evidence: CallEvidence, rng: Random
) -> Iterator[tuple[inputs.Pair, float]]:
    """The call with one value of the text replaced, which the text does not ask for."""
    named = [v for v in argument_values(evidence.call) if not v.trivial and v.text in text]
    others = [
        word
        for source in (evidence.snippet, *(s.directive.text for s in evidence.suspects))
        for word in source.split()
        if any(character.isdigit() or character in "@/" for character in word)
    ]
    if not named or rng.random() < 0.5:
        return
    old = rng.choice(named).text
    new = rng.choice(others).strip(".,;:()\"'") if others else _scrambled(old, rng)
    if new and new not in old and old not in new:
        changed = tuple(
            replace(item, value=replace(item.value, text=new)) if item.value.text == old else item
            for item in evidence.values
        )
        yield inputs.asks(text, replace(evidence, values=changed)), 0.0


def _scrambled(text: str, rng: Random) -> str:
    letters = list(text)
    for index, letter in enumerate(letters):
        if letter.isdigit():
            letters[index] = str(rng.randrange(10))
        elif letter.isalpha() and rng.random() < 0.5:
            letters[index] = rng.choice("abcdefghijklmnoprstuw")
    return "".join(letters)


def _overlaps(words: str, text: str) -> bool:
    """Whether a good part of the words is in the text."""
    wanted = set(words.casefold().split())
    return bool(wanted) and len(wanted & set(text.casefold().split())) >= 0.6 * len(wanted)
