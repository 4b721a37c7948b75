"""A network taught without some domains and styles, and what it says about them.

The whole path is walked as it is in use: segments are tagged, directives grow from them, evidence
is gathered with what was found, and the model is asked about every call.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from taskshield.core.levels import Level
from taskshield.judges.embedded.decision.features import (
    NetworkScores,
    feature_list,
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
from taskshield_lab.training.examples.examples import (
    CallExample,
    Flags,
    Label,
    OutputExample,
    heard,
    judged,
)
from taskshield_lab.training.network.labelled_tokens import ASKS, SERVES
from taskshield_lab.training.network.network import Network
from taskshield_lab.training.network.training_loop import ask

Column = NDArray[np.generic]

View = Literal["judged", "unnoticed", "alarmed"]
"""How a conversation was read: with what the network finds in it; as if nothing in it had been
noticed, because tomorrow's attackers write what no one has seen; as if every imperative in it had
been, because in a place where people talk as nobody does here the network is easily alarmed."""

FALSE_OUTPUTS = 0.035
"""Share of outputs without any directive in which one may be found."""
FALSE_DELEGATED = 0.1
"""The same for outputs with directives that the user's delegation covers."""
FALSE_NEIGHBOURS = 0.03
"""Share of harmless segments that may join a directive beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From which logit on a segment is taken for planted."""

    planted: float
    planted_delegated: float
    joined: float


_LIMITS = tuple(field.name for field in fields(Limits))
_TABLES = ("tags", "calls", "definitions")
"""Findings that are columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPredictions:
    """What a network said about conversations that it did not know, as columns."""

    limits: Limits
    tags: dict[str, Column]
    """Segments: `logit`, `label`, `output` (its number)."""
    calls: dict[str, Column]
    """Calls and plans: `features`, `aligned`, `kind`, `tier`, `delegating`, `domain`, `setting`,
    `lang`, `view`, `talk` (the number of the conversation)."""
    definitions: dict[str, Column]
    """Definitions of tools: the highest `logit` of a segment, and whether it is `poisoned`."""
    names: tuple[str, ...] = feature_list()
    """Of the features, in their order; those about words aside are the last."""

    def save(self, path: Path) -> None:
        """Write them down."""
        limits = np.array(astuple(self.limits))
        columns = {
            f"{part}.{name}": column
            for part in _TABLES
            for name, column in getattr(self, part).items()
        }
        np.savez_compressed(
            path,
            limits=limits,
            names=np.array(self.names),
            **columns,
        )

    @classmethod
    def load(cls, path: Path) -> "FoldPredictions":
        """Read them again, without features that there were and are no more."""
        with np.load(path, allow_pickle=False) as found:
            limits = Limits(**dict(zip(_LIMITS, map(float, found["limits"]), strict=True)))
            parts: dict[str, dict[str, Column]] = {part: {} for part in _TABLES}
            for name in found.files:
                part, _, column = name.partition(".")
                if column:
                    parts[part][column] = found[name]
            known = np.isin(found["names"], feature_list())
            names = tuple(map(str, found["names"][known]))
        parts["calls"]["features"] = parts["calls"]["features"][:, known]
        return cls(limits=limits, names=names, **parts)


Spread = Callable[
    [Callable[..., list[CallExample]], Iterable[tuple[LabelledConversation, Flags]]],
    Iterable[list[CallExample]],
]
"""Runs a function over many conversations, perhaps in several processes."""


def examined(
    network: Network,
    conversations: Sequence[LabelledConversation],
    definitions: Sequence[OutputExample],
    tokenizer: Tokenizer,
    spread: Spread,
    given: Limits | None = None,
) -> FoldPredictions:
    """Ask a network about conversations from beginning to end, and about definitions of tools.

    Directives are found with the limits that are given, or else with those that fit these
    conversations.
    """
    outputs = [(number, one) for number, talk in enumerate(conversations) for one in heard(talk)]
    logits = _logits(network, [one for _, one in outputs], tokenizer)
    tags = _tag_columns([one for _, one in outputs], logits)
    limits = given or limits_of(tags["logit"], tags["label"], tags["output"].astype(np.int64))
    flags: list[dict[int, frozenset[int]]] = [{} for _ in conversations]
    alarmed: list[dict[int, frozenset[int]]] = [{} for _ in conversations]
    obeying = [_obeys_somebody(talk) for talk in conversations]
    for (number, one), said in zip(outputs, logits, strict=True):
        seed = limits.planted_delegated if obeying[number] else limits.planted
        found = frozenset(_grown(one, said, seed, limits.joined))
        flags[number][one.message] = found
        alarmed[number][one.message] = found | _imperatives(one)
    readings: dict[View, list[tuple[LabelledConversation, Flags]]] = {
        "judged": list(zip(conversations, flags, strict=True)),
        "unnoticed": [
            (talk, {})
            for talk, found in zip(conversations, flags, strict=True)
            if talk.kind == "attacked" and any(found.values())
        ],
        "alarmed": [
            (talk, more)
            for talk, found, more in zip(conversations, flags, alarmed, strict=True)
            if more != found
        ],
    }
    made = {
        view: _spread_out(spread, partial(_judged, plans=view == "judged"), read)
        for view, read in readings.items()
    }
    calls = [call for some in made.values() for call in some]
    columns = _call_columns(calls, _opinions(network, calls, tokenizer))
    columns["view"] = np.repeat(list(made), [len(some) for some in made.values()])
    numbers = {talk.id: number for number, talk in enumerate(conversations)}
    columns["talk"] = np.array([numbers[call.conversation] for call in calls])
    return FoldPredictions(
        limits=limits,
        tags=tags,
        calls=columns,
        definitions={
            "logit": np.array([max(x) for x in _logits(network, definitions, tokenizer)]),
            "poisoned": np.array(["attack" in one.labels for one in definitions]),
        },
    )


def _spread_out(
    spread: Spread,
    function: Callable[..., list[CallExample]],
    given: Iterable[tuple[LabelledConversation, Flags]],
) -> list[CallExample]:
    return [call for some in spread(function, given) for call in some]


def _judged(talk: LabelledConversation, flags: Flags, *, plans: bool) -> list[CallExample]:
    return list(judged(talk, flags, Random(talk.id), plans=plans))


def _imperatives(one: OutputExample) -> frozenset[int]:
    """The segments that ask somebody for something."""
    return frozenset(number for number, label in enumerate(one.labels) if label != "plain")


def _obeys_somebody(talk: LabelledConversation) -> bool:
    """Whether the user is understood to have told the agent to obey somebody."""
    asked = [message.text for message in talk.messages if message.level is Level.USER]
    return any(draft.source for text in asked for draft in read_tasks(text))


def _grown(one: OutputExample, logits: Sequence[float], seed: float, joined: float) -> list[int]:
    segments = [Segment(0, 0, piece) for piece in one.pieces]
    return directive_segments(segments, logits, seed=seed, joined=joined)


def _logits(
    network: Network, outputs: Sequence[OutputExample], tokenizer: Tokenizer
) -> list[list[float]]:
    sequences = [
        (n, e)
        for n, one in enumerate(outputs)
        for e in output_ids(tokenizer, one.heading, one.pieces)
    ]
    tags, _ = ask(network, [encoded for _, encoded in sequences])
    logits = [[SILENT] * len(one.pieces) for one in outputs]
    for (output, encoded), said in zip(sequences, tags, strict=True):
        for (_, number), logit in zip(encoded.marks, said, strict=True):
            logits[output][number] = logit
    return logits


def limits_of(logits: Column, labels: Column, outputs: NDArray[np.int64]) -> Limits:
    """The limits that keep false alarms at the rates above."""
    said = logits.astype(np.float64)
    most = strongest(said, outputs)
    attacked, obeyed = (holding(label, labels, outputs) for label in ("attack", "obey"))
    clean, delegated = most[~attacked & ~obeyed], most[~attacked & obeyed]
    planted = float(np.quantile(clean, 1 - FALSE_OUTPUTS))
    obeying = float(np.quantile(delegated, 1 - FALSE_DELEGATED)) if len(delegated) else planted
    harmless = said[labels != "attack"]
    return Limits(
        planted=planted,
        planted_delegated=max(planted, obeying),
        joined=min(planted, float(np.quantile(harmless, 1 - FALSE_NEIGHBOURS))),
    )


def holding(label: Label, labels: Column, outputs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which outputs have a segment with this label."""
    found = np.zeros(int(outputs.max()) + 1, bool)
    found[outputs[labels == label]] = True
    return found


