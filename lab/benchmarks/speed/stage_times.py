"""Times the stages of a check by the embedded judge.

A stopwatch replaces functions of the judge by timed ones. The time of nested functions counts for
the outermost one.
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
"""memory: building the conversation index. evidence: finding plans and tracing values. rendering:
the inputs of the model. model: the forward passes. engine: everything outside the judge, with the
switch to its thread."""

_WATCHED: tuple[tuple[object, str, str], ...] = (
    (IndexCache, "take", MEMORY),
    (IndexCache, "put_back", MEMORY),
    (judge, "segments", SEGMENTS),
    (judge, "read_plans", EVIDENCE),
    (judge, "collect_evidence", EVIDENCE),
    (inputs, "serves", RENDERING),
    (inputs, "asks", RENDERING),
    (encoding, "pair_ids", TOKENISING),
    (Model, "_rows", MODEL),
)


class Stopwatch:
    """Seconds by stage and forward passes since the last `reset`. For one check at a time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set all counts to zero."""
        self._seconds = dict.fromkeys(STAGES, 0.0)
        self._judge = 0.0
        self._busy = False
        self.passes: list[int] = []
        """Tokens of each forward pass."""
        self.segmented: list[str] = []
        """The texts that were split into segments."""

    def stages(self, total: float) -> dict[str, float]:
        """Milliseconds of each stage of a check.

        Args:
            total: Seconds of the whole check.
        """
        rest = self._judge - sum(self._seconds.values())
        found = {**self._seconds, REST: rest, ENGINE: total - self._judge}
        return {stage: seconds * 1000 for stage, seconds in found.items()}

    @contextmanager
    def timing(self, network: Model) -> Iterator[None]:
        """Time all checks of this process.

        Args:
            network: The judge's model.
        """
        with ExitStack() as patches:
            for owner, name, stage in _WATCHED:
                watched = self.watched(stage, getattr(owner, name))
                patches.enter_context(patch.object(owner, name, watched))
            output_ids = encoding.output_ids
            replaced: tuple[tuple[object, str, object], ...] = (
                # A generator would be timed together with the work between its items.
                (
                    encoding,
                    "output_ids",
                    self.watched(TOKENISING, lambda *given: list(output_ids(*given))),
                ),
                (network, "_session", _Passes(network._session, self)),
                (network, "_beside", _Passes(network._beside, self)),
                (segments, "_readings", self._cutting(segments._readings)),
                (judge.EmbeddedJudge, "_step", self._judging(judge.EmbeddedJudge._step)),
                (judge.EmbeddedJudge, "_output", self._judging(judge.EmbeddedJudge._output)),
            )
            for owner, name, instead in replaced:
                patches.enter_context(patch.object(owner, name, instead))
            yield

    def watched(self, stage: str, function: Callable[..., object]) -> Callable[..., object]:
        """The function, with its time added to a stage."""

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

    def _cutting(self, readings: Callable[[str], object]) -> Callable[[str], object]:
        def counted(text: str) -> object:
            self.segmented.append(text)
            return readings(text)

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
    """An inference session that counts its forward passes."""

    def __init__(self, session: Any, watch: Stopwatch) -> None:
        self._session = session
        self._watch = watch

    def run(self, outputs: list[str], given: Mapping[str, Any]) -> object:
        self._watch.passes.append(given["ids"].shape[1])
        return self._session.run(outputs, given)


def clear_caches(network: Model) -> None:
    """Clear the judge's caches.

    Recorded conversations share a few environments, so cached results would be too fast.
    """
    network._known = model._Recent(model._REMEMBERED)
    for name, module in list(sys.modules.items()):
        if name.startswith("taskshield.judges.embedded."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
