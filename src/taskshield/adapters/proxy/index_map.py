"""Maps the numbers in provider streams to those in the one stream that the client sees."""


class Numbering:
    """Numbers of a message's parts. Parts get their numbers in the order in which they appear."""

    def __init__(self) -> None:
        self._next = 0
        self._numbers: dict[int, int] = {}

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def keep(self, number: int) -> None:
        """The client has seen the provider's own number."""
        self._numbers[number] = number
        self._next = max(self._next, number + 1)

    def of(self, number: int) -> int:
        """The client's number for a part of the provider's message."""
        if number not in self._numbers:
            self._numbers[number] = self.new()
        return self._numbers[number]

    def new(self) -> int:
        """A number for a part that the proxy adds."""
        self._next += 1
        return self._next - 1

    def start_round(self) -> None:
        """Another provider stream begins, which counts from 0 again."""
        self._numbers.clear()
