"""Token examples: token ids and the targets of the network's heads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from tokenizers import Tokenizer

from taskshield.judges.embedded.evidence.call_evidence import acts
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.network.encoding import Encoded, output_ids, pair_ids
from taskshield_lab.training.examples.call_examples import CallExample
from taskshield_lab.training.examples.instruction_pairs import instruction_pairs, related_sentences
from taskshield_lab.training.examples.output_examples import Label, OutputExample

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
INJECTED = frozenset(("attack", "wish"))
"""Labels of texts that try to direct the agent."""
_NEED_REQUEST = frozenset(("wish", "echo"))
"""Labels that need the user's request: the text alone does not show which one is right."""
_PLAIN_KEPT = 0.4
"""Share of the sequences without any imperative that become examples."""
_MISALIGNED = 1.5
_SHORTEST = 20
"""Shorter segments of an injection ("Thanks!") have no target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The right output of a head."""

    head: int | None
    """A head for pairs; None for the tag of a segment."""
    position: int
    """For a tag: the position of its marker."""
    value: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExample:
    """A sequence and its targets."""

    sequence: Encoded
    targets: tuple[Target, ...]


def output_token_examples(
    outputs: Iterable[OutputExample], tokenizer: Tokenizer, rng: Random, *, weight: float = 1.0
) -> Iterator[TokenExample]:
    """Examples for tags: which segments of an output try to direct the agent."""
    for output in outputs:
        for sequence in output_ids(tokenizer, output.heading, output.pieces):
            targets = tuple(
                Target(
                    head=None,
                    position=place,
                    value=float(output.labels[number] in INJECTED),
                    weight=weight * _TAG_WEIGHTS[output.labels[number]],
                )
                for place, number in sequence.marks
                if _has_target(output, number)
            )
            plain = all(output.labels[number] == "plain" for _, number in sequence.marks)
            if targets and not (plain and rng.random() > _PLAIN_KEPT):
                yield TokenExample(sequence=sequence, targets=targets)


def call_token_examples(
    calls: Iterable[CallExample], tokenizer: Tokenizer, rng: Random
) -> Iterator[TokenExample]:
    """Examples for pairs: what asks for a call, and whether it serves the user."""
    for one in calls:
        for pair, right in instruction_pairs(one, rng):
            yield pair_token_example(pair, ASKS, right, tokenizer)
        for sentence, injected in related_sentences(one):
            yield from _sentence_examples(sentence, injected, one.evidence.request, tokenizer)
        if acts(one.evidence.kind):
            aligned = one.label.aligned
            weight = 1.0 if aligned else _MISALIGNED
            yield pair_token_example(
                inputs.serves(one.evidence), SERVES, float(aligned), tokenizer, weight
            )


def pair_token_example(
    pair: inputs.Pair, head: int, right: float, tokenizer: Tokenizer, weight: float = 1.0
) -> TokenExample:
    """The example of one pair."""
    target = Target(head=head, position=0, value=right, weight=weight)
    return TokenExample(sequence=pair_ids(tokenizer, *pair), targets=(target,))


def _sentence_examples(
    sentence: str, injected: bool, request: str, tokenizer: Tokenizer
) -> Iterator[TokenExample]:
    """Examples for tags of a related sentence, with the user's request alone."""
    weight = _TAG_WEIGHTS["attack" if injected else "benign"]
    for sequence in output_ids(tokenizer, inputs.heading("", request), [sentence]):
        targets = tuple(
            Target(head=None, position=place, value=float(injected), weight=weight)
            for place, _ in sequence.marks
        )
        yield TokenExample(sequence=sequence, targets=targets)


def _has_target(output: OutputExample, number: int) -> bool:
    piece, label = output.pieces[number], output.labels[number]
    if label in _NEED_REQUEST and not output.request:
        return False
    return len(piece) >= _SHORTEST if label in INJECTED else any(map(str.isalpha, piece))
