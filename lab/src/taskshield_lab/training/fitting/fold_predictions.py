"""A network's predictions on conversations that it was not trained on, as columns and in files.

Which conversations and how they are read is in `cross_validation`. Column names and the names of
the tables are stored in `.npz` files and stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taskshield.judges.embedded.decision.features import feature_list

Column = NDArray[np.generic]
Floats = NDArray[np.float64]

View = Literal["judged", "unnoticed", "alarmed"]
"""How the network's flags were used when a conversation was read.

- judged: as the network set them
- unnoticed: none is set, because future attackers write texts that no network has seen
- alarmed: every imperative is flagged, because in unfamiliar text the network flags too much
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The logits from which on a segment counts as injected."""

    injected: float
    injected_delegated: float
    """The same where the user delegates to a source."""
    joined: float
    """For a segment beside an injected one."""


_LIMITS = tuple(field.name for field in fields(Limits))
_TABLES = ("tags", "calls", "definitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPredictions:
    """What a network predicted for conversations that it was not trained on."""

    limits: Limits
    tags: dict[str, Column]
    """Segments: `logit`, `label`, `output` (its number)."""
    calls: dict[str, Column]
    """Calls and plans: `features`, `aligned`, `kind`, `tier`, `delegating`, `domain`, `setting`,
    `lang`, `view`, `talk` (the number of the conversation)."""
    definitions: dict[str, Column]
    """Tool definitions: the highest `logit` of a segment, and whether it is `poisoned`."""
    names: tuple[str, ...] = feature_list()
    """Names of the features, in order; those of related sentences are the last."""

    def save(self, path: Path) -> None:
        """Write them to an `.npz` file."""
        limits = np.array(astuple(self.limits))
        columns = {
            f"{part}.{name}": column
            for part in _TABLES
            for name, column in getattr(self, part).items()
        }
        np.savez_compressed(path, limits=limits, names=np.array(self.names), **columns)

    @classmethod
    def load(cls, path: Path) -> "FoldPredictions":
        """Read them from an `.npz` file, without features that no longer exist."""
        with np.load(path, allow_pickle=False) as stored:
            limits = Limits(**dict(zip(_LIMITS, map(float, stored["limits"]), strict=True)))
            parts: dict[str, dict[str, Column]] = {part: {} for part in _TABLES}
            for name in stored.files:
                part, _, column = name.partition(".")
                if column:
                    parts[part][column] = stored[name]
            known = np.isin(stored["names"], feature_list())
            names = tuple(map(str, stored["names"][known]))
        parts["calls"]["features"] = parts["calls"]["features"][:, known]
        return cls(limits=limits, names=names, **parts)


def join_calls(folds: Sequence[FoldPredictions]) -> dict[str, Column]:
    """The calls of all folds in one table; the column `fold` has the number of the fold."""
    return join_tables(
        [
            {**one.calls, "fold": np.full(len(one.calls["aligned"]), number)}
            for number, one in enumerate(folds)
        ]
    )


def join_tags(folds: Sequence[FoldPredictions]) -> dict[str, Column]:
    """The segments of all folds in one table; outputs are numbered across folds."""
    parts, begin = [], 0
    for one in folds:
        numbers = one.tags["output"].astype(np.int64) + begin
        begin = int(numbers.max()) + 1
        parts.append({**one.tags, "output": numbers})
    return join_tables(parts)


def join_tables(parts: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """The rows of several tables with the same columns."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def select_rows(table: Mapping[str, Column], rows: Column) -> dict[str, Column]:
    """Some rows of a table."""
    return {name: column[rows] for name, column in table.items()}
