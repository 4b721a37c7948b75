"""A check past its time limit is an outage, its thread is free, and others are answered."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from taskshield.core import deadline
from taskshield.core.errors import JudgeTimeout
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.judges.embedded.evidence import explanation
from taskshield.judges.embedded.evidence.provenance import Sources
from taskshield.judges.embedded.judge import EmbeddedJudge
from taskshield.judges.embedded.network.encoding import piece_ids
from taskshield.judges.embedded.tasks import user_tasks
from taskshield.judges.embedded.tasks.blocks import Block
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
