"""All attack generators: importing this module fills the registry."""

from taskshield_lab.bench.attacks.registry import GENERATORS, Generator

__all__ = ["GENERATORS", "Generator"]
