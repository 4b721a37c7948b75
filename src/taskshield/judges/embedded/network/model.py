"""The embedded model at run time: onnxruntime on the CPU, nothing sent and nothing written.

A model may be used by many threads at once. It belongs to the process that loaded it: threads do
not survive a fork, so in a forked child it refuses to answer, while `shared` loads one for each
process. A forked child that ends otherwise than by `os._exit` waits for those threads forever,
whether it used the model or not, unless it was loaded with one thread.
"""

import os
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from hashlib import sha256
from pathlib import Path
from threading import Event, Lock
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network import encoding, model_files
from taskshield.judges.embedded.network.encoding import Encoded
from taskshield.judges.embedded.network.prefilter import Glance

_REMEMBERED = 4096
"""Rows that are kept, at most 1 kB each: agents read an output and try a call again."""
MOST_READ = 96
"""Sequences of one output that the network reads, 80 to 100 kB, in about 3 s on two cores. Of a
longer one it reads those that look most like orders at a glance."""
_Output = Literal["pair", "tags"]
_INPUTS = {"ids", "types", "mask"}
_OUTPUTS = {"tags", "pair"}


class Model:
    """A network and its tokenizer."""

    def __init__(
        self,
        session: Any,
        tokenizer: Tokenizer,
        *,
        label: str,
        decision: bytes,
        beside: Any = None,
        glance: Glance | None = None,
    ) -> None:
        """Make a model.

        Args:
            session: What computes.
            tokenizer: As `load_tokenizer` gives it.
            label: Name, version and hash.
            decision: What the judge makes of the scores.
            beside: The same with one thread: two of its runs side by side take less time than two
                of the other one after the other. None where there is one processor.
            glance: What to choose by where an output is very long; without it, all is read.
        """
        self._session = session
        self._beside = beside
        self._side = None if beside is None else ThreadPoolExecutor(1, "taskshield-model")
        self._side_taken = Lock()
        self._tokenizer = tokenizer
        self._glance = glance
        self._process = os.getpid()
        self._known = _Recent(_REMEMBERED)
        self.label = label
        """Name, version and hash, as logged with each decision."""
        self.decision = decision
        """What the judge makes of the scores, as JSON; checked together with the weights."""

    @classmethod
    def load(cls, folder: Path | None = None, *, threads: int | None = None) -> Self:
        """The model of a folder, checked; None takes the one that comes with the package.

        Args:
            folder: What `weights.write_manifest` has been run on.
            threads: Threads that compute; None takes two, or one where there is one processor.

        Raises:
            ModelError: The files are missing, damaged, or not those of such a model.
        """
        files = model_files.verified(model_files.SHIPPED if folder is None else folder)
        most = _threads() if threads is None else threads
        tokenizer = encoding.load_tokenizer(files.tokenizer)
        words = tokenizer.get_vocab_size()
        return cls(
            inference(files.model, most),
            tokenizer,
            label=files.label,
            decision=files.decision,
            beside=inference(files.model, 1) if most > 1 else None,
            glance=None if files.glance is None else Glance.read(files.glance, words),
        )

    def pair(self, first: str, second: str) -> tuple[float, float]:
        """Two logits: does the first text ask for the second, does the second serve the first.

        Raises:
            ModelError: The process was forked, or the model answers with what is no number.
        """
        (found,) = self.pairs([(first, second)])
        return found

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """The same for several pairs at once.

        Raises:
            ModelError: As for one.
        """
        sequences = [encoding.pair_ids(self._tokenizer, *pair) for pair in pairs]
        return [(float(row[0]), float(row[1])) for row in self._rows("pair", sequences)]

    def tags(self, head: str, pieces: Sequence[str], stop: Event | None = None) -> list[float]:
        """For each piece of an output a logit: does it direct whoever reads it.

        Of a very long output some pieces are only glanced at; they direct nobody.

        Args:
            head: What the output is, in a few words.
            pieces: Its pieces.
            stop: Set by somebody who does not wait for the answer any longer.

        Raises:
            ModelError: The process was forked, the model answers with what is no number, or nobody
                waits for the answer.
        """
        found = [encoding.SILENT] * len(pieces)
        sequences = list(encoding.output_ids(self._tokenizer, head, pieces))
        if self._glance is not None and len(sequences) > MOST_READ:
            sequences = [sequences[n] for n in self._glance.loudest(sequences, MOST_READ)]
        rows = self._rows("tags", sequences, stop)
        for sequence, row in zip(sequences, rows, strict=True):
            for place, number in sequence.marks:
                found[number] = float(row[place])
        return found

    def _rows(
        self, output: _Output, sequences: Sequence[Encoded], stop: Event | None = None
    ) -> list[NDArray[np.float32]]:
        """The rows of an output, two side by side where there are two."""
        if os.getpid() != self._process:
            raise ModelError(
                "the embedded model was loaded before this process was forked;"
                " load it in each process"
            )
        if self._side is None or len(sequences) < 2:
            return self._in_turn(self._session, output, sequences, stop)
        if not self._side_taken.acquire(blocking=False):  # many checks at once: no core is idle
            return self._in_turn(self._beside, output, sequences, stop)
        here, there = _halves([len(sequence.ids) for sequence in sequences])
        try:
            beside = self._side.submit(
                self._in_turn, self._beside, output, [sequences[number] for number in there], stop
            )
            try:
                own = [sequences[number] for number in here]
                rows = self._in_turn(self._beside, output, own, stop)
            finally:
                wait([beside])
        finally:
            self._side_taken.release()
        found = dict(zip((*here, *there), (*rows, *beside.result()), strict=True))
        return [found[number] for number in range(len(sequences))]

    def _in_turn(
        self, session: Any, output: _Output, sequences: Sequence[Encoded], stop: Event | None
    ) -> list[NDArray[np.float32]]:
        """Rows one after the other.

        One sequence at a time: int8 models scale their numbers by all that is in a batch, so a
        text could change the score of its neighbour. The gain of batches is 10 to 30 % only.
        """
        rows = []
        for sequence in sequences:
            if stop is not None and stop.is_set():
                raise ModelError("nobody waits for the embedded model's answer any longer")
            rows.append(self._row(session, output, sequence))
        return rows

    def _row(self, session: Any, output: _Output, sequence: Encoded) -> NDArray[np.float32]:
        ids, types = (np.array([one], np.int64) for one in (sequence.ids, sequence.types))
        key = sha256(output.encode() + ids.tobytes() + types.tobytes()).digest()
        row = self._known.get(key)
        if row is None:
            row = _computed(session, output, ids, types)
            self._known.put(key, row)
        return row


