import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """`run_sync` takes the thread's event loop, or leaves a new one open."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield
        asyncio.set_event_loop(None)
