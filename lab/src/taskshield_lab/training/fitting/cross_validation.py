"""A network's predictions on the domains and styles that were left out of its training.

Conversations are read as in use: segments are tagged, directives grow from them, evidence is
collected with these directives, and the network scores every call.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
from tokenizers import Tokenizer

from taskshield.core.levels import Level
from taskshield.judges.embedded.decision.features import (
    NetworkScores,
    features,
    network_scores,
)
from taskshield.judges.embedded.evidence.call_evidence import acts, kind_name
from taskshield.judges.embedded.evidence.directives import directive_segments
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.network.encoding import SILENT, output_ids, pair_ids
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield.judges.embedded.text.segments import Segment
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.examples.call_examples import CallExample, Flags, call_examples
from taskshield_lab.training.examples.output_examples import OutputExample, output_examples
from taskshield_lab.training.fitting.fold_predictions import Column, FoldPredictions, Limits, View
from taskshield_lab.training.fitting.tag_limits import fit_limits
from taskshield_lab.training.network.labelled_tokens import ASKS, SERVES
from taskshield_lab.training.network.network import Network
from taskshield_lab.training.network.training_loop import predict

ParallelMap = Callable[
    [Callable[..., list[CallExample]], Iterable[tuple[LabelledConversation, Flags]]],
    Iterable[list[CallExample]],
]
"""Calls a function for many conversations, perhaps in several processes."""


def predict_conversations(
    network: Network,
    conversations: Sequence[LabelledConversation],
    definitions: Sequence[OutputExample],
    tokenizer: Tokenizer,
    parallel: ParallelMap,
    limits: Limits | None = None,
) -> FoldPredictions:
    """A network's predictions on whole conversations and on tool definitions.

    Directives are found with the given limits; without them, with those that fit these
    conversations.
    """
    outputs = [
        (number, output)
        for number, conversation in enumerate(conversations)
        for output in output_examples(conversation)
    ]
    logits = _segment_logits(network, [output for _, output in outputs], tokenizer)
    tags = _tag_columns([output for _, output in outputs], logits)
    limits = limits or fit_limits(tags)
    flags: list[dict[int, frozenset[int]]] = [{} for _ in conversations]
    alarmed: list[dict[int, frozenset[int]]] = [{} for _ in conversations]
    delegating = [_seems_delegating(conversation) for conversation in conversations]
    for (number, output), row in zip(outputs, logits, strict=True):
        seed = limits.injected_delegated if delegating[number] else limits.injected
        segments = [Segment(0, 0, piece) for piece in output.pieces]
        found = frozenset(directive_segments(segments, row, seed=seed, joined=limits.joined))
        flags[number][output.message] = found
        alarmed[number][output.message] = found | _imperatives(output)
    readings: dict[View, list[tuple[LabelledConversation, Flags]]] = {
        "judged": list(zip(conversations, flags, strict=True)),
        "unnoticed": [
            (conversation, {})
            for conversation, found in zip(conversations, flags, strict=True)
            if conversation.kind == "attacked" and any(found.values())
        ],
        "alarmed": [
            (conversation, more)
            for conversation, found, more in zip(conversations, flags, alarmed, strict=True)
            if more != found
        ],
    }
    examples = {
        view: [
            call
            for some in parallel(partial(_call_examples, plans=view == "judged"), read)
            for call in some
        ]
        for view, read in readings.items()
    }
    calls = [call for some in examples.values() for call in some]
    columns = _call_columns(calls, _call_scores(network, calls, tokenizer))
    columns["view"] = np.repeat(list(examples), [len(some) for some in examples.values()])
    numbers = {conversation.id: number for number, conversation in enumerate(conversations)}
    columns["talk"] = np.array([numbers[call.conversation] for call in calls])
    definition_logits = _segment_logits(network, definitions, tokenizer)
    return FoldPredictions(
        limits=limits,
        tags=tags,
        calls=columns,
        definitions={
            "logit": np.array([max(row) for row in definition_logits]),
            "poisoned": np.array(["attack" in one.labels for one in definitions]),
        },
    )


def _call_examples(
    conversation: LabelledConversation, flags: Flags, *, plans: bool
) -> list[CallExample]:
    return list(call_examples(conversation, flags, Random(conversation.id), plans=plans))


def _imperatives(output: OutputExample) -> frozenset[int]:
    """The segments that ask for something."""
    return frozenset(number for number, label in enumerate(output.labels) if label != "plain")


def _seems_delegating(conversation: LabelledConversation) -> bool:
    """Whether the judge finds a delegation in what the user says."""
    texts = [message.text for message in conversation.messages if message.level is Level.USER]
    return any(draft.source for text in texts for draft in read_tasks(text))


def _segment_logits(
    network: Network, outputs: Sequence[OutputExample], tokenizer: Tokenizer
) -> list[list[float]]:
    """The logit of every segment of every output."""
    sequences = [
        (number, sequence)
        for number, output in enumerate(outputs)
        for sequence in output_ids(tokenizer, output.heading, output.pieces)
    ]
    tags, _ = predict(network, [sequence for _, sequence in sequences])
    logits = [[SILENT] * len(output.pieces) for output in outputs]
    for (number, sequence), row in zip(sequences, tags, strict=True):
        for (_, segment), logit in zip(sequence.marks, row, strict=True):
            logits[number][segment] = logit
    return logits


def _call_scores(
    network: Network, calls: Sequence[CallExample], tokenizer: Tokenizer
) -> list[NetworkScores]:
    """What the network's heads for pairs say of every call."""
    acting = [call for call in calls if acts(call.evidence.kind)]
    questions = [
        (number, pair)
        for number, call in enumerate(calls)
        for pair in inputs.asks_inputs(call.evidence)
    ]
    pairs = [inputs.serves(call.evidence) for call in acting] + [pair for _, pair in questions]
    _, logits = predict(network, [pair_ids(tokenizer, *pair) for pair in pairs])
    serving = (float(row[SERVES]) for row in logits)
    asking: list[list[float]] = [[] for _ in calls]
    for (number, _), row in zip(questions, logits[len(acting) :], strict=True):
        asking[number].append(float(row[ASKS]))
    scores = [
        network_scores(call.evidence, next(serving) if acts(call.evidence.kind) else 0.0, asks)
        for call, asks in zip(calls, asking, strict=True)
    ]
    return _with_directs(network, calls, scores, tokenizer)


