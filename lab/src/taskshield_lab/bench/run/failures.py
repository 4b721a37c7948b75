"""A run that breaks off is a record of its own, not the end of the exam."""

from collections.abc import Callable
from dataclasses import replace

from taskshield.core.errors import TaskShieldError, UpstreamError
from taskshield_lab.bench.records import BenchmarkRun


def attempted(
    blank: BenchmarkRun, work: Callable[[], BenchmarkRun], *, who: str = "run"
) -> BenchmarkRun:
    """The run, or where it breaks off the blank record with an error.

    AgentDojo's elements, tools and checks raise many kinds of things at what models write. Their
    texts quote it, so only the kind is told.

    Args:
        blank: The record of a run of which nothing is known.
        work: Has the run.
        who: What breaks off, for the error.

    Raises:
        TaskShieldError: Something is wrong that would spoil every run.
    """
    try:
        return work()
    except UpstreamError as error:
        return replace(blank, error=str(error))
    except TaskShieldError:
        raise
    except Exception as error:
        return replace(blank, error=f"the {who} broke off ({type(error).__name__})")
