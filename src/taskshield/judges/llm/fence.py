"""Quotation marks that quoted text cannot forge.

Each request has a random fence, a random seal and random labels. Quoted text cannot end its own
quotation, because it does not know the fence. It cannot imitate a verdict, because it does not know
the seal and the labels that a verdict must have.
"""

import secrets


class Fence:
    """The random words of one request."""

    def __init__(self) -> None:
        self.word = secrets.token_hex(8)
        """Opens and closes quotations."""
        self.seal = secrets.token_hex(8)
        """Marks the answer to this request."""
        self._labels: dict[str, str] = {}
        self._ids: dict[str, str] = {}

    def label(self, id: str) -> str:
        """The random label of a task, an objective, a tainted directive or an item."""
        if id not in self._labels:
            label = secrets.token_hex(4)
            self._labels[id] = label
            self._ids[label] = id
        return self._labels[id]

    def quote(self, kind: str, text: str, label: str = "") -> str:
        """A text as data. `kind` and `label` must never come from the conversation."""
        header = f"{self.word} {kind} {label}".rstrip()
        return f"[{header}]\n{text}\n[{self.word} end]"

    def id_of(self, reference: str) -> str | None:
        """The id of a label. Models sometimes write the whole opening line, which ends with it."""
        words = reference.strip("[] ").split()
        return self._ids.get(words[-1]) if words else None
