"""Replays conversations on a Ray cluster. The only module that imports Ray.

Tasks read the files. Actors replay the conversations, each with its own shield. Results arrive in
the order of the log and are written on this machine. Every machine needs the logs, the settings
file and the judge's key.
"""

import logging
import os
import pickle
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from threading import Event, current_thread, main_thread
from typing import Any

from taskshield.audit.logs import reader
from taskshield.audit.logs.input_files import Input
from taskshield.audit.replay.checker import Checker, Plan
from taskshield.audit.results.outcomes import Result
from taskshield.core.errors import MissingExtraError, TaskShieldError

try:
    # Turns off Ray's usage reports.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    import ray.data
except ImportError as error:
    raise MissingExtraError("ray", "ray") from error

LOCAL = "local"
"""Starts a cluster on this machine for the time of the audit."""
_BATCH = 4
"""Entries per batch of an actor."""
_BLOCK = 32 * 1024
"""Bytes per block. Small, so that one large file keeps all actors busy."""
_COLUMN = "item"


def check_all(
    todo: Sequence[tuple[Input, int]], plan: Plan, *, address: str, actors: int | None
) -> Generator[Result]:
    """The results of all entries, in order.

    Args:
        todo: The files, each with the number of its entries that have a result.
        plan: How actors make their shields.
        address: Address of the cluster. "local" starts one.
        actors: Number of actors. None takes one for each processor of the cluster.

    Raises:
        TaskShieldError: There is no cluster at the address, or an actor failed.
    """
    if not todo:
        return
    if plan.config is not None:  # actors work in another folder
        plan = replace(plan, config=os.path.abspath(plan.config))
    _connect(address, actors)
    try:
        count = _processors() if actors is None else actors
        with _interrupts_noted() as interrupted:
            for row in _dataset(todo, plan, count).iter_rows():
                yield pickle.loads(row[_COLUMN])
                if interrupted.is_set():
                    raise KeyboardInterrupt
    except ray.exceptions.RayError as error:
        raise TaskShieldError(f"The Ray cluster failed ({type(error).__name__}).") from None
    finally:
        ray.shutdown()


@contextmanager
def _interrupts_noted() -> Iterator[Event]:
    """Delay Ctrl-C until the next row, because Ray's threads cannot handle it.

    A second Ctrl-C is not delayed.
    """
    noted = Event()
    if current_thread() is not main_thread():  # where no interrupts arrive
        yield noted
        return

    def note(number: int, frame: object) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _connect(address: str, actors: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address == LOCAL:
            ray.init(
                num_cpus=actors, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet
            )
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError) as error:
        raise TaskShieldError(
            f"--ray: No Ray cluster answers at this address ({type(error).__name__})."
        ) from None


def _processors() -> int:
    resources: Any = ray.cluster_resources  # without types
    return max(1, int(resources().get("CPU", 1)))


def _dataset(todo: Sequence[tuple[Input, int]], plan: Plan, actors: int) -> Any:
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.target_max_block_size = _BLOCK
    files = [{_COLUMN: pickle.dumps(each)} for each in todo]
    return (
        ray.data.from_items(files, override_num_blocks=len(files))
        # Without processors, or Ray would let one actor read and replay a whole file.
        .map_batches(_read, batch_size=1, num_cpus=0)
        .map_batches(
            _Actor,
            fn_constructor_kwargs={"plan": plan},
            batch_size=_BATCH,
            num_cpus=1,
            compute=ray.data.ActorPoolStrategy(size=actors),
        )
    )


def _read(batch: dict[str, Any]) -> Iterator[dict[str, list[bytes]]]:
    """The entries of a file, one per row."""
    for item in batch[_COLUMN]:
        file, known = pickle.loads(item)
        for entry in islice(reader.entries(file), known, None):
            yield {_COLUMN: [pickle.dumps(entry)]}


class _Actor:
    """Replays entries through its shield."""

    def __init__(self, plan: Plan) -> None:
        self._checker = Checker(plan)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[bytes]]:
        checked = [self._checker.check(pickle.loads(item)) for item in batch[_COLUMN]]
        return {_COLUMN: [pickle.dumps(result) for result in checked]}