def _with_directs(
    network: Network,
    calls: Sequence[CallExample],
    scores: list[NetworkScores],
    tokenizer: Tokenizer,
) -> list[NetworkScores]:
    """The scores, with the tag of the related sentence that asks most, read by itself."""
    sentences = [
        (number, sequence)
        for number, (call, score) in enumerate(zip(calls, scores, strict=True))
        if score.loudest is not None
        for sequence in output_ids(
            tokenizer,
            inputs.heading("", call.evidence.request),
            [call.evidence.related[score.loudest].directive.text],
        )
    ]
    tags, _ = predict(network, [sequence for _, sequence in sentences])
    completed = list(scores)
    for (number, _), (logit,) in zip(sentences, tags, strict=True):
        completed[number] = replace(completed[number], directs=logit)
    return completed


def _tag_columns(
    outputs: Sequence[OutputExample], logits: Sequence[Sequence[float]]
) -> dict[str, Column]:
    sizes = [len(one.pieces) for one in outputs]
    return {
        "logit": np.array([logit for row in logits for logit in row], np.float32),
        "label": np.array([label for one in outputs for label in one.labels]),
        "output": np.repeat(np.arange(len(outputs)), sizes),
    }


def _call_columns(
    calls: Sequence[CallExample], scores: Sequence[NetworkScores]
) -> dict[str, Column]:
    rows = [
        list(features(call.evidence, score).values())
        for call, score in zip(calls, scores, strict=True)
    ]
    return {
        "features": np.array(rows, np.float32),
        "aligned": np.array([call.label.aligned for call in calls]),
        "kind": np.array([call.label.kind for call in calls]),
        "tier": np.array([kind_name(call.evidence.kind) for call in calls]),
        "delegating": np.array([call.delegating for call in calls]),
        "domain": np.array([call.domain for call in calls]),
        "setting": np.array([call.setting for call in calls]),
        "lang": np.array([call.lang for call in calls]),
    }
