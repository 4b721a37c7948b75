"""The registry of attack generators, each with its name and what it tries."""

from collections.abc import Callable
from dataclasses import dataclass

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.attacks.context import AttackContext, Payload

Generate = Callable[[AttackContext], Payload | None]
"""Comes up with a payload; None where the attack makes no sense in this scene."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """One way to attack."""

    name: str
    tries: str
    """What it tries, in one sentence."""
    generate: Generate
    once_per_task: bool = False
    """Whether it has a goal of its own, so that it runs once for each task of the user and not once
    for each goal of AgentDojo's attacker."""


GENERATORS: dict[str, Generator] = {}


def generator(
    name: str, *, tries: str, once_per_task: bool = False
) -> Callable[[Generate], Generate]:
    """Register a function as an attack generator."""

    def register(generate: Generate) -> Generate:
        if name in GENERATORS:
            raise ConfigError(f"attack: there are two named {name!r}")
        GENERATORS[name] = Generator(
            name=name, tries=tries, generate=generate, once_per_task=once_per_task
        )
        return generate

    return register
