"""What the network is taught: token ids, and what its heads should say about them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from tokenizers import Tokenizer

from taskshield.judges.embedded.evidence.call_evidence import acts
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.network.encoding import Encoded, output_ids, pair_ids
from taskshield_lab.training.examples.examples import (
    CallExample,
    Label,
    OutputExample,
    asked,
    related_sentences,
)

ASKS, SERVES = 0, 1
"""The two heads for pairs."""

_TAG_WEIGHTS: dict[Label, float] = {
    "attack": 0.75,
    "benign": 0.5,
    "pointed": 0.5,
    "obey": 0.5,
    "wish": 0.5,
    "echo": 0.5,
    "plain": 0.1,
}
PLANTED = frozenset(("attack", "wish"))
"""Labels of words that try to direct the agent."""
_BESIDE_REQUEST = frozenset(("wish", "echo"))
"""What is taught only beside what the user wants: the words alone do not say which it is."""
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
class TokenExample:
    """A sequence and the right answers."""

    sequence: Encoded
    answers: tuple[Answer, ...]


def on_outputs(
    outputs: Iterable[OutputExample], tokenizer: Tokenizer, rng: Random, *, weight: float = 1.0
) -> Iterator[TokenExample]:
    """Which segments of an output try to direct the agent."""
    for output in outputs:
        for sequence in output_ids(tokenizer, output.heading, output.pieces):
            answers = tuple(
                Answer(
                    head=None,
                    place=place,
                    right=float(output.labels[number] in PLANTED),
                    weight=weight * _TAG_WEIGHTS[output.labels[number]],
                )
                for place, number in sequence.marks
                if _is_taught(output, number)
            )
            plain = all(output.labels[number] == "plain" for _, number in sequence.marks)
            if answers and not (plain and rng.random() > _PLAIN_KEPT):
                yield TokenExample(sequence=sequence, answers=answers)


def on_calls(
    calls: Iterable[CallExample], tokenizer: Tokenizer, rng: Random
) -> Iterator[TokenExample]:
    """Who asks for a call, and whether it serves the user."""
    for one in calls:
        for pair, right in asked(one, rng):
            yield on_pair(pair, ASKS, right, tokenizer)
        for words, planted in related_sentences(one):
            yield from _on_words(words, planted, one.evidence.request, tokenizer)
        if acts(one.evidence.kind):
            aligned = one.label.aligned
            weight = 1.0 if aligned else _MISALIGNED
            yield on_pair(inputs.serves(one.evidence), SERVES, float(aligned), tokenizer, weight)


def on_pair(
    pair: inputs.Pair, head: int, right: float, tokenizer: Tokenizer, weight: float = 1.0
) -> TokenExample:
    """One question about two texts."""
    answer = Answer(head=head, place=0, right=right, weight=weight)
    return TokenExample(sequence=pair_ids(tokenizer, *pair), answers=(answer,))


def _on_words(
    words: str, planted: bool, request: str, tokenizer: Tokenizer
) -> Iterator[TokenExample]:
    """Words beside nothing but what the user wants: do they direct the agent."""
    weight = _TAG_WEIGHTS["attack" if planted else "benign"]
    for sequence in output_ids(tokenizer, inputs.heading("", request), [words]):
        answers = tuple(
            Answer(head=None, place=place, right=float(planted), weight=weight)
            for place, _ in sequence.marks
        )
        yield TokenExample(sequence=sequence, answers=answers)


def _is_taught(output: OutputExample, number: int) -> bool:
    piece, label = output.pieces[number], output.labels[number]
    if label in _BESIDE_REQUEST and not output.request:
        return False
    return len(piece) >= _SHORTEST if label in PLANTED else any(map(str.isalpha, piece))
