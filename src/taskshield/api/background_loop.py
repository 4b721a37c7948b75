"""An event loop in a thread, for callers that have none.

asyncio is imported when the loop is needed: it is a third of the time of `import taskshield`.
"""

import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from taskshield.core.errors import ConversationError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

Result = TypeVar("Result")


class BackgroundLoop:
    """Runs coroutines on one loop of its own, so that connections outlive the single call.

    The thread starts with the first call and is a daemon: a forgotten `close` does not keep the
    process alive.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Start the work; the caller waits where and how it likes."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(work, self._running())

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do the work and wait for it. Interrupting the wait cancels the work.

        Raises:
            ConversationError: The caller is itself on the loop, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise ConversationError("a callback of the shield cannot use its sync methods")
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop; work that is still under way is cancelled."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _running(self) -> "asyncio.AbstractEventLoop":
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="taskshield", daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: "asyncio.AbstractEventLoop") -> None:
    import asyncio

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
