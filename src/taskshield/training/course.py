"""The whole path from data to a shipped model, in steps that can be taken up again.

ahead      all networks, where several are taught at once
folds      a network for each fold, asked about the domains and styles that it did not see
network    the network that is shipped, taught with everything but what is kept
kept       that network, asked about what was kept, e.g. because it was written later
foreign    that network, asked about conversations composed of public data that it did not see
assembly   the decision, fitted on what the folds said; ONNX; figures; the model card
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from random import Random

from tokenizers import Tokenizer

from taskshield.core.errors import ConfigError
from taskshield.judges.embedded.encoding import load_tokenizer
from taskshield.training import alignment, descriptions
from taskshield.training.alignment import DIRECTIVES, PAIRS
from taskshield.training.columns import Lessons
from taskshield.training.company import Company
from taskshield.training.composed import composed
from taskshield.training.corpus import generate
from taskshield.training.examples import Flags, Heard, Judged, heard, judged, noisy_flags
from taskshield.training.folds import Findings, Limits, Spread, examined
from taskshield.training.labelled import LabelledConversation
from taskshield.training.learning import Schedule, teach
from taskshield.training.lessons import ASKS, Lesson, on_calls, on_outputs, on_pair
from taskshield.training.network import Network, from_base, loaded, mean_of, saved
from taskshield.training.openings import opened
from taskshield.training.public_rows import read_pack
from taskshield.training.scenario_files import (
    read_definitions,
    read_openings,
    read_scenarios,
    read_styles,
)
from taskshield.training.splits import Side, Split
from taskshield.training.world_talks import drawn
from taskshield.training.worlds import World, read_worlds

Log = Callable[[str], None]
Making = Callable[[], Iterable[Lesson]]
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

_IN_WORLDS = 2
"""How many times as many conversations a task of a world gives as a scenario: there are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a model is made from, and how."""

    data: Path
    """Scenarios, worlds, openings, styles and definitions of tools."""
    base: Path
    """The encoder to begin with: config.json, tokenizer.json and model.safetensors."""
    alignment: Path | None
    """The second source, where there is one."""
    out: Path
    folds: tuple[int, ...] = (0, 1, 2)
    networks: int = 3
    """How many are taught, each with other conversations in another order; their mean is used. It
    is about as good as the best of them, and which one that is nobody knows before."""
    per_scenario: int = 6
    """Conversations for each of them."""
    validation_per_scenario: int = 5
    schedule: Schedule = Schedule()
    seed: int = 1
    workers: int = 1
    """Processes that make conversations and lessons."""
    at_once: int = 1
    """How many networks are taught at the same time, each in a process of its own; if several, they
    are asked side by side as well."""
    kept: tuple[str, ...] = ()
    """How the ids of scenarios and openings begin that no network is taught; the final one is asked
    about them."""

    def split(self, side: Side, held_out: int = 0) -> Split:
        """One side of the data."""
        return Split(side=side, held_out=held_out, kept=self.kept)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the base."""
        return load_tokenizer((self.base / "tokenizer.json").read_bytes())


def check_kept(course: Course) -> None:
    """Raise where there is nothing of what is to be kept, before hours are spent.

    Raises:
        ConfigError: A beginning is that of no id, or there are no scenarios among them.
    """
    if not course.kept:
        return
    scenarios = [one.id for one in read_scenarios(course.data / "scenarios")]
    openings = [one.id for one in read_openings(course.data / "openings")]
    for beginning in course.kept:
        if not any(id.startswith(beginning) for id in (*scenarios, *openings)):
            raise ConfigError(f"no scenario and no opening begins with {beginning!r}")
    if not any(id.startswith(course.kept) for id in scenarios):
        raise ConfigError("of what is kept, something must be a scenario: openings hold no output")


def examine_folds(course: Course, log: Log) -> list[Findings]:
    """What fold networks say about what they did not see; folds that are done are not repeated."""
    found = []
    for number in course.folds:
        name = f"fold-{number}"
        if not (course.out / f"{name}.npz").exists():
            network = _network(course, name, course.split("train", number), log)
            _examine(course, network, name, course.split("validation", number), log)
        found.append(Findings.load(course.out / f"{name}.npz"))
    return found


def examine_kept(course: Course, log: Log) -> Findings | None:
    """What the final network says about what is kept, where something is; it is not repeated."""
    if not course.kept:
        return None
    if not (course.out / "kept.npz").exists():
        _examine(course, final_network(course, log), "kept", course.split("kept"), log)
    return Findings.load(course.out / "kept.npz")


