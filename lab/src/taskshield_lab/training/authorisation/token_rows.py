"""Situations as token examples, with what is needed to choose and to evaluate them."""

import json
import lzma
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taskshield.judges.embedded.network.encoding import load_tokenizer
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.labelled_tokens import ASKS, TokenExample, pair_token_example

Form = Literal["bare", "plain", "marked"]
FORMS: tuple[Form, ...] = ("bare", "plain", "marked")
_META = np.dtype(
    [("situation", "i4"), ("row", "i2"), ("tool", "i2"), ("form", "i1"), ("asked", "i1")]
)
"""`row` is -1 for a tool of the menu, `asked` -1 where no one knows."""
_RIGHT, _WRONG = 5, 9
"""Calls of each situation that are trained on."""
_BATCH = 200


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """Token examples and what each is."""

    examples: TokenExamples
    meta: NDArray[np.void]

    def taken(self, chosen: NDArray[np.bool_]) -> "TokenRows":
        """Some of the rows."""
        return TokenRows(self.examples.taken(np.flatnonzero(chosen)), self.meta[chosen])


def read_situations(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The situations of files that `write_situations` wrote."""
    found = []
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            found += [json.loads(line) for line in lines]
    return found


def training_rows(situations: list[dict[str, Any]], base: Path, workers: int) -> TokenRows:
    """What a network is trained on: calls in both forms, and bare tools."""
    return _made(situations, base, workers, _training)


def evaluation_rows(situations: list[dict[str, Any]], base: Path, workers: int) -> TokenRows:
    """What a network is asked: every call in both forms, and every tool of the menu."""
    return _made(situations, base, workers, _evaluation)


_Chosen = Iterator[tuple[int, int, Form, int, str, float]]
"""Row, tool, form, whether it was asked for, text and weight."""


def _training(situation: dict[str, Any], rng: Random) -> _Chosen:
    rows = list(enumerate(situation["rows"]))
    rng.shuffle(rows)
    calls = [one for one in rows if one[1]["plain"] is not None]
    chosen = [one for one in calls if one[1]["asked"]][:_RIGHT]
    chosen += [one for one in calls if not one[1]["asked"]][:_WRONG]
    for number, row in chosen:
        for form in ("plain", "marked"):
            yield number, row["tool"], form, row["asked"], row[form], row["weight"]
    tools: dict[int, tuple[int, float]] = {}
    for _, row in rows:
        if row["kind"] not in _OF_VALUES:
            tools[row["tool"]] = max(
                tools.get(row["tool"], (0, 0.0)), (int(row["asked"]), row["weight"])
            )
    for tool, (asked, weight) in tools.items():
        yield -1, tool, "bare", asked, situation["menu"][tool], weight


def _evaluation(situation: dict[str, Any], rng: Random) -> _Chosen:
    for number, row in enumerate(situation["rows"]):
        if row["plain"] is not None:
            for form in ("plain", "marked"):
                yield number, row["tool"], form, row["asked"], row[form], 1.0
    for tool, text in enumerate(situation["menu"][:40]):
        yield -1, tool, "bare", -1, text, 1.0


_OF_VALUES = frozenset(("sibling", "amount", "other id", "other person"))
"""Kinds of calls in which a value is wrong; they say nothing about the tool."""


def _made(
    situations: list[dict[str, Any]],
    base: Path,
    workers: int,
    choose: Callable[[dict[str, Any], Random], _Chosen],
) -> TokenRows:
    numbered = list(enumerate(situations))
    parts = [numbered[begin : begin + _BATCH] for begin in range(0, len(numbered), _BATCH)]
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(partial(_part, base, choose), parts, chunksize=4))
    return TokenRows(
        TokenExamples.joined(part.examples for part in found),
        np.concatenate([part.meta for part in found]),
    )


def _part(
    base: Path,
    choose: Callable[[dict[str, Any], Random], _Chosen],
    part: list[tuple[int, dict[str, Any]]],
) -> TokenRows:
    tokenizer = load_tokenizer((base / "tokenizer.json").read_bytes())
    examples: list[TokenExample] = []
    meta: list[tuple[int, int, int, int, int]] = []
    for number, situation in part:
        rng = Random(f"{situation['source']}:{situation['id']}")
        for row, tool, form, asked, text, weight in choose(situation, rng):
            pair = (situation["said"], text)
            examples.append(
                pair_token_example(pair, ASKS, float(asked > 0), tokenizer, float(weight))
            )
            meta.append((number, row, tool, FORMS.index(form), int(asked)))
    return TokenRows(TokenExamples.of(examples), np.array(meta, _META))
