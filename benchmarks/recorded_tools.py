"""The tools that the agents of recorded runs had, which the records do not tell."""

from functools import cache

from taskshield.adapters.agentdojo_runs import RecordedRun
from taskshield.core.tools import ToolSpec
from taskshield.evals.exam import dojo
from taskshield.integrations.agentdojo import tool_specs


def tools_of(run: RecordedRun) -> tuple[ToolSpec, ...]:
    """Those of the run's suite; none where there is no such suite."""
    return _tools(run.suite, "v1" if run.version is None else run.version)


@cache
def _tools(suite: str, version: str) -> tuple[ToolSpec, ...]:
    found = dojo.suites(version).get(suite)
    return () if found is None else tool_specs(found.tools)