def examine_foreign(course: Course, limits: Limits, log: Log) -> Findings | None:
    """What the final network says about public conversations, if any; it is not repeated.

    Args:
        course: The course.
        limits: From which logit on a segment is taken for planted, as the folds found.
        log: Where to tell.
    """
    if course.alignment is None:
        return None
    if not (course.out / "foreign.npz").exists():
        talks = list(composed(read_pack(course.alignment, "valid"), course.seed))
        if not talks:
            log("foreign: no rows of the second source are kept for validation")
            return None
        _ask(course, final_network(course, log), "foreign", talks, [], log, limits)
    return Findings.load(course.out / "foreign.npz")


def _examine(course: Course, network: Network, name: str, side: Split, log: Log) -> None:
    _ask(course, network, name, list(_talks(course, side)), _definitions(course, side), log)


def _ask(
    course: Course,
    network: Network,
    name: str,
    talks: list[LabelledConversation],
    definitions: list[Heard],
    log: Log,
    limits: Limits | None = None,
) -> None:
    log(f"{name}: asking about {len(talks)} conversations")
    with spreading(course) as spread, _complete(course.out / f"{name}.npz") as made:
        examined(network, talks, definitions, course.tokenizer(), spread, limits).save(made)


def final_network(course: Course, log: Log) -> Network:
    """The network that is taught with everything; one that is done is not repeated."""
    return _network(course, "network", course.split("all"), log)


def teach_ahead(course: Course, log: Log) -> None:
    """Teach every network that the course still lacks, several at once.

    Teaching one hardly keeps a large GPU busy, and making its lessons not at all. So lessons are
    made for one network at a time, by all workers, while others are taught.
    """
    parts = _lacking(course)
    if not parts:
        return
    log(f"teaching {len(parts)} networks, {course.at_once} at once")
    processes = get_context("spawn")  # a fork could not use the GPU
    with ProcessPoolExecutor(
        course.at_once,
        mp_context=processes,
        initializer=_take_turns,
        initargs=(processes.Lock(),),
        max_tasks_per_child=1,  # and leaves nothing on it
    ) as pool:
        for told in pool.map(apart, *zip(*parts, strict=True)):
            for line in told:
                log(line)


def _lacking(course: Course) -> list[tuple[Callable[..., Path], Course, str, Split, int]]:
    """What makes the networks of the means that are not there yet.

    The first of every mean comes before the second of any: where time runs out, a course of fewer
    networks can go on.
    """
    splits = {
        f"fold-{fold}": course.split("train", fold)
        for fold in course.folds
        if not (course.out / f"fold-{fold}.npz").exists()
    }
    splits["network"] = course.split("all")
    return [
        (_part, course, name, split, number)
        for number in range(course.networks)
        for name, split in splits.items()
        if not (course.out / f"{name}.safetensors").exists()
    ]


_turn: AbstractContextManager[object] = nullcontext()
"""Held by the process that makes lessons."""


def _take_turns(lock: AbstractContextManager[object]) -> None:
    """Make lessons only while no other process does."""
    global _turn
    _turn = lock


def apart(work: Callable[..., object], *given: object) -> list[str]:
    """Work in a process of its own; returns what there is to log."""
    told: list[str] = []
    work(*given, told.append)
    return told


def _network(course: Course, name: str, split: Split, log: Log) -> Network:
    """A network taught with one side of the data, or the one of this name that is there."""
    path = course.out / f"{name}.safetensors"
    if not path.exists():
        parts = [_part(course, name, split, number, log) for number in range(course.networks)]
        with _complete(path) as made:
            saved(mean_of([loaded(part, course.base) for part in parts]), made)
        for part in parts:
            part.unlink()
    return loaded(path, course.base)


def _part(course: Course, name: str, split: Split, number: int, log: Log) -> Path:
    """The file of one of the networks whose mean is taken; one that is done is not repeated."""
    path = course.out / f"{name}.{number}.safetensors"
    if not path.exists():
        log(f"{name}: teaching network {number + 1} of {course.networks}")
        schedule = replace(course.schedule, seed=course.schedule.seed + number)
        own = replace(course, seed=course.seed + number, schedule=schedule)
        with _complete(path) as made:
            saved(_taught(own, split, log), made)
    return path


@contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """A place to write a file to that is not there before it is written to its end."""
    made = path.with_name(f"unfinished-{path.name}")
    yield made
    made.replace(path)


def _taught(course: Course, split: Split, log: Log) -> Network:
    """One network, taught with conversations and in an order that the seeds decide."""
    with _turn:
        started = time.monotonic()
        lessons = lessons_for(course, split)
    log(f"{len(lessons)} lessons, made in {time.monotonic() - started:.0f} s")
    network = from_base(course.base)
    teach(network, lessons, course.schedule, log)
    log(f"taught in {time.monotonic() - started:.0f} s")
    return network


