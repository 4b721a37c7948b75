"""Turns the failure of one run into a record, so that the benchmark continues."""

from collections.abc import Callable
from dataclasses import replace

from taskshield.core.errors import TaskShieldError, UpstreamError
from taskshield_lab.bench.records import BenchmarkRun


def attempt(
    blank: BenchmarkRun, work: Callable[[], BenchmarkRun], *, who: str = "run"
) -> BenchmarkRun:
    """Do the work of a run. If it fails, return the blank record with the error.

    AgentDojo's elements, tools and checks raise many types of exceptions on what models write.
    Their messages quote the model, so only the type is recorded.

    Args:
        blank: The record of the run before it started.
        work: Does the run.
        who: What failed, for the error message.

    Raises:
        TaskShieldError: Every run would fail.
    """
    try:
        return work()
    except UpstreamError as error:
        return replace(blank, error=str(error))
    except TaskShieldError:
        raise
    except Exception as error:
        return replace(blank, error=f"The {who} failed ({type(error).__name__}).")
