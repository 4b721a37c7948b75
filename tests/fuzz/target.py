"""What a target of hostile input is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from tests.fuzz.edits import edited

Read = Callable[[bytes], str]
"""Reads input and says what came of it; raises what is not a clean error."""


@dataclass(frozen=True, slots=True)
class Target:
    """One reader of input."""

    name: str
    seeds: tuple[bytes, ...]
    open: Callable[[], AbstractContextManager[Read]]
    """Prepares it."""

    def input(self, number: int) -> bytes:
        """The hostile input with this number."""
        random = Random(number)
        return edited(random.choice(self.seeds), random)