def lessons_for(course: Course, split: Split) -> Lessons:
    """All lessons, in an order that hangs on nobody's pace."""
    making: list[Making] = [partial(_slice, course, split, part) for part in range(_SLICES)]
    making.append(partial(_on_definitions, course, split))
    if course.alignment is not None:
        making += [partial(_on_texts, course, course.alignment, one) for one in DIRECTIVES]
        making += [partial(_on_pairs, course, course.alignment, one) for one in PAIRS]
    if course.workers == 1:
        return Lessons.joined(map(_made, making))
    with _workers(course) as pool:
        return Lessons.joined(pool.map(_made, making))


def _made(making: Making) -> Lessons:
    return Lessons.of(making())


def _slice(course: Course, split: Split, number: int) -> list[Lesson]:
    rng = Random(f"{course.seed}:{number}")
    tokenizer = course.tokenizer()
    pack = None if course.alignment is None else read_pack(course.alignment, "train")
    lessons: list[Lesson] = []
    company = Company(pack, course.seed)
    for talk in _talks(course, split, number):
        talk = company.around(talk)
        lessons += on_outputs(heard(talk, informed=rng.random() >= _UNINFORMED), tokenizer, rng)
        lessons += on_calls(judged(talk, noisy_flags(talk, rng), rng), tokenizer, rng)
        if rng.random() < _TOOLS_READ:
            lessons += on_outputs(descriptions.of_tools(talk, rng), tokenizer, rng)
    if pack is not None:
        for talk in composed(pack, course.seed, slice(number, None, _SLICES)):
            talk = company.around(talk, public=False)
            lessons += on_outputs(heard(talk), tokenizer, rng)
            lessons += on_calls(judged(talk, noisy_flags(talk, rng), rng), tokenizer, rng)
    return lessons


def _on_definitions(course: Course, split: Split) -> Iterator[Lesson]:
    rng = Random(f"{course.seed}:definitions")
    yield from on_outputs(_definitions(course, split) * _DEFINED, course.tokenizer(), rng)


def _definitions(course: Course, split: Split) -> list[Heard]:
    found = read_definitions(course.data / "descriptions")
    return [descriptions.heard(one) for one in split.definitions(found)]


def _on_texts(course: Course, folder: Path, source: str) -> Iterator[Lesson]:
    """Texts of one part of the second source."""
    rng = Random(f"{course.seed}:{source}")
    found = alignment.heard(folder, rng, (source,))
    yield from on_outputs(found, course.tokenizer(), rng, weight=0.5)


def _on_pairs(course: Course, folder: Path, source: str) -> Iterator[Lesson]:
    """Pairs of one part of the second source."""
    tokenizer = course.tokenizer()
    for pair, right in alignment.asked(folder, Random(f"{course.seed}:{source}"), (source,)):
        yield on_pair(pair, ASKS, right, tokenizer)


def _talks(
    course: Course, split: Split, number: int | None = None
) -> Iterator[LabelledConversation]:
    """Conversations of one side; of one slice of what is written, or of all."""
    scenarios = read_scenarios(course.data / "scenarios")
    styles = read_styles(course.data / "styles")
    if not scenarios or not styles:
        raise ConfigError(f"{course.data} holds no scenarios or no styles")
    part = slice(number, None, None if number is None else _SLICES)
    learning = split.side in ("train", "all")
    seed = course.seed if learning else course.seed + 1
    each = course.per_scenario if learning else course.validation_per_scenario
    yield from generate(scenarios[part], styles, seed=seed, per_scenario=each, split=split)
    for world in split.worlds(_worlds(course)[part]):
        yield from drawn(world, seed=seed, per_task=_IN_WORLDS * each)
    for opening in split.scenarios(read_openings(course.data / "openings")[part]):
        times = _OPENED if learning else 1
        for number in range(times):
            yield from opened(opening, slice(number, None, times))


def _worlds(course: Course) -> list[World]:
    """The worlds of the data, if any."""
    folder = course.data / "worlds"
    return read_worlds(folder) if folder.is_dir() else []


def _workers(course: Course) -> ProcessPoolExecutor:
    """Processes for what needs no GPU; forked where that can be, for each to begin at once."""
    method = "fork" if "fork" in get_all_start_methods() else None
    return ProcessPoolExecutor(course.workers, mp_context=get_context(method))


@contextmanager
def spreading(course: Course) -> Iterator[Spread]:
    """What runs a function over many conversations with the workers of the course."""
    if course.workers == 1:
        yield starmap
        return
    with _workers(course) as pool:

        def spread(
            function: Callable[..., list[Judged]],
            given: Iterable[tuple[LabelledConversation, Flags]],
        ) -> Iterable[list[Judged]]:
            return pool.map(function, *zip(*given, strict=True), chunksize=16)

        yield spread
