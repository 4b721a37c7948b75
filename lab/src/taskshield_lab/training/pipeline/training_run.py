"""The options of a training run.

Its steps:

1. Train all networks, if several are trained in parallel.
2. Train a network for each fold and predict the domains and styles that it was not trained on.
3. Train the released network on all data but the test set.
4. Predict the test set with the released network, e.g. scenarios that were written later.
5. Predict public conversations that the released network was not trained on.
6. Fit the decision on the folds' predictions; write ONNX, figures and the model card.

Finished steps are skipped: an interrupted run resumes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from taskshield.core.errors import ConfigError
from taskshield.judges.embedded.network.encoding import load_tokenizer
from taskshield_lab.training.network.training_loop import Schedule
from taskshield_lab.training.sources.scenario_files import read_openings, read_scenarios
from taskshield_lab.training.sources.splits import Side, Split

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """What a model is trained on, and how."""

    data: Path
    """Folder of scenarios, test environments, openings, styles and tool definitions."""
    base: Path
    """Folder of the encoder to start from: config.json, tokenizer.json and model.safetensors."""
    alignment: Path | None
    """Folder of the public data, if it is used."""
    out: Path
    """Folder of all results."""
    folds: tuple[int, ...] = (0, 1, 2)
    networks: int = 3
    """Networks whose mean is used, each trained on other conversations in another order. The mean
    is about as good as the best of them."""
    per_scenario: int = 6
    """Conversations of each scenario for each network."""
    per_task: int = 4
    """Conversations of each task of a test environment for each network. With these two numbers,
    environments and scenarios give about as many: scenarios have many more wordings of attacks."""
    validation_per_scenario: int = 5
    validation_per_task: int = 4
    schedule: Schedule = Schedule()
    seed: int = 1
    workers: int = 1
    """Processes that make conversations and training examples."""
    parallel_networks: int = 1
    """Networks that are trained in parallel, each in a process of its own. If several, they predict
    in parallel as well."""
    test_set: tuple[str, ...] = ()
    """Prefixes of the ids of scenarios and openings that no network is trained on; the released one
    predicts them."""

    def split(self, side: Side, held_out: int = 0) -> Split:
        """One side of the data."""
        return Split(side=side, held_out=held_out, test_set=self.test_set)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the base."""
        return load_tokenizer((self.base / "tokenizer.json").read_bytes())


def check_test_set(run: TrainingRun) -> None:
    """Check the test set before hours are spent.

    Raises:
        ConfigError: No id has one of the prefixes, or the test set has no scenario.
    """
    if not run.test_set:
        return
    scenarios = [one.id for one in read_scenarios(run.data / "scenarios")]
    openings = [one.id for one in read_openings(run.data / "openings")]
    for prefix in run.test_set:
        if not any(id.startswith(prefix) for id in (*scenarios, *openings)):
            raise ConfigError(
                f"--test-set: no scenario or opening has an id that starts with {prefix!r}."
            )
    if not any(id.startswith(run.test_set) for id in scenarios):
        raise ConfigError(
            "--test-set: the test set needs a scenario, because openings have no outputs."
        )


@contextmanager
def write_complete(path: Path) -> Iterator[Path]:
    """A path to write a file to; the file gets its name only when it is complete."""
    made = path.with_name(f"unfinished-{path.name}")
    yield made
    made.replace(path)
