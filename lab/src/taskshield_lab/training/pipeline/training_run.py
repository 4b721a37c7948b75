"""The whole path from data to a shipped model, in steps that can be taken up again.

ahead      all networks, where several are taught at once
folds      a network for each fold, asked about the domains and styles that it did not see
network    the network that is shipped, taught with everything but what is kept
kept       that network, asked about what was kept, e.g. because it was written later
foreign    that network, asked about conversations composed of public data that it did not see
assembly   the decision, fitted on what the folds said; ONNX; figures; the model card
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
    per_task: int = 4
    """Conversations for each of them of every task of a world. With these two, worlds and scenarios
    give about as many: injections are worded in many more ways in scenarios."""
    validation_per_scenario: int = 5
    validation_per_task: int = 4
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


def check_kept(course: TrainingRun) -> None:
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


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """A place to write a file to that is not there before it is written to its end."""
    made = path.with_name(f"unfinished-{path.name}")
    yield made
    made.replace(path)
