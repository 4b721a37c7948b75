"""How long the stages of one check by the embedded judge take.

The judge knows nothing of it: for as long as a stopwatch is at work, functions of the judge are
replaced by ones that also look at the clock. Nested ones count for the outermost.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from taskshield.judges.embedded import judge
from taskshield.judges.embedded.evidence.index_cache import IndexCache
from taskshield.judges.embedded.network import encoding, inputs, model
from taskshield.judges.embedded.network.model import Model
from taskshield.judges.embedded.text import segments

MEMORY, EVIDENCE, RENDERING = "memory", "evidence", "rendering"
SEGMENTS, TOKENISING, MODEL = "segments", "tokenising", "model"
REST, ENGINE = "decision and the rest", "engine"
STAGES = (MEMORY, SEGMENTS, EVIDENCE, RENDERING, TOKENISING, MODEL, REST, ENGINE)
"""memory: the history read into the story. evidence: plans found, values traced. rendering: what
the model is shown. model: the forward passes. engine: all outside the judge, the hop to its thread
included."""

_WATCHED: tuple[tuple[object, str, str], ...] = (
    (IndexCache, "take", MEMORY),
    (IndexCache, "put_back", MEMORY),
    (judge, "segments", SEGMENTS),
    (judge, "planned", EVIDENCE),
    (judge, "gather", EVIDENCE),
    (inputs, "serves", RENDERING),
    (inputs, "asks", RENDERING),
    (encoding, "pair_ids", TOKENISING),
    (Model, "_rows", MODEL),
)


class Stopwatch:
    """Seconds by stage and the model's passes, since the last `reset`. For one check at a time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._seconds = dict.fromkeys(STAGES, 0.0)
        self._judge = 0.0
        self._busy = False
        self.passes: list[int] = []
        """Tokens of each forward pass."""
        self.segmented: list[str] = []
        """The texts that were cut into segments."""

    def stages(self, total: float) -> dict[str, float]:
        """Milliseconds of each stage of a check that took so many seconds."""
        rest = self._judge - sum(self._seconds.values())
        found = {**self._seconds, REST: rest, ENGINE: total - self._judge}
        return {stage: seconds * 1000 for stage, seconds in found.items()}

    @contextmanager
    def at_work(self, network: Model) -> Iterator[None]:
        """Watch all checks of this process.

        Args:
            network: The model that judges.
        """
        with ExitStack() as patches:
            for owner, name, stage in _WATCHED:
                watched = self.watched(stage, getattr(owner, name))
                patches.enter_context(patch.object(owner, name, watched))
            output_ids = encoding.output_ids
            replaced: tuple[tuple[object, str, object], ...] = (
                # A generator would be timed together with what is done between its items.
                (
                    encoding,
                    "output_ids",
                    self.watched(TOKENISING, lambda *given: list(output_ids(*given))),
                ),
                (network, "_session", _Passes(network._session, self)),
                (network, "_beside", _Passes(network._beside, self)),
                (segments, "_steps", self._cutting(segments._steps)),
                (judge.EmbeddedJudge, "_step", self._judging(judge.EmbeddedJudge._step)),
                (judge.EmbeddedJudge, "_output", self._judging(judge.EmbeddedJudge._output)),
            )
            for owner, name, instead in replaced:
                patches.enter_context(patch.object(owner, name, instead))
            yield

    def watched(self, stage: str, function: Callable[..., object]) -> Callable[..., object]:
        """The function, with its time counted for a stage."""

        def watched(*args: Any, **kwargs: Any) -> object:
            if self._busy:
                return function(*args, **kwargs)
            self._busy = True
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._seconds[stage] += time.perf_counter() - started
                self._busy = False

        return watched

    def _cutting(self, steps: Callable[[str], object]) -> Callable[[str], object]:
        def counted(text: str) -> object:
            self.segmented.append(text)
            return steps(text)

        return counted

    def _judging(self, function: Callable[..., object]) -> Callable[..., object]:
        def watched(*args: Any) -> object:
            started = time.perf_counter()
            try:
                return function(*args)
            finally:
                self._judge += time.perf_counter() - started

        return watched


class _Passes:
    """The network, with its forward passes counted."""

    def __init__(self, session: Any, watch: Stopwatch) -> None:
        self._session = session
        self._watch = watch

    def run(self, outputs: list[str], given: Mapping[str, Any]) -> object:
        self._watch.passes.append(given["ids"].shape[1])
        return self._session.run(outputs, given)


def forget(network: Model) -> None:
    """Let the judge forget what it keeps from one conversation to the next.

    Recorded conversations are about the same few worlds. To remember them would be to cheat.
    """
    network._known = model._Recent(model._REMEMBERED)
    for name, module in list(sys.modules.items()):
        if name.startswith("taskshield.judges.embedded."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
