"""What a session drops, the index drops: the result is that of reading the rest again."""

import json
from random import Random

import pytest

from taskshield.core.history import remember
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.provenance import TextLocation
from taskshield.core.tools import Tier
from taskshield.judges.embedded.evidence import conversation_index as story_module
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence, collect_evidence
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import Directive
from taskshield.judges.embedded.evidence.index_cache import IndexCache
from taskshield.judges.embedded.evidence.text_index import Match, TextIndex
from taskshield.judges.embedded.evidence.tokens import tokenize
from taskshield.judges.embedded.text.segments import Segment, segments

WORDS = (
    "pump valve 120 anna@example.org note-7.txt invoice send the to 2024-05-01 --- Paris".split()
)


def words(rng: Random, most: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(most)))


def turn(rng: Random, index: int) -> HistoryEntry:
    level = rng.choice([Level.USER, Level.ASSISTANT, Level.TOOL, Level.TOOL])
    text = rng.choice(["", "---", words(rng, 8), words(rng, 60) + ". " + words(rng, 9)])
    calls = [ToolCall(id=f"c{index}", name=rng.choice(["send_it", "read"]), arguments="{}")]
    return HistoryEntry(
        message=Message(
            level=level,
            parts=text_message(level, text).parts,
            tool_calls=tuple(calls if level is Level.ASSISTANT else ()),
        ),
        index=index,
        refused=frozenset(rng.choice([[], [f"c{index}"]])),
    )


def evidence(index: ConversationIndex, rng: Random) -> CallEvidence:
    outputs = list(index.outputs)
    directives = [
        Directive(message=number, text=each.text)
        for number in outputs[:: max(1, len(outputs) // 2)]
        for each in index.outputs[number][:1]
    ]
    arguments = json.dumps({"a": words(rng, 6), "b": rng.choice(WORDS), "c": words(rng, 12)})
    call = ToolCall(id="x", name="send_it", arguments=arguments)
    return collect_evidence(
        call, kind=Tier.EXTERNAL, spec=None, index=index, directives=directives, delegated=""
    )


@pytest.mark.parametrize("seed", range(12))
def test_an_index_after_dropping_is_the_index_of_what_is_left(seed: int) -> None:
    rng = Random(seed)
    memory = IndexCache()
    history: tuple[HistoryEntry, ...] = ()
    dropped = False
    for number in range(60):
        longer = remember(history, turn(rng, number), 400)
        dropped = dropped or len(longer) <= len(history)
        history = longer
        if rng.random() < 0.6:
            index, fresh = memory.take(history), IndexCache().take(history)
            assert (index.asked, index.steps, index.outputs) == (
                fresh.asked,
                fresh.steps,
                fresh.outputs,
            )
            state = rng.getstate()
            found = evidence(index, rng)
            rng.setstate(state)
            assert found == evidence(fresh, rng)
            memory.put_back(history, index)
    assert dropped


def test_output_is_read_once_though_old_messages_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counted(text: str) -> tuple[Segment, ...]:
        read.append(text)
        return segments(text)

    monkeypatch.setattr(story_module, "segments", counted)
    memory = IndexCache()
    history = remember((), HistoryEntry(message=text_message(Level.USER, "Read it all.")), 200)
    for index in range(1, 40):
        message = text_message(Level.TOOL, f"This is text number {index}, and it is rather long.")
        history = remember(history, HistoryEntry(message=message, index=index), 200)
        memory.put_back(history, memory.take(history))
    assert len(history) < 20
    assert len(read) == len(set(read)) == 39


def test_messages_with_equal_numbers_are_read_again() -> None:
    memory = IndexCache()
    turns = [HistoryEntry(message=text_message(Level.TOOL, f"Text {n}.")) for n in range(4)]
    memory.put_back(turns, memory.take(turns))
    left = turns[2:]
    index = memory.take(left)
    assert [each.text for each in index.outputs[0]] == ["Text 3."]
    memory.put_back(left, index)
    assert memory.take(tuple(left)) is index


def test_a_longer_list_is_another_history() -> None:
    memory = IndexCache()
    turns = [HistoryEntry(message=text_message(Level.USER, "One."), index=0)]
    memory.put_back(turns, memory.take(turns))
    turns.append(HistoryEntry(message=text_message(Level.USER, "Two."), index=1))
    assert memory.take(turns).asked == ["One.", "Two."]


def test_a_text_index_drops_its_oldest_message_only() -> None:
    stream = TextIndex()
    places = [TextLocation(message=number, start=0, end=9) for number in (3, 5)]
    stream.add(tokenize("pump valve"), places[0])
    stream.add(tokenize("valve pump"), places[1])
    value = ArgumentValue(path="", text="valve", kind="text")
    stream.forget(5)
    assert stream.hit(value) == Match(1.0, tuple(places))
    stream.forget(3)
    assert stream.hit(value) == Match(1.0, (places[1],))
    stream.forget(5)
    assert stream.hit(value) == Match()
    stream.forget(5)
    stream.add(tokenize("a valve"), places[0])
    assert stream.hit(value) == Match(1.0, (places[0],))
