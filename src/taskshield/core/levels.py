"""Privilege levels and their order."""

from enum import Enum


class Level(Enum):
    """Who speaks. Ordered: system > user > assistant > tool."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    def __lt__(self, other: "Level") -> bool:
        return _RANK[self] < _RANK[other]

    def __le__(self, other: "Level") -> bool:
        return _RANK[self] <= _RANK[other]

    def __gt__(self, other: "Level") -> bool:
        return _RANK[self] > _RANK[other]

    def __ge__(self, other: "Level") -> bool:
        return _RANK[self] >= _RANK[other]


_RANK = {Level.TOOL: 0, Level.ASSISTANT: 1, Level.USER: 2, Level.SYSTEM: 3}
