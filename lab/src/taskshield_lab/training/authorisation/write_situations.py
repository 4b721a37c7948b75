"""Writes the situations of all sources to one file; run it with `python -m` and `--help`."""

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from random import Random

from taskshield_lab.training.authorisation.own_data import own_situations
from taskshield_lab.training.authorisation.public_pairs import pair_situations
from taskshield_lab.training.authorisation.situations import Situation
from taskshield_lab.training.authorisation.talks import talk_situations
from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.conversations.from_contrast import contrast_conversations
from taskshield_lab.training.conversations.from_environments import sample_conversations
from taskshield_lab.training.conversations.from_openings import opening_conversations
from taskshield_lab.training.sources.contrast import read_contrasts
from taskshield_lab.training.sources.environments import read_environments
from taskshield_lab.training.sources.scenario_files import (
    read_openings,
    read_scenarios,
    read_styles,
)
from taskshield_lab.training.sources.splits import Split

_SLICES = 16
_SEED = 5
_REPEATS = 3
"""How often a contrast set is used: it is small beside the rest."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition(";")[0])
    parser.add_argument("--data", type=Path, required=True, help="our own conversations")
    parser.add_argument("--alignment", type=Path, help="public pairs")
    parser.add_argument("--talks", type=Path, help="recorded conversations of others")
    parser.add_argument("--contrast", type=Path, help="contrast set of the known kinds")
    parser.add_argument("--most", type=int, default=4000, help="situations of a public source")
    parser.add_argument("--per-scenario", type=int, default=4)
    parser.add_argument("--per-task", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    parts = [
        partial(_own, given.data, given.per_scenario, given.per_task, number)
        for number in range(_SLICES)
    ]
    for path in sorted((given.alignment / "pairs").glob("*.gz")) if given.alignment else ():
        parts.append(partial(_pairs, path, given.most))
    for path in sorted(given.talks.glob("*.gz")) if given.talks else ():
        parts.append(partial(_talks, path, given.most))
    if given.contrast:
        parts += [partial(_contrast, given.contrast, number) for number in range(_REPEATS)]
    counts: Counter[str] = Counter()
    with (
        ProcessPoolExecutor(given.workers) as pool,
        lzma.open(given.out, "wt", encoding="utf-8", preset=4) as out,
    ):
        for found in pool.map(_called, parts):
            for one in found:
                counts[one.source] += 1
                out.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
    for source, count in sorted(counts.items()):
        print(source, count)


def _called(part: "partial[Iterator[Situation]]") -> list[Situation]:
    return list(part())


def _own(data: Path, per_scenario: int, per_task: int, number: int) -> Iterator[Situation]:
    rng = Random(f"{_SEED}:{number}")
    part = slice(number, None, _SLICES)
    scenarios = generate_conversations(
        read_scenarios(data / "scenarios")[part],
        read_styles(data / "styles"),
        seed=_SEED,
        per_scenario=per_scenario,
        split=Split(),
    )
    yield from own_situations(scenarios, "own:scenarios", rng)
    for environment in read_environments(data / "worlds")[part]:
        found = sample_conversations(environment, seed=_SEED, per_task=per_task)
        yield from own_situations(found, "own:worlds", rng)
    for opening in read_openings(data / "openings")[part]:
        yield from own_situations(opening_conversations(opening, slice(None)), "own:openings", rng)


def _contrast(path: Path, number: int) -> Iterator[Situation]:
    rng = Random(f"{_SEED}:contrast:{number}")
    conversations = (
        made for contrast in read_contrasts(path) for made in contrast_conversations(contrast)
    )
    for one in own_situations(conversations, "own:contrast", rng):
        yield replace(one, id=f"{one.id}#{number}")


def _pairs(path: Path, most: int) -> Iterator[Situation]:
    yield from pair_situations(path, most, Random(f"{_SEED}:{path.name}"))


def _talks(path: Path, most: int) -> Iterator[Situation]:
    yield from talk_situations(path, most, Random(f"{_SEED}:{path.name}"))


if __name__ == "__main__":
    main()
