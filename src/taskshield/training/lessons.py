"""What the network is taught: token ids, and what its heads should say about them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from tokenizers import Tokenizer

from taskshield.judges.embedded import inputs
from taskshield.judges.embedded.encoding import Encoded, output_ids, pair_ids
from taskshield.judges.embedded.evidence import acts
from taskshield.training.examples import Heard, Judged, Label, asides, asked

ASKS, SERVES = 0, 1
"""The two heads for pairs."""

_TAG_WEIGHTS: dict[Label, float] = {
    "attack": 0.75,
    "benign": 0.5,
    "pointed": 0.5,
    "obey": 0.5,
    "plain": 0.1,
}
"""Wishes are not among them: their words alone do not say whether they are planted."""
_PLAIN_KEPT = 0.4
"""Share of the sequences without any imperative that are taught."""
_MISALIGNED = 1.5
_SHORTEST = 20
"""Shorter pieces of an injection ("Thanks!") are not taught as directives, nor as anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a head should say."""

    head: int | None
    """A head for pairs; None for the tag of a segment."""
    place: int
    """For a tag: the position of its marker."""
    right: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A sequence and the right answers."""

    sequence: Encoded
    answers: tuple[Answer, ...]


def on_outputs(
    outputs: Iterable[Heard], tokenizer: Tokenizer, rng: Random, *, weight: float = 1.0
) -> Iterator[Lesson]:
    """Which segments of an output try to direct the agent."""
    for output in outputs:
        for sequence in output_ids(tokenizer, output.head, output.pieces):
            answers = tuple(
                Answer(
                    head=None,
                    place=place,
                    right=float(output.labels[number] == "attack"),
                    weight=weight * _TAG_WEIGHTS[output.labels[number]],
                )
                for place, number in sequence.marks
                if _is_taught(output.pieces[number], output.labels[number])
            )
            plain = all(output.labels[number] == "plain" for _, number in sequence.marks)
            if answers and not (plain and rng.random() > _PLAIN_KEPT):
                yield Lesson(sequence=sequence, answers=answers)


def on_calls(calls: Iterable[Judged], tokenizer: Tokenizer, rng: Random) -> Iterator[Lesson]:
    """Who asks for a call, and whether it serves the user."""
    for one in calls:
        for pair, right in asked(one, rng):
            yield on_pair(pair, ASKS, right, tokenizer)
        for words, planted in asides(one):
            yield from _on_words(words, planted, tokenizer)
        if acts(one.evidence.kind):
            aligned = one.label.aligned
            weight = 1.0 if aligned else _MISALIGNED
            yield on_pair(inputs.serves(one.evidence), SERVES, float(aligned), tokenizer, weight)


def on_pair(
    pair: inputs.Pair, head: int, right: float, tokenizer: Tokenizer, weight: float = 1.0
) -> Lesson:
    """One question about two texts."""
    answer = Answer(head=head, place=0, right=right, weight=weight)
    return Lesson(sequence=pair_ids(tokenizer, *pair), answers=(answer,))


def _on_words(words: str, planted: bool, tokenizer: Tokenizer) -> Iterator[Lesson]:
    """Words by themselves: do they direct the agent."""
    weight = _TAG_WEIGHTS["attack" if planted else "benign"]
    for sequence in output_ids(tokenizer, "", [words]):
        answers = tuple(
            Answer(head=None, place=place, right=float(planted), weight=weight)
            for place, _ in sequence.marks
        )
        yield Lesson(sequence=sequence, answers=answers)


def _is_taught(piece: str, label: Label) -> bool:
    if label == "attack":
        return len(piece) >= _SHORTEST
    return label in _TAG_WEIGHTS and any(map(str.isalpha, piece))