def telling(outputs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which outputs have more than one segment: "saved." is half of all and never in doubt."""
    return np.bincount(outputs) > 1


def strongest(logits: NDArray[np.float64], outputs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest logit of each output."""
    most = np.full(int(outputs.max()) + 1, -np.inf)
    np.maximum.at(most, outputs, logits)
    return most


def _opinions(
    network: Network, calls: Sequence[CallExample], tokenizer: Tokenizer
) -> list[NetworkScores]:
    acting = [call for call in calls if acts(call.evidence.kind)]
    asked = [
        (number, pair)
        for number, call in enumerate(calls)
        for pair in inputs.asks_inputs(call.evidence)
    ]
    pairs = [inputs.serves(call.evidence) for call in acting] + [pair for _, pair in asked]
    _, said = ask(network, [pair_ids(tokenizer, *pair) for pair in pairs])
    serving = (float(row[SERVES]) for row in said)
    told: list[list[float]] = [[] for _ in calls]
    for (number, _), row in zip(asked, said[len(acting) :], strict=True):
        told[number].append(float(row[ASKS]))
    opinions = [
        network_scores(call.evidence, next(serving) if acts(call.evidence.kind) else 0.0, asks)
        for call, asks in zip(calls, told, strict=True)
    ]
    return _with_directs(network, calls, opinions, tokenizer)


def _with_directs(
    network: Network,
    calls: Sequence[CallExample],
    opinions: list[NetworkScores],
    tokenizer: Tokenizer,
) -> list[NetworkScores]:
    """Opinions, and how much the loudest words aside, by themselves, try to direct the agent."""
    words = [
        (number, encoded)
        for number, (call, said) in enumerate(zip(calls, opinions, strict=True))
        if said.loudest is not None
        for encoded in output_ids(
            tokenizer,
            inputs.heading("", call.evidence.request),
            [call.evidence.related[said.loudest].directive.text],
        )
    ]
    tags, _ = ask(network, [encoded for _, encoded in words])
    found = list(opinions)
    for (number, _), (logit,) in zip(words, tags, strict=True):
        found[number] = replace(found[number], directs=logit)
    return found


def _tag_columns(
    outputs: Sequence[OutputExample], logits: Sequence[Sequence[float]]
) -> dict[str, Column]:
    sizes = [len(one.pieces) for one in outputs]
    return {
        "logit": np.array([x for said in logits for x in said], np.float32),
        "label": np.array([label for one in outputs for label in one.labels]),
        "output": np.repeat(np.arange(len(outputs)), sizes),
    }


def _call_columns(
    calls: Sequence[CallExample], opinions: Sequence[NetworkScores]
) -> dict[str, Column]:
    rows = [
        list(features(call.evidence, said).values())
        for call, said in zip(calls, opinions, strict=True)
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
