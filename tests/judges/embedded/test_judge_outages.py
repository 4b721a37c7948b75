"""Models that break down, and settings."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from taskshield import AsyncShield
from taskshield.core.errors import ConfigError, JudgeOverwhelmed, JudgeUnavailable, ModelError
from taskshield.core.instructions import TaskSet
from taskshield.core.judge import SessionView
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.judges.embedded import judge as module
from taskshield.judges.embedded.decision.classifier import sigmoid
from taskshield.judges.embedded.judge import EmbeddedJudge, embedded
from taskshield.judges.embedded.network import model_files
from tests.judges.embedded.asking import a_view, assessed, break_down, calling, total
from tests.judges.embedded.scenes import BILL, PAID, STOLEN
from tests.judges.embedded.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ScriptedModel(serves=break_down), calling(PAID)),
        (ScriptedModel(asks=break_down), calling(STOLEN)),
        (ScriptedModel(serves=break_down), calling(text="I will pay.")),
        (ScriptedModel(planted=break_down), text_message(Level.TOOL, BILL)),
    ],
    ids=["call", "suspect", "plan", "output"],
)
def test_a_model_that_breaks_is_an_outage(model: ScriptedModel, message: Message) -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        assessed(model, message)
    what = "output" if message.level is Level.TOOL else "call"
    assert str(caught.value) == f"The embedded judge failed (Broken). The {what} was not checked."


def test_a_model_that_leaves_out_a_piece_is_an_outage() -> None:
    class Short(ScriptedModel):
        def tags(self, head: str, pieces: Sequence[str], stop: Event | None = None) -> list[float]:
            return super().tags(head, pieces)[1:]

    with pytest.raises(JudgeUnavailable):
        assessed(Short(), text_message(Level.TOOL, BILL))


def test_a_check_whose_caller_gave_up_is_stopped() -> None:
    begun, given_up = Event(), Event()

    class Slow(ScriptedModel):
        def tags(self, head: str, pieces: Sequence[str], stop: Event | None = None) -> list[float]:
            begun.set()
            assert stop is not None and stop.wait(30)
            given_up.set()
            raise RuntimeError

    async def ask() -> None:
        judge = EmbeddedJudge(Slow())
        asked = asyncio.create_task(
            judge.assess(text_message(Level.TOOL, BILL), SessionView(tasks=TaskSet()))
        )
        await asyncio.to_thread(begun.wait, 30)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await asyncio.to_thread(given_up.wait, 30)

    asyncio.run(ask())


@pytest.mark.parametrize(
    "message",
    [
        text_message(Level.TOOL, "x" * 2_000_001),
        calling(ToolCall(id="c9", name="send_money", arguments="x" * 2_000_001)),
    ],
)
def test_a_message_that_is_too_long_is_refused_at_once(message: Message) -> None:
    model = ScriptedModel()
    with pytest.raises(JudgeOverwhelmed):
        assessed(model, message)
    assert model.asked == [] and model.pieces == []


def test_after_an_outage_a_conversation_continues() -> None:
    broken = True

    def serves(request: str, described: str) -> float:
        return break_down() if broken else 2.0

    judge = EmbeddedJudge(ScriptedModel(serves=serves))
    view = a_view(PAID)
    with pytest.raises(JudgeUnavailable):
        asyncio.run(judge.assess(calling(PAID), view))
    broken = False
    (found,) = asyncio.run(judge.assess(calling(PAID), view)).items
    assert total(found) == pytest.approx(sigmoid(2.0))


def test_a_model_with_another_decision_is_refused() -> None:
    with pytest.raises(ModelError):
        EmbeddedJudge(ScriptedModel(weighs={"threshold": 0.5}))


def test_a_folder_without_a_model_is_named_when_the_shield_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no folder .*nowhere"):
        AsyncShield(judge=f"embedded:{tmp_path / 'nowhere'}")
    with pytest.raises(ConfigError, match="manifest.json is missing"):
        AsyncShield(judge=f"embedded:{tmp_path}")


def test_a_custom_model_is_used_and_named_in_the_trace(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(model_files.SHIPPED, folder)
    model_files.write_manifest(folder, "own", "7")
    judge = embedded(JudgeOptions(model=str(folder)))
    reading = asyncio.run(judge.assess(calling(PAID), a_view(PAID)))
    assert (reading.trace.prompt or "").startswith("own-7@")
    shipped = asyncio.run(embedded(JudgeOptions()).assess(calling(PAID), a_view(PAID)))
    assert reading.items == shipped.items and reading.trace != shipped.trace


def test_the_model_of_the_package_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel()
    monkeypatch.setattr(module, "shared", lambda folder: model)
    judge = embedded(JudgeOptions())
    assert judge.name == "embedded"
    asyncio.run(judge.assess(calling(PAID), a_view(PAID)))
    asyncio.run(judge.aclose())
    asyncio.run(judge.assess(calling(PAID), a_view(PAID)))
    assert len(model.asked) == 4
