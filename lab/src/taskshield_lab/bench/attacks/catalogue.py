"""All attack generators. Importing this module fills the registry."""

from taskshield_lab.bench.attacks import (  # noqa: F401 - each registers its generators
    argument_swaps,
    authority,
    burial,
    delegation,
    encodings,
    forged_verdicts,
    goal_echo,
    languages,
    split_sequence,
    unusual_places,
)
from taskshield_lab.bench.attacks.registry import GENERATORS, Generator

__all__ = ["GENERATORS", "Generator"]