def _halves(lengths: Sequence[int]) -> tuple[list[int], list[int]]:
    """Numbers of sequences in two parts that take about as long, the longest ones dealt first."""
    parts: tuple[list[int], list[int]] = ([], [])
    sizes = [0, 0]
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        lighter = sizes.index(min(sizes))
        parts[lighter].append(number)
        sizes[lighter] += lengths[number]
    return parts


def _computed(
    session: Any, output: _Output, ids: NDArray[np.int64], types: NDArray[np.int64]
) -> NDArray[np.float32]:
    (found,) = session.run([output], {"ids": ids, "types": types, "mask": ids * 0 + 1})
    if not np.isfinite(found).all():  # a comparison with NaN is false, whatever it asks
        raise ModelError("the embedded model answered with something that is no number")
    row: NDArray[np.float32] = found[0]
    return row


def shared(folder: Path | None = None) -> Model:
    """The model of a folder, loaded once in each process; None takes the one of the package.

    Raises:
        ModelError: It is missing or damaged; the next call tries again.
    """
    # By process, so that a forked child neither uses its parent's model nor waits for a lock that
    # a thread of its parent held.
    mine = _SHARED.setdefault(os.getpid(), _Shared())
    with mine.lock:
        where = (model_files.SHIPPED if folder is None else folder).absolute()
        if where not in mine.models:
            mine.models[where] = Model.load(where)
        return mine.models[where]


class _Shared:
    """Models by their folders."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.models: dict[Path, Model] = {}


_SHARED: dict[int, _Shared] = {}


class _Recent:
    """The rows that were asked for last, by what was asked."""

    def __init__(self, most: int) -> None:
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
            return self._rows.get(key)

    def put(self, key: bytes, row: NDArray[np.float32]) -> None:
        with self._lock:
            self._rows[key] = row
            if len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _threads() -> int:
    """Two threads, where there are two processors for this process."""
    if hasattr(os, "sched_getaffinity"):
        return min(2, len(os.sched_getaffinity(0)))
    count = os.cpu_count()
    return 1 if count is None else min(2, count)


def inference(model: bytes, threads: int) -> Any:
    """An onnxruntime session.

    From bytes and not from a path: these bytes were hashed. They are let go at the end; while the
    session is made there are two copies (of a file of 22 MB: peak 69 MB, then 34; from a path 42
    and 39, and a mapped file is not accepted).

    Raises:
        ModelError: It is not one, or has other inputs or outputs than it should have.
    """
    # Else onnxruntime opens a database in the user's cache and reports to its makers. It reads this
    # when it is first imported; where somebody else imported it, only the second line is left.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised; nothing is printed beside them
    # Threads that spin gain a millisecond a call, and with pauses take three times the CPU time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(
            model,
            options,
            providers=["CPUExecutionProvider"],
            # What it makes of a sum and a norm takes longer than both: a pass, 1.7 times as long.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise ModelError("the embedded model cannot be loaded by onnxruntime") from error
    if {one.name for one in session.get_inputs()} != _INPUTS or not _OUTPUTS <= {
        one.name for one in session.get_outputs()
    }:
        raise ModelError("the embedded model has other inputs or outputs than it should have")
    session.disable_fallback()  # there is no other provider, and it prints
    session._model_bytes = None  # the file once more, kept for that fallback alone
    return session
