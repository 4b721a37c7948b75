"""All attack generators: importing this module fills the registry."""

from taskshield.evals.attacks import (  # noqa: F401 - each registers its generators
    authority,
    burial,
    delegation,
    echoing,
    encodings,
    forging,
    languages,
    places,
    sequences,
    swaps,
)
from taskshield.evals.attacks.registry import GENERATORS, Generator

__all__ = ["GENERATORS", "Generator"]
