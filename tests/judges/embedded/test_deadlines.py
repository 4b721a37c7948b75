"""A check past its time limit is an outage, its thread is free, and others are answered."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from types import FrameType
from typing import Any

import pytest

from taskshield.core import deadline
from taskshield.core.errors import JudgeTimeout
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import Tier
from taskshield.engine.shell.scripts import scripts
from taskshield.engine.shell.unasked_uploads import sent_by, unasked
from taskshield.judges.embedded.evidence import explanation
from taskshield.judges.embedded.evidence.call_evidence import beside, collect_evidence
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.provenance import Sources
from taskshield.judges.embedded.evidence.read_only_calls import only_looks
from taskshield.judges.embedded.judge import EmbeddedJudge
from taskshield.judges.embedded.network.encoding import piece_ids
from taskshield.judges.embedded.tasks import user_tasks
from taskshield.judges.embedded.tasks.assistant_plans import read_plans
from taskshield.judges.embedded.tasks.blocks import Block
from taskshield.judges.embedded.tasks.delegation import delegated_source
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from taskshield.judges.embedded.text import segments as text_segments
from taskshield.judges.embedded.text.segments import Segment
from taskshield.judges.embedded.text.tracked_text import Edit, Rewriting
from taskshield.judges.timeout import TimedJudge
from tests.engine.sessions import run
from tests.judges.embedded.asking import a_view, calling
from tests.judges.embedded.scenes import PAID
from tests.judges.embedded.scripted_model import ScriptedModel

LONG = "endless " * 10_000


def endless_edits(text: str) -> Iterator[Edit]:
    return (Edit(0, 0, "") for _ in count()) if "endless" in text else iter(())


@pytest.fixture
def _endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with this word in it takes for ever to read."""
    monkeypatch.setattr("taskshield.judges.embedded.text.lines.edits", endless_edits)
    monkeypatch.setattr(
        user_tasks,
        "blocks",
        lambda text: (Block("item", 0, 1) for _ in count()) if "endless" in text else (),
    )


@pytest.mark.usefixtures("_endless")
@pytest.mark.parametrize(
    "message",
    [
        text_message(Level.TOOL, "An endless text."),
        text_message(Level.TOOL, LONG),
        text_message(Level.ASSISTANT, LONG),
        text_message(Level.USER, LONG),
    ],
    ids=["short", "long", "plan", "task"],
)
def test_work_that_never_ends_is_a_timeout_and_ends(message: Message) -> None:
    judge = EmbeddedJudge(ScriptedModel())
    timed = TimedJudge(judge, seconds=0.2, calls=0)

    async def checks() -> None:
        ask = timed.tasks if message.level is Level.USER else timed.assess
        for _ in range(20):  # more than there are threads
            with pytest.raises(JudgeTimeout) as caught:
                await ask(message, a_view())
            assert caught.value.usage.calls == 0
        patient = TimedJudge(judge, seconds=60)
        await patient.assess(calling(PAID), a_view(PAID))
        await patient.assess(text_message(Level.TOOL, "word " * 20_000), a_view())

    run(checks())


@pytest.mark.usefixtures("_endless")
def test_short_texts_are_read_while_long_ones_run_out_of_time() -> None:
    judge = EmbeddedJudge(ScriptedModel())
    impatient = TimedJudge(judge, seconds=2)

    async def checks() -> list[Any]:
        long = [
            asyncio.create_task(impatient.assess(text_message(Level.TOOL, LONG), a_view()))
            for _ in range(10)
        ]
        await asyncio.sleep(0)
        await judge.assess(calling(PAID), a_view(PAID))
        assert not any(task.done() for task in long)
        return await asyncio.gather(*long, return_exceptions=True)

    assert all(isinstance(error, JudgeTimeout) for error in run(checks()))


def test_every_loop_over_untrusted_text_looks_at_the_clock() -> None:
    segment = Segment(0, 4, "word")
    call = ToolCall(id="c", name="send", arguments="{}")
    with deadline.within(0):
        for work in (
            lambda: Rewriting("ab", [Edit(0, 1, "")]),
            lambda: text_segments._found("word " * 100),
            lambda: Sources().add_output(0, [segment]),
            lambda: explanation.explained_share(call, "text"),
            lambda: user_tasks.read_tasks("Send it."),
            lambda: piece_ids(None, "word"),  # type: ignore[arg-type]
        ):
            with pytest.raises(deadline.DeadlinePassed):
                work()


LARGEST = 2_000_000
"""Characters; the judge refuses longer texts."""
ENOUGH = 60_000
"""Calls of functions, which together take a small part of a second."""
UNITS = (
    "Send it to Bob and then pay him. ",
    "a ",
    "| a |\n",
    "- a\n",
    "\\u0041",
    "a\u200b.b ",
    "\u2800a",
    "aGVsbG8gd29ybGQgdGhpcyBpcyBh\n",
    "curl -T f http://a.example; ",
)


class TooLong(Exception):
    """The work went on."""


def _step(text: str) -> object:
    index = ConversationIndex()
    index.add_user(0, text)
    index.add_assistant(1, text, [])
    return index


def _beside(text: str) -> object:
    return beside(text_segments.segments(text), [_calling(text[:1000])])


def _calling(text: str) -> ToolCall:
    return ToolCall(id="c", name="run_command", arguments=json.dumps({"command": text}))


def _evidence(text: str) -> object:
    return collect_evidence(
        _calling(text),
        kind=Tier.EXTERNAL,
        spec=None,
        index=ConversationIndex(),
        directives=[],
        delegated="",
    )


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
@pytest.mark.parametrize(
    "read",
    [
        text_segments.segments,
        user_tasks.read_tasks,
        split_pasted,
        read_plans,
        delegated_source,
        _step,
        _beside,
        _evidence,
        lambda text: Sources().add_output(0, [Segment(0, len(text), text)]),
        lambda text: explanation.explained_share(_calling(text), text),
        lambda text: unasked(sent_by(scripts(_calling(text))), "Send it."),
        lambda text: only_looks(_calling(text)),
    ],
    ids=[
        *("segments", "tasks", "pasted", "plans", "delegation", "index", "definition"),
        *("evidence", "sources", "explanation", "uploads", "shell"),
    ],
)
def test_the_largest_text_is_not_read_after_the_deadline(
    read: Callable[[str], object], unit: str
) -> None:
    text = (unit * (LARGEST // len(unit) + 1))[:LARGEST]
    calls = count()

    def note(frame: FrameType, event: str, arg: object) -> None:
        if next(calls) > ENOUGH:
            raise TooLong

    with deadline.within(0), suppress(deadline.DeadlinePassed):
        sys.setprofile(note)
        try:
            read(text)
        finally:
            sys.setprofile(None)
