"""The tasks and the provider's responses of one request, with one owner that ends them all."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from taskshield.server.proxy.disconnects import cancel
from taskshield.server.proxy.provider import ProviderClient, ProviderRequest, ProviderResponse

T = TypeVar("T")


class Resources:
    """Owns what it starts, until `aclose`."""

    def __init__(self, provider: ProviderClient) -> None:
        self._provider = provider
        self._stack = AsyncExitStack()

    def send(self, request: ProviderRequest) -> "asyncio.Task[ProviderResponse]":
        """Send a request to the provider. The response is owned as well."""
        sending = asyncio.create_task(self._provider.send(request))
        self._stack.push_async_callback(discard, sending)
        return sending

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Do some work in a task."""
        task = asyncio.create_task(work)
        self._stack.push_async_callback(cancel, task)
        return task

    async def aclose(self) -> None:
        """Cancel all work, and close all responses."""
        await self._stack.aclose()


async def discard(sending: "asyncio.Task[ProviderResponse]") -> None:
    """Cancel a request to the provider, or close its response, before `aclose` would."""
    sending.cancel()
    (response,) = await asyncio.gather(sending, return_exceptions=True)
    if isinstance(response, ProviderResponse):
        await response.aclose()
