from collections.abc import Iterator

import pytest
from agents import (
    set_tracing_disabled,
)


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    """The SDK would send them to its maker."""
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)
