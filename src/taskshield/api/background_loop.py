"""An event loop in a thread, for callers that have none.

asyncio is imported when the loop starts: it is a third of the time of `import taskshield`.
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
    """Runs coroutines on one loop of its own, so that connections last longer than one call.

    The thread starts with the first call. It is a daemon: a process ends even if `close` was not
    called.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Start the work and return at once."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(work, self._running())

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do the work and wait for it. An interrupted wait cancels the work.

        Raises:
            ConversationError: The caller runs on the loop, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise ConversationError(
                "A callback of the shield called one of its sync methods, which would never return."
                " Use AsyncShield, or call the method from another thread."
            )
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and cancel running work."""
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
