"""The registry of attack generators, each with a name and a description."""

from collections.abc import Callable
from dataclasses import dataclass

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.attacks.context import AttackContext, Payload

Generate = Callable[[AttackContext], Payload | None]
"""Makes a payload. None if the attack does not apply in this context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """One attack."""

    name: str
    tries: str
    """Its description, in one sentence."""
    generate: Generate
    once_per_task: bool = False
    """Whether it has its own goal. It then runs once for each user task, not for each goal of
    AgentDojo's attacker."""


GENERATORS: dict[str, Generator] = {}


def generator(
    name: str, *, tries: str, once_per_task: bool = False
) -> Callable[[Generate], Generate]:
    """Register a function as an attack generator."""

    def register(generate: Generate) -> Generate:
        if name in GENERATORS:
            raise ConfigError(f"Two attack generators have the name {name!r}.")
        GENERATORS[name] = Generator(
            name=name, tries=tries, generate=generate, once_per_task=once_per_task
        )
        return generate

    return register
