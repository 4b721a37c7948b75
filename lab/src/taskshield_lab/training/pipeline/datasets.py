"""Makes the conversations and training examples of one side of the data."""

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
from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.conversations.from_environments import sample_conversations
from taskshield_lab.training.conversations.from_openings import opening_conversations
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.mixture import DistractorMix
from taskshield_lab.training.distractors.public_conversations import compose_conversations
from taskshield_lab.training.distractors.public_rows import read_public_rows
from taskshield_lab.training.examples import public_pairs, tool_definitions
from taskshield_lab.training.examples.call_examples import (
    CallExample,
    Flags,
    call_examples,
    simulate_flags,
)
from taskshield_lab.training.examples.output_examples import OutputExample, output_examples
from taskshield_lab.training.examples.public_pairs import DIRECTIVE_SOURCES, PAIR_SOURCES
from taskshield_lab.training.fitting.cross_validation import ParallelMap
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.labelled_tokens import (
    ASKS,
    TokenExample,
    call_token_examples,
    output_token_examples,
    pair_token_example,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.environments import TestEnvironment, read_environments
from taskshield_lab.training.sources.scenario_files import (
    read_openings,
    read_scenarios,
    read_styles,
    read_tool_definitions,
)
from taskshield_lab.training.sources.splits import Split

ExampleSource = Callable[[], Iterable[TokenExample]]
"""Makes a part of the training examples in any process."""

_SLICES = 16
"""The number of parts of the corpus. It is independent of the workers, so the corpus is always the
same."""
_DEFINITION_REPEATS = 5
"""Repeats of a tool definition in an epoch: there are few."""
_WITH_TOOL = 0.25
"""Share of the conversations of which one tool definition becomes an example as well."""
_WITHOUT_REQUEST = 0.15
"""Share of the conversations whose outputs are read without the user's request."""
_OPENING_REPEATS = 3
"""Repeats of the right calls of an opening in an epoch, as a scenario has many right calls. Each
wrong call occurs once: there are more of them, and most first calls are right."""
_NICENESS = 10


def training_examples(run: TrainingRun, split: Split) -> TokenExamples:
    """All training examples, in an order that does not depend on the workers."""
    sources: list[ExampleSource] = [
        partial(_slice_examples, run, split, part) for part in range(_SLICES)
    ]
    sources.append(partial(_definition_token_examples, run, split))
    if run.alignment is not None:
        sources += [partial(_text_examples, run, run.alignment, one) for one in DIRECTIVE_SOURCES]
        sources += [partial(_pair_examples, run, run.alignment, one) for one in PAIR_SOURCES]
    if run.workers == 1:
        return TokenExamples.joined(map(_made, sources))
    with _workers(run) as pool:
        return TokenExamples.joined(pool.map(_made, sources))


def _made(source: ExampleSource) -> TokenExamples:
    return TokenExamples.of(source())


def _slice_examples(run: TrainingRun, split: Split, number: int) -> list[TokenExample]:
    rng = Random(f"{run.seed}:{number}")
    tokenizer = run.tokenizer()
    public_rows = None if run.alignment is None else read_public_rows(run.alignment, "train")
    examples: list[TokenExample] = []
    distractors = DistractorMix(public_rows, run.seed)
    for conversation in labelled_conversations(run, split, number):
        conversation = distractors.add_distractors(conversation)
        examples += output_token_examples(
            output_examples(conversation, with_request=rng.random() >= _WITHOUT_REQUEST),
            tokenizer,
            rng,
        )
        examples += call_token_examples(
            call_examples(conversation, simulate_flags(conversation, rng), rng), tokenizer, rng
        )
        if rng.random() < _WITH_TOOL:
            examples += output_token_examples(
                tool_definitions.tool_examples(conversation, rng), tokenizer, rng
            )
    if public_rows is not None:
        for conversation in compose_conversations(
            public_rows, run.seed, slice(number, None, _SLICES)
        ):
            conversation = distractors.add_distractors(conversation, public=False)
            examples += output_token_examples(output_examples(conversation), tokenizer, rng)
            examples += call_token_examples(
                call_examples(conversation, simulate_flags(conversation, rng), rng), tokenizer, rng
            )
    return examples


def _definition_token_examples(run: TrainingRun, split: Split) -> Iterator[TokenExample]:
    rng = Random(f"{run.seed}:definitions")
    yield from output_token_examples(
        definition_examples(run, split) * _DEFINITION_REPEATS, run.tokenizer(), rng
    )


def definition_examples(run: TrainingRun, split: Split) -> list[OutputExample]:
    """The tool definitions of one side."""
    found = read_tool_definitions(run.data / "descriptions")
    return [tool_definitions.definition_example(one) for one in split.definitions(found)]


def _text_examples(run: TrainingRun, folder: Path, source: str) -> Iterator[TokenExample]:
    """Examples of the texts of one public source."""
    rng = Random(f"{run.seed}:{source}")
    found = public_pairs.public_output_examples(folder, rng, (source,))
    yield from output_token_examples(found, run.tokenizer(), rng, weight=0.5)


def _pair_examples(run: TrainingRun, folder: Path, source: str) -> Iterator[TokenExample]:
    """Examples of the pairs of one public source."""
    tokenizer = run.tokenizer()
    for pair, right in public_pairs.public_instruction_pairs(
        folder, Random(f"{run.seed}:{source}"), (source,)
    ):
        yield pair_token_example(pair, ASKS, right, tokenizer)


def labelled_conversations(
    run: TrainingRun, split: Split, number: int | None = None
) -> Iterator[LabelledConversation]:
    """The conversations of one side, or of one slice of its files."""
    scenarios = read_scenarios(run.data / "scenarios")
    styles = read_styles(run.data / "styles")
    if not scenarios or not styles:
        raise ConfigError(f"The data folder {run.data} has no scenarios or no styles.")
    part = slice(number, None, None if number is None else _SLICES)
    training = split.side in ("train", "all")
    seed = run.seed if training else run.seed + 1
    per_scenario, per_task = (
        (run.per_scenario, run.per_task)
        if training
        else (run.validation_per_scenario, run.validation_per_task)
    )
    yield from generate_conversations(
        scenarios[part], styles, seed=seed, per_scenario=per_scenario, split=split
    )
    for environment in split.environments(_environments(run)[part]):
        yield from sample_conversations(environment, seed=seed, per_task=per_task)
    for opening in split.scenarios(read_openings(run.data / "openings")[part]):
        repeats = _OPENING_REPEATS if training else 1
        for number in range(repeats):
            yield from opening_conversations(opening, slice(number, None, repeats))


def _environments(run: TrainingRun) -> list[TestEnvironment]:
    """The test environments of the data, if any."""
    folder = run.data / "worlds"
    return read_environments(folder) if folder.is_dir() else []


def _workers(run: TrainingRun) -> ProcessPoolExecutor:
    """Worker processes without a GPU, forked where possible because that starts fast.

    They have a lower priority than the processes that feed the GPU.
    """
    method = "fork" if "fork" in get_all_start_methods() else None
    return ProcessPoolExecutor(run.workers, get_context(method), _lower_priority)


def _lower_priority() -> None:
    if hasattr(os, "nice"):  # not on Windows
        os.nice(_NICENESS)


@contextmanager
def parallel_map(run: TrainingRun) -> Iterator[ParallelMap]:
    """Calls a function for many conversations with the workers of the run."""
    if run.workers == 1:
        yield starmap
        return
    with _workers(run) as pool:

        def spread(
            function: Callable[..., list[CallExample]],
            given: Iterable[tuple[LabelledConversation, Flags]],
        ) -> Iterable[list[CallExample]]:
            return pool.map(function, *zip(*given, strict=True), chunksize=16)

        yield spread
