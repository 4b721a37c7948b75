"""What a course teaches and asks about: the conversations and lessons of one side of the data."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from random import Random

from taskshield.core.errors import ConfigError
from taskshield_lab.training.conversations.corpus import generate
from taskshield_lab.training.conversations.from_openings import opened
from taskshield_lab.training.conversations.from_worlds import drawn
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.composed import composed
from taskshield_lab.training.distractors.mixture import DistractorMix
from taskshield_lab.training.distractors.public_rows import read_pack
from taskshield_lab.training.examples import public_pairs, tool_definitions
from taskshield_lab.training.examples.examples import (
    CallExample,
    Flags,
    OutputExample,
    heard,
    judged,
    noisy_flags,
)
from taskshield_lab.training.examples.public_pairs import DIRECTIVES, PAIRS
from taskshield_lab.training.fitting.cross_validation import Spread
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.labelled_tokens import (
    ASKS,
    TokenExample,
    on_calls,
    on_outputs,
    on_pair,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.scenario_files import (
    read_definitions,
    read_openings,
    read_scenarios,
    read_styles,
)
from taskshield_lab.training.sources.splits import Split
from taskshield_lab.training.sources.worlds import World, read_worlds

Making = Callable[[], Iterable[TokenExample]]
"""A part of the lessons, to be made in whichever process."""

_SLICES = 16
"""The corpus is made in this many parts, whoever makes them, so that it is always the same."""
_DEFINED = 5
"""How often a definition of a tool is taught in an epoch: there are few."""
_TOOLS_READ = 0.25
"""Share of the conversations of which one tool is read as well."""
_UNINFORMED = 0.15
"""Share of the conversations whose outputs are read without what the user wants."""
_OPENED = 3
"""How often a right call of an opening is taught in an epoch: a scenario holds many. Each wrong one
is taught once: there are more of them, and most first calls are right."""
_NICENESS = 10


def lessons_for(course: TrainingRun, split: Split) -> TokenExamples:
    """All lessons, in an order that hangs on nobody's pace."""
    making: list[Making] = [partial(_slice, course, split, part) for part in range(_SLICES)]
    making.append(partial(_on_definitions, course, split))
    if course.alignment is not None:
        making += [partial(_on_texts, course, course.alignment, one) for one in DIRECTIVES]
        making += [partial(_on_pairs, course, course.alignment, one) for one in PAIRS]
    if course.workers == 1:
        return TokenExamples.joined(map(_made, making))
    with _workers(course) as pool:
        return TokenExamples.joined(pool.map(_made, making))


def _made(making: Making) -> TokenExamples:
    return TokenExamples.of(making())


def _slice(course: TrainingRun, split: Split, number: int) -> list[TokenExample]:
    rng = Random(f"{course.seed}:{number}")
    tokenizer = course.tokenizer()
    pack = None if course.alignment is None else read_pack(course.alignment, "train")
    lessons: list[TokenExample] = []
    company = DistractorMix(pack, course.seed)
    for talk in talks(course, split, number):
        talk = company.around(talk)
        lessons += on_outputs(heard(talk, informed=rng.random() >= _UNINFORMED), tokenizer, rng)
        lessons += on_calls(judged(talk, noisy_flags(talk, rng), rng), tokenizer, rng)
        if rng.random() < _TOOLS_READ:
            lessons += on_outputs(tool_definitions.of_tools(talk, rng), tokenizer, rng)
    if pack is not None:
        for talk in composed(pack, course.seed, slice(number, None, _SLICES)):
            talk = company.around(talk, public=False)
            lessons += on_outputs(heard(talk), tokenizer, rng)
            lessons += on_calls(judged(talk, noisy_flags(talk, rng), rng), tokenizer, rng)
    return lessons


def _on_definitions(course: TrainingRun, split: Split) -> Iterator[TokenExample]:
    rng = Random(f"{course.seed}:definitions")
    yield from on_outputs(definitions(course, split) * _DEFINED, course.tokenizer(), rng)


def definitions(course: TrainingRun, split: Split) -> list[OutputExample]:
    """The definitions of tools of one side."""
    found = read_definitions(course.data / "descriptions")
    return [tool_definitions.heard(one) for one in split.definitions(found)]


def _on_texts(course: TrainingRun, folder: Path, source: str) -> Iterator[TokenExample]:
    """Texts of one part of the second source."""
    rng = Random(f"{course.seed}:{source}")
    found = public_pairs.heard(folder, rng, (source,))
    yield from on_outputs(found, course.tokenizer(), rng, weight=0.5)


def _on_pairs(course: TrainingRun, folder: Path, source: str) -> Iterator[TokenExample]:
    """Pairs of one part of the second source."""
    tokenizer = course.tokenizer()
    for pair, right in public_pairs.asked(folder, Random(f"{course.seed}:{source}"), (source,)):
        yield on_pair(pair, ASKS, right, tokenizer)


def talks(
    course: TrainingRun, split: Split, number: int | None = None
) -> Iterator[LabelledConversation]:
    """Conversations of one side; of one slice of what is written, or of all."""
    scenarios = read_scenarios(course.data / "scenarios")
    styles = read_styles(course.data / "styles")
    if not scenarios or not styles:
        raise ConfigError(f"{course.data} holds no scenarios or no styles")
    part = slice(number, None, None if number is None else _SLICES)
    learning = split.side in ("train", "all")
    seed = course.seed if learning else course.seed + 1
    per_scenario, per_task = (
        (course.per_scenario, course.per_task)
        if learning
        else (course.validation_per_scenario, course.validation_per_task)
    )
    yield from generate(scenarios[part], styles, seed=seed, per_scenario=per_scenario, split=split)
    for world in split.worlds(_worlds(course)[part]):
        yield from drawn(world, seed=seed, per_task=per_task)
    for opening in split.scenarios(read_openings(course.data / "openings")[part]):
        times = _OPENED if learning else 1
        for number in range(times):
            yield from opened(opening, slice(number, None, times))


def _worlds(course: TrainingRun) -> list[World]:
    """The worlds of the data, if any."""
    folder = course.data / "worlds"
    return read_worlds(folder) if folder.is_dir() else []


def _workers(course: TrainingRun) -> ProcessPoolExecutor:
    """Processes for what needs no GPU; forked where that can be, for each to begin at once.

    They give way to what feeds the GPU: a network taught beside them would wait for a core.
    """
    method = "fork" if "fork" in get_all_start_methods() else None
    return ProcessPoolExecutor(course.workers, get_context(method), _give_way)


def _give_way() -> None:
    if hasattr(os, "nice"):  # not on Windows
        os.nice(_NICENESS)


@contextmanager
def spreading(course: TrainingRun) -> Iterator[Spread]:
    """What runs a function over many conversations with the workers of the course."""
    if course.workers == 1:
        yield starmap
        return
    with _workers(course) as pool:

        def spread(
            function: Callable[..., list[CallExample]],
            given: Iterable[tuple[LabelledConversation, Flags]],
        ) -> Iterable[list[CallExample]]:
            return pool.map(function, *zip(*given, strict=True), chunksize=16)

        yield spread
