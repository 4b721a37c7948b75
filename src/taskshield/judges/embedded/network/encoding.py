"""Texts as the token ids that the model reads. Training and serving share these functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from taskshield.core import deadline
from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network.windows import windows

MAX_TOKENS = 256
"""Tokens of a sequence, special ones included."""
HEAD_TOKENS = 80
"""Tokens of the heading before an output."""
PIECE_TOKENS = 96
"""Tokens of a piece, without its marker."""

MARKER = "[unused1]"
"""Stands before each piece. BERT's vocabulary has it, and no text is ever tokenized to it."""
_START, _END = "[CLS]", "[SEP]"

SILENT = -30.0
"""The logit of a piece that the model does not read: without letters it is no directive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A sequence for the model."""

    ids: list[int]
    types: list[int]
    """0 for the first part of the sequence, 1 for the second."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where markers stand, each with the number of its piece."""


def load_tokenizer(content: bytes) -> Tokenizer:
    """A tokenizer from its file, set up so that the functions here can use it.

    Raises:
        ModelError: It cannot be read, or a text could forge the tokens that sequences are built of.
    """
    try:
        tokenizer = Tokenizer.from_str(content.decode("utf-8"))
    except Exception as error:  # the library raises no narrower type
        raise ModelError("The embedded model's tokenizer cannot be read.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Otherwise an attacker could write "[SEP]" into a text and end it for the model.
    tokenizer.encode_special_tokens = True
    _check_unforgeable(tokenizer)
    return tokenizer


def pair_ids(tokenizer: Tokenizer, first: str, second: str) -> Encoded:
    """Two texts side by side, the longer one cut where both together are too long."""
    start, end = _id(tokenizer, _START), _id(tokenizer, _END)
    one, two = _ids(tokenizer, first), _ids(tokenizer, second)
    room = MAX_TOKENS - 3
    one = one[: max(room - len(two), room - room // 2)]
    two = two[: room - len(one)]
    return Encoded(
        ids=[start, *one, end, *two, end],
        types=[0] * (len(one) + 2) + [1] * (len(two) + 1),
    )


def output_ids(tokenizer: Tokenizer, head: str, pieces: Sequence[str]) -> Iterator[Encoded]:
    """The pieces of an output, each behind a marker, in as many sequences as they need.

    A sequence begins with the last piece of the one before it, to be read in context; that piece
    is marked in the first of the two only. Pieces without letters are left out.

    Args:
        tokenizer: As `load_tokenizer` gives it.
        head: What the output is, in a few words; every sequence begins with it.
        pieces: The pieces, in order.
    """
    start, end, marker = (_id(tokenizer, token) for token in (_START, _END, MARKER))
    opening = [start, *_ids(tokenizer, head)[:HEAD_TOKENS], end]
    worded = [number for number, piece in enumerate(pieces) if any(map(str.isalpha, piece))]
    inner = [[marker, *piece_ids(tokenizer, pieces[number])] for number in worded]
    marked = 0
    for numbers in windows([len(one) for one in inner], MAX_TOKENS - len(opening) - 1):
        ids = list(opening)
        marks: list[tuple[int, int]] = []
        for number in numbers:
            if number >= marked:
                marks.append((len(ids), worded[number]))
            ids += inner[number]
        ids.append(end)
        marked = numbers.stop
        types = [0] * len(opening) + [1] * (len(ids) - len(opening))
        yield Encoded(ids=ids, types=types, marks=tuple(marks))


def piece_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """The tokens of a piece of an output, without its marker."""
    deadline.check()
    return _ids(tokenizer, text)[:PIECE_TOKENS]


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return _encoded(tokenizer, text).ids


def _encoded(tokenizer: Tokenizer, text: str) -> Encoding:
    """The tokens of a text.

    One by one and not as a batch. A batch starts one thread per processor, and a process that forks
    afterwards prints a warning to its standard error. This takes 4 % of the model's time.
    """
    # JSON can hold half of a surrogate pair, which no tokenizer accepts.
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return tokenizer.encode(whole, add_special_tokens=False)


def _id(tokenizer: Tokenizer, token: str) -> int:
    found = tokenizer.token_to_id(token)
    if found is None:
        raise ModelError(f"The embedded model's tokenizer has no token {token}.")
    return found


def _check_unforgeable(tokenizer: Tokenizer) -> None:
    tokens = (_START, _END, MARKER)
    ids = {_id(tokenizer, token) for token in tokens}
    if ids & set(_ids(tokenizer, " ".join(tokens))):
        raise ModelError("The embedded model's tokenizer lets a text forge special tokens.")
