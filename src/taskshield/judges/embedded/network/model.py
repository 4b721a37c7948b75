"""The embedded model at run time: onnxruntime on the CPU. It sends and writes nothing.

Many threads may use a model at once. It belongs to the process that loaded it: threads do not
survive a fork, so in a forked child the model raises, while `shared` loads one for each process. A
forked child that ends in any way but `os._exit` waits for those threads forever, whether it used
the model or not, unless the model was loaded with one thread.

The module is long because it keeps loading, caching and parallel runs of one model together.
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

from taskshield.core import cache_sizes
from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network import encoding, model_files
from taskshield.judges.embedded.network.encoding import Encoded
from taskshield.judges.embedded.network.onnxruntime_internals import release_model_bytes
from taskshield.judges.embedded.network.prefilter import Glance

_REMEMBERED = 4096
"""Rows that are cached, at most 1 kB each: agents read an output again and retry calls."""
MOST_READ = 96
"""Sequences of one output that the network reads: 80 to 100 kB in about 3 s on two cores. Of a
longer output it reads those that the prefilter scores highest."""
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
            session: The onnxruntime session.
            tokenizer: As `load_tokenizer` gives it.
            label: Name, version and hash.
            decision: The classifier, as JSON.
            beside: The same with one thread. Two of its runs in parallel are faster than two
                of the other one in turn. None where there is one processor.
            glance: The prefilter for very long outputs; without it, everything is read.
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
        """The classifier, as JSON; checked together with the weights."""

    @classmethod
    def load(cls, folder: Path | None = None, *, threads: int | None = None) -> Self:
        """Load and check the model in a folder; None is the shipped one.

        Args:
            folder: One that `model_files.write_manifest` was run on.
            threads: Threads that compute; None is two, or one where there is one processor.

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
            ModelError: The process was forked, or the model returned NaN or infinity.
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
        """For each piece of an output a logit: does it try to direct its reader?

        Of a very long output, pieces that the prefilter leaves out count as no directive.

        Args:
            head: What the output is, in a few words.
            pieces: Its pieces.
            stop: Set once the caller no longer waits for the answer.

        Raises:
            ModelError: The process was forked, the model returned NaN or infinity, or `stop` was
                set.
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
        """The rows of an output, two in parallel where there are at least two."""
        if os.getpid() != self._process:
            raise ModelError(
                "The embedded model was loaded before this process was forked."
                " Load it in each process."
            )
        if self._side is None or len(sequences) < 2:
            return self._in_turn(self._session, output, sequences, stop)
        if not self._side_taken.acquire(blocking=False):  # no core is idle
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
        """Rows in turn.

        One sequence at a time: int8 models scale their numbers by the whole batch, so a text could
        change the score of its neighbour. Batches would gain 10 to 30 % only.
        """
        rows = []
        for sequence in sequences:
            if stop is not None and stop.is_set():
                raise ModelError("The embedded model stopped: the caller no longer waits.")
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
    """Numbers of sequences in two parts that take about the same time; the longest come first."""
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
    if not np.isfinite(found).all():  # every comparison with NaN is false
        raise ModelError("The embedded model returned a score that is no number.")
    row: NDArray[np.float32] = found[0]
    return row


def shared(folder: Path | None = None) -> Model:
    """The model of a folder, loaded once in each process; None is the shipped one.

    Raises:
        ModelError: It is missing or damaged. The next call tries again.
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
    """The most recently used rows, by their input."""

    def __init__(self, most: int) -> None:
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._most = most
        cache_sizes.report("judge_rows", self, _Recent.size)
        self._lock = Lock()

    def size(self) -> int:
        """Bytes of all rows."""
        with self._lock:
            return sum(row.nbytes for row in self._rows.values())

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

    From bytes and not from a path: these bytes were hashed. They are released at the end; while the
    session is made there are two copies (of a file of 22 MB: peak 69 MB, then 34; from a path 42
    and 39, and a mapped file is not accepted).

    Raises:
        ModelError: The bytes are no such model, or its inputs or outputs are unexpected.
    """
    # Otherwise onnxruntime opens a database in the user's cache and reports to its makers. It reads
    # the variable when first imported; where it is imported already, the call below must do.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised; nothing is printed beside them
    # Spinning threads save a millisecond a call but, between calls, use three times the CPU time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(
            model,
            options,
            providers=["CPUExecutionProvider"],
            # Its fused sum and norm are slower than the two apart: a pass takes 1.7 times as long.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # onnxruntime's errors have no common base
        raise ModelError("onnxruntime cannot load the embedded model.") from error
    if {one.name for one in session.get_inputs()} != _INPUTS or not _OUTPUTS <= {
        one.name for one in session.get_outputs()
    }:
        raise ModelError("The embedded model has unexpected inputs or outputs.")
    session.disable_fallback()  # there is no other provider, and the fallback prints
    release_model_bytes(session)
    return session
