"""From the numbers in upstream streams to those in the one stream that the client sees."""


class Numbering:
    """Numbers of a message's parts. Parts get their numbers in the order in which they appear."""

    def __init__(self) -> None:
        self._next = 0
        self._numbers: dict[int, int] = {}

    def __contains__(self, upstream: object) -> bool:
        return upstream in self._numbers

    def keep(self, upstream: int) -> None:
        """The client saw the upstream's own number."""
        self._numbers[upstream] = upstream
        self._next = max(self._next, upstream + 1)

    def of(self, upstream: int) -> int:
        """The client's number for a part of the upstream's message."""
        if upstream not in self._numbers:
            self._numbers[upstream] = self.new()
        return self._numbers[upstream]

    def new(self) -> int:
        """A number for a part of our own."""
        self._next += 1
        return self._next - 1

    def start_round(self) -> None:
        """Another upstream stream begins, which counts from 0 again."""
        self._numbers.clear()
