"""Replays conversations through a shield, which each process makes once."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self, assert_never

from taskshield.api.shields import AsyncShield
from taskshield.audit.logs.entries import Entry, Finished, Recorded, Unreadable
from taskshield.audit.results.findings import Row, rows
from taskshield.audit.results.outcomes import (
    Checked,
    Result,
    attack,
    of_conversation,
    of_end,
    of_failure,
)
from taskshield.core.errors import ConversationError
from taskshield.core.session_state import Counters
from taskshield.engine.state import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How each process makes its shield, and whether texts are stored."""

    judge: str | None = None
    """None takes the judge of the settings."""
    llm: str | None = None
    base_url: str | None = None
    config: str | None = None
    with_text: bool = False
    """Whether findings contain text of the conversations."""

    def shield(self) -> AsyncShield:
        """Make the shield.

        Raises:
            ConfigError: A setting is wrong.
        """
        with _on_one_processor():
            return AsyncShield(self.judge, llm=self.llm, base_url=self.base_url, config=self.config)


class Checker:
    """Replays conversations, one after the other."""

    def __init__(self, plan: Plan) -> None:
        """Make the shield.

        Raises:
            ConfigError: A setting is wrong.
        """
        self._with_text = plan.with_text
        self._runner = asyncio.Runner()
        self._shield = plan.shield()

    def check(self, entry: Entry) -> Result:
        """The result of an entry."""
        match entry:
            case Recorded():
                return self._runner.run(self._replay(entry))
            case Unreadable():
                return of_failure(entry)
            case Finished():
                return of_end(entry)
            case _ as unreachable:
                assert_never(unreachable)

    async def _replay(self, source: Recorded) -> Result:
        """Check each message.

        A log has outputs of calls that the shield would have blocked. They are checked as well,
        because the agent read them.
        """
        session = self._shield.session(tools=source.conversation.tools)
        found: list[Row] = []
        counters, unreadable = Counters(), 0
        error = None
        for message in source.conversation.messages:
            try:
                decision = await session.add(message)
            except ConversationError as refused:
                error = f"message {session.state.messages}: {refused}"
                break
            found += rows(decision, source, with_text=self._with_text)
            counters = counted(counters, decision)
            unreadable += len(decision.unreadable)
        checked = Checked(
            file=source.file,
            line=source.line,
            conversation=source.id,
            format=source.format,
            messages=len(source.conversation.messages),
            executed=counters.executed,
            skipped=counters.skipped,
            failed=counters.failed,
            unreadable=unreadable,
            findings=len(found),
            held=sum(row.held for row in found if row.kind == "call"),
            attack=attack(found),
            error=error,
        )
        return of_conversation(checked, found, source.read)

    def close(self) -> None:
        """Close connections."""
        with self._runner:
            self._runner.run(self._shield.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextmanager
def _on_one_processor() -> Iterator[None]:
    """Make a model that is loaded in this block use one thread, by limiting its processors.

    The latency of a single check does not matter here, and a second thread gains less than a second
    process.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
